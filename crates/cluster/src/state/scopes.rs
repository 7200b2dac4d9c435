//! Which parts of the data folder have to be looked at again.

use std::collections::BTreeSet;
use std::time::Instant;

use gristmill_replica::kept::Scope;
use gristmill_replica::tree::TreePath;

use super::timing::LOOKED_OVER_EVERY;

/// Sessions that are looked at one by one; with more of them everything is.
const SESSIONS_MAX: usize = 1_000;

/// Letters and digits of a session's id.
const ID_LENGTH: usize = 20;

pub(super) struct Scopes {
    sessions: BTreeSet<String>,
    results: bool,
    skills: bool,
    everything: bool,
    /// When everything was looked at last.
    looked_over: Instant,
}

impl Scopes {
    /// Nothing was looked at so far.
    pub fn all() -> Self {
        let (sessions, results, skills) = Default::default();
        Self { sessions, results, skills, everything: true, looked_over: Instant::now() }
    }

    /// A path in the data folder.
    pub fn changed(&mut self, path: &str) {
        let mut parts = path.split('/');
        match (parts.next(), parts.next()) {
            (Some("sessions"), Some(id)) if is_id(id) && self.sessions.len() < SESSIONS_MAX => {
                self.sessions.insert(id.to_owned());
            }
            (Some("results"), _) => self.results = true,
            (Some("skills"), _) => self.skills = true,
            _ => self.everything = true,
        }
    }

    /// What was there changed while it was taken. Nothing else is looked at once more for that.
    pub fn again(&mut self, path: &TreePath) {
        let mut parts = path.parts().map(|part| String::from_utf8_lossy(part));
        match (parts.next().as_deref(), parts.next()) {
            (Some("sessions"), Some(id)) if is_id(&id) => drop(self.sessions.insert(id.into_owned())),
            (Some("results"), _) => self.results = true,
            (Some("skills"), _) => self.skills = true,
            // The single files always are.
            _ => {}
        }
    }

    /// What has to be looked at now. The single files always are: they are few, and commands change them.
    pub fn take(&mut self) -> Vec<Scope> {
        if self.everything || self.looked_over.elapsed() >= LOOKED_OVER_EVERY {
            *self = Self { everything: false, ..Self::all() };
            return vec![Scope::Everything];
        }
        let sessions = std::mem::take(&mut self.sessions).into_iter().map(Scope::Session);
        let mut scopes: Vec<Scope> = sessions.collect();
        scopes.extend(std::mem::take(&mut self.results).then_some(Scope::Results));
        scopes.extend(std::mem::take(&mut self.skills).then_some(Scope::Skills));
        scopes.push(Scope::Settings);
        scopes
    }
}

/// Anything else is no session's folder.
fn is_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "aaaaaaaaaaaaaaaaaaaa";
    const OTHER: &str = "bbbbbbbbbbbbbbbbbbbb";

    #[test]
    fn what_changed_is_looked_at_once_and_the_single_files_always() {
        let mut scopes = Scopes::all();
        assert_eq!(scopes.take(), [Scope::Everything]);
        assert_eq!(scopes.take(), [Scope::Settings]);
        for path in [OTHER, &format!("{ONE}/workspace/x"), OTHER] {
            scopes.changed(&format!("sessions/{path}"));
        }
        scopes.changed("results/o/h.json");
        let session = |id: &str| Scope::Session(id.to_owned());
        assert_eq!(scopes.take(), [session(ONE), session(OTHER), Scope::Results, Scope::Settings]);
        scopes.changed("skills/x");
        assert_eq!(scopes.take(), [Scope::Skills, Scope::Settings]);
        for path in ["something/else", "sessions", "sessions/lock", "", "/"] {
            scopes.changed(path);
            assert_eq!(scopes.take(), [Scope::Everything], "{path}");
        }
    }

    #[test]
    fn a_file_that_changes_has_its_own_session_looked_at_and_nothing_else() {
        let mut scopes = Scopes::all();
        scopes.take();
        let again = |scopes: &mut Scopes, path: &str| {
            scopes.again(&TreePath::new(path.as_bytes()).expect("a path"));
            scopes.take()
        };
        let found = again(&mut scopes, &format!("sessions/{ONE}/workspace/log"));
        assert_eq!(found, [Scope::Session(ONE.to_owned()), Scope::Settings]);
        assert_eq!(again(&mut scopes, "results/o/h.json"), [Scope::Results, Scope::Settings]);
        assert_eq!(again(&mut scopes, "skills/x"), [Scope::Skills, Scope::Settings]);
        assert_eq!(again(&mut scopes, "pins.json"), [Scope::Settings]);
    }

    #[test]
    fn with_very_many_sessions_everything_is_looked_at() {
        let mut scopes = Scopes::all();
        scopes.take();
        (0..SESSIONS_MAX + 1).for_each(|number| scopes.changed(&format!("sessions/{number:020}")));
        assert_eq!(scopes.take(), [Scope::Everything]);
    }
}
