//! Our own gateway as a caller over MCP meets it: `gristmill serve` as a child, over pipes.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use gristmill_example_servers::NAMES;
use gristmill_gateway::store::Store;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::stand_ins::sent;
use crate::place::Place;

const VERSION: &str = "2026-07-28";
/// More than any of the programs takes; a gateway that hangs must not hang the measuring.
const ANSWER_WITHIN: Duration = Duration::from_secs(240);
/// Until all servers of a gateway have told their tools.
const KNOWN_WITHIN: Duration = Duration::from_secs(120);
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(200);
const END_WITHIN: Duration = Duration::from_secs(30);
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// Which tools it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shown {
    /// What a client gets if nothing is said.
    Default,
    /// The same in a process of its own, with servers that nobody has written to.
    DefaultAnew,
    /// The same with `call_tool`.
    WithCallTool,
    /// The same for someone who has used it: types are learned.
    AfterUse,
}

impl Shown {
    fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Default | Self::DefaultAnew | Self::AfterUse => &[],
            Self::WithCallTool => &["--call-tool"],
        }
    }
}

/// What a tool of ours answered.
pub struct Called {
    pub text: String,
    pub structured: Value,
}

pub struct Gateway {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u64,
    /// Its home, which is gone afterwards.
    place: Place,
    shown: Shown,
    /// Our tools as a model is sent them.
    pub definitions: String,
    /// That of `execute_code`, which tells of the servers' tools.
    pub description: String,
    /// What a caller is told when it connects.
    pub instructions: String,
}

impl Gateway {
    /// Starts one with these servers behind it, and waits until it knows their tools.
    pub async fn start(servers: &[&str], catalogues: &Path, shown: Shown) -> anyhow::Result<Self> {
        // The largest jobs take longer in a build without optimization than programs usually may.
        let settings = json!({
            "level": "development",
            "limits": {"wall_time": "200s", "cpu_time": "200s", "memory": "1G"},
            // Nobody is there to be asked about writes; direct calls aren't asked about either.
            "policy": {"preset": "trusting"},
            // Both depend on how far the gateway has come in the background; the outcome must not. What was learned
            // before a restart is there after it.
            "search": {"meaning": false},
            "learning": {"types": shown == Shown::AfterUse},
        });
        let place = Place::with_servers(&settings, configured(servers, catalogues)?)?;
        Self::start_in(place, shown).await
    }

    /// Ends it and starts another one in its home as if on the next day, with servers that nobody has written to.
    pub async fn restart(self) -> anyhow::Result<Self> {
        let shown = self.shown;
        let place = self.close().await?;
        let store = Store::open(&place.data())?;
        store.make_older(DAY_MS).await?;
        store.close().await;
        Self::start_in(place, shown).await
    }

    /// Whether it learns what answers look like.
    pub fn knows_answers(&self) -> bool {
        self.shown == Shown::AfterUse
    }

    async fn start_in(place: Place, shown: Shown) -> anyhow::Result<Self> {
        let flags: Vec<&str> = shown.flags().iter().copied().chain(["--answer-within", "220"]).collect();
        let mut command = place.command(&flags)?;
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        let mut process = command.spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let (Some(input), Some(output)) = (input, output) else { bail!("the gateway has no pipes") };
        let [definitions, description, instructions] = [const { String::new() }; 3];
        let output = BufReader::new(output);
        let mut gateway =
            Self { process, input, output, next_id: 1, place, shown, definitions, description, instructions };
        gateway.get_to_know().await?;
        Ok(gateway)
    }

