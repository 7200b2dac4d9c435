//! The address of every page, form and stream. `{…}` stands for one segment, as the router writes it.

pub const OVERVIEW: &str = "/dashboard";
pub const LOGIN: &str = "/dashboard/login";
pub const LOGOUT: &str = "/dashboard/logout";
/// An asset: [`crate::assets::find`].
pub const ASSET: &str = "/dashboard/assets/{name}";

pub const EXECUTIONS: &str = "/dashboard/executions";
pub const EXECUTION: &str = "/dashboard/executions/{id}";
/// POST: runs the program once more.
pub const EXECUTION_RERUN: &str = "/dashboard/executions/{id}/rerun";

pub const APPROVALS: &str = "/dashboard/approvals";
/// POST: `answer` is `once`, `session`, `always` or `deny`.
pub const APPROVAL_ANSWER: &str = "/dashboard/approvals/{id}/answer";

pub const SERVERS: &str = "/dashboard/servers";
pub const SERVER: &str = "/dashboard/servers/{server}";
/// POST: `decision` is `approve`.
pub const SERVER_REVIEW: &str = "/dashboard/servers/{server}/review/{change}";
pub const TOOL: &str = "/dashboard/servers/{server}/tools/{tool}";
/// POST: calls the tool; the fields are read by [`crate::parts::schema_form::arguments`].
pub const TOOL_TRY: &str = "/dashboard/servers/{server}/tools/{tool}/try";

pub const SESSIONS: &str = "/dashboard/sessions";
/// `?file=PATH` opens a file.
pub const SESSION: &str = "/dashboard/sessions/{session}";
/// POST.
pub const SESSION_DELETE: &str = "/dashboard/sessions/{session}/delete";

pub const SKILLS: &str = "/dashboard/skills";
/// `?from=N&to=M` compares versions.
pub const SKILL: &str = "/dashboard/skills/{skill}";
/// POST: `decision` is `approve` or `reject`, `change` says of what.
pub const SKILL_REVIEW: &str = "/dashboard/skills/{skill}/review";

pub const RESULTS: &str = "/dashboard/results";
pub const RESULT: &str = "/dashboard/results/{handle}";

/// With `tool` and the like as a query: what would happen.
pub const POLICY: &str = "/dashboard/policy";
/// POST: takes a standing yes back.
pub const POLICY_REVOKE: &str = "/dashboard/policy/always/{id}/revoke";

pub const PRIVACY: &str = "/dashboard/privacy";
pub const AUDIT: &str = "/dashboard/audit";
/// POST: walks the whole chain.
pub const AUDIT_VERIFY: &str = "/dashboard/audit/verify";

pub const PLAYGROUND: &str = "/dashboard/playground";
/// POST: `code`, `language`, `session`.
pub const PLAYGROUND_RUN: &str = "/dashboard/playground/run";
/// POST: `task`, `language`, `session`. Writes a program, and shows it in the editor.
pub const PLAYGROUND_ASK: &str = "/dashboard/playground/ask";

pub const SETTINGS: &str = "/dashboard/settings";

/// Event streams. Each message is the HTML that takes the place of what a `data-live` element has; one of the
/// type `add` is put before its end instead, and one of the type `end` closes the stream.
pub const LIVE_OVERVIEW: &str = "/dashboard/live/overview";
pub const LIVE_EXECUTIONS: &str = "/dashboard/live/executions";
pub const LIVE_EXECUTION: &str = "/dashboard/live/executions/{id}";
pub const LIVE_APPROVALS: &str = "/dashboard/live/approvals";

/// A route with its `{…}` filled in, in order. What is filled in stays one segment, whatever it contains.
pub fn fill(route: &str, segments: &[&str]) -> String {
    let mut address = String::with_capacity(route.len() + 16);
    let mut segments = segments.iter();
    for (at, piece) in route.split('/').enumerate() {
        if at > 0 {
            address.push('/');
        }
        if piece.starts_with('{') {
            push_encoded(&mut address, segments.next().copied().unwrap_or_default());
        } else {
            address.push_str(piece);
        }
    }
    address
}

/// An address with a query; empty values are left out.
pub fn query(address: &str, pairs: &[(&str, &str)]) -> String {
    let mut whole = address.to_owned();
    let mut separator = '?';
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        whole.push(separator);
        push_encoded(&mut whole, name);
        whole.push('=');
        push_encoded(&mut whole, value);
        separator = '&';
    }
    whole
}

fn push_encoded(address: &mut String, text: &str) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    // Browsers take these for "here" and "up", encoded or not.
    if text == "." || text == ".." {
        address.push('~');
    }
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                address.push(char::from(byte))
            }
            _ => {
                address.push('%');
                address.push(char::from(HEX[usize::from(byte >> 4)]));
                address.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_one_segment() {
        assert_eq!(fill(TOOL, &["a/b", "\"><x"]), "/dashboard/servers/a%2Fb/tools/%22%3E%3Cx");
        assert_eq!(fill(SKILL, &[".."]), "/dashboard/skills/~..");
        assert_eq!(
            query(SKILL, &[("from", "1"), ("to", ""), ("q", "a b")]),
            format!("{SKILL}?from=1&q=a%20b")
        );
    }
}
