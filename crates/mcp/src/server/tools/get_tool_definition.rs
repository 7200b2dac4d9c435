//! `get_tool_definition`: definitions of the servers' tools, as stubs or as they are.

use std::sync::Arc;

use gristmill_gateway::answer::fit;
use gristmill_gateway::domain::catalogue::{Catalogue, Reserved, ReservedName, Resolved, Server, Tool};
use gristmill_gateway::domain::{Code, HiddenText, nearest, one_line, stubs, visible_json};
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::ToolFailure;
use gristmill_gateway::skills::{Skill, SkillOffer, SkillsView};
use gristmill_gateway::upstream::{Seen, Snapshot, Upstreams};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::own_tool::{Annotations, Input, Output, OwnTool, Run, text, texts};
use super::tool_call::ToolCall;
use crate::server::GatewayServer;
use crate::server::answer::Answer;
use crate::server::arguments::read_arguments;
use crate::server::profile::Profile;
use crate::server::trouble::{is_named, trouble};

/// All definitions of one answer together.
const DEFINITIONS_TOKENS_MAX: usize = 8_000;
/// Names of those that did not fit.
const LEFT_OUT_MAX: usize = 200;

pub(super) static GET_TOOL_DEFINITION: OwnTool = OwnTool {
    name: "get_tool_definition",
    title: "Show a tool's definition",
    description: include_str!("get_tool_definition.md"),
    input: Input {
        properties: |_| {
            json!({
                "name": {"type": "string", "description": "tool or server.tool"},
                "server": text(),
                "category": text(),
                "format": {"type": "string", "enum": ["python", "typescript", "json"]},
            })
        },
        required: &[],
        shown_in_full_only: &["category", "format"],
        not_in_minimal: &[],
        also_takes: &[],
    },
    output: Output {
        properties: || json!({"definitions": {"type": "object"}, "left_out": texts()}),
        required: &["definitions"],
    },
    annotations: Annotations::READS,
    shown_from: Profile::Standard,
    scopes: &[],
    errors_are_structured: false,
    run: Run::Answer(|server, call| Box::pin(get_tool_definition(server, call))),
};

