//! Who calls, and what they may do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use gristmill_domain::policy::TokenLimits;
use serde::{Deserialize, Serialize};

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Run programs, and everything that `Search` permits.
    Execute,
    /// Look at tools: search, definitions, lists.
    Search,
    /// See what everyone has run, in figures, and change the skills that all share.
    Admin,
    /// Read the figures at `/metrics`, and nothing else.
    Metrics,
}

impl Scope {
    pub const ALL: [Scope; 4] = [Scope::Execute, Scope::Search, Scope::Admin, Scope::Metrics];

    /// What a caller needs for its own work.
    pub const USUAL: [Scope; 2] = [Scope::Execute, Scope::Search];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Execute => "execute",
            Scope::Search => "search",
            Scope::Admin => "admin",
            Scope::Metrics => "metrics",
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no such scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{0}`; the scopes are execute, search, admin and metrics")]
pub struct UnknownScope(String);

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Scope::ALL
            .into_iter()
            .find(|scope| scope.as_str() == text)
            .ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// The owner of this gateway, and everyone who is taken for them.
const LOCAL: &str = "local";

/// Of whom nothing is known but that they reach us.
const ANYONE: &str = "anyone";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The name of their token, or `local`.
    pub name: String,
    /// Which token it is: another one of the same name is somebody else. Not the token itself, nor
    /// its hash.
    pub identity: String,
    /// What they may do.
    pub scopes: BTreeSet<Scope>,
    /// What their token is limited to; `None` if it is not.
    pub limits: Option<Arc<TokenLimits>>,
}

impl Caller {
    /// Whoever started us, or has shown to be the same user: by the local owner's token, or at a socket
    /// that lets nobody else in.
    pub fn local() -> Self {
        let (name, identity) = (LOCAL.to_owned(), LOCAL.to_owned());
        Self { name, identity, scopes: BTreeSet::from(Scope::ALL), limits: None }
    }

    /// Whoever reaches us where no token is required: they have the local owner's rights, and may be
    /// anyone on this machine.
    pub fn anyone() -> Self {
        Self { identity: ANYONE.to_owned(), ..Self::local() }
    }

    /// Whether it is one person or program who calls, and not whoever comes by.
    pub fn is_someone(&self) -> bool {
        self.identity != ANYONE
    }

    /// Whether they have a token of their own.
    pub fn has_token(&self) -> bool {
        self.name != LOCAL
    }

    /// Whether they may do this. Who may execute may search; who may only read metrics may not.
    pub fn may(&self, scope: Scope) -> bool {
        match scope {
            Scope::Execute => self.scopes.contains(&Scope::Execute),
            Scope::Search => self.scopes.iter().any(|scope| *scope != Scope::Metrics),
            Scope::Admin => self.scopes.contains(&Scope::Admin),
            Scope::Metrics => self.scopes.contains(&Scope::Metrics),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_execute_may_search_and_not_the_other_way_round() {
        let caller =
            |scopes: &[Scope]| Caller { scopes: scopes.iter().copied().collect(), ..Caller::local() };
        let check = |scopes: &[Scope], expected: (bool, bool)| {
            let caller = caller(scopes);
            assert_eq!((caller.may(Scope::Execute), caller.may(Scope::Search)), expected, "{scopes:?}");
        };
        check(&[], (false, false));
        check(&[Scope::Metrics], (false, false));
        check(&[Scope::Search], (false, true));
        check(&[Scope::Execute], (true, true));
        assert!(!caller(&Scope::USUAL).may(Scope::Admin) && caller(&[Scope::Admin]).may(Scope::Admin));
        assert!(Caller::local().may(Scope::Execute));
    }

    #[test]
    fn the_owner_is_someone_and_whoever_comes_by_is_not() {
        let known = |caller: Caller| (caller.is_someone(), caller.has_token(), caller.may(Scope::Admin));
        assert_eq!(known(Caller::local()), (true, false, true));
        assert_eq!(known(Caller::anyone()), (false, false, true));
    }

    #[test]
    fn a_scope_is_read_as_it_is_written() {
        for scope in Scope::ALL {
            assert_eq!(scope.to_string().parse(), Ok(scope));
        }
        assert_eq!(
            "root".parse::<Scope>().map_err(|error| error.to_string()),
            Err("unknown scope `root`; the scopes are execute, search, admin and metrics".to_owned())
        );
    }
}
