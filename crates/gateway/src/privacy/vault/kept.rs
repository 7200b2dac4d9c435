//! What a token stands for.

use std::fmt;

use gristmill_privacy::{Form, Kind};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

/// Servers beyond these aren't remembered.
pub(in crate::privacy) const SERVERS_MAX: usize = 32;

/// Lengths of values are hidden within steps of so many bytes.
const PADDED_BYTES: usize = 64;

/// A value that needs a token.
#[derive(Clone, Copy)]
pub struct Wanted<'w> {
    pub kind: &'w Kind,
    pub value: &'w str,
    pub form: Form,
    /// Whether it is a number in JSON. The first time counts.
    pub is_number: bool,
    /// Where it came from.
    pub server: Option<&'w str>,
}

/// A value that has a token. Wiped from memory when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Kept {
    pub kind: Kind,
    pub value: Zeroizing<String>,
    /// Whether it is a number in JSON.
    pub is_number: bool,
    /// The servers that it came from.
    pub servers: Vec<String>,
}

#[derive(Serialize)]
struct Written<'k> {
    k: &'k Kind,
    v: &'k str,
    n: bool,
    s: &'k [String],
}

#[derive(Deserialize)]
struct Read {
    k: Kind,
    v: String,
    n: bool,
    s: Vec<String>,
}

impl Kept {
    pub(super) fn of(wanted: &Wanted<'_>) -> Self {
        Self {
            kind: wanted.kind.clone(),
            value: Zeroizing::new(wanted.value.to_owned()),
            is_number: wanted.is_number,
            servers: wanted.server.map(str::to_owned).into_iter().collect(),
        }
    }

    pub(super) fn is(&self, kind: &Kind, value: &str) -> bool {
        self.kind == *kind && *self.value == value
    }

    /// Whether there is nothing to add for a server.
    pub(super) fn is_from(&self, server: Option<&str>) -> bool {
        server.is_none_or(|server| self.servers.iter().any(|known| known == server))
            || self.servers.len() >= SERVERS_MAX
    }

    pub(super) fn add_servers(&mut self, servers: &[String]) {
        for server in servers {
            if !self.is_from(Some(server)) {
                self.servers.push(server.clone());
            }
        }
    }

    /// What it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + self.value.len()
            + self.servers.iter().map(|server| server.len() + 24).sum::<usize>()
    }

    /// As it is sealed: JSON with spaces behind it.
    pub(super) fn written(&self) -> Zeroizing<Vec<u8>> {
        let written = Written { k: &self.kind, v: &self.value, n: self.is_number, s: &self.servers };
        // Room for all of it: a buffer that grows leaves copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(self.bytes() * 6 + 512));
        // Writing into memory doesn't fail.
        let _ = serde_json::to_writer(&mut *bytes, &written);
        let padded = bytes.len().next_multiple_of(PADDED_BYTES);
        bytes.resize(padded, b' ');
        bytes
    }

    pub(super) fn read(written: &[u8]) -> Option<Self> {
        let Read { k, v, n, s } = serde_json::from_slice(written).ok()?;
        Some(Self { kind: k, value: Zeroizing::new(v), is_number: n, servers: s })
    }
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kept({})", self.kind)
    }
}

impl fmt::Debug for Wanted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Wanted({})", self.kind)
    }
}
