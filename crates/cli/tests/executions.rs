//! Executions that outlive the request that started them: who may see them, what is kept, what is asked,
//! and how they end.

mod support;

use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::answer::AnswerBudget;
use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::ports::{Question, QuestionAnswer, QuestionKind};
use gristmill_gateway::service::{Answers, Follower, KeepLimits, PlaceChoice, Service, StartRequest, Status};
use gristmill_gateway::session::{
    ConnectionSession, NewSession, Patience, SessionChoice, SessionSettings, Sessions, Whose,
};
use gristmill_gateway::store::Store;
use gristmill_gateway::{DataSettings, ExecuteRequest, Report, WorkspaceChoice};
use gristmill_testkit::{ScriptedTools, TestFolder, World};
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

    fn tools(&self) -> ScriptedTools {
        let held = Arc::clone(&self.0);
        ScriptedTools::new(move |call| {
            let held = Arc::clone(&held);
            async move {
                if call.name == "ask" {
                    let answer = call.asker.ask(question()).await;
                    return Ok(json!(format!("{answer:?}")).into());
                }
                held.acquire().await.expect("it is never closed").forget();
                Ok(json!("released").into())
            }
        })
    }
}

fn question() -> Question {
    Question {
        server: "shop".to_owned(),
        message: "Which size?".to_owned(),
        asked: QuestionKind::Form { schema: json!({"type": "object"}) },
    }
}

const HOLD: &str = "print('so far')\nawait callMCPTool('hold', {})";
const ASK: &str = "await callMCPTool('ask', {})";

/// A world, what holds its programs, and its service.
fn world(limits: KeepLimits) -> (World, Holding, Service) {
    world_with(limits, SessionSettings::default())
}

fn world_with(limits: KeepLimits, sessions: SessionSettings) -> (World, Holding, Service) {
    let holding = Holding::new();
    let mut patient = Limits::of(Level::Production);
    patient.set(LimitName::WallTime, 120_000).unwrap();
    let mut data = DataSettings::new(Store::in_memory().unwrap());
    data.sessions = Some(sessions);
    let world = World::new(gristmill()).limits(patient).tools(holding.tools()).data(data);
    let world = world.kept_answers(limits).start();
    let service = world.gateway().service().clone();
    (world, holding, service)
}

fn sessions(world: &World) -> &Sessions {
    world.gateway().sessions().expect("they are kept")
}

fn owner(name: &str) -> Owner {
    Owner(name.to_owned())
}

fn start_in(whose: &str, session: SessionChoice, code: &str) -> StartRequest {
    StartRequest {
        place: PlaceChoice::Session { session, patience: Patience::Refuse, keep_variables: false },
        answers: Answers { forms: true, ..Answers::default() },
        answer: Some(AnswerBudget::default()),
        ..StartRequest::new(Caller::of(owner(whose)), ExecuteRequest::python(code))
    }
}

fn start(whose: &str, code: &str) -> StartRequest {
    start_in(whose, SessionChoice::Alone, code)
}

fn in_session(whose: &str, session: &str, code: &str) -> StartRequest {
    start_in(whose, SessionChoice::Named(session.to_owned()), code)
}

/// In session `one` of `a`, as soon as that is free.
fn patiently(code: &str) -> StartRequest {
    let session = SessionChoice::Named("one".to_owned());
    let place = PlaceChoice::Session { session, patience: Patience::default(), keep_variables: false };
    StartRequest { place, ..start("a", code) }
}

fn ended(world: &World, follower: &Follower) -> Arc<Report> {
    world.block_on(follower.clone().ended())
}

/// Starts a program and waits for its end.
fn run(world: &World, service: &Service, start: StartRequest) -> Option<Value> {
    let follower = service.start(start).unwrap_or_else(|report| panic!("{report:?}"));
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
    let (world, holding, service) = world(KeepLimits::default());
    let running = service.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let over = service.start(start("a", "1")).unwrap_or_else(|report| panic!("{report:?}"));
    ended(&world, &over);
    for follower in [&running, &over] {
        assert!(service.find(&owner("b"), follower.id()).is_none());
        let found = service.find(&owner("a"), follower.id()).expect("it is a's");
        assert_eq!(found.id(), follower.id());
    }
    assert!(service.recent(&owner("b")).is_empty());
    let recent: Vec<_> = service.recent(&owner("a")).iter().map(|follower| follower.id().clone()).collect();
    assert_eq!(recent, [over.id().clone(), running.id().clone()], "the newest first");
    holding.release();
    assert_eq!(ended(&world, &running).result, Some(json!("released")));
}

