//! Personal data at the door: tokens for values on the way in, values for tokens on the way out.

use std::sync::{Arc, Mutex};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gristmill_domain::policy::{Condition, Decision, Policy, PolicySettings, Rule};
use gristmill_domain::{
    Code, HTTP_SERVER, HostsSettings, Level, PrivacyMode, ServerSettings, TEXT_FINDINGS_MAX, Transport,
};
use gristmill_testkit::TestFolder;
use serde_json::{Value, json};

use super::policy_tests::Person;
use super::tests::{program, tool_call};
use crate::ids::{Caller, Owner, SessionId, TraceContext};
use crate::ports::{
    ArgumentRecord, Asker, BoxFuture, CallFacts, CallObserver, Question, QuestionKind, ToolFailure,
};
use crate::privacy::{Kind, Privacy, PrivacySettings, RestoreRule, Vault};
use crate::upstream::{
    ConnectRequest, Connection, Connector, DoorRequest, Guard, GuardSettings, Refresh, ServerFacts, Startup,
    Upstream, UpstreamCall, UpstreamFailure, UpstreamFolders, Upstreams,
};

pub(super) const ADDRESS: &str = "ann.lovelace@mill-brook.org";
/// Of a resource: no text.
pub(super) const BYTES: [u8; 4] = [0xff, 0, 0x40, 0x80];
const PHONE: u64 = 4_930_901_820;
const KEY: &str = "ghp_0123456789abcdefghijABCDEFGHIJ456789";

/// People and a way to write to them, under any name.
#[derive(Clone, Default)]
pub(super) struct People {
    facts: ServerFacts,
    heard: Arc<Mutex<Vec<String>>>,
    pub seen: Arc<Mutex<Vec<CallFacts>>>,
}

impl CallObserver for People {
    fn passed(&self, facts: &Arc<CallFacts>) {
        self.seen.lock().unwrap().push(CallFacts::clone(facts));
    }

    fn arguments(&self, json: &str) -> Option<ArgumentRecord> {
        Some(ArgumentRecord { digest: String::new(), text: Some(json.to_owned()) })
    }
}

impl Connector for People {
    fn connect(&self, _request: ConnectRequest) -> BoxFuture<'_, Result<Connection, UpstreamFailure>> {
        let connection = Connection::new(self.clone());
        Box::pin(async move { Ok(connection) })
    }
}

type Listed<'a> = BoxFuture<'a, Result<Vec<String>, UpstreamFailure>>;
type Raw<'a> = BoxFuture<'a, Result<String, UpstreamFailure>>;

fn listed(items: Vec<Value>) -> Listed<'static> {
    Box::pin(async move { Ok(items.iter().map(Value::to_string).collect()) })
}

fn text_of(text: impl Into<String>) -> String {
    json!({ "content": [{ "type": "text", "text": text.into() }] }).to_string()
}

impl Upstream for People {
    fn facts(&self) -> &ServerFacts {
        &self.facts
    }

