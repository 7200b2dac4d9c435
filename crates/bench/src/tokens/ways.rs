//! One job, three ways: the transcripts of a model that calls tools, of one that first has to find
//! them, and of one that writes a program for us, in Python and in TypeScript. The tools and the programs
//! really run.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::direct::{Direct, DoneDirectly, is_same};
use super::gateway::{Called, Gateway, Shown};
use super::job::{Job, Look, Programs, Query};
use super::shown;
use super::stand_ins::{Definition, StandIns};
use super::transcript::{Part, Transcript, Turn};
use super::typescript;

/// Definitions that a tool search loads for a query.
const LOADED: usize = 5;

/// A tool search as clients have it, in about the usual size.
const SEARCH_TOOL: &str = r#"{"name":"tool_search","description":"Searches the tools of all connected servers by what they do. Most tools are not in your context: search for them before you say that something cannot be done. The best matches are loaded, and you can call them in your next turn.","input_schema":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, in a few words, or its name"},"server":{"type":"string","description":"Only tools of this server"},"limit":{"type":"integer","description":"How many tools to load at most","default":5}},"required":["query"]}}"#;

/// The transcripts of one job.
pub struct Ways {
    pub direct: Transcript,
    pub searched: Transcript,
    pub code: Transcript,
    /// The same with a program in TypeScript.
    pub typescript: Transcript,
    /// With `call_tool` in the place of a program; of jobs that are one call.
    pub single: Option<Transcript>,
    /// With a program in Python, for someone who has done all jobs before; if that is asked for.
    pub after_use: Option<Transcript>,
    /// What the job came to.
    pub result: Value,
}

/// How a job ends, whichever way it went.
struct End<'a> {
    /// What a program must come to.
    result: &'a Value,
    last: &'a Turn,
}

/// All servers and gateways of a run; the same ones serve all jobs that connect the same servers.
pub struct World {
    catalogues: PathBuf,
    connected: HashMap<&'static [&'static str], Connected>,
    gateways: HashMap<(&'static [&'static str], Shown), Gateway>,
}

struct Connected {
    servers: StandIns,
    definitions: Vec<Definition>,
    /// All of them, counted once.
    in_context: Part,
}

impl World {
    pub fn new(catalogues: PathBuf) -> Self {
        Self { catalogues, connected: HashMap::new(), gateways: HashMap::new() }
    }

    /// Does these jobs once, in gateways that learn from it, and starts those anew.
    pub async fn use_before(&mut self, jobs: &[Job]) -> anyhow::Result<()> {
        for job in jobs {
            let gateway = self.gateway(job, Shown::AfterUse).await?;
            let programs = job.in_python();
            look_up(gateway, job, &programs).await?;
            if let Some(look) = &programs.first_look {
                execute(gateway, look).await?;
            }
            execute(gateway, &Look::of(programs.program)).await?;
        }
        let (used, others): (HashMap<_, _>, _) = std::mem::take(&mut self.gateways)
            .into_iter()
            .partition(|((_, shown), _)| *shown == Shown::AfterUse);
        self.gateways = others;
        for (key, gateway) in used {
            self.gateways.insert(key, gateway.restart().await?);
        }
        Ok(())
    }

