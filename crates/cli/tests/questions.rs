//! Questions of servers and resources, in programs that run in real workers.

mod support;

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::{Code, Level, LimitName, Limits, ToolAnswer};
use gristmill_gateway::ports::{Ask, Asker, BoxFuture, Question, QuestionAnswer, QuestionKind, ToolFailure};
use gristmill_gateway::{ExecuteRequest, Report};
use gristmill_testkit::{ScriptedTools, World};
use serde_json::{Value, json};
use support::gristmill;

/// `ask` asks, and gives back what was answered. Resources are their own URIs.
fn asking_tools() -> ScriptedTools {
    let tools = ScriptedTools::new(|call| async move {
        let asked = QuestionKind::Form { schema: json!({ "type": "object" }) };
        let question = Question { server: "crm".to_owned(), message: "Who?".to_owned(), asked };
        Ok(ToolAnswer::from(match call.asker.ask(question).await {
            Some(QuestionAnswer::Accept(content)) => content.unwrap_or_default(),
            Some(QuestionAnswer::Decline) => json!("no"),
            Some(QuestionAnswer::Cancel) => json!("nothing"),
            None => json!("nobody"),
        }))
    });
    tools.resources(|uri| match uri.ends_with("missing") {
        true => Err(ToolFailure::Said("`crm` says: Resource not found".to_owned())),
        false => Ok(ToolAnswer::from(json!({ "contents": [{ "uri": uri, "text": uri }] }))),
    })
}

struct Person {
    thinks: Duration,
}

impl Ask for Person {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        let thinks = self.thinks;
        Box::pin(async move {
            tokio::time::sleep(thinks).await;
            QuestionAnswer::Accept(Some(json!([question.server, question.message])))
        })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        matches!(kind, QuestionKind::Form { .. })
    }
}

const WALL_MS: u64 = 4000;

fn run(code: &str, asker: Asker) -> Report {
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, WALL_MS).expect("in range");
    let world = World::new(gristmill()).limits(limits).tools(asking_tools()).start();
    let mut request = ExecuteRequest::python(code);
    request.capabilities.asker = asker;
    world.execute(request)
}

fn person(thinks_ms: u64) -> Asker {
    Asker::new(Arc::new(Person { thinks: Duration::from_millis(thinks_ms) }))
}

#[test]
fn a_person_may_think_longer_than_the_program_may_run() {
    let code = "result = await callMCPTool('ask')";
    let report = run(code, person(WALL_MS + 1000));
    assert_eq!((report.error, report.result), (None, Some(json!(["crm", "Who?"]))));
}

#[test]
fn the_clock_goes_on_after_the_answer() {
    let code = "result = await callMCPTool('ask')\nawait asyncio.sleep(1000)";
    let report = run(code, person(100));
    assert_eq!(report.error.map(|error| error.code), Some(Code::WallTime));
}

#[test]
fn nobody_is_asked_where_nobody_is() {
    let report = run("await callMCPTool('ask')", Asker::none());
    assert_eq!((report.error, report.result), (None, Some(json!("nobody"))));
}

#[test]
fn a_program_reads_resources() {
    let code = "
found = await asyncio.gather(*(read_resource(f'gristmill://crm/{n}') for n in range(2)))
try:
    await read_resource('gristmill://crm/missing')
except ToolError as error:
    found.append([str(error), error.tool, error.line])
result = found
";
    let report = run(code, Asker::none());
    let missing = json!(["`crm` says: Resource not found", "read_resource", 4]);
    let expected = json!(["gristmill://crm/0", "gristmill://crm/1", missing]);
    assert_eq!((report.error, report.result), (None, Some(expected)));
    let called: Vec<(&str, bool)> =
        report.tools_called.iter().map(|called| (called.name.as_str(), called.ok)).collect();
    assert_eq!(called, [("read_resource", true), ("read_resource", true), ("read_resource", false)]);
}

#[test]
fn the_example_of_the_manual_is_the_way_to_a_uri() {
    let code = "import urllib.parse\nawait read_resource('gristmill://crm/' + urllib.parse.quote('a:/b ü', safe=''))";
    let result: Option<Value> = run(code, Asker::none()).result;
    assert_eq!(result, Some(json!("gristmill://crm/a%3A%2Fb%20%C3%BC")));
}
