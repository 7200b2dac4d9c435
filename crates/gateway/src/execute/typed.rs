//! The types of a program: checked beside everything else, and told again if it fails where they said so.

use std::path::Path;
use std::sync::Arc;

use gristmill_checks::typescript::may_use_tools;
use gristmill_checks::{CheckReport, Finding, Rule};
use gristmill_protocol::EngineId;
use tokio::task::JoinHandle;

use super::Core;
use super::prepare::Prepared;
use crate::language::is_javascript;
use crate::ports::Tools;
use crate::report::Report;
use crate::type_check::{TYPE_CHECK_BUDGET, TypesChecked};

/// A check of types under way.
pub(super) struct Typing(JoinHandle<TypesChecked>);

impl Typing {
    /// Begins one, if there is a checker and a reason: only programs in TypeScript that may use tools are shown to it.
    pub fn begin(core: &Core, prepared: &Prepared, tools: Option<&Arc<dyn Tools>>) -> Option<Self> {
        let (checker, tools) = (core.types.as_ref()?, tools?);
        let extension = Path::new(&prepared.filename).extension().and_then(|extension| extension.to_str());
        let is_typed = prepared.engine == EngineId::TypeScript && !extension.is_some_and(is_javascript);
        if !is_typed || !may_use_tools(&prepared.code) {
            return None;
        }
        let (checker, code, tools) = (Arc::clone(checker), prepared.code.clone(), Arc::clone(tools));
        let checking = async move { checker.check(code, tools, TYPE_CHECK_BUDGET).await };
        Some(Self(core.runtime.spawn(checking)))
    }

    pub async fn outcome(self) -> TypesChecked {
        self.0.await.unwrap_or(TypesChecked::Failed)
    }
}

/// What the types of a program say about lines that may be right.
#[derive(Default)]
pub(crate) struct Typed(Vec<Finding>);

impl Typed {
    pub fn of(report: &CheckReport) -> Self {
        let is_typed = |finding: &&Finding| {
            matches!(finding.rule, Rule::WrongType | Rule::UndeclaredProperty | Rule::UnknownName)
        };
        Self(report.findings.iter().filter(is_typed).cloned().collect())
    }

    /// Adds to the error of a program that failed what was said about that line.
    pub fn explain(&self, report: &mut Report) {
        let Some(error) = &mut report.error else { return };
        let Some(found) = self.0.iter().find(|finding| error.line == Some(finding.line)) else { return };
        let mut said = format!("types: {}", found.message);
        if let Some(hint) = &found.hint {
            said = format!("{said}; {hint}");
        }
        error.hint = Some(match error.hint.take() {
            Some(hint) => format!("{hint}; {said}"),
            None => said,
        });
    }
}
