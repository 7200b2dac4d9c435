//! The same over HTTP, with plain sockets: one gateway, many callers, both eras at one address.

use std::net::TcpStream;
use std::time::Duration;

use gristmill_testkit::Home;
use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, LEGACY, MODERN, Manners, legacy, modern, text_of};
use crate::gateways::{Place, none_left};
use crate::http_exchange::{self, Response};

cases![
    both_eras_are_served_at_one_address,
    the_list_is_the_same_as_over_pipes,
    callers_share_sessions_only_under_one_name,
    executions_of_callers_without_a_name_are_not_listed,
    an_owner_never_sees_what_another_token_has_running,
    a_token_that_may_only_look_runs_nothing,
    only_an_admins_token_changes_the_skills_that_all_share,
    a_token_sees_its_own_figures_and_an_admins_sees_everyones,
    many_callers_at_once_are_answered_each_with_its_own,
    a_signal_ends_the_gateway_and_leaves_nothing_behind,
];

/// A gateway that listens. It speaks over sockets only; the client holds its process.
pub struct Listening {
    process: Client,
    pub address: String,
    /// The local owner's, if tokens are required.
    pub authorization: String,
    pub home: Home,
}

/// A caller with a token.
pub struct Holder<'a> {
    pub listening: &'a Listening,
    pub authorization: String,
}

impl Holder<'_> {
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let response = self.refused(tool, arguments);
        response.messages.into_iter().find(|message| message["id"] == 3).expect("an answer")
    }

    /// All that comes back, of one that may be refused.
    pub fn refused(&self, tool: &str, arguments: Value) -> Response {
        let params = modern().params(json!({"name": tool, "arguments": arguments}));
        let body = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params});
        let headers = [
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", "tools/call"),
            ("Mcp-Name", tool),
            ("Authorization", &self.authorization),
        ];
        self.listening.post(&headers, &body)
    }

    pub fn structured(&self, tool: &str, arguments: Value) -> Value {
        self.call(tool, arguments)["result"]["structuredContent"].take()
    }
}

impl Listening {
    fn start(name: &str, arguments: &[&str]) -> Self {
        Self::begin(Place::new(name).example("calculator"), arguments)
    }

    pub fn begin(place: Place, arguments: &[&str]) -> Self {
        let words: Vec<&str> =
            ["--http", "127.0.0.1:0", "--profile", "full"].iter().chain(arguments).copied().collect();
        let process = Client::mute(place.command(&words), legacy());
        let said = process.until_said("http://");
        let address = said.trim_start_matches("http://").split('/').next().expect("an address").to_owned();
        let home = place.into_home();
        let token = std::fs::read_to_string(home.path().join("data/local-token"));
        let authorization = token.map(|token| format!("Bearer {}", token.trim())).unwrap_or_default();
        Self { process, address, authorization, home }
    }

    /// A gateway that wants tokens, with one for each name and its scopes.
    fn with_tokens<const N: usize>(name: &str, tokens: [(&str, &[&str]); N]) -> (Self, [String; N]) {
        Self::begin_with_tokens(Place::new(name), tokens)
    }

    pub fn begin_with_tokens<const N: usize>(
        place: Place,
        tokens: [(&str, &[&str]); N],
    ) -> (Self, [String; N]) {
        let secrets = tokens.map(|(name, arguments)| {
            let words: Vec<&str> = ["token", "new", name].iter().chain(arguments).copied().collect();
            let said = place.home().ok(&words);
            let token = said.split_whitespace().find(|word| word.starts_with("gmt_"));
            format!("Bearer {}", token.unwrap_or_else(|| panic!("no token in {said}")))
        });
        (Self::begin(place, &[]), secrets)
    }

    pub fn post(&self, headers: &[(&str, &str)], body: &Value) -> Response {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a time limit");
        let local = ("Authorization", self.authorization.as_str());
        let is_sent = headers.iter().any(|(name, _)| *name == "Authorization") || local.1.is_empty();
        let local: &[(&str, &str)] = if is_sent { &[] } else { &[local] };
        http_exchange::post(stream, &self.address, &[local, headers].concat(), body)
    }

    /// A request of the modern era, which stands for itself.
    fn request(&self, manners: &Manners, id: u64, method: &str, params: Value) -> Value {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut headers = vec![("MCP-Protocol-Version", MODERN), ("Mcp-Method", method)];
        if !name.is_empty() {
            headers.push(("Mcp-Name", &name));
        }
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": manners.params(params)});
        let response = self.post(&headers, &body);
        assert_eq!(response.status, 200, "{:?}", response.messages);
        let answer = response.messages.into_iter().find(|message| message["id"] == id);
        answer.expect("an answer under the request's id")
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.request(&modern(), 7, "tools/call", params)["result"]["structuredContent"].take()
    }
}

