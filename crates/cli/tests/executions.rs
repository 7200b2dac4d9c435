//! Executions that outlive the request that started them: who may see them, what is kept, what is asked,
//! and how they end.

mod support;

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::{Code, Level, LimitName, Limits, ToolAnswer};
use gristmill_gateway::executions::{Answers, Executions, Follower, KeepLimits, Owner, Start, Status};
use gristmill_gateway::ports::{
    BoxFuture, Question, QuestionAnswer, QuestionKind, ToolCall, ToolFailure, Tools,
};
use gristmill_gateway::{ExecuteRequest, Report};
use gristmill_testkit::World;
use serde_json::{Value, json};
use support::gristmill;
use tokio::sync::Semaphore;

/// Holds calls of `hold` until they are released; asks its caller a question in `ask`.
#[derive(Clone)]
struct Holding(Arc<Semaphore>);

impl Holding {
    fn new() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    fn release(&self) {
        self.0.add_permits(1);
    }
}

fn question() -> Question {
    Question {
        server: "shop".to_owned(),
        message: "Which size?".to_owned(),
        asked: QuestionKind::Form { schema: json!({"type": "object"}) },
    }
}

impl Tools for Holding {
    fn call(&self, call: ToolCall) -> BoxFuture<'_, Result<ToolAnswer, ToolFailure>> {
        Box::pin(async move {
            if call.name == "ask" {
                let answer = call.asker.ask(question()).await;
                return Ok(ToolAnswer::from(json!(format!("{answer:?}"))));
            }
            self.0.acquire().await.expect("it is never closed").forget();
            Ok(ToolAnswer::from(json!("released")))
        })
    }
}

const HOLD: &str = "print('so far')\nawait callMCPTool('hold', {})";
const ASK: &str = "await callMCPTool('ask', {})";

/// A world, what holds its programs, and its executions.
fn world(limits: KeepLimits) -> (World, Holding, Executions) {
    let holding = Holding::new();
    let mut patient = Limits::of(Level::Production);
    patient.set(LimitName::WallTime, 120_000).unwrap();
    let world = World::new(gristmill()).limits(patient).tools(holding.clone()).start();
    let executions = Executions::new(world.gateway().clone(), None, limits);
    (world, holding, executions)
}

fn owner(name: &str) -> Owner {
    Owner(name.to_owned())
}

fn start(whose: &str, code: &str) -> Start {
    Start {
        owner: owner(whose),
        request: ExecuteRequest::python(code),
        session: None,
        answers: Answers { forms: true, urls: false },
        answer_tokens_max: None,
    }
}

fn in_session(whose: &str, session: &str, code: &str) -> Start {
    Start { session: Some(session.to_owned()), ..start(whose, code) }
}

fn ended(world: &World, follower: &Follower) -> Arc<Report> {
    world.block_on(follower.clone().ended())
}

/// Starts a program and waits for its end.
fn run(world: &World, executions: &Executions, start: Start) -> Option<Value> {
    let follower = executions.start(start).unwrap_or_else(|report| panic!("{report:?}"));
    ended(world, &follower).result.clone()
}

/// Waits until something is so.
fn until(world: &World, follower: &Follower, mut is_so: impl FnMut(&Follower) -> bool) {
    let mut follower = follower.clone();
    world.block_on(async {
        loop {
            follower.look();
            if is_so(&follower) {
                return;
            }
            follower.changed().await;
        }
    });
}

fn code_of(report: &Report) -> Option<Code> {
    report.error.as_ref().map(|error| error.code)
}

#[test]
fn an_owner_never_sees_the_executions_of_another() {
    let (world, holding, executions) = world(KeepLimits::default());
    let running = executions.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let over = executions.start(start("a", "1")).unwrap_or_else(|report| panic!("{report:?}"));
    ended(&world, &over);
    for follower in [&running, &over] {
        assert!(executions.find(&owner("b"), follower.id()).is_none());
        let found = executions.find(&owner("a"), follower.id()).expect("it is a's");
        assert_eq!(found.id(), follower.id());
    }
    assert!(executions.recent(&owner("b")).is_empty());
    let recent: Vec<_> =
        executions.recent(&owner("a")).iter().map(|follower| follower.id().clone()).collect();
    assert_eq!(recent, [over.id().clone(), running.id().clone()], "the newest first");
    holding.release();
    assert_eq!(ended(&world, &running).result, Some(json!("released")));
}

#[test]
fn owners_have_sessions_of_their_own_under_the_same_name() {
    let (world, _, executions) = world(KeepLimits::default());
    let look = "import os\nos.listdir('.')";
    let write = in_session("a", "notes", "open('a.txt', 'w').write('x')");
    assert_eq!(run(&world, &executions, write), Some(json!(1)));
    assert_eq!(run(&world, &executions, in_session("b", "notes", look)), Some(json!([])));
    assert_eq!(run(&world, &executions, in_session("a", "notes", look)), Some(json!(["a.txt"])));
}

