//! What goes wrong between a caller and a server.

use gristmill_domain::Code;
use gristmill_domain::resource_uri::ResourceUriError;

/// A call that did not work out. The program sees it as a `ToolError`, and may go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFailure {
    /// Nothing was sent: there is no such tool.
    #[error("there is no tool `{name}`{}", hint_text(.nearest))]
    Unknown {
        /// As it was written.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// Nothing was sent: several tools may be meant.
    #[error("`{name}` is ambiguous: use {}", .candidates.join(" or "))]
    Ambiguous {
        /// As it was written.
        name: String,
        /// As `server.tool`.
        candidates: Vec<String>,
    },
    /// Nothing was sent: the arguments are wrong.
    #[error("{0}")]
    BadArguments(String),
    /// Nothing was sent: the arguments don't fit the tool's schema.
    #[error("{told}")]
    Unfit {
        /// What is wrong, with the values that are.
        told: String,
        /// The same without them.
        kept: String,
    },
    /// Nothing was sent: there is no such resource or prompt.
    #[error("there is no `{name}`{}", nearest_text(.nearest))]
    UnknownOffer {
        /// As it was written, cut.
        name: String,
        /// The closest names there are.
        nearest: Vec<String>,
    },
    /// Nothing was sent: it is no URI of ours.
    #[error("`{uri}` isn't a Gristmill resource: {why}")]
    BadUri {
        /// As it was written, cut.
        uri: String,
        /// What is wrong with it.
        why: ResourceUriError,
    },
    /// Nothing was sent: the policy, or a person, says no.
    #[error("{message}")]
    Refused {
        /// One of the codes 33xx.
        code: Code,
        /// Why, and what to do instead.
        message: String,
    },
    /// The tool ran and said no, in its own words.
    #[error("{0}")]
    Said(String),
    /// The server is the trouble, not the tool.
    #[error("{message}")]
    Upstream {
        /// One of the codes 3xxx.
        code: Code,
        /// What happened and what to do.
        message: String,
        /// Whether the same call can be made again without doing anything twice.
        retry_safe: bool,
    },
}

impl ToolFailure {
    /// The code that users and programs see.
    pub fn code(&self) -> Code {
        match self {
            ToolFailure::Unknown { .. } | ToolFailure::Ambiguous { .. } => Code::UnknownTool,
            ToolFailure::BadArguments(_)
            | ToolFailure::Unfit { .. }
            | ToolFailure::UnknownOffer { .. }
            | ToolFailure::BadUri { .. } => Code::BadCall,
            ToolFailure::Said(_) => Code::Tool,
            ToolFailure::Upstream { code, .. } | ToolFailure::Refused { code, .. } => *code,
        }
    }

    /// What is remembered of it: where and of which kind, with nothing in it that a program sent or a
    /// server said.
    pub fn kept(&self) -> String {
        let code = self.code();
        match self {
            ToolFailure::Unknown { .. } => format!("{code}: there is no such tool"),
            ToolFailure::Ambiguous { candidates, .. } => {
                format!("{code}: ambiguous; use {}", candidates.join(" or "))
            }
            ToolFailure::BadArguments(_) => format!("{code}: the arguments were refused"),
            ToolFailure::Unfit { kept, .. } => format!("{code}: {kept}"),
            ToolFailure::UnknownOffer { .. } => format!("{code}: there is no such resource or prompt"),
            ToolFailure::BadUri { .. } => format!("{code}: not a Gristmill resource"),
            ToolFailure::Refused { .. } => format!("{code}: the policy or a person said no"),
            ToolFailure::Said(_) => format!("{code}: the tool reported an error"),
            ToolFailure::Upstream { .. } => format!("{code}: the server didn't carry it out"),
        }
    }

    /// Whether the call was refused before anything left us.
    pub fn was_not_sent(&self) -> bool {
        match self {
            ToolFailure::Unknown { .. }
            | ToolFailure::Ambiguous { .. }
            | ToolFailure::BadArguments(_)
            | ToolFailure::Unfit { .. }
            | ToolFailure::UnknownOffer { .. }
            | ToolFailure::BadUri { .. }
            | ToolFailure::Refused { .. } => true,
            ToolFailure::Said(_) => false,
            ToolFailure::Upstream { code, .. } => {
                matches!(
                    code,
                    Code::ServerDown
                        | Code::LoginNeeded
                        | Code::ToolHeldBack
                        | Code::CallRate
                        | Code::NotShared
                )
            }
        }
    }
}

fn hint_text(nearest: &[String]) -> String {
    match nearest {
        [] => "; search_tools(\"...\") finds tools".to_owned(),
        names => nearest_text(names),
    }
}

fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        names => format!("; did you mean {}?", names.join(", ")),
    }
}
