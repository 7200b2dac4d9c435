//! Which paths of a data folder are kept together, and which are a machine's own.
//!
//! Kept: what people and programs would miss on another machine. Not kept: the database (it goes by pages), journals,
//! locks, logs, packages that can be installed again, and what is being written.

use crate::manifest::Node;
use crate::tree::TreePath;

/// The single files at the top.
const SETTINGS: [&str; 9] = [
    "access-tokens.json",
    "approval-links.key",
    "audit.key",
    "audit.mark",
    "local-token",
    "pins.json",
    "policy-approvals.json",
    "tokens.json",
    "vault.key",
];

const SESSIONS: &str = "sessions";
const RESULTS: &str = "results";
const SKILLS: &str = "skills";

/// The folders at the top that have kept files below them.
pub(crate) const TOP_FOLDERS: [&str; 3] = [SESSIONS, RESULTS, SKILLS];

/// Ids of sessions: so many letters, of these.
const ID_LENGTH: usize = 20;
const ID_LETTERS: &[u8] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// An owner's folder of results: so many hexadecimal digits.
const OWNER_DIGITS: usize = 32;

/// A part of what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The single files.
    Settings,
    /// One session, by its id.
    Session(String),
    Results,
    Skills,
    Everything,
}

/// What may be at a path that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    File,
    Folder,
    /// Whatever a program or a person puts there.
    Either,
    /// A folder that leads to what is kept. It is made when it is needed, and never removed.
    Passage,
}

/// Whether this file or folder is kept.
pub fn is_kept(path: &TreePath) -> bool {
    matches!(role(path), Some(Role::File | Role::Folder | Role::Either))
}

/// Whether this may be at a path.
pub(crate) fn may_be(path: &TreePath, node: &Node) -> bool {
    match (role(path), node) {
        (Some(Role::Either), Node::File(_) | Node::Folder { .. }) => true,
        (Some(Role::File), Node::File(_)) | (Some(Role::Folder), Node::Folder { .. }) => true,
        (Some(Role::File), Node::Folder { .. }) | (Some(Role::Folder), Node::File(_)) => false,
        (Some(Role::Passage) | None, _) => false,
    }
}

/// `None` if what is there is a machine's own.
pub(crate) fn role(path: &TreePath) -> Option<Role> {
    let mut parts = path.parts();
    let first = str::from_utf8(parts.next()?).ok()?;
    match first {
        SESSIONS => in_sessions(parts),
        RESULTS => in_results(parts),
        SKILLS => in_skills(parts),
        name => (SETTINGS.contains(&name) && parts.next().is_none()).then_some(Role::File),
    }
}

fn in_sessions<'a>(mut parts: impl Iterator<Item = &'a [u8]>) -> Option<Role> {
    match parts.next() {
        None => return Some(Role::Passage),
        Some(id) if is_session_id(id) => {}
        Some(_) => return None,
    }
    match (parts.next(), parts.next()) {
        (None, _) => Some(Role::Folder),
        (Some(b"debug"), None) => Some(Role::File),
        (Some(b"workspace"), None) => Some(Role::Folder),
        (Some(b"workspace"), Some(_)) => Some(Role::Either),
        (Some(_), _) => None,
    }
}

fn in_results<'a>(mut parts: impl Iterator<Item = &'a [u8]>) -> Option<Role> {
    match parts.next() {
        None => return Some(Role::Passage),
        Some(owner) if is_owner(owner) => {}
        Some(_) => return None,
    }
    match (parts.next(), parts.next()) {
        (None, _) => Some(Role::Folder),
        (Some(name), None) if !name.starts_with(b".") => Some(Role::File),
        (Some(_), _) => None,
    }
}

/// Names with a dot in front are skills that are not whole yet, on their way out, or nobody's. A lock is beside skills,
/// not in one: there it's a file like others.
fn in_skills<'a>(parts: impl Iterator<Item = &'a [u8]>) -> Option<Role> {
    let mut role = Role::Folder;
    for (depth, name) in parts.enumerate() {
        if name.starts_with(b".") || (depth == 0 && name.ends_with(b".lock")) {
            return None;
        }
        role = Role::Either;
    }
    Some(role)
}

fn is_session_id(name: &[u8]) -> bool {
    name.len() == ID_LENGTH && name.iter().all(|letter| ID_LETTERS.contains(letter))
}