fn both_eras_are_served_at_one_address() {
    let listening = Listening::start("http-eras", &[]);
    let code = json!({"code": "await callMCPTool('evaluate', expression='6*7')"});
    let ran = listening.call("execute_code", code.clone());
    let expected = json!({"status": "ok", "result": {"expression": "6*7", "value": 42}});
    assert_eq!(ran, expected);

    let greeting = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": legacy().greeting()});
    let response = listening.post(&[], &greeting);
    assert_eq!(response.messages[0]["result"]["protocolVersion"], LEGACY, "{:?}", response.messages);
    let session = response.session.expect("a session");
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", LEGACY)];
    let greeted = listening.post(&headers, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    assert_eq!(greeted.status, 202);
    let params = json!({"name": "execute_code", "arguments": code});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let response = listening.post(&headers, &call);
    let answer = response.messages.iter().find(|message| message["id"] == 2).expect("an answer");
    assert_eq!(answer["result"]["structuredContent"], expected);
}

fn the_list_is_the_same_as_over_pipes() {
    let listening = Listening::start("http-list", &[]);
    let served = Place::new("http-list-pipes").example("calculator").serve(modern(), &["--profile", "full"]);
    // What was never heard of may still join the list.
    listening.request(&modern(), 9, "tools/call", json!({"name": "search_tools", "arguments": {}}));
    served.structured("search_tools", json!({}));
    let listed = listening.request(&modern(), 1, "tools/list", json!({}))["result"]["tools"].take();
    assert_eq!(listed.to_string(), served.result("tools/list", json!({}))["tools"].to_string());
}

fn callers_share_sessions_only_under_one_name() {
    let listening = Listening::start("http-sessions", &[]);
    let run =
        |code: &str, session: &str| listening.call("execute_code", json!({"code": code, "session": session}));
    assert_eq!(run("open('a', 'w').write('x')", "one")["status"], "ok");
    assert_eq!(run("import os\nos.listdir('.')", "one")["result"], json!(["a"]));
    assert_eq!(run("import os\nos.listdir('.')", "two")["result"], json!([]));
}

fn executions_of_callers_without_a_name_are_not_listed() {
    let listening = Listening::start("http-unnamed", &["--insecure-no-token"]);
    let started = listening.call("execute_code", json!({"code": "1 + 1", "background": true}));
    let refused = listening.call("get_execution", json!({}));
    assert_eq!(refused["error"]["message"], "`id` is missing", "{refused}");
    let ended = listening.call("get_execution", json!({"id": started["id"]}));
    assert_eq!(ended, json!({"status": "ok", "result": 2}), "its id is known to whoever started it");
}

fn an_owner_never_sees_what_another_token_has_running() {
    let (listening, [ada, ben]) = Listening::with_tokens("http-owners", [("ada", &[]), ("ben", &[])]);
    let [ada, ben] = [ada, ben].map(|authorization| Holder { listening: &listening, authorization });
    let started = ada.structured("execute_code", json!({"code": "'a secret'", "background": true}));
    let id = &started["id"];
    let own = json!({"status": "ok", "result": "a secret"});
    assert_eq!(ada.structured("get_execution", json!({"id": id})), own);
    let refused = ben.structured("get_execution", json!({"id": id}));
    let never_was = ben.structured("get_execution", json!({"id": "abcdefghijkmnpqrstuv"}));
    let same = refused.to_string().replace(id.as_str().expect("an id"), "abcdefghijkmnpqrstuv");
    assert_eq!(same, never_was.to_string(), "not even that it is there");
    assert_eq!(ben.structured("get_execution", json!({}))["executions"], json!([]));
    let listed = ada.structured("get_execution", json!({}))["executions"].take();
    assert!(listed[0].as_str().is_some_and(|line| line.starts_with(id.as_str().expect("an id"))), "{listed}");

    let write = json!({"code": "open('a', 'w').write('x')", "session": "notes"});
    assert_eq!(ada.structured("execute_code", write)["status"], "ok");
    let look = json!({"code": "import os\nos.listdir('.')", "session": "notes"});
    assert_eq!(ben.structured("execute_code", look.clone())["result"], json!([]));
    assert_eq!(ada.structured("execute_code", look)["result"], json!(["a"]));
}

/// A refusal that is an answer of the tool: clients keep errors of the protocol from their model.
fn refusal_read_by_the_model(answer: &Value) -> &str {
    assert_eq!((answer.get("error"), &answer["result"]["isError"]), (None, &json!(true)), "{answer}");
    text_of(&answer["result"])
}

fn a_token_that_may_only_look_runs_nothing() {
    let (listening, [token]) = Listening::with_tokens("http-scope", [("eve", &["--scope", "search"])]);
    let eve = Holder { listening: &listening, authorization: token };
    assert_eq!(eve.structured("search_tools", json!({}))["total"], 0);
    assert_eq!(eve.structured("list_skills", json!({}))["total"], 0);
    for tool in ["execute_code", "execute_python", "get_execution", "save_skill", "delete_skill"] {
        let refused = eve.call(tool, json!({"code": "1"}));
        let message = refusal_read_by_the_model(&refused);
        let says =
            format!("error[GM-3301]: this token can't use {tool}: it needs the scope `execute`\nhint: ");
        assert!(message.starts_with(&says), "{refused}");
    }
    let told = listening.home.ok(&["audit", "query", "--kind", "token.refused", "--json"]);
    let told: Vec<Value> = serde_json::from_str(&told).expect("events");
    let refused: Vec<&Value> = told.iter().filter(|event| event["why"] == "scope").collect();
    assert_eq!(refused.len(), 5, "{told:#?}");
    let first = refused[4];
    let said = (&first["token"], &first["scope"], &first["wanted"]);
    assert_eq!(said, (&json!("eve"), &json!("execute"), &json!("execute_code")));
}

fn only_an_admins_token_changes_the_skills_that_all_share() {
    let (listening, [ada, eve]) = Listening::with_tokens(
        "http-skills",
        [("ada", &[]), ("eve", &["--scope", "execute", "--scope", "admin"])],
    );
    let [ada, eve] = [ada, eve].map(|authorization| Holder { listening: &listening, authorization });
    let new = json!({"name": "two_of", "code": "def two(): return 2"});
    assert_eq!(eve.structured("save_skill", new)["version"], 1);
    let changed = json!({"name": "two_of", "code": "def two(): return 3"});
    for (tool, arguments) in [("save_skill", changed), ("delete_skill", json!({"name": "two_of"}))] {
        let refused = ada.call(tool, arguments);
        let message = refusal_read_by_the_model(&refused);
        let says = format!("error[GM-3301]: this token can't use {tool}: it needs the scope `admin`\nhint: ");
        assert!(message.starts_with(&says), "{refused}");
        assert!(message.contains("--scope execute --scope admin"), "{refused}");
    }
    let refused = ada.structured("execute_code", json!({"code": "delete_skill('two_of')"}));
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("a token with the scope `admin`"), "{refused}");
    let (code, hint) = (&refused["error"]["code"], refused["error"]["hint"].as_str());
    assert_eq!((code, hint), (&json!("GM-3301"), None), "no argument is wrong: {refused}");
    assert_eq!(ada.structured("list_skills", json!({}))["total"], 1);
    let program = "from skills.two_of import two\nresult = two()";
    assert_eq!(ada.structured("execute_code", json!({"code": program}))["result"], 2);
    let program = "delete_skill('two_of')\nresult = len(list(list_skills()))";
    assert_eq!(eve.structured("execute_code", json!({"code": program}))["result"], 0);
}

