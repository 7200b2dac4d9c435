//! Marked servers: what was read, by whom it is remembered, and what may not be sent then.

use gristmill_domain::policy::{Answered, Decision, Flow, Mark, Policy, PolicySettings, Rule};
use gristmill_domain::resource_uri::to_ours;
use gristmill_domain::{Code, Level};
use gristmill_testkit::TestFolder;
use serde_json::json;

use super::policy_tests::{Person, call, refused};
use super::tests::{World, program};
use crate::ids::{Caller, Client, Owner, SessionId};
use crate::marks::MarkLedger;
use crate::ports::{Asker, CallWatcher, ToolFailure};
use crate::store::{SessionCounts, SessionRecord, Store};
use crate::upstream::{DoorRequest, Guard, GuardSettings};

const SERVERS: [(&str, &[Mark]); 4] =
    [("web", &[Mark::Untrusted]), ("crm", &[Mark::Private]), ("mail", &[Mark::External]), ("notes", &[])];

const BOTH: &str =
    "this session has read untrusted data from `web` and private data from `crm`, and `mail` is external";

fn guard_with(flow: Decision, level: Level, store: Option<Store>, rules: Vec<Rule>) -> Guard {
    let user = rules.into_iter().map(|rule| (rule, "gristmill.toml:1".to_owned())).collect();
    let flow = Flow::new(flow, "gristmill.toml:2");
    let policy = Policy::new(PolicySettings { user, flow, ..PolicySettings::default() });
    let marks = Some(MarkLedger::new(store.clone()));
    Guard::new(GuardSettings { policy, level, data: None, store, marks, notify: None })
}

fn guard(store: Option<Store>) -> Guard {
    guard_with(Decision::Ask, Level::Production, store, Vec::new())
}

async fn world(guard: Guard) -> World {
    World::of_servers(guard, &SERVERS).await
}

async fn use_server(world: &World, caller: &Caller, server: &str) -> Result<(), ToolFailure> {
    call(world, caller, &format!("{server}.echo"), json!({"text": "x"}), Asker::none()).await
}

/// Whether the caller may send mail, or why not.
async fn mail(world: &World, caller: &Caller) -> Result<(), String> {
    match use_server(world, caller, "mail").await {
        Ok(()) => Ok(()),
        outcome => {
            let (code, said) = refused(outcome);
            assert_eq!(code, Code::ApprovalNeeded, "{said}");
            assert!(said.contains("(rule `flow`)"), "{said}");
            Err(said)
        }
    }
}

async fn read_both(world: &World, caller: &Caller) {
    use_server(world, caller, "web").await.unwrap();
    mail(world, caller).await.expect("one of both is nothing");
    use_server(world, caller, "crm").await.unwrap();
}

/// A session that the database knows.
async fn session(store: &Store, id: &str) -> SessionId {
    let record = SessionRecord {
        id: id.to_owned(),
        owner: "http:t1".to_owned(),
        name: None,
        created_ms: 0,
        used_ms: 0,
        executions: 0,
        resets: 0,
        variables_by: None,
        max_bytes: None,
        max_files: None,
        max_output_tokens: None,
        seen: Default::default(),
        level: None,
        engine: None,
    };
    let counts = SessionCounts { all: 100, of_one: 100 };
    store.insert_session(record, Vec::new(), counts).await.unwrap();
    SessionId::read(id).unwrap()
}

#[tokio::test]
async fn a_session_that_has_read_both_is_asked_before_it_sends_anything_out() {
    let (world, caller) = (world(guard(None)).await, program());
    read_both(&world, &caller).await;
    let said = mail(&world, &caller).await.unwrap_err();
    assert!(said.contains(BOTH), "{said}");
    use_server(&world, &caller, "notes").await.expect("that stays in the house");
    let other = Caller { session: SessionId::read("bbcdefghijkmnpqrstuv"), ..caller.clone() };
    mail(&world, &other).await.expect("another session has read nothing");
    let decided = world.decided();
    let flow = decided.iter().find(|decided| &*decided.rule == "flow").expect("it is recorded");
    assert_eq!((flow.decision, flow.answer), (Decision::Ask, Some(Answered::Nobody)));
    assert_eq!(&*flow.why, BOTH);
}

#[tokio::test]
async fn at_hardened_it_is_refused_and_told_what_to_do_instead() {
    let guard = guard_with(Decision::Ask, Level::Hardened, None, Vec::new());
    let (world, caller) = (world(guard).await, program());
    read_both(&world, &caller).await;
    let person = Person::says(&["always"]);
    let sent = call(&world, &caller, "mail.echo", json!({"text": "x"}), person.asker()).await;
    let (code, said) = refused(sent);
    assert_eq!((code, person.asked()), (Code::PolicyDenied, 0));
    let expected = format!(
        "mail.echo isn't allowed: {BOTH} (rule `flow`). Don't send the data another way: finish without it, and give the user what you would have sent"
    );
    assert_eq!(said, expected);
}

#[tokio::test]
async fn a_flow_that_is_allowed_asks_nobody_and_one_that_is_denied_refuses_everywhere() {
    let caller = program();
    let open = world(guard_with(Decision::Allow, Level::Hardened, None, Vec::new())).await;
    read_both(&open, &caller).await;
    mail(&open, &caller).await.unwrap();
    let closed = world(guard_with(Decision::Deny, Level::Development, None, Vec::new())).await;
    read_both(&closed, &caller).await;
    assert_eq!(refused(use_server(&closed, &caller, "mail").await).0, Code::PolicyDenied);
}

