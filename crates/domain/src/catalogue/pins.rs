//! What was approved, as it is written down between runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::offer::{ItemKind, OfferItem};

/// The version of the written form of `Pins`.
pub const PINS_FORMAT: u32 = 2;

/// Tools alone were pinned in this one.
const TOOLS_ONLY: u32 = 1;

/// What was approved, of all servers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// `PINS_FORMAT`.
    pub format: u32,
    /// By the server's configured name.
    pub servers: BTreeMap<String, ServerPins>,
}

impl Default for Pins {
    fn default() -> Self {
        Self { format: PINS_FORMAT, servers: BTreeMap::new() }
    }
}

/// What was approved of one server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerPins {
    /// By kind, then by name. A kind that is missing was never seen. Items that the server no longer
    /// offers are kept: coming back is no way around a review.
    pub kinds: BTreeMap<ItemKind, BTreeMap<String, Pin>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Of the item, in hex.
    pub hash: String,
    /// The item as it was approved, to show what changed.
    pub raw: String,
    /// How it came to be approved.
    pub approved: Approval,
}

/// How an item came to be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// It was there when the server was first seen.
    FirstUse,
    /// The setting accepted it.
    Setting,
    Person,
}

/// A text that is no pins of ours. Nothing is approved by it.
#[derive(Debug, thiserror::Error)]
pub enum PinsTextError {
    #[error("{0}; fix the file or move it away, then review the tools again")]
    Damaged(#[from] serde_json::Error),
    /// Of another version of Gristmill.
    #[error("it has format {0}, this version reads {PINS_FORMAT}")]
    Format(u32),
}

impl Pins {
    /// As any version up to this one wrote it.
    pub fn from_text(text: &str) -> Result<Self, PinsTextError> {
        #[derive(Deserialize)]
        struct Written {
            format: u32,
        }
        #[derive(Deserialize)]
        struct OfTools {
            servers: BTreeMap<String, BTreeMap<String, Pin>>,
        }
        // Nearly always it is of this version: that is read in one go.
        if let Ok(pins) = serde_json::from_str::<Self>(text)
            && pins.format == PINS_FORMAT
        {
            return Ok(pins);
        }
        match serde_json::from_str::<Written>(text)?.format {
            PINS_FORMAT => Ok(serde_json::from_str(text)?),
            TOOLS_ONLY => {
                let written: OfTools = serde_json::from_str(text)?;
                let of_tools = |tools| ServerPins { kinds: BTreeMap::from([(ItemKind::Tool, tools)]) };
                let servers = written.servers.into_iter().map(|(name, tools)| (name, of_tools(tools)));
                Ok(Self { format: PINS_FORMAT, servers: servers.collect() })
            }
            other => Err(PinsTextError::Format(other)),
        }
    }
}

impl ServerPins {
    /// What is pinned of one kind, if that kind was ever seen.
    pub fn of(&self, kind: ItemKind) -> Option<&BTreeMap<String, Pin>> {
        self.kinds.get(&kind)
    }

    /// The bytes of all definitions that are remembered.
    pub fn raw_bytes(&self) -> usize {
        self.kinds.values().flat_map(BTreeMap::values).map(|pin| pin.raw.len()).sum()
    }
}

impl Pin {
    pub(super) fn of<T: OfferItem>(item: &T, approved: Approval) -> Self {
        Self { hash: item.item_hash().to_hex(), raw: item.item_text().into_owned(), approved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_older_version_wrote_is_read_and_pins_tools_alone() {
        let pin = r#"{"hash":"00","raw":"{}","approved":"first-use"}"#;
        let read = Pins::from_text(&format!(r#"{{"format":1,"servers":{{"s":{{"a":{pin}}}}}}}"#));
        let pins = read.expect("pins");
        assert_eq!(pins.format, PINS_FORMAT);
        let kinds: Vec<_> = pins.servers["s"].kinds.keys().collect();
        assert_eq!(kinds, [&ItemKind::Tool]);
        let text = serde_json::to_string(&pins).expect("pins");
        assert_eq!(text, format!(r#"{{"format":2,"servers":{{"s":{{"tools":{{"a":{pin}}}}}}}}}"#));
        assert_eq!(Pins::from_text(&text).expect("pins"), pins);
    }

    #[test]
    fn what_a_newer_version_wrote_is_refused() {
        let error = Pins::from_text(r#"{"format":3,"servers":[]}"#).expect_err("a newer one");
        assert_eq!(error.to_string(), "it has format 3, this version reads 2");
        assert!(Pins::from_text("{broken").is_err());
    }
}