    fn list_tools(&self) -> Listed<'_> {
        let text = json!({"type": "string"});
        let send = json!({"type": "object", "properties": {"to": text, "body": text}, "required": ["to"]});
        let formatted = json!({
            "type": "object",
            "properties": {"email": {"type": "string", "format": "email"}},
        });
        listed(vec![
            json!({"name": "find", "inputSchema": {"type": "object"}}),
            json!({"name": "find_formatted", "inputSchema": {"type": "object"}, "outputSchema": formatted}),
            json!({"name": "send", "inputSchema": send}),
            json!({"name": "echo", "inputSchema": {"type": "object", "properties": {"text": text}}}),
            json!({"name": "count", "inputSchema": {"type": "object", "properties": {"phone": {"type": "integer"}}}}),
            json!({"name": "ask", "inputSchema": {"type": "object"}}),
            json!({"name": "fail", "inputSchema": {"type": "object", "properties": {"email": text}}}),
        ])
    }

    fn list_resources(&self) -> Listed<'_> {
        listed(vec![json!({"uri": format!("people:{ADDRESS}"), "name": ADDRESS})])
    }

    fn list_resource_templates(&self) -> Listed<'_> {
        let uri = format!("people:{ADDRESS}/{{field}}");
        listed(vec![json!({"uriTemplate": uri, "name": "fields", "description": format!("of {ADDRESS}")})])
    }

    fn list_prompts(&self) -> Listed<'_> {
        listed(vec![json!({"name": "greet", "description": format!("Greets {ADDRESS}")})])
    }

    fn call(&self, call: UpstreamCall) -> Raw<'_> {
        self.heard.lock().unwrap().push(format!("{} {}", call.tool, call.arguments));
        let arguments: Value = serde_json::from_str(&call.arguments).unwrap();
        Box::pin(async move {
            Ok(match call.tool.as_str() {
                "ask" => {
                    let asked = QuestionKind::Form {
                        schema: json!({"properties": {"to": {"type": "string", "default": ADDRESS}}}),
                    };
                    let message = format!("Write to {ADDRESS}?");
                    let question = Question { server: "crm".to_owned(), message, asked };
                    text_of(format!("{:?}", call.asker.ask(question).await))
                }
                "find" => {
                    let found = json!({"email": ADDRESS, "phone": PHONE, "api_key": KEY, "id": 7});
                    text_of(found.to_string())
                }
                "find_formatted" => {
                    let found = json!({"email": ADDRESS});
                    json!({"content": [], "structuredContent": found}).to_string()
                }
                "send" => text_of(format!("sent to {}", arguments["to"].as_str().unwrap_or_default())),
                "fail" => {
                    let words =
                        format!("no such person: {}", arguments["email"].as_str().unwrap_or_default());
                    json!({"isError": true, "content": [{"type": "text", "text": words}]}).to_string()
                }
                _ => text_of(arguments["text"].as_str().unwrap_or_default()),
            })
        })
    }

    fn read_resource<'a>(&'a self, uri: &'a str, _trace: Option<&'a TraceContext>) -> Raw<'a> {
        self.heard.lock().unwrap().push(format!("read {uri}"));
        let [words, bytes] =
            [format!("for {ADDRESS}").as_bytes(), &BYTES].map(|bytes| STANDARD.encode(bytes));
        let contents =
            json!([{"uri": uri, "text": ADDRESS}, {"uri": uri, "blob": words}, {"uri": uri, "blob": bytes}]);
        Box::pin(async move { Ok(json!({ "contents": contents }).to_string()) })
    }

    fn get_prompt<'a>(
        &'a self,
        _name: &'a str,
        _arguments: &'a str,
        _asker: Asker,
        _trace: Option<&'a TraceContext>,
    ) -> Raw<'a> {
        Box::pin(async { Ok(json!({"messages": []}).to_string()) })
    }

    fn lost(&self) -> BoxFuture<'_, String> {
        Box::pin(std::future::pending())
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

pub(super) struct World {
    pub upstreams: Upstreams,
    pub people: People,
    pub privacy: Privacy,
    _folder: TestFolder,
}

/// `crm` and `mail`, in a mode, with rules.
async fn world(mode: PrivacyMode, restore: Vec<RestoreRule>, guard: Option<Guard>) -> World {
    let settings = PrivacySettings { mode, restore, ..PrivacySettings::of(Level::Production) };
    let servers = ["crm", "mail"].map(|name| (name, PrivacyMode::Off));
    World::of(settings, &servers, Vault::open(None, None).unwrap(), guard).await
}

impl World {
    /// With servers in modes of their own.
    pub async fn of(
        settings: PrivacySettings,
        servers: &[(&str, PrivacyMode)],
        vault: Vault,
        guard: Option<Guard>,
    ) -> Self {
        let privacy = Privacy::new(settings, vault).unwrap();
        let (people, folder) = (People::default(), TestFolder::new("personal"));
        let folders =
            UpstreamFolders { data: folder.path().join("data"), cache: folder.path().join("cache") };
        let startup = Startup {
            refresh: Refresh::InBackground,
            observer: Some(Arc::new(people.clone())),
            guard: guard.map(Arc::new),
            privacy: Some(privacy.clone()),
            ..Startup::default()
        };
        let servers =
            servers.iter().map(|(name, mode)| ServerSettings { privacy: Some(*mode), ..server(name) });
        let upstreams = Upstreams::start(servers.collect(), Arc::new(people.clone()), &folders, startup);
        upstreams.known().await;
        Self { upstreams, people, privacy, _folder: folder }
    }

