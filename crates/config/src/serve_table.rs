//! The table `serve`: what `gristmill serve` shows to clients.

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::Node;

pub const TABLE: &str = "serve";
pub(super) const KEYS: [&str; 4] = ["profile", "signature_tokens", "call_tool", "generate_code"];

/// The profiles that there are, by their names.
pub const PROFILES: [&str; 3] = ["minimal", "standard", "full"];

/// What signatures may take of every turn, if nothing else is said.
pub const SIGNATURE_TOKENS_DEFAULT: u64 = 500;
/// More is no longer a short list, and clients cut descriptions.
pub const SIGNATURE_TOKENS_MAX: u64 = 20_000;

/// What one file says, with its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServeTable {
    profile: Option<(&'static str, usize)>,
    signature_tokens: Option<(u64, usize)>,
    call_tool: Option<(bool, usize)>,
    generate_code: Option<(bool, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServeConfig {
    /// Which of our tools clients see, by name.
    pub profile: &'static str,
    /// What the signatures of tools may take in the description of `execute_code`; 0: none are there.
    pub signature_tokens: u64,
    /// Whether clients are shown `call_tool`.
    pub call_tool: bool,
    /// Whether clients are shown `generate_code`.
    pub generate_code: bool,
    pub profile_origin: Origin,
    pub signature_tokens_origin: Origin,
    pub call_tool_origin: Origin,
    pub generate_code_origin: Origin,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            profile: PROFILES[0],
            signature_tokens: SIGNATURE_TOKENS_DEFAULT,
            call_tool: false,
            generate_code: false,
            profile_origin: Origin::Default,
            signature_tokens_origin: Origin::Default,
            call_tool_origin: Origin::Default,
            generate_code_origin: Origin::Default,
        }
    }
}

impl ServeConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &ServeTable, origin: impl Fn(usize) -> Origin) {
        if let Some((profile, line)) = table.profile {
            (self.profile, self.profile_origin) = (profile, origin(line));
        }
        if let Some((tokens, line)) = table.signature_tokens {
            (self.signature_tokens, self.signature_tokens_origin) = (tokens, origin(line));
        }
        if let Some((is_shown, line)) = table.call_tool {
            (self.call_tool, self.call_tool_origin) = (is_shown, origin(line));
        }
        if let Some((is_shown, line)) = table.generate_code {
            (self.generate_code, self.generate_code_origin) = (is_shown, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 4] {
        [
            (KEYS[0], format!("\"{}\"", self.profile), &self.profile_origin),
            (KEYS[1], self.signature_tokens.to_string(), &self.signature_tokens_origin),
            (KEYS[2], self.call_tool.to_string(), &self.call_tool_origin),
            (KEYS[3], self.generate_code.to_string(), &self.generate_code_origin),
        ]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> ServeTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return ServeTable::default() };
    let profile = fields.text(KEYS[0], problems).and_then(|(word, line)| {
        let known = PROFILES.into_iter().find(|known| *known == word);
        if known.is_none() {
            problems.error(&fields.path(KEYS[0]), line, ProblemKind::not_one_of(word, &PROFILES));
        }
        Some((known?, line))
    });
    let tokens = fields.whole(KEYS[1], 0, SIGNATURE_TOKENS_MAX, problems);
    let call_tool = fields.flag(KEYS[2], problems);
    let generate_code = fields.flag(KEYS[3], problems);
    let table = ServeTable {
        profile,
        signature_tokens: tokens.map(|tokens| (tokens, fields.line(KEYS[1]))),
        call_tool: call_tool.map(|is_shown| (is_shown, fields.line(KEYS[2]))),
        generate_code: generate_code.map(|is_shown| (is_shown, fields.line(KEYS[3]))),
    };
    fields.finish(&KEYS, problems);
    table
}
