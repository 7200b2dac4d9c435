//! A dry run leaves nothing behind: no file, no value, no skill, and nothing at a server.

use std::sync::Arc;

use gristmill_domain::Code;

use crate::ports::{Tools, Writes};
use crate::report::Refusal;
use crate::request::{Capabilities, ExecuteRequest, Variables, WorkspaceChoice};
use crate::state_values::StateInMemory;

/// Takes away what a dry run could change.
pub(super) fn confine(request: ExecuteRequest) -> Result<ExecuteRequest, Refusal> {
    if !request.dry_run {
        return Ok(request);
    }
    if request.workspace != WorkspaceChoice::ThrowAway || request.variables != Variables::Forget {
        return Err(Refusal::new(
            Code::BadRequest,
            "a dry run works in an empty workspace and in no session, so that it changes nothing; nothing ran",
            "leave out the session and the workspace; pass what the program needs in its context",
        ));
    }
    let Capabilities { writes, .. } = &request.capabilities;
    let writes = if writes.is_dry_run() { writes.clone() } else { Writes::held() };
    let state = Arc::new(StateInMemory::default());
    let capabilities = Capabilities { writes, state, changes_skills_as: None, ..request.capabilities };
    Ok(ExecuteRequest { capabilities, ..request })
}

/// Tools that do not pass the door would be called for real.
pub(super) fn check_tools(writes: &Writes, tools: &dyn Tools) -> Result<(), Refusal> {
    if matches!(writes, Writes::Sent) || tools.holds_writes() {
        return Ok(());
    }
    Err(Refusal::new(
        Code::BadRequest,
        "these tools can't hold calls back, so there are no dry runs and no plans with them; nothing ran",
        "connect servers instead of tools of your own, or run it for real",
    ))
}