#[test]
fn owners_have_sessions_of_their_own_under_the_same_name() {
    let (world, _, service) = world(KeepLimits::default());
    let look = "import os\nos.listdir('.')";
    let write = in_session("a", "notes", "open('a.txt', 'w').write('x')");
    assert_eq!(run(&world, &service, write), Some(json!(1)));
    assert_eq!(run(&world, &service, in_session("b", "notes", look)), Some(json!([])));
    assert_eq!(run(&world, &service, in_session("a", "notes", look)), Some(json!(["a.txt"])));
}

#[test]
fn a_session_is_free_again_as_soon_as_the_end_is_known() {
    let (world, holding, service) = world(KeepLimits::default());
    let first = service.start(in_session("a", "one", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    until(&world, &first, |first| first.progress().calls_begun == 1);
    let refused = service.start(in_session("a", "one", "1")).unwrap_or_else(|report| panic!("{report:?}"));
    assert_eq!(code_of(&ended(&world, &refused)), Some(Code::Busy));
    let patient = patiently("2");
    let waiting = service.start(patient).unwrap_or_else(|report| panic!("{report:?}"));
    let given_up = patiently("3");
    let given_up = service.start(given_up).unwrap_or_else(|report| panic!("{report:?}"));
    given_up.cancel();
    assert_eq!(code_of(&ended(&world, &given_up)), Some(Code::Cancelled), "while it waits");
    holding.release();
    ended(&world, &first);
    assert_eq!(ended(&world, &waiting).result, Some(json!(2)));
    for number in 0..20 {
        let next = in_session("a", "one", &number.to_string());
        assert_eq!(run(&world, &service, next), Some(json!(number)));
    }
    let cancelled = service.start(in_session("a", "one", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    cancelled.cancel();
    ended(&world, &cancelled);
    assert_eq!(run(&world, &service, in_session("a", "one", "7")), Some(json!(7)), "after cancelling, too");
}

const LOOK: &str = "import os\nsorted(os.listdir('.'))";

#[test]
fn what_a_program_leaves_behind_becomes_a_session_and_nothing_else_does() {
    let (world, _, service) = world(KeepLimits::default());
    let run = |code: &str| {
        let follower = service.start(start("a", code)).unwrap_or_else(|report| panic!("{report:?}"));
        ended(&world, &follower)
    };
    assert_eq!(run("1").session, None);
    assert_eq!(run("open('/tmp/a', 'w').write('x')").session, None);
    let made = run("open('a.txt', 'w').write('kept')\nimport os\nos.mkdir('empty')\n1 / 0");
    assert_eq!(code_of(&made), Some(Code::Exception), "a failed one, too");
    let session = made.session.clone().expect("a session");
    assert!(session.is_new && session.name.is_none(), "{session:?}");
    let again =
        service.start(in_session("a", &session.id, LOOK)).unwrap_or_else(|report| panic!("{report:?}"));
    let again = ended(&world, &again);
    assert_eq!(again.result, Some(json!(["a.txt", "empty"])));
    assert!(again.session.clone().is_some_and(|used| used.id == session.id && !used.is_new));
    // A handle of somebody else is no handle.
    let other =
        service.start(in_session("b", &session.id, LOOK)).unwrap_or_else(|report| panic!("{report:?}"));
    assert_eq!(code_of(&ended(&world, &other)), Some(Code::BadRequest));
    let all = world.block_on(sessions(&world).list(&Whose::Everyones)).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].executions, all[0].files, all[0].bytes), (2, 2, 4));
}

#[test]
fn a_connection_goes_on_in_the_session_that_its_first_leftovers_made() {
    let (world, holding, service) = world(KeepLimits::default());
    let connection = ConnectionSession::default();
    let begin = |code: &str| {
        let session = SessionChoice::OfConnection(connection.clone());
        service.start(start_in("a", session, code)).unwrap_or_else(|report| panic!("{report:?}"))
    };
    let run = |code: &str| ended(&world, &begin(code));
    assert_eq!(run("1").session, None);
    let made = run("open('a', 'w').write('x')").session.clone().expect("a session");
    assert_eq!(run(LOOK).result, Some(json!(["a"])));
    // While a program is in it, others are on their own.
    let held = begin(HOLD);
    until(&world, &held, |held| held.progress().calls_begun == 1);
    let alone = run(LOOK);
    assert_eq!(alone.result, Some(json!([])));
    assert!(alone.notes.iter().any(|note| note.contains("running another program")), "{alone:?}");
    let other = run("open('b', 'w').write('x')").session.clone().expect("a session of its own");
    assert!(other.is_new && other.id != made.id);
    holding.release();
    assert_eq!(ended(&world, &held).session.clone().map(|session| session.id), Some(made.id.clone()));
    assert_eq!(run(LOOK).result, Some(json!(["a"])));
    // One that was ended is left, and the next leftovers make another.
    let (whose, sessions) = (Whose::Of(owner("a")), sessions(&world));
    world.block_on(sessions.end(&whose, &made.id, Patience::Refuse)).unwrap();
    assert_eq!(run(LOOK).result, Some(json!([])));
    assert!(run("open('c', 'w').write('x')").session.clone().is_some_and(|session| session.is_new));
    assert_eq!(run(LOOK).result, Some(json!(["c"])));
}

#[test]
fn a_session_can_be_asked_for_before_anything_is_left_behind() {
    let (world, _, service) = world(KeepLimits::default());
    let (session, patience) = (SessionChoice::Alone, Patience::Refuse);
    let place = PlaceChoice::Session { session, patience, keep_variables: true };
    let first = StartRequest { place, ..start("a", LOOK) };
    let follower = service.start(first).unwrap_or_else(|report| panic!("{report:?}"));
    let report = ended(&world, &follower);
    assert_eq!(report.result, Some(json!([])));
    assert!(report.session.clone().is_some_and(|session| session.is_new));
}

#[test]
fn an_answer_takes_what_its_call_says_or_its_session() {
    let (world, _, service) = world(KeepLimits::default());
    let new =
        NewSession { name: Some("brief".to_owned()), max_output_tokens: Some(60), ..NewSession::default() };
    let held = world.block_on(sessions(&world).create(&owner("a"), new));
    drop(held.unwrap_or_else(|error| panic!("{error}")));
    let tokens_of = |start: StartRequest| {
        let follower = service.start(start).unwrap_or_else(|report| panic!("{report:?}"));
        ended(&world, &follower);
        follower.progress().answer.expect("it has ended").tokens
    };
    let code = "[{'id': number} for number in range(5_000)]";
    let alone = tokens_of(start("a", code));
    assert!((61..=1_000).contains(&alone), "{alone}");
    assert!(tokens_of(in_session("a", "brief", code)) <= 60);
    let budget = AnswerBudget { tokens_max: 300, ..AnswerBudget::default() };
    let said =
        StartRequest { answer: Some(budget), budget_is_explicit: true, ..in_session("a", "brief", code) };
    let said = tokens_of(said);
    assert!((61..=300).contains(&said), "{said}");
}

#[test]
fn an_answer_is_made_anew_within_another_budget() {
    let (world, _, service) = world(KeepLimits::default());
    let follower = service.start(start("a", "'word ' * 5_000")).unwrap_or_else(|report| panic!("{report:?}"));
    let report = ended(&world, &follower);
    let budget = AnswerBudget { tokens_max: 50_000, ..AnswerBudget::default() };
    let whole = world.block_on(service.answer(&follower, &report, &budget));
    assert_eq!(whole.structured, json!({"status": "ok", "result": "word ".repeat(5_000)}));
    let first = follower.progress().answer.expect("it has ended");
    assert!(first.tokens <= 1_000 && first.text.contains("not stored"), "{}", first.text);
}

#[test]
fn a_session_without_room_says_what_is_not_kept() {
    let one = SessionSettings { max: 1, ..SessionSettings::default() };
    let (world, _, service) = world_with(KeepLimits::default(), one);
    let write = || {
        service.start(start("a", "open('a', 'w').write('x')")).unwrap_or_else(|report| panic!("{report:?}"))
    };
    assert!(ended(&world, &write()).session.is_some());
    let full = ended(&world, &write());
    assert_eq!((full.session.clone(), full.result.clone()), (None, Some(json!(1))), "it ran all the same");
    assert!(
        full.notes.iter().any(|note| note.contains("isn't kept: no room for another session")),
        "{full:?}"
    );
}

#[test]
fn what_has_ended_is_kept_up_to_a_number_and_what_runs_always() {
    let (world, holding, service) = world(KeepLimits { count: 2, ..KeepLimits::default() });
    let running = service.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let mut over = Vec::new();
    for number in 0..4 {
        let follower =
            service.start(start("a", &number.to_string())).unwrap_or_else(|report| panic!("{report:?}"));
        ended(&world, &follower);
        over.push(follower);
    }
    let is_kept = |follower: &Follower| service.find(&owner("a"), follower.id()).is_some();
    assert_eq!(over.iter().map(is_kept).collect::<Vec<_>>(), [false, false, true, true]);
    assert!(is_kept(&running));
    assert_eq!(service.running(), 1);
    holding.release();
    ended(&world, &running);
    assert_eq!(service.running(), 0);
}

#[test]
fn large_results_are_kept_up_to_a_number_of_bytes() {
    let (world, _, service) = world(KeepLimits { bytes: 250_000, ..KeepLimits::default() });
    let large = || {
        let follower =
            service.start(start("a", "'x' * 100_000")).unwrap_or_else(|report| panic!("{report:?}"));
        ended(&world, &follower);
        follower
    };
    let over = [large(), large(), large()];
    let is_kept = |follower: &Follower| service.find(&owner("a"), follower.id()).is_some();
    assert_eq!(over.each_ref().map(is_kept), [false, true, true]);
}

#[test]
fn what_is_forgotten_is_gone_but_nothing_that_runs_is_forgotten() {
    let (world, holding, service) = world(KeepLimits::default());
    let follower = service.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    service.forget(follower.id());
    assert!(service.find(&owner("a"), follower.id()).is_some(), "it runs");
    holding.release();
    ended(&world, &follower);
    service.forget(follower.id());
    assert!(service.find(&owner("a"), follower.id()).is_none());
}

#[test]
fn a_program_runs_on_when_nobody_follows_it() {
    let (world, holding, service) = world(KeepLimits::default());
    let follower = service.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    let id = follower.id().clone();
    drop(follower);
    holding.release();
    let found = service.find(&owner("a"), &id).expect("it is kept");
    let report = ended(&world, &found);
    assert_eq!((report.result.clone(), report.stdout.as_str()), (Some(json!("released")), "so far\n"));
}

#[test]
fn what_runs_may_end_within_the_grace_period() {
    let (world, holding, service) = world(KeepLimits::default());
    let follower = service.start(start("a", HOLD)).unwrap_or_else(|report| panic!("{report:?}"));
    until(&world, &follower, |follower| follower.progress().calls_begun == 1);
    holding.release();
    world.block_on(service.finish(Duration::from_secs(60)));
    assert_eq!(follower.progress().report.expect("it has ended").result, Some(json!("released")));
}

#[test]
fn what_does_not_end_within_the_grace_period_is_cancelled() {
    let (world, _, service) = world(KeepLimits::default());
    let followers = ["a", "b"]
        .map(|whose| service.start(start(whose, HOLD)).unwrap_or_else(|report| panic!("{report:?}")));
    for follower in &followers {
        until(&world, follower, |follower| follower.progress().calls_begun == 1);
    }
    world.block_on(service.finish(Duration::from_millis(1)));
    for follower in &followers {
        let report = follower.progress().report.expect("it has ended");
        assert_eq!(code_of(&report), Some(Code::Cancelled));
        assert_eq!(report.tools_called[0].name, "hold", "what was done is told");
    }
}

#[test]
fn a_question_waits_for_its_answer() {
    let (world, _, service) = world(KeepLimits::default());
    let follower = service.start(start("a", ASK)).unwrap_or_else(|report| panic!("{report:?}"));
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
    let (world, _, service) = world(KeepLimits::default());
    let follower = service.start(start("a", ASK)).unwrap_or_else(|report| panic!("{report:?}"));
    until(&world, &follower, |follower| !follower.progress().questions.is_empty());
    let number = follower.progress().questions[0].number;
    follower.cancel();
    assert_eq!(code_of(&ended(&world, &follower)), Some(Code::Cancelled));
    assert_eq!(follower.progress().questions, []);
    assert!(!follower.answer(number, QuestionAnswer::Decline));
}

#[test]
fn a_question_that_nobody_can_answer_is_not_asked() {
    let (world, _, service) = world(KeepLimits::default());
    for answers in [Answers::default(), Answers { urls: true, ..Answers::default() }] {
        let nobody = StartRequest { answers, ..start("a", ASK) };
        assert_eq!(run(&world, &service, nobody), Some(json!("None")));
    }
}

#[test]
fn a_reader_that_does_not_read_holds_up_neither_the_deadline_nor_the_report() {
    let (world, _, service) = world(KeepLimits::default());
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 2_000).unwrap();
    let code = "while True: print('x', flush=True)";
    let request = ExecuteRequest { limits: Some(limits), ..ExecuteRequest::python(code) };
    let started = service.start_live(StartRequest::new(Caller::of(owner("a")), request));
    let (follower, mut events) = started.unwrap_or_else(|report| panic!("{report:?}"));
    assert_eq!(code_of(&ended(&world, &follower)), Some(Code::WallTime));
    // What happened is not lost, and no more than a bounded number was kept.
    let taken = world.block_on(async {
        let mut taken = 0;
        while events.next().await.is_some() {
            taken += 1;
        }
        taken
    });
    assert!((1..=4_096).contains(&taken), "{taken}");
}

#[test]
fn a_program_can_work_where_its_request_says_and_in_no_session() {
    let (world, _, service) = world(KeepLimits::default());
    let folder = TestFolder::new("as-requested");
    let mut request = ExecuteRequest::python("open('a.txt', 'w').write('kept')");
    request.workspace = WorkspaceChoice::Kept(folder.path().to_owned());
    let start = StartRequest::new(Caller::of(owner("a")), request);
    let follower = service.start(start).unwrap_or_else(|report| panic!("{report:?}"));
    let report = ended(&world, &follower);
    assert_eq!((report.result.clone(), report.session.clone()), (Some(json!(4)), None));
    assert_eq!(follower.progress().answer, None, "nobody wants one");
    assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "kept");
}
