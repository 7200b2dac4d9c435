//! Executions as tasks of the protocol's extension, for clients that follow long work that way.

use std::time::SystemTime;

use gristmill_gateway::domain::{Code, utc_text};
use gristmill_gateway::service::{Follower, KeepLimits};
use gristmill_gateway::{ErrorReport, Report};
use rmcp::model::{
    CancelTaskParams, CreateTaskResult, DetailedTask, ErrorData, GetTaskParams, GetTaskResult, Task,
    TaskPayload, TaskStatus, UpdateTaskParams,
};
use serde_json::Value;

use super::answer;
use super::caller::Requester;
use super::{GatewayServer, questions, running};

/// How often a client may look.
const POLL_MS: u64 = 1_000;

/// The answer to a request that goes on as a task.
pub(super) fn created(follower: &Follower) -> CreateTaskResult {
    CreateTaskResult::new(task_of(follower))
}

fn task_of(follower: &Follower) -> Task {
    let progress = follower.progress();
    let started = utc_text(follower.started());
    let updated = utc_text(follower.started().checked_add(progress.elapsed).unwrap_or_else(SystemTime::now));
    let kept_ms = u64::try_from(KeepLimits::default().age.as_millis()).unwrap_or(u64::MAX);
    let ttl_ms = u64::try_from(progress.elapsed.as_millis()).unwrap_or(u64::MAX).saturating_add(kept_ms);
    let task = Task::new(follower.id().as_str(), TaskStatus::Working, started, updated)
        .with_ttl_ms(ttl_ms)
        .with_poll_interval_ms(POLL_MS);
    if progress.doing.is_empty() { task } else { task.with_status_message(progress.doing) }
}

impl GatewayServer {
    pub(super) fn task(
        &self,
        params: &GetTaskParams,
        requester: &Requester,
    ) -> Result<GetTaskResult, ErrorData> {
        let follower = self.task_follower(&params.task_id, requester)?;
        let progress = follower.progress();
        let cancelled = |error: &ErrorReport| error.code == Code::Cancelled;
        let is_cancelled = |report: &Report| report.error.as_ref().is_some_and(cancelled);
        let payload = match progress.answer {
            Some(_) if progress.report.as_deref().is_some_and(is_cancelled) => TaskPayload::Cancelled,
            Some(made) => {
                let result = answer::of_execution(&made);
                match serde_json::to_value(result) {
                    Ok(Value::Object(result)) => TaskPayload::Completed { result },
                    Ok(_) | Err(_) => TaskPayload::Completed { result: serde_json::Map::new() },
                }
            }
            None if progress.questions.is_empty() => TaskPayload::Working,
            None => {
                TaskPayload::InputRequired { input_requests: questions::input_requests(&progress.questions) }
            }
        };
        Ok(GetTaskResult::new(DetailedTask::new(task_of(&follower), payload)))
    }

    pub(super) fn task_answered(
        &self,
        params: &UpdateTaskParams,
        requester: &Requester,
    ) -> Result<(), ErrorData> {
        let follower = self.task_follower(&params.task_id, requester)?;
        // A task has no rounds: the protocol gives it no state.
        running::answer_questions(&follower, &params.input_responses, None);
        Ok(())
    }

    pub(super) fn task_cancelled(
        &self,
        params: &CancelTaskParams,
        requester: &Requester,
    ) -> Result<(), ErrorData> {
        self.task_follower(&params.task_id, requester)?.cancel();
        Ok(())
    }

    fn task_follower(&self, id: &str, requester: &Requester) -> Result<Follower, ErrorData> {
        self.find(id, requester).map_err(|_| {
            let shown = gristmill_gateway::domain::one_line(id, 40);
            ErrorData::invalid_params(
                format!("no task `{shown}`; finished tasks are kept for 15 minutes"),
                None,
            )
        })
    }
}
