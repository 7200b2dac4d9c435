//! What goes out, and what doesn't.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gristmill_gateway::DataSettings;
use gristmill_gateway::history::{HistoryFilter, HistorySettings, RecordedOutcome};
use gristmill_gateway::ports::{BoxFuture, NotShared, SharedState};
use gristmill_gateway::results::ResultSettings;
use gristmill_gateway::session::SessionSettings;
use gristmill_gateway::store::Store;
use gristmill_mcp::stdio::{StdioSettings, serve_stdio};
use gristmill_mcp::{Connection, GatewayServer, Profile, ServerParts, SingleCalls};
use gristmill_testkit::scripted_worker::{Step, ZygoteScript, script};
use gristmill_testkit::{TestFolder, World};
use libtest_mimic::Trial;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines};
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::messages::{initialize, plain};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("an_id_goes_out_once_others_know_that_the_program_runs", || {
            an_id_goes_out_once_others_know_that_the_program_runs();
            Ok(())
        }),
        Trial::test("what_had_not_begun_is_not_answered_by_one_that_was_overtaken", || {
            what_had_not_begun_is_not_answered_by_one_that_was_overtaken();
            Ok(())
        }),
        Trial::test("one_that_was_overtaken_answers_nothing_else", || {
            one_that_was_overtaken_answers_nothing_else();
            Ok(())
        }),
    ]
}

fn an_id_goes_out_once_others_know_that_the_program_runs() {
    let stage = Stage::new();
    stage.world.block_on(async {
        let mut client = stage.open().await;
        let code = script().step(Step::Stall).code();
        let arguments = json!({"code": code, "background": true});
        client.send(&plain(2, "tools/call", json!({"name": "execute_code", "arguments": arguments}))).await;
        within(stage.others.asked.notified()).await;
        let history = stage.world.gateway().history().expect("a history");
        let running = history.list(&HistoryFilter::default(), 10).await.expect("a list");
        assert_eq!(running.len(), 1, "{running:?}");
        assert_eq!(running[0].outcome, RecordedOutcome::Running);
        stage.others.safe.add_permits(1);
        let answer = client.answer().await;
        assert_eq!(answer["result"]["structuredContent"]["id"], running[0].id, "{answer}");
        // It ends, and nobody waits for that to be safe.
        stage.others.is_overtaken.store(true, Ordering::Relaxed);
        within(stage.world.gateway().service().finish(Duration::ZERO)).await;
    });
}

fn what_had_not_begun_is_not_answered_by_one_that_was_overtaken() {
    let stage = Stage::new();
    stage.others.safe.add_permits(100);
    stage.world.block_on(async {
        let mut client = stage.open().await;
        let code = script().step(Step::Stall).code();
        let arguments = json!({"code": code, "session": "s"});
        for number in [2, 3] {
            let params = json!({"name": "execute_code", "arguments": arguments});
            client.send(&plain(number, "tools/call", params)).await;
        }
        let service = stage.world.gateway().service();
        let history = stage.world.gateway().history().expect("a history");
        // One runs, and the other one waits for it.
        while history.list(&HistoryFilter::default(), 10).await.expect("a list").is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stage.others.is_overtaken.store(true, Ordering::Relaxed);
        within(service.finish(Duration::ZERO)).await;
        for _ in 0..2 {
            let answer = client.answer().await;
            assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "GM-4006", "{answer}");
        }
    });
}