    pub async fn call(&self, caller: &Caller, tool: &str, arguments: Value) -> Result<Value, ToolFailure> {
        let answer = self.upstreams.pass(caller, DoorRequest::CallTool(tool_call(tool, arguments))).await?;
        Ok(serde_json::from_str(&answer.json).unwrap())
    }

    pub fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.people.heard.lock().unwrap())
    }
}

/// `http` is what leads to hosts.
fn server(name: &str) -> ServerSettings {
    match name {
        HTTP_SERVER => ServerSettings::new(name, Transport::Hosts(HostsSettings::default())),
        name => ServerSettings::program(name, "scripted", &[]),
    }
}

pub(super) fn refusal(outcome: Result<Value, ToolFailure>) -> String {
    match outcome {
        Err(ToolFailure::Refused { code: Code::PrivacyRefused, message }) => message,
        other => panic!("{other:?}"),
    }
}

pub(super) fn token(value: &Value, field: &str) -> String {
    value[field].as_str().unwrap_or_else(|| panic!("{value}")).to_owned()
}

#[tokio::test]
async fn a_value_travels_from_one_server_to_another_and_the_program_never_has_it() {
    let (world, caller) = (world(PrivacyMode::Boundary, Vec::new(), None).await, program());
    let found = world.call(&caller, "crm.find", json!({})).await.unwrap();
    let text = found.to_string();
    for value in [ADDRESS, &PHONE.to_string(), KEY] {
        assert!(!text.contains(value), "{text}");
    }
    assert_eq!(found["id"], 7);
    let address = token(&found, "email");
    assert!(address.starts_with("[EMAIL_"), "{address}");
    world.heard();
    let sent = world.call(&caller, "mail.send", json!({"to": address, "body": "hello"})).await.unwrap();
    let expected = json!({"to": ADDRESS, "body": "hello"}).to_string();
    assert_eq!(world.heard(), [format!("send {expected}")], "the server has the value");
    assert_eq!(sent, json!(format!("sent to {address}")), "and the program has the token again");
    let facts = world.people.seen.lock().unwrap().pop().unwrap();
    assert_eq!(facts.restored, ["email in to (fitting-argument)"]);
}

#[tokio::test]
async fn the_same_value_has_the_same_token_in_a_session_and_another_one_elsewhere() {
    let (world, caller) = (world(PrivacyMode::Boundary, Vec::new(), None).await, program());
    let first = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    let again = token(&world.call(&caller, "mail.find", json!({})).await.unwrap(), "email");
    assert_eq!(first, again);
    let elsewhere = Caller { session: SessionId::read("bbcdefghijkmnpqrstuv"), ..caller.clone() };
    let other = token(&world.call(&elsewhere, "crm.find", json!({})).await.unwrap(), "email");
    assert_ne!(first, other);
    let said = refusal(world.call(&elsewhere, "mail.send", json!({"to": first})).await);
    assert!(said.contains("stands for nothing here"), "{said}");
    let stranger = Caller::of(Owner::of_token("t2"));
    refusal(world.call(&stranger, "mail.send", json!({"to": first})).await);
    refusal(world.call(&caller, "mail.send", json!({"to": "[EMAIL_aaaaaaaa]"})).await);
    assert!(!world.heard().iter().any(|heard| heard.starts_with("send")), "nothing was sent");
}

#[tokio::test]
async fn a_value_goes_only_into_arguments_that_are_made_for_it() {
    let (world, caller) = (world(PrivacyMode::Boundary, Vec::new(), None).await, program());
    let found = world.call(&caller, "crm.find", json!({})).await.unwrap();
    let (address, key) = (token(&found, "email"), token(&found, "api_key"));
    world.heard();
    let said = refusal(world.call(&caller, "mail.echo", json!({"text": address})).await);
    assert!(said.contains("(rule `other-argument`)") && said.contains("mail.echo"), "{said}");
    let said = refusal(world.call(&caller, "mail.send", json!({"to": key})).await);
    assert!(said.contains("(rule `secrets-stay`)"), "{said}");
    assert_eq!(world.heard(), Vec::<String>::new());
    let back = world.call(&caller, "crm.echo", json!({"text": format!("for {address}")})).await.unwrap();
    assert_eq!(world.heard(), [format!("echo {}", json!({"text": format!("for {ADDRESS}")}))]);
    assert_eq!(back, json!(format!("for {address}")));
}

