//! Which pieces of a text look like secrets, by their names and by their shapes.

use std::ops::Range;

use gristmill_config::written::is_secret_name;

/// How tokens of well-known services begin. Each is followed by something long.
const PREFIXES: [&str; 45] = [
    "gmt_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "ntn_",
    "secret_",
    "lin_api_",
    "dop_v1_",
    "figd_",
    "SG.",
    "shpat_",
    "pplx-",
    "tvly-",
    "gsk_",
    "r8_",
    "tskey-",
    "ATATT3",
    "sntrys_",
    "phx_",
    "key-",
    "glsa_",
    "dckr_pat_",
    "whsec_",
    "sbp_",
    "vercel_",
];
/// A token with a known beginning is at least this long.
const PREFIXED_LENGTH_MIN: usize = 16;
/// Without one, this many letters and digits in a row.
const RANDOM_LENGTH_MIN: usize = 20;
const RANDOM_BITS_MIN: f64 = 3.3;

/// What comes before the secret in a header.
const SCHEMES: [&str; 5] = ["Bearer ", "bearer ", "Basic ", "Token ", "token "];

/// Whether a name of a variable, a header or a flag promises a secret.
pub fn is_secret(name: &str) -> bool {
    let lower = name.to_ascii_lowercase().replace('_', "-");
    let endings = ["key", "-pat", "auth", "cookie", "pwd", "-pass", "dsn", "signature"];
    let words = ["credential", "private-key", "connection-string", "passphrase"];
    is_secret_name(name)
        || endings.iter().any(|ending| lower.ends_with(ending))
        || words.iter().any(|word| lower.contains(word))
        || matches!(lower.as_str(), "pass" | "pat" | "sig" | "code")
}

/// The secret in the value of a name that promises one: all of it, without `Bearer `.
pub fn in_named(value: &str) -> Option<Range<usize>> {
    let start = SCHEMES.iter().find(|scheme| value.starts_with(**scheme)).map_or(0, |scheme| scheme.len());
    let secret = &value[start..];
    let is_small_number = secret.len() < 8 && secret.chars().all(|c| c.is_ascii_digit());
    let is_path = secret.starts_with(['/', '~', '.']) && !secret.contains(' ') || secret.starts_with("file:");
    let is_word = matches!(secret.to_ascii_lowercase().as_str(), "" | "true" | "false" | "none" | "null");
    let is_address = secret.starts_with("http://") || secret.starts_with("https://");
    (!is_small_number && !is_path && !is_word && !is_address).then_some(start..value.len())
}

/// The secrets in any text: passwords and keys of addresses in it, and what is shaped like a token.
pub fn in_any(text: &str) -> Vec<Range<usize>> {
    let mut found = in_address(text);
    let mut start = None;
    let ends = text.char_indices().chain([(text.len(), ' ')]);
    for (at, character) in ends {
        let inside = character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.');
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                if is_token(&text[from..at], &text[..from]) {
                    found.push(from..at);
                }
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    joined(found)
}

/// `scheme://user:password@host/path?key=value`
fn in_address(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(scheme) = text.find("://") else { return found };
    let host = scheme + 3;
    let host_end = text[host..].find(['/', '?', '#', ' ']).map_or(text.len(), |end| host + end);
    if let Some(at) = text[host..host_end].rfind('@') {
        let user = &text[host..host + at];
        let password = user.find(':').map_or(host, |colon| host + colon + 1);
        if password < host + at {
            found.push(password..host + at);
        }
    }
    let Some(query) = text[host_end..].find('?').map(|at| host_end + at + 1) else { return found };
    let mut at = query;
    for pair in text[query..].split(['&', '#']) {
        if let Some((name, value)) = pair.split_once('=')
            && (is_secret(name) || name.eq_ignore_ascii_case("auth"))
            && !value.is_empty()
        {
            found.push(at + name.len() + 1..at + pair.len());
        }
        at += pair.len() + 1;
    }
    found
}

fn is_token(word: &str, before: &str) -> bool {
    let word = word.trim_matches('.');
    if is_uuid(word) {
        return false;
    }
    let is_prefixed = PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    if is_prefixed && word.len() >= PREFIXED_LENGTH_MIN && word.chars().any(|c| c.is_ascii_digit()) {
        return true;
    }
    let is_json_web_token = word.starts_with("eyJ") && word.len() > 40;
    // Digests of images and commits are long and random, and no secret.
    let is_hex = word.chars().all(|c| c.is_ascii_hexdigit());
    let is_digest = is_hex && (word.len() == 40 || word.len() == 64) && before.ends_with(['@', ':']);
    is_json_web_token || (!is_digest && word.split(['-', '_', '.']).any(is_random))
}

fn is_uuid(word: &str) -> bool {
    word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

fn is_random(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().filter(char::is_ascii_alphabetic).count();
    word.len() >= RANDOM_LENGTH_MIN
        && digits >= 2
        && letters >= 4
        && bits_per_character(word) >= RANDOM_BITS_MIN
}

fn bits_per_character(word: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in word.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = word.len() as f64;
    let share = |count: u32| f64::from(count) / length;
    counts.into_iter().filter(|count| *count > 0).map(|count| -share(count) * share(count).log2()).sum()
}

/// In order, and none inside another.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        in_any(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn tokens_are_found_wherever_they_stand() {
        let check = |text: &str, expected: &[&str]| assert_eq!(found(text), expected, "{text}");
        check("ghp_0123456789abcdefghijABCDEFGHIJ012345", &["ghp_0123456789abcdefghijABCDEFGHIJ012345"]);
        check("postgresql://app:hunter2@db/shop", &["hunter2"]);
        check("https://x.example/mcp?apiKey=abc&team=7", &["abc"]);
        check("https://mcp.example/s/Zk3v9Qm2Lr8Tn4Wx7Yb1/mcp", &["Zk3v9Qm2Lr8Tn4Wx7Yb1"]);
        check(r#"{"Authorization": "Bearer ntn_12345678901234567890"}"#, &["ntn_12345678901234567890"]);
        check("https://token@host/x", &["token"]);
    }

    #[test]
    fn what_is_no_token_stays() {
        for text in [
            "@modelcontextprotocol/server-filesystem",
            "ghcr.io/github/github-mcp-server@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "/home/someone/projects/2025-11-25-first-version/server.py",
            "https://api.githubcopilot.com/mcp/",
            "0b7c1f6e-8d0c-4c8e-9d55-0f4a0f4c7a10",
            "--experimental-strip-types",
            "",
        ] {
            assert_eq!(found(text), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn values_that_a_secret_name_does_not_make_secret_stay() {
        for value in ["", "true", "4096", "/run/secrets/token", "~/token.json", "https://auth.example/token"]
        {
            assert_eq!(in_named(value), None, "{value}");
        }
        assert_eq!(in_named("Bearer abc"), Some(7..10));
        assert_eq!(in_named("hunter2"), Some(0..7));
    }
}
