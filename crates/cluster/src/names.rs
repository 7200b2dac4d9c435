//! Names of clusters, machines, labels and links: what may stand in a subject of the bus.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A name that is no part of a subject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` isn't a {what}: use 1 to {longest} of a-z, 0-9 and -")]
pub struct BadName {
    given: String,
    what: &'static str,
    longest: usize,
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $longest:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = BadName;

            fn from_str(given: &str) -> Result<Self, BadName> {
                let is_letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
                let fits = !given.is_empty() && given.len() <= $longest && given.bytes().all(is_letter);
                match fits {
                    true => Ok(Self(given.to_owned())),
                    false => {
                        let given = given.chars().take(60).collect();
                        Err(BadName { given, what: $what, longest: $longest })
                    }
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadName;

            fn try_from(given: String) -> Result<Self, BadName> {
                given.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name!(
    /// Which cluster, among those that share a bus.
    ClusterName,
    "cluster name",
    32
);
name!(
    /// A machine, as a gateway or as a node.
    NodeName,
    "node name",
    48
);
name!(
    /// What a machine is, for programs that ask for it: `gpu`, `eu`.
    Label,
    "label",
    32
);

/// One program's way between its gateway and its node. Nobody guesses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkId(u128);

impl LinkId {
    pub(crate) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(u128::from_be_bytes(bytes)))
    }

    pub(crate) fn read(text: &str) -> Option<Self> {
        let fits = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| u128::from_str_radix(text, 16).ok().map(Self)).flatten()
    }
}

impl fmt::Display for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// Which run of a process this is: one that starts again under its name is another.
pub(crate) fn new_incarnation() -> Result<u64, getrandom::Error> {
    getrandom::u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_part_of_a_subject() {
        for good in ["gateway-1", "a", "0"] {
            assert_eq!(good.parse::<NodeName>().unwrap().as_str(), good);
        }
        let long = "a".repeat(49);
        for bad in ["", "a.b", "a*", ">", "A", "a b", "ä", long.as_str()] {
            let said = bad.parse::<NodeName>().unwrap_err().to_string();
            assert!(said.ends_with("isn't a node name: use 1 to 48 of a-z, 0-9 and -"), "{said}");
        }
    }

    #[test]
    fn a_link_reads_back_and_anything_else_does_not() {
        let link = LinkId::new().unwrap();
        assert_eq!(LinkId::read(&link.to_string()), Some(link));
        for bad in ["", "+1", "ABCDEFABCDEFABCDEFABCDEFABCDEFAB", "1"] {
            assert_eq!(LinkId::read(bad), None, "{bad}");
        }
    }
}