#[tokio::test]
async fn a_rule_of_the_user_comes_first() {
    let rule = |to: &str, allow| RestoreRule {
        kinds: vec![Kind::Email],
        to: to.to_owned(),
        fields: Vec::new(),
        allow,
    };
    let rules = vec![rule("mail.echo", true), rule("mail.*", false)];
    let (world, caller) = (world(PrivacyMode::Boundary, rules, None).await, program());
    let address = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    world.call(&caller, "mail.echo", json!({"text": address})).await.unwrap();
    let said = refusal(world.call(&caller, "mail.send", json!({"to": address})).await);
    assert!(said.contains("(rule `privacy.restore 2`)"), "{said}");
}

#[tokio::test]
async fn numbers_formats_and_errors_keep_what_they_are() {
    let (world, caller) = (world(PrivacyMode::Boundary, Vec::new(), None).await, program());
    let phone = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "phone");
    world.heard();
    world.call(&caller, "mail.count", json!({"phone": phone})).await.unwrap();
    assert_eq!(world.heard(), [format!("count {}", json!({"phone": PHONE}))], "a number again");
    let formatted = world.call(&caller, "crm.find_formatted", json!({})).await.unwrap();
    let address = token(&formatted, "email");
    assert!(address.starts_with("email-") && address.ends_with("@token.invalid"), "{address}");
    let failed = world.call(&caller, "mail.fail", json!({"email": address})).await.unwrap_err();
    assert!(world.heard().last().unwrap().contains(ADDRESS));
    assert!(!failed.to_string().contains(ADDRESS), "{failed}");
}

#[tokio::test]
async fn with_output_a_program_has_values_and_tokens_are_restored_all_the_same() {
    let (world, caller) = (world(PrivacyMode::Output, Vec::new(), None).await, program());
    let found = world.call(&caller, "crm.find", json!({})).await.unwrap();
    assert_eq!(found["email"], ADDRESS);
    world.call(&caller, "mail.echo", json!({"text": ADDRESS})).await.unwrap();
    let arguments = world.people.seen.lock().unwrap().last().unwrap().clone();
    assert_eq!(arguments.request_bytes, json!({"text": ADDRESS}).to_string().len() as u64);
}

#[tokio::test]
async fn arguments_with_too_much_in_them_are_refused_before_they_are_sent() {
    let (world, caller) = (world(PrivacyMode::Output, Vec::new(), None).await, program());
    let text = format!("x {ADDRESS} ").repeat(TEXT_FINDINGS_MAX + 1);
    let refused = refusal(world.call(&caller, "mail.echo", json!({"text": text})).await);
    assert!(refused.contains("too much personal data"), "{refused}");
    assert!(world.heard().is_empty());
}

#[tokio::test]
async fn rules_see_values_and_people_see_tokens() {
    let condition = Condition::read("to", "*@mill-brook.org").expect("a condition");
    let rule =
        Rule { tool: Some("send".to_owned()), conditions: vec![condition], ..Rule::deciding(Decision::Ask) };
    let policy =
        PolicySettings { user: vec![(rule, "gristmill.toml:1".to_owned())], ..PolicySettings::default() };
    let guard = Guard::new(GuardSettings {
        policy: Policy::new(policy),
        level: Level::Production,
        data: None,
        store: None,
        marks: None,
        notify: None,
    });
    let (world, caller) = (world(PrivacyMode::Boundary, Vec::new(), Some(guard)).await, program());
    let address = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    let person = Person::says(&["once"]);
    let mut call = tool_call("mail.send", json!({"to": address}));
    call.asker = person.asker();
    world.upstreams.pass(&caller, DoorRequest::CallTool(call)).await.unwrap();
    assert_eq!(person.asked(), 1, "the rule fits the value");
    let asked = person.first();
    assert!(asked.contains(&address) && !asked.contains(ADDRESS), "{asked}");
}
