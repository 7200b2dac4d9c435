//! What a leader is told about a connection before its first byte.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::limits::{NAME_BYTES_MAX, NAMES_MAX, PEER_BYTES_MAX};

/// What the gateway that accepted a connection knows about it. The leader knows the gateway as a member of the
/// cluster, and the client no better than the gateway does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// Names under which the gateway is reached: requests of this connection name one of them.
    #[serde(deserialize_with = "few_texts")]
    pub hosts: Vec<String>,
    /// Web pages that may call it.
    #[serde(deserialize_with = "few_texts")]
    pub origins: Vec<String>,
    /// Where the client connects from, for logs.
    pub peer: Option<String>,
}

/// Too much to say about a connection. Nothing is passed on with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpeningError {
    #[error("{count} {what} are more than the {NAMES_MAX} that go along with a connection; allow fewer")]
    TooMany { what: &'static str, count: usize },
    #[error("{what} of {bytes} bytes is too long to go along with a connection (limit {bytes_max})")]
    TooLong { what: &'static str, bytes: usize, bytes_max: usize },
}

impl Opening {
    /// Whether connections can be passed on with it.
    pub fn check(&self) -> Result<(), OpeningError> {
        for (what, one, names) in [
            ("allowed hosts", "an allowed host", &self.hosts),
            ("allowed origins", "an allowed origin", &self.origins),
        ] {
            if names.len() > NAMES_MAX {
                return Err(OpeningError::TooMany { what, count: names.len() });
            }
            for name in names {
                check_length(one, name, NAME_BYTES_MAX)?;
            }
        }
        self.peer.iter().try_for_each(|peer| check_length("a client's address", peer, PEER_BYTES_MAX))
    }
}

fn check_length(what: &'static str, text: &str, bytes_max: usize) -> Result<(), OpeningError> {
    match text.len() {
        bytes if bytes > bytes_max => Err(OpeningError::TooLong { what, bytes, bytes_max }),
        _ => Ok(()),
    }
}

/// Stops at the first text too many: a message of a few megabytes could name millions, each with room of its own.
fn few_texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct FewTexts;

    impl<'de> Visitor<'de> for FewTexts {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {NAMES_MAX} texts")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = sequence.next_element()? {
                if texts.len() >= NAMES_MAX {
                    return Err(A::Error::custom("too many texts"));
                }
                texts.push(text);
            }
            Ok(texts)
        }
    }

    deserializer.deserialize_seq(FewTexts)
}

#[cfg(test)]
mod tests {
    use gristmill_replica::seal::Seal;
    use serde_bytes::ByteBuf;

    use super::*;
    use crate::link::PACKET_BYTES_MAX;
    use crate::relay::limits::MESSAGE_BYTES_MAX;
    use crate::relay::message::Said;
    use crate::wire::WIRE_VERSION;

    fn largest() -> Opening {
        let names = vec!["n".repeat(NAME_BYTES_MAX); NAMES_MAX];
        Opening { hosts: names.clone(), origins: names, peer: Some("p".repeat(PEER_BYTES_MAX)) }
    }

    #[test]
    fn the_largest_opening_fits_into_one_packet_and_reads_back() {
        assert_eq!(largest().check(), Ok(()));
        let said = Said::Open { wire: WIRE_VERSION, opening: largest() };
        let bytes = postcard::to_stdvec(&said).unwrap();
        let sealed = Seal::of(&[7; 32]).seal("a place", &bytes).unwrap();
        let sent = postcard::to_stdvec(&ByteBuf::from(sealed)).unwrap();
        assert!(sent.len() + size_of::<u32>() <= PACKET_BYTES_MAX, "{} bytes", sent.len());
        assert!(sent.len() <= MESSAGE_BYTES_MAX);
        let Said::Open { opening, .. } = postcard::from_bytes(&bytes).unwrap() else { panic!("an opening") };
        assert_eq!(opening, largest());
    }

    #[test]
    fn an_opening_that_says_too_much_is_refused_with_what_it_is() {
        let check = |change: fn(&mut Opening), says: &str| {
            let mut opening = Opening::default();
            change(&mut opening);
            assert_eq!(opening.check().map_err(|error| error.to_string()), Err(says.to_owned()));
        };
        check(
            |opening| opening.hosts = vec!["h".to_owned(); NAMES_MAX + 1],
            "129 allowed hosts are more than the 128 that go along with a connection; allow fewer",
        );
        check(
            |opening| opening.origins = vec!["o".repeat(NAME_BYTES_MAX + 1)],
            "an allowed origin of 301 bytes is too long to go along with a connection (limit 300)",
        );
        check(
            |opening| opening.peer = Some("p".repeat(PEER_BYTES_MAX + 1)),
            "a client's address of 101 bytes is too long to go along with a connection (limit 100)",
        );
    }

    #[test]
    fn a_message_that_names_more_hosts_than_may_be_is_not_read_to_its_end() {
        #[derive(Serialize)]
        struct Unbounded {
            hosts: Vec<String>,
            origins: Vec<String>,
            peer: Option<String>,
        }
        let many = Unbounded { hosts: vec![String::new(); 100_000], origins: Vec::new(), peer: None };
        assert!(postcard::from_bytes::<Opening>(&postcard::to_stdvec(&many).unwrap()).is_err());
    }
}