#[test]
fn a_session_is_free_again_as_soon_as_the_end_is_known() {
    let (world, holding, executions) = world(KeepLimits::default());
    let first = executions.start(in_session("a", "one", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let refused = executions.start(in_session("a", "one", "1")).err().expect("it is busy");
    assert_eq!(code_of(&refused), Some(Code::Busy));
    assert_eq!(executions.recent(&owner("a")).len(), 1, "what was refused is nobody's execution");
    holding.release();
    ended(&world, &first);
    for number in 0..20 {
        let next = in_session("a", "one", &number.to_string());
        assert_eq!(run(&world, &executions, next), Some(json!(number)));
    }
    let cancelled =
        executions.start(in_session("a", "one", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    cancelled.cancel();
    ended(&world, &cancelled);
    assert_eq!(
        run(&world, &executions, in_session("a", "one", "7")),
        Some(json!(7)),
        "after cancelling, too"
    );
}

#[test]
fn what_has_ended_is_kept_up_to_a_number_and_what_runs_always() {
    let (world, holding, executions) = world(KeepLimits { count: 2, ..KeepLimits::default() });
    let running = executions.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let mut over = Vec::new();
    for number in 0..4 {
        let follower =
            executions.start(start("a", &number.to_string())).unwrap_or_else(|report| panic!("{report:?}"));
        ended(&world, &follower);
        over.push(follower);
    }
    let is_kept = |follower: &Follower| executions.find(&owner("a"), follower.id()).is_some();
    assert_eq!(over.iter().map(is_kept).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(is_kept(&running));
    assert_eq!(executions.running(), 1);
    holding.release();
    ended(&world, &running);
    assert_eq!(executions.running(), 0);
}

#[test]
fn large_results_are_kept_up_to_a_number_of_bytes() {
    let (world, _, executions) = world(KeepLimits { bytes: 250_000, ..KeepLimits::default() });
    let large = || {
        let follower =
            executions.start(start("a", "'x' * 100_000")).unwrap_or_else(|report| panic!("{report:?}"));
        ended(&world, &follower);
        follower
    };
    let over = [large(), large(), large()];
    let is_kept = |follower: &Follower| executions.find(&owner("a"), follower.id()).is_some();
    assert_eq!(over.each_ref().map(is_kept), [false, true, true]);
}

#[test]
fn what_is_forgotten_is_gone_but_nothing_that_runs_is_forgotten() {
    let (world, holding, executions) = world(KeepLimits::default());
    let follower = executions.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    executions.forget(follower.id());
    assert!(executions.find(&owner("a"), follower.id()).is_some(), "it runs");
    holding.release();
    ended(&world, &follower);
    executions.forget(follower.id());
    assert!(executions.find(&owner("a"), follower.id()).is_none());
}

#[test]
fn a_program_runs_on_when_nobody_follows_it() {
    let (world, holding, executions) = world(KeepLimits::default());
    let follower = executions.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let id = follower.id().clone();
    drop(follower);
    holding.release();
    let found = executions.find(&owner("a"), &id).expect("it is kept");
    let report = ended(&world, &found);
    assert_eq!((report.result.clone(), report.stdout.as_str()), (Some(json!("released")), "so far\n"));
}

#[test]
fn what_runs_may_end_within_the_grace_period() {
    let (world, holding, executions) = world(KeepLimits::default());
    let follower = executions.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    until(&world, &follower, |follower| follower.progress().calls_begun == 1);
    holding.release();
    world.block_on(executions.finish(Duration::from_secs(60)));
    assert_eq!(follower.progress().report.expect("it has ended").result, Some(json!("released")));
}

#[test]
fn what_does_not_end_within_the_grace_period_is_cancelled() {
    let (world, _, executions) = world(KeepLimits::default());
    let followers = ["a", "b"]
        .map(|whose| executions.start(start(whose, HOLD)).unwrap_or_else(|report| panic!("{report:?}")));
    for follower in &followers {
        until(&world, follower, |follower| follower.progress().calls_begun == 1);
    }
    world.block_on(executions.finish(Duration::from_millis(1)));
    for follower in &followers {
        let report = follower.progress().report.expect("it has ended");
        assert_eq!(code_of(&report), Some(Code::Cancelled));
        assert_eq!(report.tools_called[0].name, "hold", "what was done is told");
    }
}

#[test]
fn a_question_waits_for_its_answer() {
    let (world, _, executions) = world(KeepLimits::default());
    let follower = executions.start(start("a", ASK)).unwrap_or_else(|report| panic!("{report:?}"));
    until(&world, &follower, |follower| !follower.progress().questions.is_empty());
    let progress = follower.progress();
    assert_eq!((progress.status, &progress.questions[0].question), (Status::Asking, &question()));
    let number = progress.questions[0].number;
    assert!(!follower.answer(number + 1, QuestionAnswer::Decline), "nobody asked that");
    assert!(follower.answer(number, QuestionAnswer::Accept(Some(json!({"size": 42})))));
    assert!(!follower.answer(number, QuestionAnswer::Decline), "it is answered");
    let told = ended(&world, &follower).result.clone().expect("an answer").to_string();
    assert!(told.contains("Accept") && told.contains("42"), "{told}");
}

#[test]
fn a_question_ends_with_its_program() {
    let (world, _, executions) = world(KeepLimits::default());
    let follower = executions.start(start("a", ASK)).unwrap_or_else(|report| panic!("{report:?}"));
    until(&world, &follower, |follower| !follower.progress().questions.is_empty());
    let number = follower.progress().questions[0].number;
    follower.cancel();
    assert_eq!(code_of(&ended(&world, &follower)), Some(Code::Cancelled));
    assert_eq!(follower.progress().questions, []);
    assert!(!follower.answer(number, QuestionAnswer::Decline));
}

#[test]
fn a_question_that_nobody_can_answer_is_not_asked() {
    let (world, _, executions) = world(KeepLimits::default());
    for answers in [Answers::default(), Answers { forms: false, urls: true }] {
        let nobody = Start { answers, ..start("a", ASK) };
        assert_eq!(run(&world, &executions, nobody), Some(json!("None")));
    }
}
