//! The pages behind links in a webhook: what waits for a person, and a button. Opening one answers nothing,
//! since programs open links to show what is behind them.
//!
//! Walls: whoever has a link may use it, so no token is asked for; a link that is not ours, too old or used
//! says nothing about any call. No script, nothing from elsewhere, and what others wrote is text.

use std::sync::Arc;
use std::time::SystemTime;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use axum::routing::get;
use gristmill_gateway::access::{ApprovalLinks, LINK_PATH};
use gristmill_gateway::domain::policy::Answered;
use gristmill_gateway::domain::visible;
use gristmill_gateway::ports::AnswerWay;
use gristmill_gateway::store::{ApprovalRecord, ApprovalState, Store};
use gristmill_gateway::upstream::note_answer;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};

use crate::answers::method_not_taken;
use crate::authorization::Access;
use crate::site::Mount;

/// Nothing is loaded, run or framed; a button may send to us.
const POLICY: &str = "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

#[derive(Clone)]
struct Pages {
    store: Store,
    links: Arc<ApprovalLinks>,
}

/// The pages, for whoever has a link.
pub fn approval_pages(store: Store, links: Arc<ApprovalLinks>) -> Mount {
    let not_taken =
        |method: Method| async move { method_not_taken(&method, "GET or POST", "GET, HEAD, POST") };
    let router = Router::new()
        .route(&format!("{LINK_PATH}/{{id}}"), get(show).post(answer).fallback(not_taken))
        .with_state(Pages { store, links });
    Mount { router, access: Access::Open }
}

/// What waits, and a button.
async fn show(State(pages): State<Pages>, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let (record, answered) = match pages.waiting(&id, query.as_deref()).await {
        Ok(found) => found,
        Err(page) => return page,
    };
    let (what, button) = (name_of(&record), button(answered));
    let body = format!(
        "<h1>{button}: {what}?</h1>\n<p>{} wants to call it. You're asked because {}.</p>\n\
         <p>Arguments:</p>\n<pre>{}</pre>\n<form method=\"post\"><button>{button}</button></form>\n\
         <p>Nothing happens until you press the button.</p>",
        escaped(&record.caller),
        escaped(&record.why),
        escaped(&record.arguments),
    );
    page(StatusCode::OK, &body)
}

/// The button was pressed.
async fn answer(State(pages): State<Pages>, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let (record, answered) = match pages.waiting(&id, query.as_deref()).await {
        Ok(found) => found,
        Err(page) => return page,
    };
    match pages.store.answer_approval(&record.id, answered).await {
        Ok(true) => {
            note_answer(&pages.store, &record, answered, AnswerWay::Link);
            let done = match answered {
                Answered::Once => "Allowed once",
                Answered::Session => "Allowed for the session",
                Answered::Always => "Allowed from now on",
                Answered::No | Answered::Timeout | Answered::Nobody => "Refused",
            };
            page(
                StatusCode::OK,
                &format!("<h1>{done}: {}</h1>\n<p>You can close this page.</p>", name_of(&record)),
            )
        }
        Ok(false) => over(),
        Err(_) => unreadable(),
    }
}

impl Pages {
    /// The question that a link is about, while its call waits, and what the link says to it.
    async fn waiting(&self, id: &str, query: Option<&str>) -> Result<(ApprovalRecord, Answered), Response> {
        let answered = self
            .links
            .read(id, query.unwrap_or_default(), SystemTime::now())
            .map_err(|bad| page(StatusCode::FORBIDDEN, &format!("<h1>{bad}</h1>")))?;
        match self.store.find_approval(id).await {
            Ok(Some(record)) if record.state == ApprovalState::Waiting => Ok((record, answered)),
            Ok(_) => Err(over()),
            Err(_) => Err(unreadable()),
        }
    }
}

fn over() -> Response {
    page(StatusCode::GONE, "<h1>This call was answered already, or doesn't wait any more.</h1>")
}

fn unreadable() -> Response {
    let said = "<h1>The answer couldn't be stored.</h1>\n<p>Run <code>gristmill approvals</code> on the machine of the gateway.</p>";
    page(StatusCode::SERVICE_UNAVAILABLE, said)
}

fn button(answered: Answered) -> &'static str {
    match answered {
        Answered::Once => "Allow once",
        Answered::Session => "Allow for the session",
        Answered::Always => "Always allow",
        Answered::No | Answered::Timeout | Answered::Nobody => "Refuse",
    }
}

fn name_of(record: &ApprovalRecord) -> String {
    escaped(&format!("{}.{}", record.server, record.tool))
}

/// As text: nothing of it is markup, and nothing in it is hidden.
fn escaped(text: &str) -> String {
    visible(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn page(status: StatusCode, body: &str) -> Response {
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>Gristmill</title>\n{body}\n</html>\n"
    );
    let mut answer = Response::new(Body::from(text));
    *answer.status_mut() = status;
    let headers: [(HeaderName, &'static str); 5] = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // The address is worth something as long as the call waits.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in headers {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_is_text_and_shows_what_it_hides() {
        let shown = escaped("<script>alert('1')</script> & \"x\"\u{202e}");
        assert!(!shown.contains(['<', '>', '"', '\'']) && !shown.contains('\u{202e}'), "{shown}");
        assert!(
            shown.starts_with("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt; &amp; &quot;x&quot;"),
            "{shown}"
        );
    }
}
