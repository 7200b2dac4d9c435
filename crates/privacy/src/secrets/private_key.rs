//! PEM: private keys between their lines.

use crate::bytes::boundary_after;
use crate::finding::Finding;
use crate::kind::Kind;

/// More is no key; the finding then ends here.
const KEY_BYTES_MAX: usize = 16 * 1024;

/// The block whose `BEGIN ` is from `start` to `end`. The next line of hyphens ends it, so that no part
/// of a text is looked at for two blocks.
pub fn from(text: &str, start: usize, end: usize) -> Option<Finding> {
    let start = start.checked_sub(5).filter(|line| text.get(*line..start) == Some("-----"))?;
    let rest = text.get(end..crate::bytes::boundary_after(text, end + 60))?;
    let label = rest.split("-----").next().filter(|label| label.len() < 40 && label.len() < rest.len())?;
    if !label.ends_with("PRIVATE KEY") && !label.ends_with("PRIVATE KEY BLOCK") {
        return None;
    }
    let body = end + label.len() + 5;
    let near = &text[body..boundary_after(text, body.saturating_add(KEY_BYTES_MAX))];
    let stop = near.find("-----").map_or(near.len(), |stop| match near[stop..].strip_prefix("-----END ") {
        Some(closing) => {
            let line = stop + 9 + closing.bytes().take(40).take_while(|byte| *byte != b'-').count();
            near[line..].strip_prefix("-----").map_or(line, |_| line + 5)
        }
        None => stop,
    });
    let has_body = near.bytes().take(stop).filter(u8::is_ascii_alphanumeric).take(20).count() == 20;
    has_body.then(|| Finding::new(Kind::Secret, start..body + stop, 99, "secret-private-key"))
}
