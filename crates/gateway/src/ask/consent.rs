//! Consent: whether a program may run, and whether it may write.

use tokio::time::Instant;

use super::check::Checked;
use super::course::Course;
use super::event::{AskEvent, AskedProgram, Preview, PreviewedTool};
use super::limits::CONSENT_WAIT_MAX;
use super::request::ConsentRule;
use crate::ports::Writes;

/// What stands for tools that the text doesn't name.
const OTHERS: &str = "others that can't be told from its text";

/// A program that may run, and what becomes of its writes.
pub(super) struct Consented {
    pub program: AskedProgram,
    pub preview: Preview,
    pub writes: Writes,
}

/// One that only reads runs, and can't write; about any other somebody is asked. `None` is no.
pub(super) async fn consent(course: &mut Course, checked: Checked) -> Option<Consented> {
    let Checked { program, preview } = checked;
    if course.request.consent == ConsentRule::Yes {
        return Some(Consented { program, preview, writes: Writes::Sent });
    }
    if preview.only_reads {
        return Some(Consented { program, preview, writes: Writes::refused() });
    }
    let writes: Vec<&PreviewedTool> = preview.tools.iter().filter(|tool| !tool.is_read_only).collect();
    let named: Vec<String> = writes.iter().map(|tool| tool.name.clone()).collect();
    let mut told: Vec<String> = writes.iter().map(|tool| tool.asked_name()).collect();
    if preview.may_call_others {
        told.push(OTHERS.to_owned());
    }
    // A yes is one to what was named.
    let writes = if preview.may_call_others { Writes::Sent } else { Writes::refused_except(named) };
    ask(course, told).await.then_some(Consented { program, preview, writes })
}

/// The same for one that was to read only and wanted to write with these tools: nothing of that was sent.
pub(super) async fn consent_to_writes(
    course: &mut Course,
    (program, mut preview): (AskedProgram, Preview),
    wanted: Vec<String>,
) -> Option<Consented> {
    preview.only_reads = false;
    course.last.preview = Some(preview.clone());
    let writes = Writes::refused_except(wanted.clone());
    ask(course, wanted).await.then_some(Consented { program, preview, writes })
}

/// Asks whoever follows. Nobody, and nobody for ten minutes, is no.
async fn ask(course: &mut Course, writes: Vec<String>) -> bool {
    // A yes to an earlier question is none to this one.
    while course.consents.try_recv().is_ok() {}
    let asked = Instant::now();
    let made = course.made.clone();
    course.tell(AskEvent::AwaitingConsent { writes, made }).await;
    let said = tokio::time::timeout(CONSENT_WAIT_MAX, course.consents.recv()).await;
    course.add_time(asked.elapsed());
    matches!(said, Ok(Some(true)))
}
