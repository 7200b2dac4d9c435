//! What is configured about one upstream server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::hosts::HostsSettings;
use crate::policy::Marks;
use crate::server_sandbox::Sandboxing;
use crate::{PrivacyMode, SecretText, ToolRules};

/// One server, as the configuration describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// The name that everyone uses for it.
    pub name: String,
    /// How it is reached.
    pub transport: Transport,
    /// A line for the index; without it the server's own words are taken.
    pub description: Option<String>,
    /// A word to filter searches by.
    pub category: Option<String>,
    /// Whether it is connected at all.
    pub enabled: bool,
    pub limits: ServerLimits,
    /// Which changes of its tools need no review.
    pub accept: Accept,
    /// The version of the protocol to speak with it; without it, it is asked which ones it speaks.
    pub protocol: Option<Protocol>,
    /// Which of its tools are offered.
    pub tools: ToolRules,
    /// Whether it is confined, if we start it.
    pub sandbox: Sandboxing,
    /// What its data is, and whether what is sent to it leaves the house.
    pub marks: Marks,
    /// How far personal data of it may go, if not as far as that of others.
    pub privacy: Option<PrivacyMode>,
}

impl ServerSettings {
    /// A server with nothing said about it but how it is reached.
    pub fn new(name: impl Into<String>, transport: Transport) -> Self {
        Self {
            name: name.into(),
            transport,
            description: None,
            category: None,
            enabled: true,
            limits: ServerLimits::default(),
            accept: Accept::default(),
            protocol: None,
            tools: ToolRules::default(),
            sandbox: Sandboxing::default(),
            marks: Marks::default(),
            privacy: None,
        }
    }

    /// A program to start, with its arguments as they are.
    pub fn program(name: impl Into<String>, command: impl Into<String>, args: &[&str]) -> Self {
        let transport = Transport::Stdio {
            command: SecretText::plain(command),
            args: args.iter().map(|argument| SecretText::plain(*argument)).collect(),
            env: BTreeMap::new(),
            cwd: None,
        };
        Self::new(name, transport)
    }
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program that we start, spoken to over its standard input and output.
    Stdio {
        command: SecretText,
        args: Vec<SecretText>,
        /// Its environment, beyond the few variables that every program needs.
        env: BTreeMap<String, SecretText>,
        cwd: Option<PathBuf>,
    },
    Http {
        url: SecretText,
        /// Sent with every request.
        headers: BTreeMap<String, SecretText>,
        /// For servers that want a login.
        oauth: OAuthSettings,
    },
    /// No server, but hosts that programs may send requests to; the requests are its tools.
    Hosts(HostsSettings),
}

/// How to log in to a server that asks for it. All of it is optional: most servers say themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OAuthSettings {
    /// For servers that know us under an id already.
    pub client_id: Option<SecretText>,
    pub client_secret: Option<SecretText>,
    /// What to ask for; without it, what the server advises.
    pub scopes: Vec<String>,
    /// The loopback port for the answer; without it any free one.
    pub callback_port: Option<u16>,
}

/// The limits of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// From its start to its list of tools.
    pub startup_ms: u64,
    /// For one call; progress prolongs it, up to ten times.
    pub call_ms: u64,
    /// Calls at once; further ones wait.
    pub parallel_calls: u64,
    pub result_bytes: u64,
    /// Calls in any minute; 0 means as many as you like.
    pub calls_per_minute: u64,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            startup_ms: 30_000,
            call_ms: 60_000,
            parallel_calls: 16,
            result_bytes: 16 * 1024 * 1024,
            calls_per_minute: 0,
        }
    }
}

/// Which changes of what a known server offers need no review.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// None: whatever is new or changed waits for `gristmill tools review`.
    #[default]
    Nothing,
    /// What is new is taken; what changed waits.
    Additions,
    Everything,
}

impl Accept {
    /// All of them, for messages.
    pub const NAMES: [&str; 3] = ["nothing", "additions", "everything"];

    /// By its name in the configuration.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "nothing" => Some(Self::Nothing),
            "additions" => Some(Self::Additions),
            "everything" => Some(Self::Everything),
            _ => None,
        }
    }

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Additions => "additions",
            Self::Everything => "everything",
        }
    }
}

/// A version of the Model Context Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    V20241105,
    V20250326,
    V20250618,
    /// The newest with a handshake.
    V20251125,
    /// Without a handshake.
    V20260728,
}

impl Protocol {
    pub const ALL: [Self; 5] =
        [Self::V20260728, Self::V20251125, Self::V20250618, Self::V20250326, Self::V20241105];

    /// All of them, for messages.
    pub const NAMES: [&str; 5] = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

    /// By its name in the configuration and on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.name() == name)
    }

    /// Its name in the configuration and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::V20241105 => "2024-11-05",
            Self::V20250326 => "2025-03-26",
            Self::V20250618 => "2025-06-18",
            Self::V20251125 => "2025-11-25",
            Self::V20260728 => "2026-07-28",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_is_found_by_its_name() {
        assert_eq!(Protocol::ALL.map(Protocol::name), Protocol::NAMES);
        assert_eq!(Protocol::NAMES.map(Protocol::from_name), Protocol::ALL.map(Some));
        assert_eq!(Protocol::from_name("2025"), None);
    }
}