#[tokio::test]
async fn an_answer_is_remembered_for_the_session_and_the_tool() {
    let (world, caller) = (world(guard(None)).await, program());
    read_both(&world, &caller).await;
    let person = Person::says(&["session", "no"]);
    let send = async |tool: &str| call(&world, &caller, tool, json!({"text": "x"}), person.asker()).await;
    for _ in 0..2 {
        send("mail.echo").await.unwrap();
    }
    assert_eq!(person.asked(), 1);
    assert!(person.first().ends_with(&format!("Asked because {BOTH}.")), "{}", person.first());
    // That yes says nothing about what another rule asks.
    assert!(send("mail.wipe").await.is_err());
    assert_eq!(person.asked(), 2);
}

#[tokio::test]
async fn a_yes_to_the_flow_is_none_to_another_rule_that_asks() {
    let ask = Rule { server: Some("mail".to_owned()), ..Rule::deciding(Decision::Ask) };
    let world = world(guard_with(Decision::Ask, Level::Production, None, vec![ask])).await;
    let caller = program();
    for server in ["web", "crm"] {
        use_server(&world, &caller, server).await.unwrap();
    }
    let person = Person::says(&["session", "session"]);
    for asked in [1, 2, 2] {
        call(&world, &caller, "mail.echo", json!({"text": "x"}), person.asker()).await.unwrap();
        assert_eq!(person.asked(), asked);
    }
}

#[tokio::test]
async fn every_kind_of_request_and_every_kind_of_answer_counts() {
    let resource = |server: &str, uri: &str| DoorRequest::ReadResource {
        uri: to_ours(server, uri),
        watcher: CallWatcher::none(),
    };
    let prompt = |server: &str| DoorRequest::GetPrompt {
        name: format!("{server}.greet"),
        arguments: Default::default(),
        asker: Asker::none(),
    };
    let (world, caller) = (world(guard(None)).await, program());
    // The server says no, in its own words.
    world.upstreams.pass(&caller, resource("web", "x:lost")).await.unwrap_err();
    mail(&world, &caller).await.unwrap();
    world.upstreams.pass(&caller, prompt("crm")).await.unwrap();
    assert!(mail(&world, &caller).await.unwrap_err().contains(BOTH));
    for request in [resource("mail", "x:y"), prompt("mail")] {
        let failure = world.upstreams.pass(&caller, request).await.unwrap_err();
        assert_eq!(failure.code(), Code::ApprovalNeeded, "{failure}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_arguments_has_answered() {
    let (world, caller) = (world(guard(None)).await, program());
    use_server(&world, &caller, "web").await.unwrap();
    let misfit = call(&world, &caller, "crm.echo", json!({"text": "misfit"}), Asker::none()).await;
    assert!(misfit.unwrap_err().to_string().contains("did you mean fit?"), "its own words");
    assert!(mail(&world, &caller).await.unwrap_err().contains(BOTH));
}

#[tokio::test]
async fn what_was_refused_or_never_sent_was_not_read() {
    let deny = Rule { server: Some("crm".to_owned()), ..Rule::deciding(Decision::Deny) };
    let world = world(guard_with(Decision::Ask, Level::Production, None, vec![deny])).await;
    let caller = program();
    use_server(&world, &caller, "web").await.unwrap();
    use_server(&world, &caller, "crm").await.unwrap_err();
    mail(&world, &caller).await.unwrap();
}

#[tokio::test]
async fn the_next_gateway_and_another_one_beside_know_what_a_session_has_read() {
    let folder = TestFolder::new("flow");
    let store = Store::open(folder.path()).unwrap();
    let session = session(&store, "abcdefghijkmnpqrstuv").await;
    let caller = Caller { session: Some(session), ..program() };
    let first = world(guard(Some(store.clone()))).await;
    use_server(&first, &caller, "web").await.unwrap();
    // As after a kill: nothing but the database is left.
    let beside = world(guard(Some(Store::open(folder.path()).unwrap()))).await;
    use_server(&beside, &caller, "crm").await.unwrap();
    assert!(mail(&beside, &caller).await.unwrap_err().contains(BOTH));
    assert!(mail(&first, &caller).await.unwrap_err().contains(BOTH), "the other one added to it");
    let later = world(guard(Some(Store::open(folder.path()).unwrap()))).await;
    assert!(mail(&later, &caller).await.unwrap_err().contains(BOTH));
}

#[tokio::test]
async fn without_a_session_it_is_the_client_that_has_read() {
    let world = world(guard(None)).await;
    let caller = Caller { session: None, ..program() };
    read_both(&world, &caller).await;
    let later = Caller { execution: None, ..caller.clone() };
    assert!(mail(&world, &later).await.unwrap_err().contains(BOTH));
    let client = Some(Client { name: "another".to_owned(), version: String::new() });
    mail(&world, &Caller { client, ..caller.clone() }).await.unwrap();
    mail(&world, &Caller { owner: Owner::local(), ..caller }).await.unwrap();
}

#[tokio::test]
async fn a_client_has_read_what_its_session_has() {
    let (world, caller) = (world(guard(None)).await, program());
    read_both(&world, &caller).await;
    let alone = Caller { session: None, execution: None, ..caller };
    assert!(mail(&world, &alone).await.unwrap_err().contains(BOTH));
}
