//! Whose an execution is, a session, a stored result.

/// Of the hash that tells tokens of one name apart.
const IDENTITY_DIGITS: usize = 64;

/// Who may ask about an execution, and whose sessions it may use.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner(pub String);

impl Owner {
    /// Whoever uses this machine: the command line, a client over pipes, and callers over HTTP from
    /// this machine who need no token.
    pub const LOCAL: &'static str = "local";

    pub fn local() -> Self {
        Self(Self::LOCAL.to_owned())
    }

    /// Whoever calls with a token of this name.
    pub fn of_token(identity: &str) -> Self {
        Self(format!("http:{identity}"))
    }

    /// By the name of its token: the digits of its identity say nothing to a person, and are wider than most
    /// places where an owner is shown.
    pub fn without_identity(&self) -> &str {
        let is_identity =
            |text: &str| text.len() == IDENTITY_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self.0.rsplit_once(':') {
            Some((name, identity)) if is_identity(identity) => name,
            Some(_) | None => &self.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_told_by_the_name_of_its_token() {
        let digits = "a1".repeat(32);
        assert_eq!(Owner::of_token(&format!("laptop:{digits}")).without_identity(), "http:laptop");
        for whole in ["local", "http:laptop", "http:laptop:a1"] {
            assert_eq!(Owner(whole.to_owned()).without_identity(), whole);
        }
    }
}
