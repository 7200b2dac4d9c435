//! Consent: whether a program may run, and whether it may write.

use tokio::time::Instant;

use super::check::Checked;
use super::course::Course;
use super::event::{AskEvent, AskedProgram, Preview};
use super::limits::CONSENT_WAIT_MAX;
use super::request::ConsentRule;
use crate::ports::Writes;

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
    let writes = preview.tools.iter().filter(|tool| !tool.is_read_only).map(|tool| tool.name.clone());
    let writes = writes.collect();
    ask(course, writes).await.then_some(Consented { program, preview, writes: Writes::Sent })
}

/// The same for one that was to read only and wanted to write with these tools: nothing of that was sent.
pub(super) async fn consent_to_writes(
    course: &mut Course,
    (program, mut preview): (AskedProgram, Preview),
    wanted: Vec<String>,
) -> Option<Consented> {
    preview.only_reads = false;
    course.last.preview = Some(preview.clone());
    let is_yes = course.request.consent == ConsentRule::Yes || ask(course, wanted).await;
    is_yes.then_some(Consented { program, preview, writes: Writes::Sent })
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