    /// Does a job in all ways.
    pub async fn run(&mut self, job: &Job) -> anyhow::Result<Ways> {
        let (DoneDirectly { turns: direct_turns, called, made }, result) = self.call_directly(job)?;
        let closing = (job.closing)(&result);
        let last = Turn { written: vec![Part::new("the model's answer", &closing)], answers: Vec::new() };
        let task = Part::new("the task", job.task);

        let found = self.found(job).await?;
        let connected = self.connect(job)?;
        let direct = Transcript {
            start: vec![connected.in_context.clone(), task.clone()],
            turns: direct_turns.iter().cloned().chain([last.clone()]).collect(),
        };
        let search = connected.search_turn(job, &found, &called)?;
        let searched = Transcript {
            start: vec![Part::new("the definition of the tool search", SEARCH_TOOL), task.clone()],
            turns: [search].into_iter().chain(direct_turns).chain([last.clone()]).collect(),
        };
        let end = End { result: &result, last: &last };
        let code = self.with_program(job, Shown::Default, job.in_python(), &end).await?;
        let typescript = self
            .with_program(job, Shown::DefaultAnew, typescript::programs(job)?, &end)
            .await
            .context("in TypeScript")?;
        let single = match made.as_slice() {
            [(name, arguments)] if shown::is_passed_on(job.program) => {
                Some(self.with_call_tool(job, (name.as_str(), arguments), &end).await?)
            }
            _ => None,
        };
        let after_use = match self.gateways.contains_key(&(job.servers, Shown::AfterUse)) {
            true => Some(self.with_use(job, &end).await.context("after use")?),
            false => None,
        };
        Ok(Ways { direct, searched, code, typescript, single, after_use, result })
    }

    fn connect(&mut self, job: &Job) -> anyhow::Result<&Connected> {
        let place = match self.connected.entry(job.servers) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(place) => place,
        };
        let servers = StandIns::start(job.servers, &self.catalogues)?;
        let definitions = servers.definitions();
        let all: Vec<&str> = definitions.iter().map(|definition| definition.sent.as_str()).collect();
        let what = format!("{} definitions of {} servers", all.len(), job.servers.len());
        let in_context = Part::new(what, &format!("[{}]", all.join(",")));
        Ok(place.insert(Connected { servers, definitions, in_context }))
    }

    fn call_directly(&mut self, job: &Job) -> anyhow::Result<(DoneDirectly, Value)> {
        let connected = self.connect(job)?;
        let mut direct = Direct::new(&connected.servers);
        let result = (job.direct)(&mut direct)?;
        Ok((direct.finish(), result))
    }

    async fn gateway(&mut self, job: &Job, shown: Shown) -> anyhow::Result<&mut Gateway> {
        match self.gateways.entry((job.servers, shown)) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let gateway = Gateway::start(job.servers, &self.catalogues, shown).await?;
                Ok(place.insert(gateway))
            }
        }
    }

    /// For each query the names of the tools that our search finds.
    async fn found(&mut self, job: &Job) -> anyhow::Result<Vec<Vec<String>>> {
        let gateway = self.gateway(job, Shown::Default).await?;
        let mut found = Vec::new();
        for query in &job.queries {
            let mut arguments = arguments_of(query, LOADED);
            arguments["detail_level"] = json!("names");
            let called = gateway.call("search_tools", &arguments).await?;
            let names = called.structured["found"].as_array().into_iter().flatten().filter_map(Value::as_str);
            found.push(names.map(str::to_owned).collect());
        }
        Ok(found)
    }

    async fn with_program(
        &mut self,
        job: &Job,
        shown: Shown,
        programs: Programs,
        end: &End<'_>,
    ) -> anyhow::Result<Transcript> {
        let gateway = self.gateway(job, shown).await?;
        let mut transcript = begun(gateway, job);
        if !is_known(&programs, &gateway.description) {
            transcript.turns.push(look_up(gateway, job, &programs).await?.0);
        }
        if let Some(look) = &programs.first_look {
            transcript.turns.push(execute(gateway, look).await?.0);
        }
        let (turn, answered) = execute(gateway, &Look::of(programs.program)).await?;
        transcript.turns.extend([turn, end.last.clone()]);
        end.check(job, &answered)?;
        Ok(transcript)
    }

    /// With a program that needs no look at answers whose fields are known by now, from the description or from the
    /// search.
    async fn with_use(&mut self, job: &Job, end: &End<'_>) -> anyhow::Result<Transcript> {
        let gateway = self.gateway(job, Shown::AfterUse).await?;
        let mut transcript = begun(gateway, job);
        let (mut programs, knowing) = (job.in_python(), job.with_known_fields());
        let told = |shown: &str| knowing.filter(|knowing| shown::has_fields(knowing.program, shown));
        let from_the_start = told(&gateway.description)
            .filter(|knowing| shown::check(knowing.program, &gateway.description).is_ok());
        if let Some(knowing) = from_the_start {
            programs = knowing;
        } else if !is_known(&programs, &gateway.description) {
            let (turn, seen) = look_up(gateway, job, &programs).await?;
            let seen = format!("{}\n{seen}", gateway.description);
            let is_shown = |knowing: &Programs| shown::check(knowing.program, &seen).is_ok();
            programs = told(&seen).filter(is_shown).unwrap_or(programs);
            transcript.turns.push(turn);
        }
        if let Some(look) = &programs.first_look {
            transcript.turns.push(execute(gateway, look).await?.0);
        }
        let (turn, answered) = execute(gateway, &Look::of(programs.program)).await?;
        transcript.turns.extend([turn, end.last.clone()]);
        end.check(job, &answered)?;
        Ok(transcript)
    }

    /// One call, without a program.
    async fn with_call_tool(
        &mut self,
        job: &Job,
        (name, arguments): (&str, &Value),
        end: &End<'_>,
    ) -> anyhow::Result<Transcript> {
        let programs = job.in_python();
        let gateway = self.gateway(job, Shown::WithCallTool).await?;
        let mut transcript = begun(gateway, job);
        if !is_known(&programs, &gateway.description) {
            transcript.turns.push(look_up(gateway, job, &programs).await?.0);
        }
        let arguments = json!({"name": name, "arguments": arguments});
        let (turn, answered) = run(gateway, "call_tool", &arguments).await?;
        transcript.turns.extend([turn, end.last.clone()]);
        end.check(job, &answered)?;
        Ok(transcript)
    }

    pub async fn close(self) -> anyhow::Result<()> {
        for gateway in self.gateways.into_values() {
            gateway.close().await?;
        }
        Ok(())
    }
}