    async fn get_to_know(&mut self) -> anyhow::Result<()> {
        let discovered = self.request("server/discover", Map::new()).await?;
        self.instructions =
            discovered["instructions"].as_str().context("the gateway's instructions")?.to_owned();
        let started = Instant::now();
        loop {
            let known = self.call("search_tools", &json!({"detail_level": "names"})).await?;
            if !known.text.contains("Unavailable servers") {
                break;
            }
            if started.elapsed() > KNOWN_WITHIN {
                bail!("servers of the benchmark do not answer: {}", known.text);
            }
            tokio::time::sleep(LOOK_AGAIN_AFTER).await;
        }
        // As a client has it that has connected before: what servers offer is known then.
        let listed = self.request("tools/list", Map::new()).await?;
        let tools = listed["tools"].as_array().context("the gateway's tools")?;
        self.definitions = Value::from(tools.iter().map(sent).collect::<Vec<_>>()).to_string();
        let programs = tools.iter().find(|tool| tool["name"] == "execute_code");
        let description = programs.and_then(|tool| tool["description"].as_str());
        self.description = description.context("the description of execute_code")?.to_owned();
        Ok(())
    }

    /// Calls one of our tools, which must be a success.
    pub async fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Called> {
        let params =
            Map::from_iter([("name".to_owned(), json!(tool)), ("arguments".to_owned(), arguments.clone())]);
        let result = self.request("tools/call", params).await?;
        let texts =
            result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        if result["isError"] == true {
            bail!("{tool} failed: {text}");
        }
        Ok(with_a_fixed_handle(text, &result["structuredContent"]))
    }

    async fn request(&mut self, method: &str, mut params: Map<String, Value>) -> anyhow::Result<Value> {
        let id = self.next_id;
        self.next_id += 1;
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": VERSION,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "gristmill bench", "version": "1"},
        });
        params.insert("_meta".to_owned(), meta);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answered = tokio::time::timeout(ANSWER_WITHIN, self.exchange(&message, id)).await;
        let mut answer =
            answered.map_err(|_| anyhow!("no answer within {} s", ANSWER_WITHIN.as_secs()))??;
        match answer.get("error") {
            Some(error) => bail!("the gateway says to {method}: {error}"),
            None => Ok(answer["result"].take()),
        }
    }

    async fn exchange(&mut self, message: &Value, id: u64) -> anyhow::Result<Value> {
        self.input.write_all(format!("{message}\n").as_bytes()).await?;
        self.input.flush().await?;
        let mut line = String::new();
        loop {
            line.clear();
            if self.output.read_line(&mut line).await? == 0 {
                bail!("the gateway has ended");
            }
            let said: Value = serde_json::from_str(&line).context("a message of the gateway")?;
            if said["id"] == id {
                return Ok(said);
            }
        }
    }

    /// Ends it, as a client does: by closing its input. Gives its home.
    pub async fn close(mut self) -> anyhow::Result<Place> {
        drop(self.input);
        let ended = tokio::time::timeout(END_WITHIN, self.process.wait()).await;
        ended.map_err(|_| anyhow!("the gateway did not end"))??;
        Ok(self.place)
    }
}

/// The servers as a configuration has them, with time enough on a busy machine.
fn configured(servers: &[&str], catalogues: &Path) -> anyhow::Result<Value> {
    let binary = std::env::current_exe()?;
    let catalogues = std::path::absolute(catalogues)?;
    let entry = |name: &&str| {
        let arguments = match NAMES.contains(name) {
            true => json!(["example-server", name]),
            false => json!(["example-server", "replay", catalogues.join(format!("{name}.json"))]),
        };
        (
            (*name).to_owned(),
            json!({"command": binary, "args": arguments, "limits": {"startup": "2m", "call": "3m"}}),
        )
    };
    Ok(Value::Object(servers.iter().map(entry).collect()))
}

/// Stands for every handle: they are drawn by chance, and so would be what they count.
const HANDLE: &str = "k7m2pq9xw4hd8rzt3nvb";

/// An answer in which handles are always the same.
fn with_a_fixed_handle(text: String, structured: &Value) -> Called {
    let handles = ["result_handle", "output_handle"].map(|member| structured[member].as_str());
    let mut texts = [text, structured.to_string()];
    for handle in handles.into_iter().flatten() {
        texts = texts.map(|text| text.replace(handle, HANDLE));
    }
    let [text, written] = texts;
    // It was JSON, and a handle has no character that would need another form.
    Called { text, structured: serde_json::from_str(&written).unwrap_or_default() }
}
