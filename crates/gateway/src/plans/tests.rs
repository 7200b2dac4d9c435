use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use gristmill_domain::{Level, LimitName};
use serde_json::json;

use super::*;
use crate::clock::Clock;
use crate::ids::Owner;
use crate::ports::{Ask, BoxFuture, Question, QuestionAnswer, QuestionKind};

/// Says one thing to every question, and remembers them.
struct Person {
    says: Option<QuestionAnswer>,
    asked: Mutex<Vec<String>>,
}

impl Person {
    fn says(answer: &str) -> Arc<Self> {
        let says = Some(QuestionAnswer::Accept(Some(json!({ "answer": answer }))));
        Arc::new(Self { says, asked: Mutex::default() })
    }

    fn is_silent() -> Arc<Self> {
        Arc::new(Self { says: None, asked: Mutex::default() })
    }

    fn asker(self: &Arc<Self>) -> Asker {
        Asker::new(Arc::clone(self) as Arc<dyn Ask>)
    }
}

impl Ask for Person {
    fn ask(&self, question: Question) -> BoxFuture<'static, QuestionAnswer> {
        self.asked.lock().unwrap().push(question.message);
        let says = self.says.clone();
        Box::pin(async move {
            match says {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }

    fn can_answer(&self, kind: &QuestionKind) -> bool {
        matches!(kind, QuestionKind::Plan)
    }
}

fn write(id: u32) -> Write {
    Write {
        server: "crm".to_owned(),
        tool: "delete".to_owned(),
        arguments: json!({ "id": id }).to_string(),
        decision: "ask".to_owned(),
        effect: "destructive".to_owned(),
        definition: String::new(),
    }
}

fn caller(owner: &str) -> Caller {
    Caller::of(Owner(owner.to_owned()))
}

/// A plan of Ann's, of two writes.
async fn kept(plans: &Plans) -> String {
    let mut request = ExecuteRequest::python("a = 1\nb = 2");
    request.context = json!({ "x": 1 }).as_object().cloned().unwrap().into();
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 2_000).unwrap();
    request.limits = Some(limits);
    let program = PlanProgram::of(&request, &Limits::of(Level::Production));
    plans.keep(&caller("ann"), program, vec![write(1), write(2)]).await.unwrap().id
}

async fn take(plans: &Plans, owner: &str, id: &str, asker: &Asker) -> Result<ExecuteRequest, String> {
    let ours = Limits::of(Level::Production);
    let request = ExecuteRequest::python("");
    plans.take(&caller(owner), id, asker, request, &ours).await.map_err(said)
}

fn said(refusal: Refusal) -> String {
    let error = refusal.report(std::time::Instant::now()).error.unwrap();
    format!("{} {}", error.code, error.message)
}

#[tokio::test]
async fn a_taken_plan_is_the_same_program_with_the_same_variables_limits_and_writes() {
    let plans = Plans::new(Store::in_memory().unwrap());
    let id = kept(&plans).await;
    let person = Person::says("once");
    let request = take(&plans, "ann", &id, &person.asker()).await.unwrap();
    assert_eq!((request.code.as_str(), request.context.as_str()), ("a = 1\nb = 2", r#"{"x":1}"#));
    assert_eq!(request.limits.unwrap().get(LimitName::WallTime), 2_000);
    assert_eq!(request.capabilities.writes.plan(), Some(id.as_str()));
    let asked = person.asked.lock().unwrap().clone();
    let expected = format!(
        "May this command run the plan {id} once? It can make 2 writes, each once and no others:\n\
         1. crm.delete {{\"id\":1}} (destructive)\n2. crm.delete {{\"id\":2}} (destructive)"
    );
    assert_eq!(asked, [expected]);
    let again = take(&plans, "ann", &id, &person.asker()).await.unwrap_err();
    assert!(again.contains("has run already"), "{again}");
}

#[tokio::test]
async fn another_caller_finds_as_little_as_where_there_is_no_plan() {
    let plans = Plans::new(Store::in_memory().unwrap());
    let id = kept(&plans).await;
    let person = Person::says("once");
    let others = take(&plans, "bob", &id, &person.asker()).await.unwrap_err();
    let none = take(&plans, "bob", "zzzzzzzz", &person.asker()).await.unwrap_err();
    assert_eq!(others.replace(&id, "zzzzzzzz"), none);
    assert_eq!(*person.asked.lock().unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_plan_that_has_expired_is_no_plan() {
    let clock = Clock::held_at(SystemTime::now());
    let plans = Plans::new(Store::in_memory().unwrap().with_clock(clock.clone()));
    let id = kept(&plans).await;
    clock.advance(Duration::from_secs(24 * 60 * 60));
    let refused = take(&plans, "ann", &id, &Person::says("once").asker()).await.unwrap_err();
    assert!(refused.contains("there is no plan"), "{refused}");
}

#[tokio::test]
async fn whatever_is_not_the_yes_that_was_offered_is_no() {
    let plans = Plans::new(Store::in_memory().unwrap());
    for answer in ["no", "always", "session", "yes"] {
        let id = kept(&plans).await;
        let refused = take(&plans, "ann", &id, &Person::says(answer).asker()).await.unwrap_err();
        assert!(refused.starts_with("GM-3302 the user didn't approve"), "{answer}: {refused}");
        let again = take(&plans, "ann", &id, &Person::says("once").asker()).await.unwrap_err();
        assert!(again.starts_with("GM-3302"), "it stays denied: {again}");
    }
}

#[tokio::test]
async fn a_question_that_waits_can_be_answered_from_elsewhere() {
    let store = Store::in_memory().unwrap();
    let plans = Plans::new(store.clone());
    let id = kept(&plans).await;
    let person = Person::is_silent();
    let asker = person.asker();
    let approving = async {
        while person.asked.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        assert!(store.answer_plan(&id, true).await.unwrap());
    };
    let (taken, ()) = tokio::join!(take(&plans, "ann", &id, &asker), approving);
    assert_eq!(taken.unwrap().code, "a = 1\nb = 2");
}

#[tokio::test]
async fn another_program_is_not_the_plans_and_does_not_use_it_up() {
    let plans = Plans::new(Store::in_memory().unwrap());
    let id = kept(&plans).await;
    let (ours, person) = (Limits::of(Level::Production), Person::says("once"));
    let other = ExecuteRequest::python("a = 1\nb = 3");
    let refused = plans.take(&caller("ann"), &id, &person.asker(), other, &ours).await.map_err(said);
    assert!(refused.unwrap_err().contains("line 2 differs"));
    take(&plans, "ann", &id, &person.asker()).await.unwrap();
}
