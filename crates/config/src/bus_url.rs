//! Where a NATS server is reached: encrypted, or on this machine.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::problem::ProblemKind;

/// Names of hosts aren't longer.
const HOST_BYTES_MAX: usize = 253;

/// `tls://`, or `nats://` with an address of this machine. No user, no password, no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BusUrl(String);

impl BusUrl {
    pub fn read(text: &str) -> Result<Self, ProblemKind> {
        let (is_encrypted, rest) = match (text.strip_prefix("tls://"), text.strip_prefix("nats://")) {
            (Some(rest), _) => (true, rest),
            (None, Some(rest)) => (false, rest),
            (None, None) => return Err(ProblemKind::BadBusUrl),
        };
        if rest.contains('@') {
            return Err(ProblemKind::PasswordInUrl);
        }
        let host = Host::read(rest).ok_or(ProblemKind::BadBusUrl)?;
        if !is_encrypted && !host.is_this_machine() {
            return Err(ProblemKind::BusNotEncrypted);
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

enum Host<'a> {
    Name(&'a str),
    V4(Ipv4Addr),
    V6(Ipv6Addr),
}

impl<'a> Host<'a> {
    /// Of `host`, `host:port` or `[address]:port`.
    fn read(text: &'a str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix('[') {
            let (address, rest) = rest.split_once(']')?;
            let is_over = rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port);
            return is_over.then(|| address.parse().ok().map(Self::V6))?;
        }
        let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
        if !port.is_none_or(is_port) {
            return None;
        }
        host.parse().map(Self::V4).ok().or_else(|| is_name(host).then_some(Self::Name(host)))
    }

    fn is_this_machine(&self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::V4(address) => address.is_loopback(),
            Self::V6(address) => address.is_loopback(),
        }
    }
}

fn is_port(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u16>().is_ok_and(|port| port > 0)
}

fn is_name(host: &str) -> bool {
    let is_part = |part: &str| {
        let is_sign = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        !part.is_empty() && part.len() <= 63 && part.bytes().all(is_sign)
    };
    host.len() <= HOST_BYTES_MAX && host.strip_suffix('.').unwrap_or(host).split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_encrypted_addresses_and_those_of_this_machine_are_taken() {
        for good in [
            "tls://nats.example.com:4222",
            "tls://nats",
            "tls://10.0.0.5:4222",
            "tls://[2001:db8::1]:4222",
            "nats://localhost:4222",
            "nats://127.0.0.1",
            "nats://127.8.9.1:4333",
            "nats://[::1]:4222",
        ] {
            assert_eq!(BusUrl::read(good).expect(good).as_str(), good);
        }
        let check = |wrong: &str, expected: &str| {
            let said = BusUrl::read(wrong).expect_err(wrong).to_string();
            assert!(said.contains(expected), "{wrong}: {said}");
        };
        for far in ["nats://nats.example.com:4222", "nats://10.0.0.5", "nats://localhost.example.com"] {
            check(far, "use `tls://`");
        }
        for named in ["tls://me:hunter2@nats.example.com", "nats://token@localhost"] {
            check(named, "use `nkey`");
        }
        for wrong in [
            "",
            "tls://",
            "nats.example.com:4222",
            "http://nats.example.com",
            "tls://nats.example.com:0",
            "tls://nats.example.com:70000",
            "tls://nats.example.com:+1",
            "tls://nats.example.com:4222/path",
            "tls://nats example.com",
            "tls://${NATS}",
            "tls://[::1",
            "tls://[::1]4222",
            "tls://[nats]:4222",
            "tls://a..b",
        ] {
            check(wrong, "isn't the address of a NATS server");
        }
    }
}