#[derive(Debug, Deserialize)]
struct Arguments {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    format: Format,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Format {
    #[default]
    Python,
    Typescript,
    Json,
}

impl Format {
    fn of(self, server: &Server, tool: &Tool) -> Value {
        match self {
            Format::Python => json!(stubs::python(server, tool)),
            Format::Typescript => json!(stubs::typescript(server, tool)),
            Format::Json => raw(&tool.definition.raw),
        }
    }
}

/// A definition as its server wrote it. One that hides text is JSON in a text, where that is an escape: whoever
/// reads the value has all of it, and a model sees what is there.
fn raw(json: &str) -> Value {
    let value: Value = serde_json::from_str(json).unwrap_or_default();
    let words = format!("{value:#}\n");
    let mut hidden = HiddenText::default();
    match words.chars().any(|c| hidden.hides(c) || c.is_control() && c != '\n') {
        true => Value::from(visible_json(&words)),
        false => value,
    }
}

async fn get_tool_definition(server: &GatewayServer, call: ToolCall<'_>) -> Result<Answer, Answer> {
    let arguments: Arguments = read_arguments(call.arguments)?;
    let view = match &server.parts.skills {
        Some(skills) => skills.look_closely_for(&server.reader(&call.requester).await).await,
        None => Arc::default(),
    };
    let Some(upstreams) = &server.parts.upstreams else {
        let answer = skill_meant(&view, arguments.name.as_deref(), arguments.server.as_deref());
        return answer.unwrap_or_else(|| {
            let hint = "ask the user to run `gristmill add` or `gristmill import`";
            Err(Answer::refused(Code::UnknownTool, "no servers are connected", Some(hint)))
        });
    };
    upstreams.known_soon().await;
    let snapshot = upstreams.snapshot_for(&call.requester.owner).await;
    let caller = &call.requester.caller;
    let seen = upstreams.seen(caller, &snapshot);
    match &arguments.name {
        Some(name) => one_definition(name, &arguments, &view, (upstreams, caller), (&snapshot, &seen)),
        None => definitions_of_servers(&arguments, &view, (snapshot.catalogue(), &seen)),
    }
}

/// Of the tool, or the skill, that a name means.
fn one_definition(
    name: &str,
    arguments: &Arguments,
    view: &SkillsView,
    (upstreams, caller): (&Upstreams, &Caller),
    (snapshot, seen): (&Snapshot, &Seen),
) -> Result<Answer, Answer> {
    let full = match &arguments.server {
        Some(server) if !name.contains(['.', '/']) => format!("{server}.{name}"),
        Some(_) | None => name.to_owned(),
    };
    let failure = match snapshot.lookup().resolve(&full) {
        Resolved::One(server, tool) if !seen.shows(server, tool) => return Err(never_allowed(server, tool)),
        Resolved::One(server, tool) => {
            return Ok(definitions([(server, tool)].into_iter(), arguments.format));
        }
        Resolved::Reserved(server, tool) => return Err(not_shown(server, tool)),
        Resolved::Several(mut candidates) => {
            seen.keep_shown_candidates(snapshot.lookup(), &mut candidates);
            ToolFailure::Ambiguous { name: full.clone(), candidates }
        }
        Resolved::None(mut nearest) => {
            seen.keep_shown(snapshot.lookup(), &mut nearest);
            if let Some(answer) = skill_meant(view, Some(&full), None) {
                return answer;
            }
            ToolFailure::Unknown { name: full.clone(), nearest }
        }
    };
    let server = full.split_once(['.', '/']).map_or(full.as_str(), |(server, _)| server);
    let mut servers = snapshot.catalogue().servers.iter().filter(|known| seen.shows_server(known));
    let is_server = servers.any(|known| is_named(&full, &known.offer.name));
    let hint = match is_server {
        true => {
            Some(format!("that's a server; pass it as `server`, or use search_tools with server \"{full}\""))
        }
        false => trouble(upstreams, caller, Some(server))
            .filter(|trouble| !trouble.starts_with("Unavailable servers")),
    };
    Err(Answer::refused(Code::UnknownTool, &failure.to_string(), hint.as_deref()))
}

/// A tool that is only a name: nothing is shown of what nobody approved.
fn not_shown(server: &Server, tool: &ReservedName) -> Answer {
    let server = &server.offer.name;
    let name = one_line(&tool.name, 80);
    let (code, message, hint) = match tool.why {
        Reserved::HeldBack | Reserved::New => (
            Code::ToolHeldBack,
            format!("{server}.{name} is held back"),
            format!("only the user can approve it, with `gristmill tools review {server}`"),
        ),
        Reserved::NotReached | Reserved::OutOfUse => (
            Code::ServerDown,
            format!("the server `{server}` isn't available"),
            "the user can check with `gristmill list`".to_owned(),
        ),
        Reserved::Excluded | Reserved::NotIncluded => (
            Code::PolicyDenied,
            format!("{server}.{name} isn't allowed"),
            format!(
                "the user's configuration excludes it (`tools` of the server `{server}`); use another tool"
            ),
        ),
    };
    Answer::refused(code, &message, Some(&hint))
}

/// A tool of which no call is allowed to this caller, whatever its arguments.
fn never_allowed(server: &Server, tool: &Tool) -> Answer {
    let name = one_line(&format!("{}.{}", server.offer.name, tool.definition.name), 200);
    let hint = format!(
        "the user's policy, or the access token, denies every call of it; use another tool, or tell the user: `gristmill policy test {name}` shows them the rule"
    );
    Answer::refused(Code::PolicyDenied, &format!("{name} isn't allowed"), Some(&hint))
}

/// Of all tools of a server, or of the servers of a category.
fn definitions_of_servers(
    arguments: &Arguments,
    view: &SkillsView,
    (catalogue, seen): (&Catalogue, &Seen),
) -> Result<Answer, Answer> {
    let (server, category) = (arguments.server.as_deref(), arguments.category.as_deref());
    let Some(wanted) = server.or(category) else {
        let hint = "pass `name` (such as \"server.tool\") or `server`";
        return Err(Answer::refused(Code::BadRequest, "no tool given", Some(hint)));
    };
    let fits = |known: &&Server| {
        let named = |wanted: &str| wanted == known.folder || wanted == known.offer.name;
        let in_category = |wanted: &str| known.offer.category.as_deref() == Some(wanted);
        seen.shows_server(known) && server.is_none_or(named) && category.is_none_or(in_category)
    };
    let mut chosen = catalogue.servers.iter().filter(fits).peekable();
    if chosen.peek().is_none() {
        return skill_meant(view, None, server).unwrap_or_else(|| Err(no_server(wanted, catalogue, seen)));
    }
    let tools = chosen.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
    let chosen = tools.filter(|(server, tool)| seen.shows(server, tool));
    Ok(definitions(chosen, arguments.format))
}

fn no_server(wanted: &str, catalogue: &Catalogue, seen: &Seen) -> Answer {
    let known = catalogue.servers.iter().filter(|server| seen.shows_server(server));
    let known = known.map(|server| (server.folder.as_str(), server.folder.as_str()));
    let near = nearest(wanted, known, 3);
    let hint = match near.is_empty() {
        true => "search_tools without a query lists servers".to_owned(),
        false => format!("did you mean {}?", near.join(", ")),
    };
    let message = format!("no server matches `{}`", one_line(wanted, 80));
    Answer::refused(Code::UnknownTool, &message, Some(&hint))
}

/// What describes a skill, where somebody takes it for a tool because it was found beside tools.
fn skill_meant(
    view: &SkillsView,
    name: Option<&str>,
    server: Option<&str>,
) -> Option<Result<Answer, Answer>> {
    let offer = view.offer();
    if let Some((name, usage)) = name.and_then(|name| offer.meant(name)) {
        let said = view.find(name).map(Skill::usage).unwrap_or_default();
        let said = fit::beginning(&said, DEFINITIONS_TOKENS_MAX);
        let text = format!("A skill: import it in a program.\n{usage}\n\n{}", said.text.trim_end());
        let structured = json!({"definitions": {(format!("skills.{name}")): text}});
        return Some(Ok(Answer { text, structured, is_error: false }));
    }
    let is_shelf = [name, server].into_iter().flatten().any(SkillOffer::is_shelf);
    (is_shelf && !offer.is_empty()).then(|| {
        let message = "skills aren't on a server; programs import them";
        let hint = "search_tools with server \"skills\" shows how to use each; pass one's name here";
        Err(Answer::refused(Code::UnknownTool, message, Some(hint)))
    })
}

fn definitions<'a>(tools: impl Iterator<Item = (&'a Server, &'a Tool)>, format: Format) -> Answer {
    let (mut shown, mut left_out) = (Map::new(), Vec::new());
    let (mut text, mut taken) = (String::new(), 0);
    for (server, tool) in tools {
        let name = format!("{}.{}", server.folder, tool.stem);
        if taken >= DEFINITIONS_TOKENS_MAX {
            left_out.push(name);
            continue;
        }
        let definition = format.of(server, tool);
        let words = match &definition {
            Value::String(text) => text.clone(),
            value => format!("{value:#}\n"),
        };
        let fitted = fit::beginning(&words, DEFINITIONS_TOKENS_MAX);
        if taken > 0 && taken + fitted.tokens > DEFINITIONS_TOKENS_MAX {
            left_out.push(name);
            continue;
        }
        taken += fitted.tokens;
        text.push_str(&fitted.text);
        if fitted.cut {
            // One alone is shown as far as it goes: it was asked for.
            text.push_str(" …\n");
            shown.insert(name, json!(format!("{} …", fitted.text)));
        } else {
            shown.insert(name, definition);
        }
    }
    let mut structured = json!({"definitions": shown});
    if !left_out.is_empty() {
        let more = left_out.len().saturating_sub(LEFT_OUT_MAX);
        left_out.truncate(LEFT_OUT_MAX);
        if more > 0 {
            left_out.push(format!("and {more} more"));
        }
        text.push_str(&format!("Left out (ask by name): {}\n", left_out.join(", ")));
        structured["left_out"] = json!(left_out);
    }
    Answer { text, structured, is_error: false }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_that_hides_text_is_shown_with_it_and_means_the_same() {
        let plain = json!({"description": "Sends \u{26a0}\u{fe0f}", "inputSchema": {"type": "object"}});
        assert_eq!(raw(&plain.to_string()), plain);
        let hostile = json!({"description": "a\u{e0041}\u{200b}\u{202e}b"});
        let Value::String(shown) = raw(&hostile.to_string()) else { panic!("it is shown as text") };
        assert!(shown.contains(r"a\udb40\udc41\u200b\u202eb"), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), hostile);
    }
}
