//! A server's question for the user, in either era: read from what the server wrote, and answered.
//!
//! What it wrote is hostile. It is bounded and without the server's secrets before anyone sees it,
//! and nothing of ours is added to it.

use gristmill_gateway::ports::{Asker, Question, QuestionAnswer, QuestionKind};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::declined;
use super::redact::Redactor;

/// What is asked for, among what a server may ask for.
pub(crate) const ELICITATION: &str = "elicitation/create";

/// A page of text. A person reads it.
const MESSAGE_BYTES_MAX: usize = 8 * 1024;

/// A form of some hundred fields.
const SCHEMA_BYTES_MAX: usize = 64 * 1024;

/// Forms are flat: fields, their choices, and what a choice is.
const SCHEMA_DEPTH_MAX: usize = 16;

/// As much as browsers take.
const URL_BYTES_MAX: usize = 2 * 1024;

const ID_BYTES_MAX: usize = 1024;

/// All of it, with what we do not know.
const REQUEST_BYTES_MAX: usize = 2 * (MESSAGE_BYTES_MAX + SCHEMA_BYTES_MAX);

/// Asks, and gives the result that goes back to the server. `params` is the request's JSON.
pub(crate) async fn ask(server: &str, params: &str, redactor: &Redactor, asker: &Asker) -> Value {
    if !asker.is_some() {
        return declined::nobody_to_ask();
    }
    let question = match read(server, params, redactor) {
        Ok(question) => question,
        Err(reason) => return declined::with_reason(&reason),
    };
    let is_form = matches!(question.asked, QuestionKind::Form { .. });
    match asker.ask(question).await {
        Some(QuestionAnswer::Accept(content)) if is_form => match content {
            Some(Value::Object(fields)) => json!({ "action": "accept", "content": fields }),
            None => json!({ "action": "accept", "content": {} }),
            // Not what a form is answered with, whoever made it up.
            Some(_) => json!({ "action": "cancel" }),
        },
        Some(QuestionAnswer::Accept(_)) => json!({ "action": "accept" }),
        Some(QuestionAnswer::Decline) => json!({ "action": "decline" }),
        Some(QuestionAnswer::Cancel) => json!({ "action": "cancel" }),
        None => declined::with_reason("the client can't answer questions of this kind"),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationParams {
    #[serde(default)]
    mode: Option<String>,
    message: String,
    #[serde(default)]
    requested_schema: Option<Map<String, Value>>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    elicitation_id: Option<String>,
}

/// The question, or why it is not asked.
fn read(server: &str, params: &str, redactor: &Redactor) -> Result<Question, String> {
    within("the question", params.len(), REQUEST_BYTES_MAX)?;
    let params = redactor.clean_json(params.to_owned());
    let asked: ElicitationParams =
        serde_json::from_str(&params).map_err(|error| format!("can't read the question: {error}"))?;
    within("its message", asked.message.len(), MESSAGE_BYTES_MAX)?;
    let kind = match asked.mode.as_deref() {
        None | Some("form") => {
            let schema = asked.requested_schema.ok_or("a form needs a requestedSchema")?;
            let schema = Value::Object(schema);
            within("its requestedSchema", schema.to_string().len(), SCHEMA_BYTES_MAX)?;
            if !is_at_most_deep(&schema, SCHEMA_DEPTH_MAX) {
                return Err(format!("its requestedSchema is nested deeper than {SCHEMA_DEPTH_MAX}"));
            }
            QuestionKind::Form { schema }
        }
        Some("url") => {
            let url = page(&asked.url.ok_or("a question with mode `url` needs a url")?)?;
            let id = asked.elicitation_id.unwrap_or_default();
            within("its elicitationId", id.len(), ID_BYTES_MAX)?;
            QuestionKind::Url { url, id }
        }
        Some(_) => return Err("Gristmill supports the modes `form` and `url`".to_owned()),
    };
    Ok(Question { server: server.to_owned(), message: asked.message, asked: kind })
}

fn within(what: &str, bytes: usize, bytes_max: usize) -> Result<(), String> {
    match bytes > bytes_max {
        true => Err(format!("{what} has {bytes} bytes; the limit is {bytes_max}")),
        false => Ok(()),
    }
}

/// Parsed JSON has a bounded depth, so that looking at it has, too.
fn is_at_most_deep(value: &Value, depth: usize) -> bool {
    let Some(below) = depth.checked_sub(1) else { return false };
    match value {
        Value::Array(items) => items.iter().all(|item| is_at_most_deep(item, below)),
        Value::Object(members) => members.values().all(|member| is_at_most_deep(member, below)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// As a browser writes it, so that a person sees where it leads.
fn page(url: &str) -> Result<String, String> {
    within("its url", url.len(), URL_BYTES_MAX)?;
    let url = Url::parse(url).map_err(|error| format!("can't read its url: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("its url must start with https:// or http://".to_owned());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("its url has a user name before the host, which hides where it leads".to_owned());
    }
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(params: &Value) -> Result<Question, String> {
        read("crm", &params.to_string(), &Redactor::default())
    }

    fn question(message: &str, asked: QuestionKind) -> Question {
        Question { server: "crm".to_owned(), message: message.to_owned(), asked }
    }

    #[test]
    fn forms_and_pages_are_read() {
        let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } } });
        let form = question("Who?", QuestionKind::Form { schema: schema.clone() });
        assert_eq!(reading(&json!({ "message": "Who?", "requestedSchema": schema })), Ok(form.clone()));
        let with_mode = json!({ "mode": "form", "message": "Who?", "requestedSchema": schema, "new": 1 });
        assert_eq!(reading(&with_mode), Ok(form));
        let page =
            json!({ "mode": "url", "message": "Pay", "url": "https://PAY.example", "elicitationId": "7" });
        let asked = QuestionKind::Url { url: "https://pay.example/".to_owned(), id: "7".to_owned() };
        assert_eq!(reading(&page), Ok(question("Pay", asked)));
    }

    #[test]
    fn what_is_no_question_is_not_asked() {
        let check = |params: Value, reason: &str| {
            assert_eq!(reading(&params), Err(reason.to_owned()));
        };
        let form = |message: String, schema: Value| json!({ "message": message, "requestedSchema": schema });
        let page = |url: &str| json!({ "mode": "url", "message": "", "url": url, "elicitationId": "7" });
        check(form("x".repeat(9000), json!({})), "its message has 9000 bytes; the limit is 8192");
        check(
            form(String::new(), json!({ "title": "x".repeat(70_000) })),
            "its requestedSchema has 70012 bytes; the limit is 65536",
        );
        check(
            json!({ "message": "", "other": "x".repeat(150_000) }),
            "the question has 150025 bytes; the limit is 147456",
        );
        let mut deep = json!({});
        for _ in 0..20 {
            deep = json!({ "properties": deep });
        }
        check(form(String::new(), deep), "its requestedSchema is nested deeper than 16");
        check(json!({ "message": "" }), "a form needs a requestedSchema");
        check(json!({ "mode": "url", "message": "" }), "a question with mode `url` needs a url");
        check(json!({ "mode": "voice", "message": "" }), "Gristmill supports the modes `form` and `url`");
        check(page("javascript:alert(1)"), "its url must start with https:// or http://");
        check(page("file:///etc/passwd"), "its url must start with https:// or http://");
        check(
            page("https://bank.example@evil.example/"),
            "its url has a user name before the host, which hides where it leads",
        );
        check(
            page(&format!("https://a.example/{}", "x".repeat(3000))),
            "its url has 3018 bytes; the limit is 2048",
        );
        assert!(reading(&json!([])).is_err_and(|why| why.starts_with("can't read the question: ")));
    }

    #[test]
    fn secrets_of_the_server_are_taken_out_of_its_questions() {
        let redactor = Redactor::default();
        redactor.add("env:TOKEN", "hunter2hunter2");
        let params = json!({
            "message": "Is hunter2hunter2 right?",
            "requestedSchema": { "properties": { "token": { "default": "hunter2hunter2" } } },
        });
        let schema = json!({ "properties": { "token": { "default": "[secret env:TOKEN]" } } });
        let expected = question("Is [secret env:TOKEN] right?", QuestionKind::Form { schema });
        assert_eq!(read("crm", &params.to_string(), &redactor), Ok(expected));
    }
}