impl End<'_> {
    fn check(&self, job: &Job, answered: &Called) -> anyhow::Result<()> {
        let given = &answered.structured["result"];
        match is_same(given, self.result) {
            true => Ok(()),
            false => bail!("{}: our way came to {given}, direct calls came to {}", job.name, self.result),
        }
    }
}

impl Connected {
    /// The turn of a tool search, with what it loads. All that is called later must be among it.
    fn search_turn(&self, job: &Job, found: &[Vec<String>], called: &[String]) -> anyhow::Result<Turn> {
        let mut turn = Turn::default();
        let mut loaded: Vec<&str> = Vec::new();
        for (query, names) in job.queries.iter().zip(found) {
            let written =
                json!({"name": "tool_search", "arguments": arguments_of(query, LOADED)}).to_string();
            turn.written.push(Part::new("call tool_search", &written));
            for name in names {
                let definition =
                    self.definitions.iter().find(|definition| folded(&definition.name) == folded(name));
                let definition =
                    definition.with_context(|| format!("{name} was found but has no definition"))?;
                if !loaded.contains(&definition.name.as_str()) {
                    loaded.push(&definition.name);
                    turn.answers
                        .push(Part::new(format!("definition of {}", definition.name), &definition.sent));
                }
            }
        }
        match called.iter().find(|name| !loaded.contains(&name.as_str())) {
            Some(name) => bail!("{}: no query of the job finds {name}", job.name),
            None => Ok(turn),
        }
    }
}

/// What is in the context before the model says anything.
fn begun(gateway: &Gateway, job: &Job) -> Transcript {
    let start = vec![
        Part::new("our definitions", &gateway.definitions),
        Part::new("our instructions", &gateway.instructions),
        Part::new("the task", job.task),
    ];
    Transcript { start, turns: Vec::new() }
}

/// Whether the description of `execute_code` shows all that these programs call and pass, and nobody has to know
/// more of the answers: a first program looks at them, or they are handed on as they are.
fn is_known(programs: &Programs, description: &str) -> bool {
    let answers_are_known = programs.first_look.is_some() || shown::is_passed_on(programs.program);
    answers_are_known && written(programs).all(|program| shown::check(program, description).is_ok())
}

