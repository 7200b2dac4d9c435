//! The rule-based writer on tasks in people's words: every program is run in the sandbox against the example
//! servers, in both languages, and held against an answer that a program written by hand gives. The table in
//! docs/ask-rules.md is what this finds.

mod example_servers;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use example_servers::ExampleServers;
use gristmill_gateway::checks::Guardrails;
use gristmill_gateway::domain::search::{Index, Query};
use gristmill_gateway::{EngineId, ExecuteRequest, Report, check_program};
use gristmill_testkit::World;
use gristmill_writer::{Candidate, Language, Outcome, Program, Task, write};
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
struct Known {
    task: String,
    /// Programs by hand, each of which gives a right answer. None: only a refusal is right.
    right: Vec<String>,
    /// Not looked at while the rules were made.
    #[serde(default)]
    held_out: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Solved,
    Refused,
    Wrong,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Solved => "solved",
            Self::Refused => "refused",
            Self::Wrong => "WRONG",
        }
    }
}

struct Tried {
    known: Known,
    verdict: Verdict,
    /// The tools of the program, or the reason of the refusal.
    detail: String,
}

struct Bench {
    servers: ExampleServers,
    index: Index,
    world: World,
}

impl Bench {
    fn start() -> Self {
        let servers = ExampleServers::start();
        let index = Index::new(Arc::clone(servers.catalogue()));
        let world = World::new(Path::new(env!("CARGO_BIN_EXE_gristmill"))).tools(servers.clone()).start();
        Self { servers, index, world }
    }

    /// What the writer makes of a sentence, with the tools that a search by words finds.
    fn write(&self, sentence: &str, language: Language) -> Outcome {
        let query = Query { text: sentence.to_owned(), limit: 10, ..Query::default() };
        let found = self.index.search(&query, None, &|_, _| String::new()).expect("a search");
        let best = found.hits.iter().map(|hit| hit.score).fold(f32::EPSILON, f32::max);
        let catalogue = self.servers.catalogue();
        let candidates: Vec<Candidate<'_>> = found
            .hits
            .iter()
            .filter_map(|hit| {
                let (server, tool) = hit.tool.split_once('.')?;
                let (server, tool) = catalogue.tool(server, tool)?;
                Some(Candidate {
                    server: &server.offer.name,
                    module: &server.identifier,
                    tool: &tool.definition.name,
                    function: &tool.identifier,
                    description: tool.definition.description.as_deref().unwrap_or_default(),
                    input_schema: &tool.definition.input_schema,
                    output_schema: tool.definition.output_schema.as_ref(),
                    read_only: tool.definition.read_only == Some(true),
                    nearness: hit.score / best,
                })
            })
            .collect();
        write(&Task { sentence, language, tools: &candidates })
    }

    fn run(&self, request: ExecuteRequest) -> Report {
        self.servers.begin_again();
        self.world.execute(request)
    }

    fn answer(&self, program: &Program, language: Language) -> Result<Value, String> {
        let report = self.run(match language {
            Language::Python => ExecuteRequest::python(&program.code),
            Language::TypeScript => ExecuteRequest::typescript(&program.code),
        });
        match report.success {
            true => Ok(report.result.unwrap_or_default()),
            false => Err(format!("{:?}", report.error)),
        }
    }

    fn attempt(&self, known: Known) -> Tried {
        let python = self.write(&known.task, Language::Python);
        let typescript = self.write(&known.task, Language::TypeScript);
        let (python, typescript) = match (python, typescript) {
            (Outcome::Written(python), Outcome::Written(typescript)) => (python, typescript),
            (Outcome::Refused(refusal), Outcome::Refused(_)) => {
                return Tried { known, verdict: Verdict::Refused, detail: refusal.reason };
            }
            _ => panic!("{}: the languages differ", known.task),
        };
        let right: Vec<Value> = known
            .right
            .iter()
            .map(|code| {
                let report = self.run(ExecuteRequest::python(code));
                assert!(report.success, "{}: {code}\n{:?}", known.task, report.error);
                report.result.expect("a result")
            })
            .collect();
        let mut wrong = Vec::new();
        for (program, language) in [(&python, Language::Python), (&typescript, Language::TypeScript)] {
            match self.answer(program, language) {
                Ok(answer) if right.iter().any(|right| is_same(right, &answer)) => {}
                Ok(answer) => wrong.push(format!("{}\n→ {answer}", program.code)),
                Err(error) => wrong.push(format!("{}\n→ {error}", program.code)),
            }
        }
        let (verdict, detail) = match wrong.is_empty() {
            true => (Verdict::Solved, python.tools.join(", ")),
            false => (Verdict::Wrong, wrong.join("\n")),
        };
        Tried { known, verdict, detail }
    }
}

