//! Keys that say whose they are.

use super::{private_key, web_token};
use crate::bytes::{before, is_name, run_end};
use crate::finding::Finding;
use crate::kind::Kind;

/// A prefix, and what follows it.
#[derive(Debug)]
struct Prefix {
    text: &'static str,
    rule: &'static str,
    body: Body,
    /// How many bytes follow.
    least: usize,
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    Upper,
    Hex,
    Alphanumeric,
    /// With `-` and `_`.
    Url,
    /// With `+`, `/`, `=` and the others.
    Base64,
    /// With dots as well.
    Dotted,
    PrivateKey,
    WebToken,
}

const fn of(text: &'static str, rule: &'static str, body: Body, least: usize, most: usize) -> Prefix {
    Prefix { text, rule, body, least, most }
}

const PREFIXES: &[Prefix] = &[
    of("AKIA", "secret-aws", Body::Upper, 16, 16),
    of("ASIA", "secret-aws", Body::Upper, 16, 16),
    of("ABSK", "secret-aws", Body::Base64, 100, 256),
    of("AIza", "secret-google", Body::Url, 35, 35),
    of("ya29.", "secret-google", Body::Dotted, 20, 1_024),
    of("GOCSPX-", "secret-google", Body::Url, 28, 28),
    of("ghp_", "secret-github", Body::Alphanumeric, 36, 255),
    of("gho_", "secret-github", Body::Alphanumeric, 36, 255),
    of("ghu_", "secret-github", Body::Alphanumeric, 36, 255),
    of("ghs_", "secret-github", Body::Alphanumeric, 36, 255),
    of("ghr_", "secret-github", Body::Alphanumeric, 36, 255),
    of("github_pat_", "secret-github", Body::Url, 40, 255),
    of("glpat-", "secret-gitlab", Body::Dotted, 20, 255),
    of("gldt-", "secret-gitlab", Body::Url, 20, 64),
    of("glrt-", "secret-gitlab", Body::Dotted, 20, 64),
    of("glptt-", "secret-gitlab", Body::Url, 20, 64),
    of("xoxb-", "secret-slack", Body::Url, 20, 255),
    of("xoxp-", "secret-slack", Body::Url, 20, 255),
    of("xoxa-", "secret-slack", Body::Url, 20, 255),
    of("xoxr-", "secret-slack", Body::Url, 20, 255),
    of("xoxs-", "secret-slack", Body::Url, 20, 255),
    of("xapp-", "secret-slack", Body::Url, 20, 255),
    of("hooks.slack.com/services/", "secret-slack", Body::Base64, 30, 64),
    of("hooks.slack.com/workflows/", "secret-slack", Body::Base64, 30, 96),
    of("hooks.slack.com/triggers/", "secret-slack", Body::Base64, 30, 96),
    of("discord.com/api/webhooks/", "secret-discord", Body::Base64, 60, 120),
    of("discordapp.com/api/webhooks/", "secret-discord", Body::Base64, 60, 120),
    of("sk_live_", "secret-stripe", Body::Alphanumeric, 16, 255),
    of("sk_test_", "secret-stripe", Body::Alphanumeric, 16, 255),
    of("rk_live_", "secret-stripe", Body::Alphanumeric, 16, 255),
    of("rk_test_", "secret-stripe", Body::Alphanumeric, 16, 255),
    of("whsec_", "secret-stripe", Body::Base64, 24, 128),
    of("sk-ant-", "secret-anthropic", Body::Url, 32, 255),
    of("sk-proj-", "secret-openai", Body::Url, 32, 255),
    of("sk-svcacct-", "secret-openai", Body::Url, 32, 255),
    of("sk-or-v1-", "secret-openrouter", Body::Hex, 64, 64),
    of("sk-", "secret-openai", Body::Alphanumeric, 32, 64),
    of("gsk_", "secret-groq", Body::Alphanumeric, 40, 80),
    of("xai-", "secret-xai", Body::Alphanumeric, 60, 120),
    of("pplx-", "secret-perplexity", Body::Alphanumeric, 40, 64),
    of("r8_", "secret-replicate", Body::Alphanumeric, 37, 40),
    of("hf_", "secret-hugging-face", Body::Alphanumeric, 30, 40),
    of("npm_", "secret-npm", Body::Alphanumeric, 36, 36),
    of("pypi-", "secret-pypi", Body::Url, 50, 512),
    of("rubygems_", "secret-rubygems", Body::Hex, 48, 48),
    of("dckr_pat_", "secret-docker", Body::Url, 27, 40),
    of("SG.", "secret-sendgrid", Body::Dotted, 50, 80),
    of("key-", "secret-mailgun", Body::Hex, 32, 32),
    of("shpat_", "secret-shopify", Body::Hex, 32, 32),
    of("shpss_", "secret-shopify", Body::Hex, 32, 32),
    of("shpca_", "secret-shopify", Body::Hex, 32, 32),
    of("sq0atp-", "secret-square", Body::Url, 22, 22),
    of("sq0csp-", "secret-square", Body::Url, 43, 43),
    of("EAAA", "secret-square", Body::Url, 60, 60),
    of("EAAC", "secret-facebook", Body::Alphanumeric, 80, 400),
    of("EAAM", "secret-facebook", Body::Alphanumeric, 80, 400),
    of("dop_v1_", "secret-digitalocean", Body::Hex, 64, 64),
    of("doo_v1_", "secret-digitalocean", Body::Hex, 64, 64),
    of("lin_api_", "secret-linear", Body::Alphanumeric, 40, 40),
    of("ntn_", "secret-notion", Body::Alphanumeric, 43, 50),
    of("secret_", "secret-notion", Body::Alphanumeric, 43, 43),
    of("figd_", "secret-figma", Body::Url, 40, 64),
    of("sgp_", "secret-sourcegraph", Body::Url, 40, 64),
    of("hvs.", "secret-vault", Body::Url, 24, 255),
    of("dp.pt.", "secret-doppler", Body::Alphanumeric, 40, 44),
    of("atlasv1.", "secret-terraform", Body::Url, 60, 80),
    of("glsa_", "secret-grafana", Body::Url, 40, 48),
    of("NRAK-", "secret-new-relic", Body::Upper, 27, 27),
    of("PMAK-", "secret-postman", Body::Url, 59, 59),
    of("ATATT3", "secret-atlassian", Body::Base64, 150, 255),
    of("pat-na1-", "secret-hubspot", Body::Url, 36, 36),
    of("dapi", "secret-databricks", Body::Hex, 32, 32),
    of("AGE-SECRET-KEY-1", "secret-age", Body::Upper, 58, 58),
    of("SK", "secret-twilio", Body::Hex, 32, 32),
    of("AccountKey=", "secret-azure", Body::Base64, 80, 96),
    of("SharedAccessKey=", "secret-azure", Body::Base64, 40, 96),
    of("BEGIN ", "secret-private-key", Body::PrivateKey, 0, 0),
    of("eyJ", "secret-jwt", Body::WebToken, 0, 0),
];

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'),
            Self::Alphanumeric => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_'),
            Self::PrivateKey | Self::WebToken => false,
        }
    }
}