fn a_token_sees_its_own_figures_and_an_admins_sees_everyones() {
    let (listening, [ada, eve]) =
        Listening::with_tokens("http-figures", [("ada", &[]), ("eve", &["--scope", "admin"])]);
    let [ada, eve] = [ada, eve].map(|authorization| Holder { listening: &listening, authorization });
    for code in ["1", "1 / 0"] {
        ada.structured("execute_code", json!({"code": code, "session": "sums"}));
    }
    let executions = |holder: &Holder<'_>, arguments: Value| {
        holder.structured("get_execution_stats", arguments)["executions"].take()
    };
    assert_eq!(executions(&ada, json!({})), 2);
    assert_eq!(executions(&ada, json!({"session": "sums"})), 2);
    assert_eq!(executions(&eve, json!({})), 0);
    assert_eq!(executions(&eve, json!({"all": true})), 2);
    let refused = ada.call("get_execution_stats", json!({"all": true}))["result"].take();
    assert_eq!(refused["isError"], true, "{refused}");
    let hidden = eve.call("get_execution_stats", json!({"session": "sums"}))["result"].take();
    assert_eq!(hidden["isError"], true, "{hidden}");
}

fn many_callers_at_once_are_answered_each_with_its_own() {
    let listening = Listening::start("http-many", &[]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let listening = &listening;
            scope.spawn(move || {
                for round in 0..3 {
                    let code = format!("await asyncio.sleep(0.01)\n[{number}, {round}]");
                    let ran = listening.call("execute_code", json!({"code": code}));
                    assert_eq!(ran, json!({"status": "ok", "result": [number, round]}));
                }
            });
        }
    });
}

fn a_signal_ends_the_gateway_and_leaves_nothing_behind() {
    let listening = Listening::start("http-signal", &[]);
    assert_eq!(listening.call("execute_code", json!({"code": "1"})), json!({"status": "ok", "result": 1}));
    let pid = rustix::process::Pid::from_raw(listening.process.pid() as i32).expect("a process number");
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it can be signalled");
    assert_eq!(listening.process.ended().code(), Some(0));
    assert!(TcpStream::connect(&listening.address).is_err(), "nobody listens any more");
    none_left(&listening.home);
}
