//! Which parts of the data folder have to be looked at again.

use std::collections::BTreeSet;
use std::time::Instant;

use gristmill_replica::kept::Scope;

use super::timing::LOOKED_OVER_EVERY;

/// Sessions that are looked at one by one; with more of them everything is.
const SESSIONS_MAX: usize = 1_000;

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
            (Some("sessions"), Some(id)) if self.sessions.len() < SESSIONS_MAX => {
                self.sessions.insert(id.to_owned());
            }
            (Some("results"), _) => self.results = true,
            (Some("skills"), _) => self.skills = true,
            _ => self.everything = true,
        }
    }

    /// It wasn't as it should be, and is looked at once more.
    pub fn again(&mut self, scope: Scope) {
        match scope {
            Scope::Session(id) => drop(self.sessions.insert(id)),
            Scope::Results => self.results = true,
            Scope::Skills => self.skills = true,
            Scope::Everything => self.everything = true,
            Scope::Settings => {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changed_is_looked_at_once_and_the_single_files_always() {
        let mut scopes = Scopes::all();
        assert_eq!(scopes.take(), [Scope::Everything]);
        assert_eq!(scopes.take(), [Scope::Settings]);
        for path in ["sessions/b", "sessions/a/workspace/x", "results/o/h.json", "sessions/b"] {
            scopes.changed(path);
        }
        let session = |id: &str| Scope::Session(id.to_owned());
        assert_eq!(scopes.take(), [session("a"), session("b"), Scope::Results, Scope::Settings]);
        scopes.changed("skills/x");
        assert_eq!(scopes.take(), [Scope::Skills, Scope::Settings]);
        scopes.changed("something/else");
        assert_eq!(scopes.take(), [Scope::Everything]);
    }

    #[test]
    fn with_very_many_sessions_everything_is_looked_at() {
        let mut scopes = Scopes::all();
        scopes.take();
        (0..SESSIONS_MAX + 1).for_each(|number| scopes.changed(&format!("sessions/{number}")));
        assert_eq!(scopes.take(), [Scope::Everything]);
    }
}
