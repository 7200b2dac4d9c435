//! Addresses of machines: IPv4, IPv6 and MAC.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::bytes::{before, is_name, is_word, run_end};
use crate::context::Context;
use crate::digits::checks::value;
use crate::digits::{Number, Separator};
use crate::finding::Finding;
use crate::kind::Kind;
use crate::topic::Topic;

/// The longest IPv6 address in text.
const IPV6_BYTES_MAX: usize = 45;

/// Four numbers with dots, unless they say nothing about anybody (this machine, a mask) or are a version.
pub fn ipv4(number: &Number, context: &Context) -> Option<Finding> {
    // With the length of its network, `/24`, it may still be that of one machine.
    let (lengths, has_network) = match number.lengths() {
        lengths @ [_, _, _, _] if number.is_joined_by(Separator::Dot) => (lengths, false),
        [lengths @ .., 1 | 2] if lengths.len() == 4 && number.ends_with_slash() => (lengths, true),
        _ => return None,
    };
    if number.has_plus {
        return None;
    }
    let mut parts = [0_u8; 4];
    let mut at = 0;
    for (part, length) in parts.iter_mut().zip(lengths) {
        let digits = number.digits().get(at..at + *length as usize)?;
        at += digits.len();
        let has_zero = digits.len() > 1 && digits[0] == 0;
        *part = u8::try_from(value(digits)).ok().filter(|_| !has_zero && digits.len() < 4)?;
    }
    let address = Ipv4Addr::from(parts);
    let is_empty = address.is_loopback() || address.is_unspecified() || parts[0] == 0 || parts[0] == 255;
    if is_empty || address.is_multicast() {
        return None;
    }
    let is_named = context.has(Topic::Ip, number.start);
    let confidence = match parts {
        _ if is_named => 95,
        _ if context.says(Topic::Version, number.start) => 40,
        // As likely a version.
        [first, rest @ ..] if first < 10 && rest.iter().all(|part| *part < 50) => 45,
        [_, _, _, 0] if has_network => 40,
        [_, _, _, 0] => 60,
        _ => 85,
    };
    Some(Finding::new(Kind::IpAddress, number.start..number.end, confidence, "ipv4"))
}

/// An IPv6 or MAC address that starts at `start`, a hexadecimal word or a colon.
pub fn with_colons(text: &str, start: usize, context: &Context) -> Option<Finding> {
    let bytes = text.as_bytes();
    if before(bytes, start).is_some_and(|byte| is_name(byte) || byte == b':' || byte == b'.') {
        return None;
    }
    let belongs = |byte: u8| byte.is_ascii_hexdigit() || byte == b':';
    let end = run_end(bytes, start, IPV6_BYTES_MAX + 1, belongs);
    // An IPv4 address may be its end.
    let end_dotted = run_end(bytes, end, 16, |byte| byte.is_ascii_digit() || byte == b'.');
    let is_open = |end: usize| bytes.get(end).is_some_and(|byte| is_name(*byte) || *byte == b':');
    if is_open(end) || end - start > IPV6_BYTES_MAX {
        return None;
    }
    let written = text.get(start..end)?;
    if let Some(found) = mac(written, start, context) {
        return Some(found);
    }
    let dotted = text.get(start..end_dotted)?.trim_end_matches('.');
    if dotted.len() > end - start {
        return if end_dotted > end + 5 { ipv6(dotted, start, context) } else { None };
    }
    // A colon behind it is punctuation.
    let trimmed = if written.ends_with("::") { written } else { written.trim_end_matches(':') };
    ipv6(trimmed, start, context)
}

fn ipv6(written: &str, start: usize, context: &Context) -> Option<Finding> {
    if written.len() < 4 {
        return None;
    }
    let address: Ipv6Addr = written.parse().ok()?;
    let is_this_machine = |inner: Ipv4Addr| inner.is_loopback() || inner.is_unspecified();
    let is_mapped_here = address.to_ipv4_mapped().is_some_and(is_this_machine);
    if address.is_loopback() || address.is_unspecified() || address.is_multicast() || is_mapped_here {
        return None;
    }
    let groups = written.split(':').filter(|group| !group.is_empty()).count();
    let has_digit = written.bytes().any(|byte| byte.is_ascii_digit());
    let is_routed = matches!(address.segments()[0], 0x2000..=0x3FFF | 0xFC00..=0xFDFF | 0xFE80..=0xFEBF);
    let confidence = match (context.has(Topic::Ip, start), is_routed && has_digit) {
        (true, _) => 95,
        // Another address within it.
        (false, _) if written.contains('.') => 90,
        (false, true) if groups > 1 => 90,
        (false, _) if groups > 5 && has_digit => 85,
        (false, _) if groups > 3 && has_digit => 75,
        // `ab::cd` is a path in a program.
        (false, _) => 30,
    };
    Some(Finding::new(Kind::IpAddress, start..start + written.len(), confidence, "ipv6"))
}

/// Six pairs of hexadecimal digits with one separator between them.
fn mac(written: &str, start: usize, context: &Context) -> Option<Finding> {
    let bytes = written.as_bytes();
    if bytes.len() != 17 {
        return None;
    }
    let separator = bytes[2];
    let fits = |(at, byte): (usize, &u8)| {
        if at % 3 == 2 { *byte == separator } else { byte.is_ascii_hexdigit() }
    };
    let digits = || bytes.iter().filter(|byte| byte.is_ascii_hexdigit());
    let is_empty =
        digits().all(|byte| *byte == b'0') || digits().all(|byte| byte.eq_ignore_ascii_case(&b'f'));
    if !matches!(separator, b':' | b'-') || !bytes.iter().enumerate().all(fits) || is_empty {
        return None;
    }
    let has_letter = digits().any(|byte| !byte.is_ascii_digit());
    let confidence = match context.has(Topic::Mac, start) {
        true => 96,
        false if has_letter || separator == b':' => 90,
        false => 40,
    };
    Some(Finding::new(Kind::MacAddress, start..start + bytes.len(), confidence, "mac"))
}

/// A MAC address with hyphens, or in three groups with dots, that starts at `start`.
pub fn mac_without_colons(text: &str, start: usize, context: &Context) -> Option<Finding> {
    let bytes = text.as_bytes();
    let is_open = |at: usize| bytes.get(at).is_some_and(|byte| is_word(*byte) || matches!(byte, b'-' | b'_'));
    if before(bytes, start).is_some_and(|byte| is_name(byte) || matches!(byte, b'-' | b'.')) {
        return None;
    }
    match bytes.get(start + 2) {
        Some(b'-') if !is_open(start + 17) => mac(text.get(start..start + 17)?, start, context),
        _ => {
            let written = text.get(start..start + 14)?.as_bytes();
            let fits = |(at, byte): (usize, &u8)| {
                if at % 5 == 4 { *byte == b'.' } else { byte.is_ascii_hexdigit() }
            };
            let has_letter = written.iter().any(u8::is_ascii_alphabetic);
            let confidence = if context.has(Topic::Mac, start) { 94 } else { 75 };
            (written.iter().enumerate().all(fits) && has_letter && !is_open(start + 14))
                .then(|| Finding::new(Kind::MacAddress, start..start + 14, confidence, "mac"))
        }
    }
}
