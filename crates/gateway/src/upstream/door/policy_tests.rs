use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gristmill_domain::policy::{
    Answered, Budgets, Condition, Decision, Policy, PolicySettings, Preset, Rule, TokenLimits,
};
use gristmill_domain::resource_uri::to_ours;
use gristmill_domain::{Code, Level};
use gristmill_testkit::TestFolder;
use serde_json::{Value, json};

use super::tests::{World, program, tool_call};
use crate::ids::{Caller, TokenRef};
use crate::ports::{
    AnswerWay, ApprovalNotice, Ask, Asker, AuditEvent, AuditLog, BoxFuture, CallEnd, CallWatcher,
    NotifyApproval, Question, QuestionAnswer, QuestionKind, ToolFailure, ToolSource,
};
use crate::store::{ApprovalRecord, ApprovalState, Store};
use crate::upstream::{DoorRequest, Guard, GuardSettings, note_answer};

fn of(settings: PolicySettings) -> GuardSettings {
    GuardSettings {
        policy: Policy::new(settings),
        level: Level::Production,
        data: None,
        store: None,
        marks: None,
        notify: None,
    }
}

fn rules(rules: Vec<Rule>) -> PolicySettings {
    let placed = rules.into_iter().map(|rule| (rule, "gristmill.toml:1".to_owned())).collect();
    PolicySettings { user: placed, ..PolicySettings::default() }
}

fn careful() -> PolicySettings {
    PolicySettings { preset: Preset::Careful, ..PolicySettings::default() }
}

/// Answers what it was told to, and remembers the questions.
#[derive(Clone, Default)]
pub(super) struct Person {
    answers: Arc<Mutex<VecDeque<QuestionAnswer>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Person {
    pub fn says(answers: &[&str]) -> Self {
        let answer = |answer: &&str| QuestionAnswer::Accept(Some(json!({ "answer": answer })));
        Self { answers: Arc::new(Mutex::new(answers.iter().map(answer).collect())), ..Self::default() }
    }

    pub fn asker(&self) -> Asker {
        Asker::new(Arc::new(self.clone()))
    }

    pub fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    /// The first question.
    pub fn first(&self) -> String {
        self.asked.lock().unwrap()[0].clone()
    }
}

impl Ask for Person {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        self.asked.lock().unwrap().push(question.message);
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        matches!(kind, QuestionKind::Approval)
    }
}

pub(super) async fn call(
    world: &World,
    caller: &Caller,
    tool: &str,
    arguments: Value,
    asker: Asker,
) -> Result<(), ToolFailure> {
    let call = crate::ports::ToolCall { asker, ..tool_call(tool, arguments) };
    world.upstreams.pass(caller, DoorRequest::CallTool(call)).await.map(drop)
}

pub(super) fn refused(outcome: Result<(), ToolFailure>) -> (Code, String) {
    let failure = outcome.unwrap_err();
    assert!(failure.was_not_sent());
    (failure.code(), failure.to_string())
}

#[tokio::test]
async fn a_denied_call_is_not_sent_and_the_refusal_says_why_without_the_arguments() {
    let large = Condition::read("text", "secret*").unwrap();
    let world = World::guarded(Guard::new(of(rules(vec![Rule {
        name: Some("no secrets".to_owned()),
        conditions: vec![large],
        reason: Some("secrets stay here".to_owned()),
        ..Rule::deciding(Decision::Deny)
    }]))))
    .await;
    let caller = program();
    call(&world, &caller, "a.echo", json!({"text": "open"}), Asker::none()).await.unwrap();
    let (code, said) =
        refused(call(&world, &caller, "a.echo", json!({"text": "secret-1234"}), Asker::none()).await);
    assert_eq!(code, Code::PolicyDenied);
    assert!(said.starts_with("a.echo isn't allowed: secrets stay here (rule `no secrets`). "), "{said}");
    assert!(!said.contains("1234"), "{said}");
    assert_eq!(world.heard(), ["call echo {\"text\":\"open\"}"]);
    let decided: Vec<(Decision, String)> =
        world.decided().into_iter().map(|decided| (decided.decision, decided.rule.to_string())).collect();
    let expected = [(Decision::Allow, "everything else of preset careful"), (Decision::Deny, "no secrets")];
    assert_eq!(decided, expected.map(|(decision, rule)| (decision, rule.to_owned())));
}

