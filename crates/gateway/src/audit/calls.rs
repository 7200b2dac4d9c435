//! Hears of every request that came to the door of the servers.

use std::sync::Arc;

use super::waiting::Noted;
use crate::audit::Audit;
use crate::ports::{ArgumentRecord, CallFacts, CallObserver};

/// What is kept of arguments, where they are.
const ARGUMENT_BYTES_MAX: usize = 4 << 10;

/// Names that wait as they are; longer ones are cut before they wait, or many would fill the memory.
const NAME_BYTES_MAX: usize = 1 << 10;

impl CallObserver for Audit {
    fn passed(&self, facts: &Arc<CallFacts>) {
        // The program waits: its event is made where it is written.
        let named = facts.name.len() + facts.web.as_ref().map_or(0, |web| web.path.len());
        let call = match named <= NAME_BYTES_MAX {
            true => Noted::Call(Arc::clone(facts)),
            false => Noted::Event(self.inner.waiting.event(facts)),
        };
        match facts.caller.execution {
            // With the others of its execution, before the final event of that.
            Some(_) => self.note_soon(call),
            None => self.note_now(call),
        }
    }

    fn arguments(&self, json: &str) -> Option<ArgumentRecord> {
        let digest = self.digest(json.as_bytes());
        let text = self.settings().arguments.then(|| match json.len() <= ARGUMENT_BYTES_MAX {
            true => json.to_owned(),
            false => format!("{}…", &json[..json.floor_char_boundary(ARGUMENT_BYTES_MAX)]),
        });
        Some(ArgumentRecord { digest, text })
    }
}
