//! Programs on other machines: which ones run there, what goes with them, and when one runs again.

use std::collections::BTreeSet;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::{Code, Limits};
use gristmill_protocol::{Confinement, EngineId};

use super::{Belongings, Core, Purpose};
use crate::context_text::ContextText;
use crate::ids::{Caller, unguessable};
use crate::pool::Worker;
use crate::ports::{NoNode, RemoteHome, RemoteProgram, RunWhere};
use crate::report::Refusal;
use crate::request::{ExecuteRequest, Variables};

/// How often a program is run again after its node was lost.
pub(super) const RUNS_AGAIN_MAX: usize = 2;

/// Stored results that go along with a program.
const RESULTS_MAX: usize = 32;

/// How the files of most results end.
const RESULT_ENDINGS: [&str; 2] = ["json", "txt"];

/// A program that runs on a node.
pub(super) struct Elsewhere {
    pub program: RemoteProgram,
    pub confinement: Confinement,
    pub results: Vec<String>,
    /// `None` for one that is thrown away.
    pub workspace: Option<PathBuf>,
    pub workspace_comes_back: bool,
}

/// Whether a program may be on a node at all, and where it is to be. Variables stay where they are: a program that
/// goes on with some runs here, and so do programs of ours.
pub(super) fn asked(
    core: &Core,
    request: &ExecuteRequest,
    limits: &Limits,
    purpose: &Purpose,
) -> Option<(RemoteProgram, RunWhere)> {
    let workers = core.remote_workers.as_ref()?;
    if !matches!(purpose, Purpose::Asked(_)) || request.variables != Variables::Forget {
        return None;
    }
    let Caller { owner, token, session, session_name, execution, .. } = &request.capabilities.caller;
    let session_id = || session.as_ref().map(|id| id.as_str().to_owned());
    let program = RemoteProgram {
        engine: request.engine,
        level: limits.level(),
        owner: owner.clone(),
        token: token.as_ref().map(|token| token.name.clone()),
        session: session_name.clone().or_else(session_id),
        execution: execution.clone(),
    };
    match workers.place_of(&program) {
        RunWhere::Here => None,
        place @ (RunWhere::Nodes | RunWhere::Anywhere) => Some((program, place)),
    }
}

/// A worker on a node, confined as this program is to be.
pub(super) async fn worker(
    core: &Core,
    elsewhere: &Elsewhere,
    (frame, belongings): (&[u8], &Belongings),
) -> Result<Worker, NoNode> {
    let off = || NoNode { why: "this gateway has no nodes".to_owned(), hint: String::new() };
    let workers = core.remote_workers.as_ref().ok_or_else(off)?;
    let folders: Result<Vec<_>, _> = belongings.folders.iter().map(OwnedFd::try_clone).collect();
    let failed = |error: std::io::Error| NoNode {
        why: format!("can't hold the program's folders open: {error}; nothing ran"),
        hint: "try again in a moment".to_owned(),
    };
    let Elsewhere { program, confinement, results, workspace, workspace_comes_back } = elsewhere;
    let home = RemoteHome {
        confinement: confinement.clone(),
        program: frame.into(),
        folders: folders.map_err(failed)?,
        results: results.clone(),
        workspace: workspace.clone().unwrap_or_else(|| belongings.scratch.workspace_path()),
        workspace_comes_back: *workspace_comes_back,
    };
    let taken = Arc::clone(workers).take(program.clone(), home).await?;
    Worker::on_node(taken).map_err(failed)
}

pub(super) fn refused(no_node: NoNode) -> Refusal {
    Refusal::new(Code::NoNode, no_node.why, no_node.hint)
}

/// Files of `/results` that a program names. It can't list that folder, so it has their names from somewhere: mostly
/// they stand in its text or in what it is given.
pub(super) fn named_results(code: &str, context: &ContextText) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let words = [code, context.as_str()].into_iter().flat_map(|text| text.split(|c| !is_part(c)));
    let mut named = BTreeSet::new();
    for word in words {
        if named.len() >= RESULTS_MAX {
            break;
        }
        match word.split_once('.') {
            None if unguessable::fits(word) => {
                named.extend(RESULT_ENDINGS.iter().map(|ending| format!("{word}.{ending}")));
            }
            Some((handle, ending)) if unguessable::fits(handle) && !ending.is_empty() => {
                named.insert(word.to_owned());
            }
            Some(_) | None => {}
        }
    }
    named.into_iter().collect()
}

/// Whether its files are counted while it runs: here, where that is its node's work.
pub(super) fn counts_files_here(elsewhere: Option<&Elsewhere>, engine: EngineId) -> bool {
    elsewhere.is_none() && engine == EngineId::Native
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_that_a_program_names_go_along() {
        let handle = unguessable::of(&[7; 32]);
        let code = format!(
            "rows = json.load(open('/results/{handle}.json'))\nother = read_file('results/{handle}.png')"
        );
        let context = ContextText::default();
        assert_eq!(named_results(&code, &context), [format!("{handle}.json"), format!("{handle}.png")]);
        assert_eq!(named_results(&handle, &context), [format!("{handle}.json"), format!("{handle}.txt")]);
        assert_eq!(named_results("x = 'a.json'; y = '..'", &context), [""; 0]);
    }
}