#[tokio::test]
async fn rules_hold_for_resources_and_prompts_too() {
    let deny = Rule { server: Some("a".to_owned()), ..Rule::deciding(Decision::Deny) };
    let world = World::guarded(Guard::new(of(rules(vec![deny])))).await;
    let requests = [
        DoorRequest::ReadResource { uri: to_ours("a", "x:y"), watcher: CallWatcher::none() },
        DoorRequest::GetPrompt {
            name: "a.greet".to_owned(),
            arguments: Default::default(),
            asker: Asker::none(),
        },
    ];
    for request in requests {
        let failure = world.upstreams.pass(&Caller::local(), request).await.unwrap_err();
        assert_eq!(failure.code(), Code::PolicyDenied, "{failure}");
    }
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test]
async fn a_destructive_tool_is_asked_about_once_per_session_and_tool() {
    let world = World::guarded(Guard::new(of(careful()))).await;
    let (person, caller) = (Person::says(&["session", "no"]), program());
    for _ in 0..3 {
        call(&world, &caller, "a.wipe", json!({}), person.asker()).await.unwrap();
    }
    assert_eq!(person.asked(), 1);
    let question = person.asked.lock().unwrap()[0].clone();
    let expected = "May claude-code with the token `alice` call a.wipe?\nArguments: {}\nAsked because its server marks it destructive.";
    assert_eq!(question, expected);
    let elsewhere = Caller { session: None, ..caller };
    let (code, said) = refused(call(&world, &elsewhere, "a.wipe", json!({}), person.asker()).await);
    assert_eq!((code, person.asked()), (Code::ApprovalNeeded, 2));
    assert!(said.starts_with("the user didn't allow a.wipe."), "{said}");
    let answers: Vec<Option<Answered>> = world.decided().into_iter().map(|decided| decided.answer).collect();
    let session = Some(Answered::Session);
    assert_eq!(answers, [session, session, session, Some(Answered::No)]);
}

#[tokio::test]
async fn once_is_once_and_always_outlasts_the_gateway() {
    let folder = TestFolder::new("always");
    let guard = || Guard::new(GuardSettings { data: Some(folder.path().to_owned()), ..of(careful()) });
    let (world, caller) = (World::guarded(guard()).await, program());
    let person = Person::says(&["once", "always"]);
    for expected in [1, 2, 2] {
        call(&world, &caller, "a.wipe", json!({}), person.asker()).await.unwrap();
        assert_eq!(person.asked(), expected);
    }
    let later = World::guarded(guard()).await;
    call(&later, &caller, "a.wipe", json!({}), Asker::none()).await.unwrap();
    let somebody_else = Caller::local();
    let (code, _) = refused(call(&later, &somebody_else, "a.wipe", json!({}), Asker::none()).await);
    assert_eq!(code, Code::ApprovalNeeded, "an answer is its owner's alone");
}