fn is_owner(name: &[u8]) -> bool {
    name.len() == OWNER_DIGITS && name.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

impl Scope {
    /// Whether a kept path is in it.
    #[cfg(test)]
    pub(crate) fn covers(&self, path: &TreePath) -> bool {
        let mut parts = path.parts();
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        match self {
            Self::Everything => true,
            Self::Settings => second.is_none() && first != SKILLS.as_bytes(),
            Self::Session(id) => first == SESSIONS.as_bytes() && second == Some(id.as_bytes()),
            Self::Results => first == RESULTS.as_bytes(),
            Self::Skills => first == SKILLS.as_bytes(),
        }
    }

    /// The folder that all of it is in; empty if that is the data folder itself.
    pub(crate) fn folder(&self) -> String {
        match self {
            Self::Everything | Self::Settings => String::new(),
            Self::Session(id) => format!("{SESSIONS}/{id}"),
            Self::Results => RESULTS.to_owned(),
            Self::Skills => SKILLS.to_owned(),
        }
    }

    pub(crate) fn has_settings(&self) -> bool {
        matches!(self, Self::Settings | Self::Everything)
    }
}

/// The names of the single files.
pub(crate) fn settings() -> impl Iterator<Item = &'static str> {
    SETTINGS.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "abcdefghijkmnpqrstuv";
    const OWNER: &str = "0123456789abcdef0123456789abcdef";

    fn check(text: &str, expected: Option<Role>) {
        let text = text.replace("ID", ID).replace("OWNER", OWNER);
        let path = TreePath::new(text.as_bytes()).expect("a path");
        assert_eq!(role(&path), expected, "{text}");
        assert_eq!(is_kept(&path), expected.is_some_and(|role| role != Role::Passage), "{text}");
    }

    #[test]
    fn what_people_and_programs_would_miss_is_kept() {
        for name in SETTINGS {
            check(name, Some(Role::File));
        }
        check("sessions", Some(Role::Passage));
        check("sessions/ID", Some(Role::Folder));
        check("sessions/ID/debug", Some(Role::File));
        check("sessions/ID/workspace", Some(Role::Folder));
        for name in ["a", ".git/config", "lock", "x.lock", ".arriving-1/a", "a b\n"] {
            check(&format!("sessions/ID/workspace/{name}"), Some(Role::Either));
        }
        check("results", Some(Role::Passage));
        check("results/OWNER", Some(Role::Folder));
        check("results/OWNER/abc.json", Some(Role::File));
        check("skills", Some(Role::Folder));
        check("skills/lock/skill.py", Some(Role::Either));
        check("skills/a/uv.lock", Some(Role::Either));
        check("skills/a/b/x.lock", Some(Role::Either));
    }

    #[test]
    fn what_is_a_machines_own_is_not_kept() {
        let own = [
            "gristmill.db",
            "gristmill.db-wal",
            "gristmill.db.lock",
            "journal/x",
            "gateways/x",
            "logs/gateway.log",
            "python/x",
            "backups/x",
            "watch.lock",
            "skills.lock",
            ".pins.json.12-0.new",
            ".replica-00",
            "pins.json/x",
            "Pins.json",
            "sessions/ID/lock",
            "sessions/ID/incoming",
            "sessions/ID/incoming/x",
            "sessions/ID/.arriving-1/workspace",
            "sessions/ID/debug/x",
            "sessions/.gone-ID-x/workspace",
            "sessions/short/workspace",
            "sessions/IDx/workspace",
            "results/lock",
            "results/incoming/x",
            "results/OWNERx/a",
            "results/OWNER/a/b",
            "results/OWNER/.a",
            "skills/.leftover-1-2/a.py",
            "skills/.aside-x",
            "skills/a/.git/config",
            "skills/x.lock",
            "skills/x.lock/a",
            "skills/.replica-00",
        ];
        for path in own {
            check(path, None);
        }
    }

    #[test]
    fn every_kept_path_is_in_one_part_besides_everything() {
        let parts = [Scope::Settings, Scope::Session(ID.to_owned()), Scope::Results, Scope::Skills];
        let paths =
            ["pins.json", "sessions/ID", "sessions/ID/workspace/a", "results/OWNER/a", "skills", "skills/a"];
        for text in paths {
            let text = text.replace("ID", ID).replace("OWNER", OWNER);
            let path = TreePath::new(text.as_bytes()).expect("a path");
            let covering: Vec<_> = parts.iter().filter(|scope| scope.covers(&path)).collect();
            assert_eq!(covering.len(), 1, "{text}");
            assert!(covering.iter().all(|scope| text.starts_with(&scope.folder())), "{text}");
            assert!(Scope::Everything.covers(&path));
        }
    }
}
