//! `search_tools` and `get_tool_definition`: looking things up in the catalogue.

use std::sync::Arc;

use gristmill_gateway::answer::fit;
use gristmill_gateway::domain::catalogue::{Resolved, Server, Tool, fold};
use gristmill_gateway::domain::search::LIMIT_MAX;
use gristmill_gateway::domain::{Code, nearest, one_line, stubs};
use gristmill_gateway::ports::{ToolFailure, ToolSearch};
use gristmill_gateway::skills::{Skill, SkillOffer, Skills, SkillsView};
use gristmill_gateway::upstream::{ServerState, Upstreams};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::answer::Answer;

/// All definitions of one answer together.
const DEFINITIONS_TOKENS_MAX: usize = 8_000;
/// Names of those that did not fit.
const LEFT_OUT_MAX: usize = 200;
/// Servers that are down are named, but not a whole page of them.
const TROUBLES_MAX: usize = 8;

#[derive(Debug, Deserialize)]
struct SearchArguments {
    #[serde(default)]
    query: String,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    category: Option<String>,
    #[serde(default)]
    detail_level: Option<String>,
    #[serde(default)]
    limit: Option<serde_json::Number>,
}

/// How many a search may show.
fn limit(asked: Option<&serde_json::Number>) -> Result<Option<usize>, Answer> {
    let Some(asked) = asked else { return Ok(None) };
    let fits = asked.as_u64().and_then(|asked| usize::try_from(asked).ok());
    fits.filter(|asked| (1..=LIMIT_MAX).contains(asked)).map(Some).ok_or_else(|| {
        let asked = one_line(&asked.to_string(), 24);
        Answer::refused(Code::BadRequest, &format!("limit is {asked}; it can be 1 to {LIMIT_MAX}"), None)
    })
}

/// Answers a search.
pub(super) async fn search(
    upstreams: Option<&Upstreams>,
    skills: Option<&Skills>,
    arguments: Map<String, Value>,
) -> Answer {
    let arguments: SearchArguments = match serde_json::from_value(Value::Object(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => return Answer::refused(Code::BadRequest, &format!("the arguments: {error}"), None),
    };
    let limit = match limit(arguments.limit.as_ref()) {
        Ok(limit) => limit,
        Err(refused) => return refused,
    };
    let offer = match skills {
        Some(skills) => Arc::clone(skills.look_closely().await.offer()),
        None => Arc::default(),
    };
    let snapshot = match upstreams {
        Some(upstreams) => {
            upstreams.known_soon().await;
            upstreams.snapshot()
        }
        None if offer.is_empty() => return no_servers(),
        None => Arc::default(),
    };
    let search = ToolSearch {
        query: arguments.query,
        server: arguments.server,
        category: arguments.category,
        detail: arguments.detail_level,
        limit,
        offset: None,
        line: None,
    };
    let found = match snapshot.search(&search, &offer) {
        Ok(found) => found,
        Err(error) => return Answer::refused(Code::BadRequest, &error.to_string(), None),
    };
    let rendered = snapshot.rendered(&found);
    let mut lines: Vec<String> = rendered.lines().map(str::to_owned).collect();
    // The first line says how many, the last how to see more; both are fields of their own.
    let headline = if lines.is_empty() { String::new() } else { lines.remove(0) };
    // Fewer than were found if they do not fit.
    let shown = headline.split(' ').next().and_then(|count| count.parse().ok()).unwrap_or(found.shown);
    let mut more: Vec<String> = Vec::new();
    if lines
        .last()
        .is_some_and(|line| !line.starts_with(' ') && (line.starts_with("More:") || found.total == 0))
    {
        let last = lines.pop();
        more.extend(if found.total == 0 { last } else { Some(how_to_see_more(shown < found.shown)) });
    }
    let mut text = headline;
    for line in lines.iter().chain(&more) {
        text.push('\n');
        text.push_str(line);
    }
    if let Some(trouble) = upstreams.and_then(|upstreams| trouble(upstreams, search.server.as_deref())) {
        text.push_str(&format!("\n{trouble}"));
        more.push(trouble);
    }
    let mut structured = json!({"shown": shown, "total": found.total, "found": entries(lines)});
    if !more.is_empty() {
        structured["more"] = json!(more.join(" "));
    }
    Answer { text, structured, is_error: false }
}

/// One text for each that was found: its lines are indented below its first.
fn entries(lines: Vec<String>) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in lines {
        match entries.last_mut() {
            Some(entry) if line.starts_with(' ') => {
                entry.push('\n');
                entry.push_str(line.trim());
            }
            Some(_) | None => entries.push(line),
        }
    }
    entries
}