#[tokio::test]
async fn a_call_that_is_taken_back_at_its_question_was_never_sent() {
    let world = World::guarded(Guard::new(of(careful()))).await;
    let (person, caller) = (Person::says(&[]), program());
    let is_asked = async {
        while person.asked() == 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        outcome = call(&world, &caller, "a.wipe", json!({}), person.asker()) => panic!("{outcome:?}"),
        () = is_asked => {}
    }
    assert_eq!(world.ends(), [CallEnd::Cancelled { was_sent: false }]);
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn nobody_answering_is_no() {
    let world = World::guarded(Guard::new(of(careful()))).await;
    let (code, said) =
        refused(call(&world, &program(), "a.wipe", json!({}), Person::says(&[]).asker()).await);
    assert_eq!(code, Code::ApprovalNeeded);
    assert!(said.contains("nobody answered"), "{said}");
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test]
async fn an_answer_that_was_not_offered_is_no() {
    let world = World::guarded(Guard::new(of(careful()))).await;
    let outcome = call(&world, &program(), "a.wipe", json!({}), Person::says(&["yes, all"]).asker()).await;
    assert_eq!(refused(outcome).0, Code::ApprovalNeeded);
}

#[tokio::test]
async fn a_caller_who_cannot_be_asked_is_told_how_its_person_can_allow_it() {
    let store = Store::in_memory().unwrap();
    let settings = GuardSettings { store: Some(store.clone()), ..of(careful()) };
    let (world, caller) = (World::guarded(Guard::new(settings)).await, program());
    let wipe = async |arguments: Value| call(&world, &caller, "a.wipe", arguments, Asker::none()).await;
    let (code, said) = refused(wipe(json!({"n": 1})).await);
    assert_eq!(code, Code::ApprovalNeeded);
    let listed = store.list_approvals().await.unwrap();
    let id = &listed[0].id;
    assert!(
        said.ends_with(&format!(
            "They can allow it with `gristmill approvals allow {id}`; then call it again"
        )),
        "{said}"
    );
    assert!(store.answer_approval(id, Answered::Once).await.unwrap());
    assert_eq!(refused(wipe(json!({"n": 2})).await).0, Code::ApprovalNeeded, "that was another call");
    wipe(json!({"n": 1})).await.unwrap();
    assert_eq!(refused(wipe(json!({"n": 1})).await).0, Code::ApprovalNeeded, "once");
}

#[tokio::test]
async fn another_process_answers_a_call_that_waits() {
    let store = Store::in_memory().unwrap();
    let settings = GuardSettings { store: Some(store.clone()), ..of(careful()) };
    let (world, caller) = (World::guarded(Guard::new(settings)).await, program());
    let person = Person::says(&[]);
    let answering = async {
        loop {
            let listed = store.list_approvals().await.unwrap();
            if let [waiting] = listed.as_slice() {
                assert_eq!(waiting.state, ApprovalState::Waiting);
                assert!(store.answer_approval(&waiting.id, Answered::Once).await.unwrap());
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let (outcome, ()) = tokio::join!(call(&world, &caller, "a.wipe", json!({}), person.asker()), answering);
    outcome.unwrap();
    let left = store.list_approvals().await.unwrap();
    assert_eq!(left[0].state, ApprovalState::Used, "the yes was for the call that waited");
    let (code, _) = refused(call(&world, &caller, "a.wipe", json!({}), Asker::none()).await);
    assert_eq!(code, Code::ApprovalNeeded);
}

#[derive(Default)]
struct Heard(Mutex<Vec<AuditEvent>>);

impl AuditLog for Heard {
    fn note(&self, event: AuditEvent) {
        self.0.lock().unwrap().push(event);
    }
}

#[tokio::test]
async fn what_a_person_says_is_in_the_audit_and_what_nobody_said_is_not() {
    let heard = Arc::new(Heard::default());
    let store = Store::in_memory().unwrap().with_audit(Arc::clone(&heard) as Arc<dyn AuditLog>);
    let settings = GuardSettings { store: Some(store.clone()), ..of(careful()) };
    let (world, caller) = (World::guarded(Guard::new(settings)).await, program());
    let person = Person::says(&["no", "session"]);
    let wipe = async |asker: Asker| call(&world, &caller, "a.wipe", json!({"n": 1}), asker).await;
    assert!(wipe(person.asker()).await.is_err());
    assert!(wipe(Asker::none()).await.is_err(), "nobody could be asked, and nobody said anything");
    assert!(wipe(person.asker()).await.is_ok());
    assert!(wipe(person.asker()).await.is_ok(), "nobody was asked again");
    let listed = store.list_approvals().await.unwrap();
    note_answer(&store, &listed[0], Answered::Once, AnswerWay::Approvals);
    let said = heard.0.lock().unwrap().clone().into_iter().map(|event| {
        let event: Value = serde_json::from_str(&event.text("now")).unwrap();
        assert_eq!(
            (&event["server"], &event["tool"], &event["caller"]),
            (&json!("a"), &json!("wipe"), &json!(caller.owner.0))
        );
        ["kind", "decision", "scope", "by"].map(|key| event[key].as_str().unwrap().to_owned()).join(" ")
    });
    assert_eq!(
        said.collect::<Vec<String>>(),
        ["approval deny once client", "approval allow session client", "approval allow once approvals"]
    );
}

#[tokio::test]
async fn a_caller_who_cannot_be_asked_waits_while_the_page_of_approvals_is_open() {
    let heard = Arc::new(Heard::default());
    let store = Store::in_memory().unwrap().with_audit(Arc::clone(&heard) as Arc<dyn AuditLog>);
    let settings = GuardSettings { store: Some(store.clone()), ..of(careful()) };
    let (world, caller) = (World::guarded(Guard::new(settings)).await, program());
    let wipe = async || call(&world, &caller, "a.wipe", json!({}), Asker::none()).await;
    assert!(refused(wipe().await).1.contains("nobody can be asked here"));
    store.watch_approvals("a page");
    let waiting = async || loop {
        let listed = store.list_approvals().await.unwrap();
        match listed.into_iter().find(|record| record.state == ApprovalState::Waiting) {
            Some(waiting) => return waiting,
            None => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    };
    let denying = async {
        let record = waiting().await;
        assert_eq!(record.execution.as_deref(), caller.execution.as_ref().map(|id| id.as_str()));
        assert!(store.deny_approval(&record.id, "not on a Friday").await.unwrap());
        let reason = Some("not on a Friday".to_owned());
        note_answer(&store, &ApprovalRecord { reason, ..record }, Answered::No, AnswerWay::Dashboard);
    };
    let (outcome, ()) = tokio::join!(wipe(), denying);
    let (code, said) = refused(outcome);
    assert_eq!(code, Code::ApprovalNeeded);
    assert!(said.starts_with("the user didn't allow a.wipe: \"not on a Friday\"."), "{said}");
    let told = heard.0.lock().unwrap().last().map(|event| event.text("now")).unwrap();
    assert!(
        told.contains("\"decision\":\"deny\"") && told.contains("\"reason\":\"not on a Friday\""),
        "{told}"
    );
    let closing = async {
        waiting().await;
        store.unwatch_approvals("a page");
    };
    let (outcome, ()) = tokio::join!(wipe(), closing);
    assert!(refused(outcome).1.contains("nobody can be asked here"), "the page was closed");
}

/// Tells, or cannot; answers by the link at once if it is to.
struct Webhook {
    store: Store,
    answers: Option<Answered>,
    is_reached: bool,
    told: Mutex<Vec<ApprovalNotice>>,
}

impl NotifyApproval for Arc<Webhook> {
    fn notify(&self, notice: ApprovalNotice) -> BoxFuture<'static, bool> {
        let webhook = Arc::clone(self);
        webhook.told.lock().unwrap().push(notice.clone());
        Box::pin(async move {
            if let Some(answered) = webhook.answers {
                assert!(webhook.store.answer_approval(&notice.id, answered).await.unwrap());
            }
            webhook.is_reached
        })
    }
}

async fn with_webhook(answers: Option<Answered>, is_reached: bool) -> (World, Arc<Webhook>) {
    let store = Store::in_memory().unwrap();
    let webhook = Arc::new(Webhook { store: store.clone(), answers, is_reached, told: Mutex::default() });
    let notify: Option<Arc<dyn NotifyApproval>> = Some(Arc::new(Arc::clone(&webhook)));
    let settings = GuardSettings { store: Some(store), notify, ..of(careful()) };
    (World::guarded(Guard::new(settings)).await, webhook)
}

#[tokio::test]
async fn a_caller_who_cannot_be_asked_waits_for_whoever_the_webhook_tells() {
    let (world, webhook) = with_webhook(Some(Answered::Session), true).await;
    let caller = program();
    let wipe = async |n: u64| call(&world, &caller, "a.wipe", json!({ "n": n }), Asker::none()).await;
    assert!(wipe(1).await.is_ok() && wipe(2).await.is_ok(), "the second needs no answer");
    let told = webhook.told.lock().unwrap().clone();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].what.as_str(), told[0].arguments.as_str()), ("a.wipe", "{\"n\":1}"));
    let (world, _) = with_webhook(Some(Answered::No), true).await;
    let outcome = call(&world, &program(), "a.wipe", json!({}), Asker::none()).await;
    assert!(refused(outcome).1.contains("the user didn't allow a.wipe"));
}

#[tokio::test]
async fn a_webhook_that_cannot_be_reached_keeps_nobody_waiting() {
    let (world, webhook) = with_webhook(None, false).await;
    let (code, said) = refused(call(&world, &program(), "a.wipe", json!({}), Asker::none()).await);
    assert_eq!(code, Code::ApprovalNeeded);
    let open = webhook.store.list_approvals().await.unwrap();
    let open = open.iter().find(|record| record.state == ApprovalState::Refused).unwrap();
    assert!(said.contains(&format!("gristmill approvals allow {}", open.id)), "{said}");
    // Nor is a client kept from answering.
    let asker = Person::says(&["once"]).asker();
    assert!(call(&world, &program(), "a.wipe", json!({}), asker).await.is_ok());
}

#[tokio::test]
async fn a_call_that_is_taken_back_leaves_no_question_behind() {
    let store = Store::in_memory().unwrap();
    let settings = GuardSettings { store: Some(store.clone()), ..of(careful()) };
    let (world, caller) = (World::guarded(Guard::new(settings)).await, program());
    let person = Person::says(&[]);
    let waits = call(&world, &caller, "a.wipe", json!({}), person.asker());
    tokio::select! {
        outcome = waits => panic!("nobody answered: {outcome:?}"),
        () = async { while person.asked() == 0 { tokio::task::yield_now().await } } => {}
    }
    let left = store.list_approvals().await.unwrap();
    assert_eq!(left[0].state, ApprovalState::Over);
    let decided = world.decided();
    assert_eq!((decided[0].decision, decided[0].answer), (Decision::Ask, None));
}

#[tokio::test]
async fn a_budget_ends_and_says_when_to_come_back() {
    let budgets = Budgets { calls_per_minute: Some(2), ..Budgets::default() };
    let rule = Rule { name: Some("slowly".to_owned()), budgets, ..Rule::default() };
    let world = World::guarded(Guard::new(of(rules(vec![rule])))).await;
    let caller = program();
    let echo =
        async |caller: &Caller| call(&world, caller, "a.echo", json!({"text": "x"}), Asker::none()).await;
    assert!(echo(&caller).await.is_ok() && echo(&caller).await.is_ok());
    let (code, said) = refused(echo(&caller).await);
    assert_eq!(code, Code::PolicyBudget);
    assert_eq!(
        said,
        "a.echo is limited to 2 calls per minute; wait before you call it again (rule `slowly`)"
    );
    assert!(echo(&Caller::local()).await.is_ok(), "others have their own");
}

#[tokio::test]
async fn a_days_budget_is_not_given_anew_by_a_restart_and_is_one_for_all_processes() {
    let folder = TestFolder::new("day-budget");
    let guard = || {
        let budgets = Budgets { calls_per_day: Some(3), ..Budgets::default() };
        let settings = of(rules(vec![Rule { name: Some("daily".to_owned()), budgets, ..Rule::default() }]));
        Guard::new(GuardSettings { store: Some(Store::open(folder.path()).unwrap()), ..settings })
    };
    let echo =
        async |world: &World| call(world, &program(), "a.echo", json!({"text": "x"}), Asker::none()).await;
    let one = World::guarded(guard()).await;
    assert!(echo(&one).await.is_ok() && echo(&one).await.is_ok());
    ToolSource::close(&one.upstreams).await;
    let (two, beside) = (World::guarded(guard()).await, World::guarded(guard()).await);
    assert!(echo(&two).await.is_ok(), "the third");
    assert_eq!(refused(echo(&two).await).0, Code::PolicyBudget);
    ToolSource::close(&two.upstreams).await;
    assert_eq!(refused(echo(&beside).await).0, Code::PolicyBudget, "it asks when it is used first");
}

#[tokio::test]
async fn gateways_that_run_at_once_have_the_calls_of_a_day_together() {
    let folder = TestFolder::new("day-budget-together");
    let guard = || {
        let rule = |name: &str, budgets| Rule { name: Some(name.to_owned()), budgets, ..Rule::default() };
        let daily = rule("daily", Budgets { calls_per_day: Some(3), ..Budgets::default() });
        let slowly = rule("slowly", Budgets { calls_per_minute: Some(4), ..Budgets::default() });
        let settings = of(rules(vec![slowly, Rule { tool: Some("echo".to_owned()), ..daily }]));
        Guard::new(GuardSettings { store: Some(Store::open(folder.path()).unwrap()), ..settings })
    };
    let ask = async |world: &World, tool: &str| {
        call(world, &program(), tool, json!({"text": "x"}), Asker::none()).await
    };
    let (one, other) = (World::guarded(guard()).await, World::guarded(guard()).await);
    for world in [&one, &other, &one] {
        ask(world, "a.echo").await.unwrap();
    }
    for world in [&other, &one, &other, &one] {
        let (code, said) = refused(ask(world, "a.echo").await);
        assert_eq!(code, Code::PolicyBudget);
        assert!(said.contains("limited to 3 calls per day") && said.contains("`daily`"), "{said}");
    }
    assert_eq!((one.heard().len(), other.heard().len()), (2, 1));
    // What was refused counts against no other budget: of four calls a minute one was made here.
    for _ in 0..3 {
        ask(&other, "a.look").await.unwrap();
    }
    assert!(refused(ask(&other, "a.look").await).1.contains("`slowly`"));
}

#[tokio::test]
async fn a_tokens_limits_come_before_every_rule() {
    let world = World::guarded(Guard::new(of(rules(vec![Rule::deciding(Decision::Allow)])))).await;
    let with = |limits: TokenLimits| Caller {
        token: Some(TokenRef {
            name: "ci".to_owned(),
            identity: "t2".to_owned(),
            limits: Some(Arc::new(limits)),
        }),
        ..program()
    };
    let echo =
        async |caller: &Caller| call(&world, caller, "a.echo", json!({"text": "x"}), Asker::none()).await;
    let elsewhere = with(TokenLimits { servers: vec!["crm".to_owned()], ..TokenLimits::default() });
    assert_eq!(refused(echo(&elsewhere).await).0, Code::PolicyDenied);
    let reads = with(TokenLimits { read_only: true, ..TokenLimits::default() });
    assert_eq!(refused(echo(&reads).await).0, Code::PolicyDenied);
    let slow = with(TokenLimits { calls_per_minute: Some(1), ..TokenLimits::default() });
    assert!(echo(&slow).await.is_ok());
    let (code, said) = refused(echo(&slow).await);
    assert_eq!(code, Code::PolicyBudget);
    assert!(said.contains("rule `token ci`"), "{said}");
}
