//! Ready-made tables, for everything that no rule of the user's is about.

use std::fmt;
use std::str::FromStr;

use super::asked::AskedKind;
use super::decision::Decision;
use super::rule::Rule;
use crate::levels::Level;

/// Ordered: the later is the stricter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Preset {
    /// Everything is allowed.
    Trusting,
    /// Tools that their servers call destructive are asked about.
    #[default]
    Careful,
    /// Everything that its server does not call read-only is asked about; at `hardened` it is refused.
    Strict,
}

/// There is no such preset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a preset is trusting, careful or strict")]
pub struct UnknownPreset;

impl Preset {
    pub const ALL: [Preset; 3] = [Preset::Trusting, Preset::Careful, Preset::Strict];

    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Preset::Trusting => "trusting",
            Preset::Careful => "careful",
            Preset::Strict => "strict",
        }
    }

    /// Its lines. The last fits everything.
    pub(super) fn rules(self) -> Vec<Rule> {
        let line = |name: &str, decision: Decision, reason: &str| Rule {
            name: Some(name.to_owned()),
            reason: Some(reason.to_owned()),
            ..Rule::deciding(decision)
        };
        let reads = || {
            [
                Rule {
                    kind: Some(AskedKind::Resource),
                    ..line("resources", Decision::Allow, "resources are read")
                },
                Rule {
                    kind: Some(AskedKind::Prompt),
                    ..line("prompts", Decision::Allow, "prompts are read")
                },
                Rule {
                    read_only_hint: Some(true),
                    ..line("reads", Decision::Allow, "its server marks it read-only")
                },
            ]
        };
        let rest = |decision, reason| line("everything else", decision, reason);
        match self {
            Preset::Trusting => vec![line("everything", Decision::Allow, "everything is allowed")],
            Preset::Careful => reads()
                .into_iter()
                .chain([
                    Rule {
                        destructive_hint: Some(true),
                        ..line("destructive", Decision::Ask, "its server marks it destructive")
                    },
                    rest(Decision::Allow, "its server doesn't mark it destructive"),
                ])
                .collect(),
            Preset::Strict => reads()
                .into_iter()
                .chain([
                    Rule {
                        level: Some(Level::Hardened),
                        ..line("not listed", Decision::Deny, "at level hardened only listed tools may write")
                    },
                    rest(Decision::Ask, "its server doesn't mark it read-only"),
                ])
                .collect(),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Preset {
    type Err = UnknownPreset;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Preset::ALL.into_iter().find(|preset| preset.as_str() == text).ok_or(UnknownPreset)
    }
}
