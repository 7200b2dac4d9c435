//! What the servers offer beside tools: resources and prompts, under names of ours.

use std::sync::atomic::Ordering;
use std::time::Duration;

use gristmill_gateway::domain::{ToolAnswer, one_line};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::{CallWatcher, ToolFailure};
use gristmill_gateway::upstream::DoorRequest;
use rmcp::model::{
    ErrorData, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResultType,
};
use rmcp::service::{Peer, RoleServer, SubscriptionContext};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::GatewayServer;

/// Entries of one page of a list.
const PAGE: usize = 500;
/// How often a connection that nothing happens on is looked at, to see whether it is still there.
const STILL_THERE: Duration = Duration::from_secs(60);
/// What is given back of a URI that was sent.
const URI_CHARS_MAX: usize = 2_000;
/// What a server changes several times in a row is told once.
const SETTLE: Duration = Duration::from_millis(50);

impl GatewayServer {
    pub(super) async fn resources(
        &self,
        caller: &Caller,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let Some(upstreams) = &self.parts.upstreams else { return Ok(ListResourcesResult::default()) };
        let (items, next) = page(upstreams.resources(Some(caller)).await, request)?;
        let mut listed = ListResourcesResult::with_all_items(read_all(items));
        listed.next_cursor = next;
        Ok(listed)
    }

    pub(super) async fn resource_templates(
        &self,
        caller: &Caller,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let Some(upstreams) = &self.parts.upstreams else {
            return Ok(ListResourceTemplatesResult::default());
        };
        let (items, next) = page(upstreams.resource_templates(Some(caller)).await, request)?;
        let mut listed = ListResourceTemplatesResult::with_all_items(read_all(items));
        listed.next_cursor = next;
        Ok(listed)
    }

    pub(super) async fn prompts(
        &self,
        caller: &Caller,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let Some(upstreams) = &self.parts.upstreams else { return Ok(ListPromptsResult::default()) };
        let (items, next) = page(upstreams.prompts(Some(caller)).await, request)?;
        let mut listed = ListPromptsResult::with_all_items(read_all(items));
        listed.next_cursor = next;
        Ok(listed)
    }

    pub(super) async fn resource(
        &self,
        caller: &Caller,
        request: ReadResourceRequestParams,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = match &self.parts.upstreams {
            Some(upstreams) => {
                upstreams
                    .pass(
                        caller,
                        DoorRequest::ReadResource { uri: uri.clone(), watcher: CallWatcher::none() },
                    )
                    .await
            }
            None => Err(ToolFailure::UnknownOffer { name: uri.clone(), nearest: Vec::new() }),
        };
        let mut answer = match read {
            Ok(answer) => answer,
            Err(failure) => return Err(self.hide_error(caller, resource_error(&failure, &uri)).await),
        };
        self.hide_json(caller, &mut answer.json).await;
        let mut result: ReadResourceResult = read_result(&answer)?;
        result.result_type = Some(ResultType::COMPLETE);
        Ok(result.into())
    }

    /// Tells a client of the older protocol when what is offered changes, as long as it is there.
    pub(super) fn tell_changes_to(&self, peer: Peer<RoleServer>) {
        let Some(upstreams) = self.parts.upstreams.clone() else { return };
        let server = self.clone();
        // A client that says twice that it has begun is told once.
        if self.is_told.swap(true, Ordering::Relaxed) {
            return;
        }
        tokio::spawn(async move {
            let mut changes = upstreams.offers_changed();
            changes.mark_unchanged();
            while !peer.is_transport_closed() {
                let changed = tokio::time::timeout(STILL_THERE, changed(&mut changes)).await;
                match changed {
                    Ok(true) => {
                        let _ = peer.notify_resource_list_changed().await;
                        let _ = peer.notify_prompt_list_changed().await;
                    }
                    Ok(false) => return,
                    Err(_) => {}
                }
                // The most used tools change with the day.
                if server.tells_other_tools().await {
                    let _ = peer.notify_tool_list_changed().await;
                }
            }
        });
    }