fn written(programs: &Programs) -> impl Iterator<Item = &'static str> {
    programs.first_look.into_iter().map(|look| look.program).chain([programs.program])
}

/// The turn in which the model asks our search, and reads definitions in a program. Its programs may call and pass
/// what is shown to it, which comes with the turn, and nothing else.
async fn look_up(gateway: &mut Gateway, job: &Job, programs: &Programs) -> anyhow::Result<(Turn, String)> {
    let mut looked_up = (Turn::default(), String::new());
    for query in &job.queries {
        look_up_one(gateway, "search_tools", &arguments_of(query, query.shown), &mut looked_up).await?;
    }
    // Whoever has learned what it needs to know reads no definition for it.
    let is_shown =
        |program: &str, seen: &str| shown::check(program, seen).is_ok() && shown::has_fields(program, seen);
    let is_all_shown = gateway.knows_answers() && written(programs).all(|one| is_shown(one, &looked_up.1));
    for name in job.definitions.iter().filter(|_| !is_all_shown) {
        let arguments = json!({"code": format!("help(\"{name}\")")});
        look_up_one(gateway, "execute_code", &arguments, &mut looked_up).await?;
    }
    // What is known of an answer takes room in a signature, and arguments may make way for it: the model sees that.
    let half_shown = written(programs).flat_map(|program| shown::half_shown(program, &looked_up.1));
    let half_shown: BTreeSet<String> = half_shown.collect();
    let reads_definitions = gateway.knows_answers();
    for name in half_shown.iter().filter(|_| reads_definitions) {
        let arguments = json!({"code": format!("help(\"{name}\")")});
        look_up_one(gateway, "execute_code", &arguments, &mut looked_up).await?;
    }
    let (turn, seen) = looked_up;
    for program in written(programs) {
        shown::check(program, &seen).with_context(|| job.name.to_owned())?;
    }
    Ok((turn, seen))
}

async fn look_up_one(
    gateway: &mut Gateway,
    tool: &str,
    arguments: &Value,
    (turn, seen): &mut (Turn, String),
) -> anyhow::Result<()> {
    let (called, answered) = run(gateway, tool, arguments).await?;
    seen.push_str(&answered.text);
    seen.push('\n');
    turn.written.extend(called.written);
    turn.answers.extend(called.answers);
    Ok(())
}

async fn execute(gateway: &mut Gateway, look: &Look) -> anyhow::Result<(Turn, Called)> {
    let mut arguments = json!({"code": look.program.trim_end()});
    if let Some(shape) = look.shape {
        arguments["shape"] = json!(shape);
    }
    run(gateway, "execute_code", &arguments).await
}

/// A call of one of our tools, as a turn with nothing else in it.
async fn run(gateway: &mut Gateway, tool: &str, arguments: &Value) -> anyhow::Result<(Turn, Called)> {
    let mut call =
        Part::new(format!("call {tool}"), &json!({"name": tool, "arguments": arguments}).to_string());
    if let Some(program) = arguments["code"].as_str() {
        call.shown = program.to_owned();
    }
    let answered = gateway.call(tool, arguments).await?;
    if answered.structured.get("status").is_some_and(|status| status != "ok") {
        bail!("a program did not end: {}", answered.text);
    }
    let answer = Part::dearer(format!("answer of {tool}"), &answered.text, &answered.structured.to_string());
    Ok((Turn { written: vec![call], answers: vec![answer] }, answered))
}

fn arguments_of(query: &Query, limit: usize) -> Value {
    let mut arguments = json!({"query": query.words, "limit": limit});
    if let Some(server) = query.server {
        arguments["server"] = json!(server);
    }
    arguments
}

/// A name as programs write it.
fn folded(name: &str) -> String {
    name.replace('-', "_")
}