/// A bit for every three bytes that a prefix starts with, five bits of each.
const HEADS: [u64; 1 << 9] = {
    let mut heads = [0_u64; 1 << 9];
    let mut at = 0;
    while at < PREFIXES.len() {
        let text = PREFIXES[at].text.as_bytes();
        let mut third = 0;
        while third < 32 {
            // After a prefix of two bytes anything may follow.
            if text.len() == 2 || text[2] & 31 == third {
                let head = head(text[0], text[1], third);
                heads[head / 64] |= 1 << (head % 64);
            }
            third += 1;
        }
        at += 1;
    }
    heads
};

const fn head(first: u8, second: u8, third: u8) -> usize {
    (first & 31) as usize | ((second & 31) as usize) << 5 | ((third & 31) as usize) << 10
}

/// Whether a word that starts here may be a key.
#[inline]
pub fn starts_like_one(bytes: &[u8], start: usize) -> bool {
    let Some([first, second, third]) = bytes.get(start..start + 3) else { return false };
    let head = head(*first, *second, *third);
    HEADS[head / 64] >> (head % 64) & 1 == 1
}

/// The key that starts with the word at `start`.
#[inline(never)]
pub fn at_word(text: &str, start: usize) -> Option<Finding> {
    let rest = text.get(start..)?;
    let first = rest.as_bytes().first();
    let fitting = PREFIXES
        .iter()
        .filter(|prefix| prefix.text.as_bytes().first() == first && rest.starts_with(prefix.text));
    fitting
        .filter_map(|prefix| after_prefix(text, prefix, start, start + prefix.text.len()))
        .max_by_key(|found| found.span.len())
}

fn after_prefix(text: &str, prefix: &Prefix, start: usize, end: usize) -> Option<Finding> {
    let bytes = text.as_bytes();
    match prefix.body {
        Body::PrivateKey => return private_key::from(text, start, end),
        Body::WebToken => return web_token::from(text, start),
        _ => {}
    }
    let is_part = |byte: u8| is_name(byte) || matches!(byte, b'-' | b'+');
    let opens_with_word = bytes[start].is_ascii_alphanumeric();
    if opens_with_word && !text[start..end].contains(['/', '=']) && before(bytes, start).is_some_and(is_part)
    {
        return None;
    }
    let body_end = run_end(bytes, end, prefix.most + 1, |byte| prefix.body.has(byte));
    let body = &bytes[end..body_end];
    let trimmed = body.len() - body.iter().rev().take_while(|byte| matches!(byte, b'.' | b'-')).count();
    let body = &body[..trimmed];
    let fits = (prefix.least..=prefix.most).contains(&body.len());
    let is_open = bytes.get(end + trimmed).is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !fits || is_open || is_placeholder(body) {
        return None;
    }
    // The key itself, not the name before it.
    let start = if prefix.text.ends_with('=') { end } else { start };
    Some(Finding::new(Kind::Secret, start..end + trimmed, 96, prefix.rule))
}

/// `xxxxxxxx`, `000000`, and whatever else has next to no different characters.
fn is_placeholder(body: &[u8]) -> bool {
    let mut seen = [false; 256];
    body.iter().for_each(|byte| seen[*byte as usize] = true);
    let different = seen.iter().filter(|seen| **seen).count();
    different < 5
}
