//! What clusters, nodes and their labels are called. The names stand in subjects of a bus, so they are plain.

/// The cluster, if nothing is said.
pub const CLUSTER_DEFAULT: &str = "gristmill";

pub const CLUSTER_CHARS_MAX: usize = 32;
pub const NODE_CHARS_MAX: usize = 48;
pub const LABEL_CHARS_MAX: usize = 32;

/// Of one machine, or of one rule.
pub const LABELS_MAX: usize = 16;

/// Lowercase letters, digits and `-`.
pub fn is_plain_name(name: &str, chars_max: usize) -> bool {
    (1..=chars_max).contains(&name.len()) && name.bytes().all(is_plain)
}

/// A machine's host name, made fit for a node's.
pub fn node_name_of_host(host: &str) -> String {
    let plain = |c: char| match c.to_ascii_lowercase() {
        c if u8::try_from(c).is_ok_and(is_plain) => c,
        _ => '-',
    };
    let name: String = host.trim_matches(|c: char| !c.is_ascii_alphanumeric()).chars().map(plain).collect();
    let name = name.get(..NODE_CHARS_MAX).unwrap_or(&name).trim_end_matches('-');
    if name.is_empty() { "node".to_owned() } else { name.to_owned() }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_name_becomes_the_name_of_a_node() {
        let check = |host: &str, expected: &str| {
            assert_eq!(node_name_of_host(host), expected, "{host}");
            assert!(is_plain_name(expected, NODE_CHARS_MAX), "{expected}");
        };
        check("gateway-1", "gateway-1");
        check("Web01.Example.COM", "web01-example-com");
        check("my_machine.", "my-machine");
        check("büro", "b-ro");
        check("…", "node");
        check("", "node");
        check(&"a".repeat(60), &"a".repeat(48));
        check(&format!("{}.b", "a".repeat(47)), &"a".repeat(47));
    }

    #[test]
    fn other_signs_are_no_name() {
        for wrong in ["", "Team", "a.b", "a b", "a>", "a*", "ä", &"a".repeat(33)] {
            assert!(!is_plain_name(wrong, CLUSTER_CHARS_MAX), "{wrong}");
        }
        assert!(is_plain_name(&"a".repeat(32), CLUSTER_CHARS_MAX) && is_plain_name("9-a", CLUSTER_CHARS_MAX));
    }
}