/// Equal but for the last digits of sums.
fn is_same(right: &Value, answer: &Value) -> bool {
    match (right, answer) {
        (Value::Number(right), Value::Number(answer)) => {
            let (right, answer) = (right.as_f64().unwrap_or(f64::NAN), answer.as_f64().unwrap_or(f64::NAN));
            (right - answer).abs() <= 1e-9 * right.abs().max(1.0)
        }
        (Value::Array(right), Value::Array(answer)) => {
            right.len() == answer.len()
                && right.iter().zip(answer).all(|(right, answer)| is_same(right, answer))
        }
        (Value::Object(right), Value::Object(answer)) => {
            let is_in = |(name, value): (&String, &Value)| {
                answer.get(name).is_some_and(|other| is_same(value, other))
            };
            right.len() == answer.len() && right.iter().all(is_in)
        }
        _ => right == answer,
    }
}

fn tasks() -> Vec<Known> {
    serde_json::from_str(include_str!("tasks.json")).expect("tasks")
}

fn document() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ask-rules.md")
}

const TABLE_BEGINS: &str = "<!-- made by the test ask_rules; UPDATE_EXPECTED=1 renews it -->\n";

#[test]
fn no_task_gets_a_wrong_answer_and_the_table_says_what_became_of_each() {
    let bench = Bench::start();
    let tried: Vec<Tried> = tasks().into_iter().map(|known| bench.attempt(known)).collect();
    // `SHOW=tuned` shows everything of the half that the rules were made with, and nothing of the other.
    if std::env::var_os("SHOW").is_some() {
        for one in tried.iter().filter(|one| !one.known.held_out) {
            eprintln!("{:8} {}\n         {}", one.verdict.word(), one.known.task, one.detail);
        }
        for held_out in [false, true] {
            eprintln!("{}", counts(&tried, held_out));
        }
    }
    let wrong: Vec<String> = tried
        .iter()
        .filter(|one| one.verdict == Verdict::Wrong)
        .map(|one| format!("{}\n{}", one.known.task, one.detail))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let path = document();
    let text = std::fs::read_to_string(&path).expect("the document");
    let (before, _) = text.split_once(TABLE_BEGINS).expect("a place for the table");
    let made = format!("{before}{TABLE_BEGINS}{}", table(&tried));
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &made).expect("a file");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the document"), made);
}

fn counts(tried: &[Tried], held_out: bool) -> String {
    let of = |verdict: Verdict| {
        tried.iter().filter(|one| one.known.held_out == held_out && one.verdict == verdict).count()
    };
    let half = if held_out { "held out" } else { "tuned on" };
    format!("| {half} | {} | {} | {} |", of(Verdict::Solved), of(Verdict::Refused), of(Verdict::Wrong))
}

fn table(tried: &[Tried]) -> String {
    let mut made = String::from("\n| tasks | solved | refused | wrong |\n|---|---|---|---|\n");
    for held_out in [false, true] {
        made.push_str(&counts(tried, held_out));
        made.push('\n');
    }
    for held_out in [false, true] {
        let half = if held_out { "Held out" } else { "Tuned on" };
        made.push_str(&format!("\n### {half}\n\n| task | outcome | tools, or the reason |\n|---|---|---|\n"));
        for one in tried.iter().filter(|one| one.known.held_out == held_out) {
            let cell = |text: &str| text.replace('|', "\\|");
            let (task, verdict, detail) = (cell(&one.known.task), one.verdict.word(), cell(&one.detail));
            made.push_str(&format!("| {task} | {verdict} | {detail} |\n"));
        }
    }
    made
}

/// Whatever stands between the quotes, the program is the same but for one literal, and it parses.
#[test]
fn a_hostile_text_is_a_literal_and_nothing_else() {
    let bench = Bench::start();
    let texts = [
        "\\\" + __import__('os').system('id') + \\\"",
        "'; import os; os.system('id') #",
        "${process.exit()} `ls`",
        "*/ } export default 1; //",
        "line\nbreak\r\n\tresult = 1",
        "\u{2028}result = 1\u{2029}\u{202e}",
        "\\",
        "\\u0022 + x + \\u0022",
        "{{7*7}} %s {0}",
        "🙂\u{0}end",
    ];
    for text in texts {
        let sentence = format!("Add a note to LEAD-0007: “{text}”");
        for language in [Language::Python, Language::TypeScript] {
            let Outcome::Written(program) = bench.write(&sentence, language) else {
                panic!("{text:?} was refused");
            };
            let answer = bench.answer(&program, language).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(answer["text"], Value::from(text), "{}", program.code);
            assert_eq!(program.tools, ["crm.add_note"]);
            let engine = match language {
                Language::Python => EngineId::Python,
                Language::TypeScript => EngineId::TypeScript,
            };
            let report = check_program(engine, &program.code, &bench.servers, &Guardrails::default());
            assert_eq!(report.error(), None, "{}", program.code);
        }
    }
}