/// In terms of what this tool takes, which has no offset.
fn how_to_see_more(is_full: bool) -> String {
    let first = if is_full { "use detail_level \"names\"" } else { "raise `limit`" };
    format!("More: {first}, or narrow the query.")
}

fn no_servers() -> Answer {
    let words = "No servers are connected: `gristmill add` or `gristmill import` connects some.";
    Answer {
        text: words.to_owned(),
        structured: json!({"shown": 0, "total": 0, "found": [], "more": words}),
        is_error: false,
    }
}

/// Servers whose tools may be missing, in one line; why, if one of them was asked for.
fn trouble(upstreams: &Upstreams, asked: Option<&str>) -> Option<String> {
    let troubled: Vec<(String, String)> = upstreams
        .statuses()
        .into_iter()
        .filter_map(|status| Some((status.name, why(status.state)?)))
        .collect();
    if let Some((name, why)) =
        troubled.iter().find(|(name, _)| asked.is_some_and(|asked| is_named(asked, name)))
    {
        return Some(format!("{name} {why}"));
    }
    let more = troubled.len().saturating_sub(TROUBLES_MAX);
    let names: Vec<&str> = troubled.iter().take(TROUBLES_MAX).map(|(name, _)| name.as_str()).collect();
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("Not reached: {}.", names.join(", "))),
        (false, more) => Some(format!("Not reached: {} and {more} more.", names.join(", "))),
    }
}

fn why(state: ServerState) -> Option<String> {
    match state {
        ServerState::Down(why) => {
            Some(format!("is down: {}; the user sees more with `gristmill list`", one_line(&why, 200)))
        }
        ServerState::LoginNeeded(_) => Some("needs a login: the user runs `gristmill login`".to_owned()),
        ServerState::Starting => Some("has not answered yet; try again in a moment".to_owned()),
        ServerState::Up | ServerState::Idle => None,
    }
}

/// Whether a server is meant, in any spelling of its name.
fn is_named(written: &str, name: &str) -> bool {
    fold(written) == fold(name)
}

#[derive(Debug, Deserialize)]
struct DefinitionArguments {
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
            Format::Json => serde_json::from_str(&tool.definition.raw).unwrap_or_default(),
        }
    }
}