fn one_that_was_overtaken_answers_nothing_else() {
    let stage = Stage::new();
    stage.world.block_on(async {
        let mut client = stage.open().await;
        stage.others.is_overtaken.store(true, Ordering::Relaxed);
        let says =
            "GM-4006: what was written isn't safe: another gateway leads now; look whether it was done";
        for (method, params) in [
            ("resources/list", json!({})),
            ("resources/templates/list", json!({})),
            ("resources/read", json!({"uri": "crm://x"})),
            ("prompts/list", json!({})),
            ("prompts/get", json!({"name": "crm.x"})),
        ] {
            client.send(&plain(3, method, params)).await;
            let answer = client.answer().await;
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(message.starts_with(says), "{method}: {answer}");
        }
        let unknown = json!({"id": "exe_00000000000000000000"});
        for (name, arguments) in [("get_execution", json!({})), ("get_execution", unknown)] {
            let params = json!({"name": name, "arguments": arguments});
            client.send(&plain(4, "tools/call", params)).await;
            let answer = client.answer().await;
            let code = &answer["result"]["structuredContent"]["error"]["code"];
            assert_eq!(*code, "GM-4006", "{name} {arguments}: {answer}");
        }
    });
}

/// Other gateways, which say of nothing that it's safe before they are told to.
struct Others {
    is_overtaken: AtomicBool,
    asked: Notify,
    safe: Semaphore,
}

impl SharedState for Others {
    fn changed(&self, _path: &str) {}

    fn settle(&self) -> BoxFuture<'_, Result<(), NotShared>> {
        Box::pin(async {
            self.asked.notify_one();
            if self.leads() {
                self.safe.acquire().await.expect("open").forget();
            }
            if self.leads() { Ok(()) } else { Err(NotShared::Overtaken) }
        })
    }

    fn leads(&self) -> bool {
        !self.is_overtaken.load(Ordering::Relaxed)
    }
}

struct Stage {
    world: World,
    others: Arc<Others>,
    _data: TestFolder,
    _cache: TestFolder,
}

impl Stage {
    fn new() -> Self {
        let (data, cache) = (TestFolder::new("settled"), TestFolder::new("settled-cache"));
        ZygoteScript::default().write(cache.path());
        let others = Arc::new(Others {
            is_overtaken: AtomicBool::new(false),
            asked: Notify::new(),
            safe: Semaphore::new(0),
        });
        let store = Store::open_shared(data.path(), Arc::clone(&others) as Arc<_>).expect("a database");
        let kept = DataSettings {
            history: Some(HistorySettings::default()),
            results: Some(ResultSettings::default()),
            sessions: Some(SessionSettings::default()),
            ..DataSettings::new(store)
        };
        let executable = std::env::current_exe().expect("the test binary");
        let world = World::new(&executable).cache(cache.path()).waiting(0).data(kept).start();
        Self { world, others, _data: data, _cache: cache }
    }

    /// A client with a handshake.
    async fn open(&self) -> Client {
        let gateway = self.world.gateway();
        let parts = ServerParts {
            gateway: gateway.clone(),
            sessions: gateway.sessions().expect("sessions").clone(),
            upstreams: None,
            servers: Vec::new(),
            skills: None,
            profile: Profile::Full,
            single_calls: SingleCalls::InPrograms,
            code_writers: None,
            signature_tokens: 0,
            answer_within: PATIENCE,
            answer_tokens: 2_000,
        };
        let server = GatewayServer::new(parts, Connection::Pipes).expect("a server");
        let (input, their_input) = tokio::io::duplex(1 << 20);
        let (their_output, output) = tokio::io::duplex(1 << 20);
        let (settings, shutdown) = (StdioSettings::default(), CancellationToken::new());
        tokio::spawn(serve_stdio(server, their_input, their_output, settings, shutdown));
        let mut client = Client { input, output: BufReader::new(output).lines() };
        client.send(&initialize()).await;
        client.answer().await;
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()).await;
        client
    }
}

struct Client {
    input: DuplexStream,
    output: Lines<BufReader<DuplexStream>>,
}

impl Client {
    async fn send(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.expect("it reads");
        self.input.write_all(b"\n").await.expect("it reads");
    }

    async fn answer(&mut self) -> Value {
        let line = within(self.output.next_line()).await.expect("text").expect("an answer");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("no JSON: {line}"))
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens in time")
}
