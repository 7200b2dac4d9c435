//! One job turn by turn, with the count of everything, so that anyone can check it.

use std::fmt::Write;

use gristmill_gateway::domain::{cut_chars, grouped};

use super::job::Job;
use super::transcript::{Part, Transcript};
use super::ways::Ways;

/// What is shown of a text that is no program.
const LINES_MAX: usize = 6;
const LINE_CHARS_MAX: usize = 150;

/// All ways of a job.
pub fn of(job: &Job, ways: &Ways) -> String {
    let mut text = format!("{}: {}\nservers: {}\n", job.name, job.task, job.servers.join(", "));
    write_way(&mut text, "direct tool calls", &ways.direct);
    write_way(&mut text, "direct with tool search", &ways.searched);
    write_way(&mut text, "code through gristmill", &ways.code);
    write_way(&mut text, "code through gristmill, in TypeScript", &ways.typescript);
    if let Some(single) = &ways.single {
        write_way(&mut text, "one call_tool through gristmill", single);
    }
    if let Some(after_use) = &ways.after_use {
        write_way(&mut text, "code through gristmill, after use", after_use);
    }
    let _ = writeln!(text, "\nresult: {}", ways.result);
    text
}

fn write_way(text: &mut String, name: &str, transcript: &Transcript) {
    let cost = transcript.cost();
    let _ = writeln!(text, "\n== {name}: {} tokens in {} turns", grouped(cost.paid), cost.turns);
    let _ = writeln!(text, "context at the start");
    write_parts(text, &transcript.start);
    for (number, (turn, paid)) in transcript.turns.iter().zip(transcript.turn_costs()).enumerate() {
        let _ = writeln!(text, "turn {}: pays {}", number + 1, grouped(paid));
        write_parts(text, &turn.written);
        write_parts(text, &turn.answers);
    }
    let _ =
        writeln!(text, "every token once: {}; largest context: {}", grouped(cost.fresh), grouped(cost.peak));
}

fn write_parts(text: &mut String, parts: &[Part]) {
    for part in parts {
        let _ = writeln!(text, "  {:>9}  {}", grouped(part.tokens), part.what);
        // What we say is shown whole, so that its words can be weighed.
        let is_ours = part.what.ends_with(" execute_code") || part.what.ends_with(" search_tools");
        let is_ours = is_ours || part.what.starts_with("our ");
        let (lines_max, chars_max) =
            if is_ours { (usize::MAX, usize::MAX) } else { (LINES_MAX, LINE_CHARS_MAX) };
        for line in part.shown.lines().take(lines_max) {
            let _ = writeln!(text, "             | {}", cut_chars(line, chars_max));
        }
        if part.shown.lines().count() > lines_max {
            let _ = writeln!(text, "             | …");
        }
    }
}