/// Answers with definitions.
pub(super) async fn definition(
    upstreams: Option<&Upstreams>,
    skills: Option<&Skills>,
    arguments: Map<String, Value>,
) -> Answer {
    let arguments: DefinitionArguments = match serde_json::from_value(Value::Object(arguments)) {
        Ok(arguments) => arguments,
        Err(error) => return Answer::refused(Code::BadRequest, &format!("the arguments: {error}"), None),
    };
    let view = match skills {
        Some(skills) => skills.look_closely().await,
        None => Arc::default(),
    };
    let Some(upstreams) = upstreams else {
        let answer = skill_meant(&view, arguments.name.as_deref(), arguments.server.as_deref());
        if let Some(answer) = answer {
            return answer;
        }
        let hint = "the user connects some with `gristmill add` or `gristmill import`";
        return Answer::refused(Code::UnknownTool, "no servers are connected", Some(hint));
    };
    upstreams.known_soon().await;
    let snapshot = upstreams.snapshot();
    let catalogue = snapshot.catalogue();
    let format = arguments.format;
    if let Some(name) = arguments.name {
        let full = match &arguments.server {
            Some(server) if !name.contains(['.', '/']) => format!("{server}.{name}"),
            Some(_) | None => name,
        };
        let is_unknown = matches!(snapshot.lookup().resolve(&full), Resolved::None(_));
        if let Some(answer) = skill_meant(&view, Some(&full), None).filter(|_| is_unknown) {
            return answer;
        }
        let failure = match snapshot.lookup().resolve(&full) {
            Resolved::One(server, tool) => return definitions([(server, tool)].into_iter(), format),
            Resolved::Several(candidates) => ToolFailure::Ambiguous { name: full.clone(), candidates },
            Resolved::None(nearest) => ToolFailure::Unknown { name: full.clone(), nearest },
        };
        let server = full.split_once(['.', '/']).map_or(full.as_str(), |(server, _)| server);
        let is_server = catalogue.servers.iter().any(|known| is_named(&full, &known.offer.name));
        let hint = match is_server {
            true => {
                Some(format!("it is a server: pass it as `server`, or search_tools with server \"{full}\""))
            }
            false => trouble(upstreams, Some(server)).filter(|trouble| !trouble.starts_with("Not reached")),
        };
        return Answer::refused(Code::UnknownTool, &failure.to_string(), hint.as_deref());
    }
    if arguments.server.is_none() && arguments.category.is_none() {
        let hint = "pass `name`, such as \"server.tool\", or a `server`";
        return Answer::refused(Code::BadRequest, "say which definition", Some(hint));
    }
    let fits = |server: &Server| {
        let named = |wanted: &String| *wanted == server.folder || *wanted == server.offer.name;
        let in_category = |wanted: &String| server.offer.category.as_ref() == Some(wanted);
        arguments.server.as_ref().is_none_or(named) && arguments.category.as_ref().is_none_or(in_category)
    };
    let mut chosen = catalogue.servers.iter().filter(|server| fits(server)).peekable();
    if chosen.peek().is_none() {
        if let Some(answer) = skill_meant(&view, None, arguments.server.as_deref()) {
            return answer;
        }
        let known = catalogue.servers.iter().map(|server| (server.folder.as_str(), server.folder.as_str()));
        let wanted = arguments.server.as_deref().or(arguments.category.as_deref()).unwrap_or_default();
        let near = nearest(wanted, known, 3);
        let hint = match near.is_empty() {
            true => "search_tools without a query lists the servers".to_owned(),
            false => format!("did you mean {}?", near.join(", ")),
        };
        let message = format!("no server fits `{}`", one_line(wanted, 80));
        return Answer::refused(Code::UnknownTool, &message, Some(&hint));
    }
    let chosen = chosen.flat_map(|server| server.tools.iter().map(move |tool| (server, tool)));
    definitions(chosen, format)
}

/// What describes a skill, where somebody takes it for a tool because it was found beside tools.
fn skill_meant(view: &SkillsView, name: Option<&str>, server: Option<&str>) -> Option<Answer> {
    let offer = view.offer();
    if let Some((name, usage)) = name.and_then(|name| offer.meant(name)) {
        let said = view.find(name).map(Skill::usage).unwrap_or_default();
        let said = fit::beginning(&said, DEFINITIONS_TOKENS_MAX);
        let text = format!("A skill: import it in a program.\n{usage}\n\n{}", said.text.trim_end());
        let structured = json!({"definitions": {(format!("skills.{name}")): text}});
        return Some(Answer { text, structured, is_error: false });
    }
    let is_shelf = [name, server].into_iter().flatten().any(SkillOffer::is_shelf);
    (is_shelf && !offer.is_empty()).then(|| {
        let message = "skills are imported, and no server has them";
        let hint = "search_tools with server \"skills\" shows how each is used; ask here for one by its name";
        Answer::refused(Code::UnknownTool, message, Some(hint))
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
        text.push_str(&format!("Left out, ask for them by name: {}\n", left_out.join(", ")));
        structured["left_out"] = json!(left_out);
    }
    Answer { text, structured, is_error: false }
}
