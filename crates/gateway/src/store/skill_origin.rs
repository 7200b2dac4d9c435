//! Where a version of a skill came from.

use gristmill_domain::one_line;
use gristmill_domain::policy::Seen;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ids::{Caller, Owner};

/// A client says any name that it likes.
const CLIENT_CHARS_MAX: usize = 64;

/// Who made a version, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase")]
pub enum SkillOrigin {
    /// Whoever sits at this machine, by a command.
    #[default]
    Person,
    /// An agent, itself or by its program.
    Agent {
        owner: String,
        /// What its client calls itself.
        client: Option<String>,
        session: Option<String>,
        /// None if the agent saved it itself.
        execution: Option<String>,
        /// Which marked data it had read by then.
        #[serde(default, skip_serializing_if = "Seen::is_empty")]
        seen: Seen,
    },
}

impl SkillOrigin {
    pub fn of(caller: &Caller) -> Self {
        SkillOrigin::Agent {
            owner: caller.owner.0.clone(),
            client: caller.client.as_ref().map(|client| one_line(&client.name, CLIENT_CHARS_MAX)),
            session: caller.session.as_ref().map(ToString::to_string),
            execution: caller.execution.as_ref().map(ToString::to_string),
            seen: Seen::default(),
        }
    }

    /// Whose a name is that it saves first: the agent's, whichever session it works in; none for a person.
    pub fn holder(&self) -> Option<String> {
        match self {
            SkillOrigin::Person => None,
            SkillOrigin::Agent { owner, client, .. } => Some(json!([owner, client]).to_string()),
        }
    }

    /// Which marked data is in it; none in what a person made.
    pub fn seen(&self) -> Seen {
        match self {
            SkillOrigin::Person => Seen::default(),
            SkillOrigin::Agent { seen, .. } => seen.clone(),
        }
    }

    /// The same, made from this as well. A person looks at what is made.
    pub(crate) fn with_seen(mut self, more: &Seen) -> Self {
        if let SkillOrigin::Agent { seen, .. } = &mut self {
            seen.add(more);
        }
        self
    }

    /// The same once a person has looked at what was made.
    pub(crate) fn approved(mut self) -> Self {
        if let SkillOrigin::Agent { seen, .. } = &mut self {
            *seen = Seen::default();
        }
        self
    }

    /// Who did it, in a word.
    pub fn by(&self) -> String {
        match self {
            SkillOrigin::Person => Owner::LOCAL.to_owned(),
            SkillOrigin::Agent { execution: Some(_), .. } => "a program".to_owned(),
            SkillOrigin::Agent { owner, .. } => one_line(owner, 100),
        }
    }

    /// Who did it and from where, for people.
    pub fn told(&self) -> String {
        let SkillOrigin::Agent { owner, client, session, execution, .. } = self else { return self.by() };
        let mut told = match execution {
            Some(execution) => format!("a program of {owner}, execution {execution}"),
            None => owner.clone(),
        };
        for (what, value) in [("client", client), ("session", session)] {
            if let Some(value) = value {
                told.push_str(&format!(", {what} {value}"));
            }
        }
        one_line(&told, 400)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Client, ExecutionId};

    #[test]
    fn an_agent_is_its_owner_and_client_whichever_session_it_works_in() {
        let of = |owner: &str, client: Option<&str>| {
            let client = client.map(|name| Client { name: name.to_owned(), version: "1".to_owned() });
            Caller { client, ..Caller::of(Owner(owner.to_owned())) }
        };
        let one = SkillOrigin::of(&of("local", Some("one")));
        let later = of("local", Some("one")).in_execution(ExecutionId::new().expect("an id"), None);
        assert_eq!(one.holder(), SkillOrigin::of(&later).holder());
        for other in [of("local", Some("two")), of("local", None), of("http:ada", Some("one"))] {
            assert_ne!(one.holder(), SkillOrigin::of(&other).holder(), "{other:?}");
        }
        assert_eq!(SkillOrigin::Person.holder(), None);
    }

    #[test]
    fn it_says_which_program_of_whom() {
        let origin = SkillOrigin::Agent {
            owner: "http:ada".to_owned(),
            client: Some("editor".to_owned()),
            session: None,
            execution: Some("e1".to_owned()),
            seen: Seen::default(),
        };
        assert_eq!(origin.told(), "a program of http:ada, execution e1, client editor");
        assert_eq!(SkillOrigin::Person.told(), "local");
    }
}