    /// The same for a subscription of the newer one, until it ends.
    pub(super) async fn tell_changes(&self, subscription: &SubscriptionContext) {
        let Some(upstreams) = &self.parts.upstreams else { return subscription.cancelled().await };
        let accepted = subscription.accepted().clone();
        let mut changes = upstreams.offers_changed();
        changes.mark_unchanged();
        let mut offers = *changes.borrow();
        if accepted.tools_list_changed == Some(true) {
            self.begin_telling().await;
        }
        loop {
            let is_change = tokio::select! {
                changed = changed(&mut changes) => changed,
                () = tokio::time::sleep(STILL_THERE) => true,
                () = subscription.cancelled() => return,
            };
            if !is_change {
                return subscription.cancelled().await;
            }
            let mut sent = Ok(());
            let offers_before = std::mem::replace(&mut offers, *changes.borrow());
            let has_other_offers = offers_before != offers;
            if has_other_offers && accepted.resources_list_changed == Some(true) {
                sent = subscription.sink().notify_resource_list_changed().await;
            }
            if has_other_offers && sent.is_ok() && accepted.prompts_list_changed == Some(true) {
                sent = subscription.sink().notify_prompt_list_changed().await;
            }
            if sent.is_ok() && accepted.tools_list_changed == Some(true) && self.tells_other_tools().await {
                sent = subscription.sink().notify_tool_list_changed().await;
            }
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Waits for a change and what follows on its heels; `false` when there will be none any more.
async fn changed(changes: &mut tokio::sync::watch::Receiver<u64>) -> bool {
    if changes.changed().await.is_err() {
        return false;
    }
    tokio::time::sleep(SETTLE).await;
    changes.mark_unchanged();
    true
}

/// One page of a list, and where the next one begins. A list may change between pages: what is
/// asked for then is what stands there now.
fn page(
    items: Vec<Value>,
    request: Option<PaginatedRequestParams>,
) -> Result<(impl Iterator<Item = Value>, Option<String>), ErrorData> {
    let begin: usize = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => cursor
            .strip_prefix("from-")
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| ErrorData::invalid_params("unknown cursor; start without one".to_owned(), None))?,
    };
    let end = begin.saturating_add(PAGE);
    let next = (end < items.len()).then(|| format!("from-{end}"));
    Ok((items.into_iter().skip(begin).take(PAGE), next))
}

/// What can be read as what it should be; a broken entry of one server does not hide the others.
fn read_all<T: DeserializeOwned>(items: impl Iterator<Item = Value>) -> Vec<T> {
    items.filter_map(|item| serde_json::from_value(item).ok()).collect()
}

pub(super) fn read_result<T: DeserializeOwned>(answer: &ToolAnswer) -> Result<T, ErrorData> {
    // By way of a value: rmcp's untagged types do not read numbers of any size from text.
    let value: Value = serde_json::from_str(&answer.json).unwrap_or_default();
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("can't read the server's answer: {error}"), None))
}

fn resource_error(failure: &ToolFailure, uri: &str) -> ErrorData {
    let data = Some(json!({"uri": one_line(uri, URI_CHARS_MAX)}));
    match is_callers(failure) {
        true => ErrorData::resource_not_found(failure.to_string(), data),
        false => ErrorData::internal_error(failure.to_string(), data),
    }
}

pub(super) fn prompt_error(failure: &ToolFailure) -> ErrorData {
    if let ToolFailure::UnknownOffer { name, nearest } = failure {
        let hint = match nearest.is_empty() {
            true => "prompts/list lists them".to_owned(),
            false => format!("did you mean {}?", nearest.join(", ")),
        };
        let message = format!("no prompt `{}`; {hint}", one_line(name, 80));
        return ErrorData::invalid_params(message, None);
    }
    match is_callers(failure) {
        true => ErrorData::invalid_params(failure.to_string(), None),
        false => ErrorData::internal_error(failure.to_string(), None),
    }
}

/// Whether something else must be asked for. A server that is there and says no has not got it, or
/// wants other arguments.
fn is_callers(failure: &ToolFailure) -> bool {
    match failure {
        ToolFailure::Unknown { .. }
        | ToolFailure::Ambiguous { .. }
        | ToolFailure::BadArguments(_)
        | ToolFailure::Unfit { .. }
        | ToolFailure::UnknownOffer { .. }
        | ToolFailure::BadUri { .. }
        | ToolFailure::Refused { .. }
        | ToolFailure::Said(_) => true,
        ToolFailure::Upstream { .. } => false,
    }
}
