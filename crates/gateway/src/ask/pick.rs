//! Pick: the tools that a program for the sentence may need, as many as fit.

use std::sync::Arc;

use gristmill_domain::catalogue::{Resolved, Server, Tool};
use gristmill_domain::policy::Decision;
use gristmill_domain::stubs;
use gristmill_protocol::EngineId;
use serde_json::Value;

use super::course::Course;
use super::event::PickedTool;
use super::limits::TOOLS_MAX;
use crate::ports::{Needed, SkillOffer, ToolSearch, Tools};
use crate::tokens;

/// Tools for a prompt.
pub(super) struct Picked {
    /// All there are.
    pub tools: Arc<dyn Tools>,
    /// The best first.
    pub chosen: Vec<Chosen>,
    /// Found, and without room.
    pub left_out: usize,
}

/// One of them.
pub(super) struct Chosen {
    /// As `server.tool`, under which it is found again.
    pub name: String,
    pub nearness: f32,
    /// As a program sees it, with what was learned of its answers.
    pub stub: String,
}

impl Picked {
    pub fn listed(&self) -> Vec<PickedTool> {
        let listed = |one: &Chosen| PickedTool { name: one.name.clone(), nearness: one.nearness };
        self.chosen.iter().map(listed).collect()
    }

    /// A tool by a name of its.
    pub fn find(&self, name: &str) -> Option<(&Server, &Tool)> {
        match self.tools.lookup()?.resolve(name) {
            Resolved::One(server, tool) => Some((server, tool)),
            Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => None,
        }
    }
}

/// Searches by the sentence, and takes what the caller may call and what fits.
pub(super) async fn pick(course: &Course) -> Picked {
    let caller = &course.request.caller;
    let tools = course.world.core.tools.freeze(Some(caller), Needed::Every).await;
    let search = ToolSearch {
        query: course.request.sentence.clone(),
        server: None,
        category: None,
        detail: Some("names".to_owned()),
        limit: Some(TOOLS_MAX),
        offset: None,
        line: None,
        with_nearness: true,
    };
    // Tools that can't be searched are tools that nobody finds.
    let found = tools.search(caller, &search, &SkillOffer::default()).await.unwrap_or_default();
    let mut picked = Picked { tools, chosen: Vec::new(), left_out: 0 };
    let mut left = course.request.limits.stub_tokens;
    for hit in found["hits"].as_array().into_iter().flatten().take(TOOLS_MAX) {
        let Some(name) = hit["tool"].as_str() else { continue };
        let Some((server, tool)) = picked.find(name) else { continue };
        if picked.tools.decision_about(caller, server, tool) == Decision::Deny {
            continue;
        }
        let Some((stub, tokens)) = stub_within(course.request.engine, server, tool, left) else {
            picked.left_out += 1;
            continue;
        };
        left -= tokens;
        picked.chosen.push(Chosen { name: name.to_owned(), nearness: nearness_of(hit), stub });
    }
    picked
}

fn nearness_of(hit: &Value) -> f32 {
    hit["nearness"].as_f64().map_or(0.0, |nearness| nearness as f32)
}

/// The tool's whole stub, or its signature where that doesn't fit, with its tokens. `None` if neither does.
fn stub_within(engine: EngineId, server: &Server, tool: &Tool, tokens_max: usize) -> Option<(String, usize)> {
    let (language, whole, comment) = match engine {
        EngineId::Python | EngineId::Native => (stubs::Language::Python, stubs::python(server, tool), "#"),
        EngineId::TypeScript => (stubs::Language::TypeScript, stubs::typescript(server, tool), "//"),
    };
    let import = stubs::import_line(language, server, tool);
    let signature = || format!("{comment} {}", stubs::signature(language, server, tool));
    [whole, signature()].into_iter().find_map(|text| {
        let text = format!("{import}\n{}\n", text.trim_end());
        let tokens = tokens::count(&text);
        (tokens <= tokens_max).then_some((text, tokens))
    })
}
