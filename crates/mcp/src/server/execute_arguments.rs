//! The arguments of a program's execution, read and checked.

use std::time::Duration;

use gristmill_gateway::answer::{AnswerBudget, TOKENS_MAX, TOKENS_MIN};
use gristmill_gateway::domain::shape::Strategy;
use gristmill_gateway::domain::{Code, Level, LimitName, Limits, one_line};
use gristmill_gateway::session::Patience;
use gristmill_gateway::{
    ContextText, EngineChoice, ExecuteRequest, UnknownEngine, engine_for, is_javascript,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::Answer;
use super::arguments::{read_arguments, whole_number};

/// As they are sent. The schema has been checked before.
#[derive(Debug, Deserialize)]
pub(super) struct ExecuteArguments {
    code: String,
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    engine: Option<String>,
    #[serde(default)]
    session: Option<String>,
    #[serde(default)]
    timeout_s: Option<f64>,
    /// Read apart from the others: it becomes text before anything waits.
    #[serde(skip)]
    context: ContextText,
    #[serde(default)]
    max_output_tokens: Option<serde_json::Number>,
    #[serde(default)]
    shape: Option<String>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    keep_variables: bool,
    #[serde(default)]
    busy: Busy,
    #[serde(default)]
    level: Option<String>,
    /// Whether writes are held and listed.
    #[serde(default)]
    dry_run: bool,
    /// The approved plan that is to run.
    #[serde(default)]
    plan: Option<String>,
}

/// What to do if the session is running another program.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Busy {
    #[default]
    Wait,
    Refuse,
}

/// A program to run, and how.
#[derive(Debug)]
pub(super) struct ProgramRequest {
    pub request: ExecuteRequest,
    pub session: Option<String>,
    pub keep_variables: bool,
    pub patience: Patience,
    pub budget: AnswerBudget,
    /// Whether the call itself says how many tokens that are.
    pub budget_is_explicit: bool,
    /// The level, if the call itself says it.
    pub level: Option<Level>,
    /// The engine, if the call itself says it.
    pub engine: Option<EngineChoice>,
    pub background: bool,
    pub plan: Option<String>,
}

impl ExecuteArguments {
    pub fn read(mut arguments: Map<String, Value>) -> Result<Self, Answer> {
        let context = match arguments.remove("context") {
            None => ContextText::default(),
            Some(Value::Object(variables)) => ContextText::from(variables),
            Some(_) => {
                return Err(Answer::refused(Code::BadRequest, "`context` must be an object", None));
            }
        };
        Ok(Self { context, ..read_arguments(arguments)? })
    }

    /// Bytes of what is kept until the program has run.
    pub fn text_bytes(&self) -> usize {
        self.code.len() + self.context.as_str().len()
    }

    /// What the gateway is asked for; `tokens` is what an answer takes if nothing else is said.
    pub fn program(self, limits: &Limits, tokens: usize) -> Result<ProgramRequest, Answer> {
        self.check_plan()?;
        if self.plan.is_none() && self.code.trim().is_empty() {
            let hint = "send the program's text as `code`";
            return Err(Answer::refused(Code::BadRequest, "`code` is empty", Some(hint)));
        }
        let budget = budget_of(self.max_output_tokens.as_ref(), self.shape.as_deref(), tokens)?;
        let mut limits = limits_at(self.level.as_deref(), limits)?;
        let level = self.level.is_some().then(|| limits.level());
        match self.timeout_s {
            Some(seconds) => set_time(&mut limits, seconds)?,
            None if self.background => {
                let (_, most) = limits.range(LimitName::WallTime);
                set_time(&mut limits, Duration::from_millis(most).min(BACKGROUND_TIME).as_secs_f64())?;
            }
            None => {}
        }
        let engine = engine_for(self.language.as_deref(), &self.code)
            .map_err(|error| Answer::refused(Code::BadRequest, &error.to_string(), None))?;
        let choice = self.engine.as_deref().map(str::parse).transpose();
        let choice: Option<EngineChoice> = choice
            .map_err(|error: UnknownEngine| Answer::refused(Code::BadRequest, &error.to_string(), None))?;
        let filename = self.language.as_deref().is_some_and(is_javascript).then(|| "program.js".to_owned());
        let request = ExecuteRequest {
            filename,
            context: self.context,
            limits: Some(limits),
            dry_run: self.dry_run,
            ..ExecuteRequest::of(engine, self.code)
        };
        let patience = match self.busy {
            Busy::Wait => Patience::default(),
            Busy::Refuse => Patience::Refuse,
        };
        Ok(ProgramRequest {
            request,
            session: self.session,
            keep_variables: self.keep_variables,
            patience,
            budget,
            budget_is_explicit: self.max_output_tokens.is_some(),
            level,
            engine: choice,
            background: self.background,
            plan: self.plan,
        })
    }
}

impl ExecuteArguments {
    /// A plan has its own program, variables and limits; what else is said would be another one.
    fn check_plan(&self) -> Result<(), Answer> {
        let of_the_plan = [
            ("context", !self.context.is_empty()),
            ("level", self.level.is_some()),
            ("timeout_s", self.timeout_s.is_some()),
            ("session", self.session.is_some()),
            ("keep_variables", self.keep_variables),
            ("dry_run", self.dry_run),
        ];
        match of_the_plan.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) if self.plan.is_some() => {
                let message = format!("`{name}` doesn't go with `plan`: a plan runs as it was dry-run");
                Err(Answer::refused(Code::BadRequest, &message, Some("send `plan` alone")))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The caller's limits, or those of the stricter level that is asked for.
pub(super) fn limits_at(level: Option<&str>, limits: &Limits) -> Result<Limits, Answer> {
    let Some(level) = level else { return Ok(limits.clone()) };
    let level: Level = level.parse().map_err(|_| {
        let message =
            format!("level is `{}`; it can be {}", one_line(level, 40), levels_from(limits.level()));
        Answer::refused(Code::BadRequest, &message, None)
    })?;
    limits.tightened(level).ok_or_else(|| {
        let message = format!("level {level} is looser than yours, {}", limits.level());
        let hint = format!("leave `level` out, or use {}", levels_from(limits.level()));
        Answer::refused(Code::BadRequest, &message, Some(&hint))
    })
}

/// A level and the stricter ones, for messages.
fn levels_from(level: Level) -> String {
    let names: Vec<&str> = Level::ALL.into_iter().filter(|one| *one >= level).map(Level::as_str).collect();
    names.join(" or ")
}

/// What a program in the background may take if nothing else is said.
const BACKGROUND_TIME: Duration = Duration::from_secs(600);

/// What an answer may take, and how what is too large is shaped.
pub(super) fn budget_of(
    asked: Option<&serde_json::Number>,
    shape: Option<&str>,
    default: usize,
) -> Result<AnswerBudget, Answer> {
    let refused = |message: String| Answer::refused(Code::BadRequest, &message, None);
    let strategy = match shape {
        None => Strategy::Auto,
        Some(shape) => shape.parse().map_err(|_| {
            let names = Strategy::ALL.map(Strategy::as_str).join(", ");
            refused(format!("shape is `{}`; it can be {names}", one_line(shape, 40)))
        })?,
    };
    let asked = whole_number("max_output_tokens", asked, TOKENS_MIN as u64..=TOKENS_MAX as u64)?;
    Ok(AnswerBudget { tokens_max: asked.map_or(default, |asked| asked as usize), strategy })
}

/// The whole time, computing included.
fn set_time(limits: &mut Limits, seconds: f64) -> Result<(), Answer> {
    let ms = (seconds * 1000.0).clamp(0.0, 1e15) as u64;
    let set = limits.set(LimitName::WallTime, ms).and_then(|()| {
        let (least, most) = limits.range(LimitName::CpuTime);
        limits.set(LimitName::CpuTime, ms.clamp(least, most))
    });
    set.map_err(|_| {
        let (least, most) = limits.range(LimitName::WallTime);
        let seconds_of = |ms: u64| ms as f64 / 1000.0;
        let message = format!(
            "timeout_s is {}; at level {} it can be {} to {}",
            number_text(seconds),
            limits.level(),
            seconds_of(least),
            seconds_of(most)
        );
        Answer::refused(Code::BadRequest, &message, Some("split the work over several programs"))
    })
}

/// A number as it was meant: an absurd one without its three hundred digits.
pub(super) fn number_text(number: f64) -> String {
    if number.abs() < 1e9 { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn program(arguments: Value) -> Result<ProgramRequest, String> {
        let Value::Object(arguments) = arguments else { unreachable!() };
        let limits = Limits::of(Level::Production);
        ExecuteArguments::read(arguments)
            .and_then(|read| read.program(&limits, 1_000))
            .map_err(|answer| answer.text)
    }

    #[test]
    fn a_time_limit_holds_for_waiting_and_computing() {
        let program = program(json!({"code": "1", "timeout_s": 20})).unwrap();
        let limits = program.request.limits.unwrap();
        assert_eq!((limits.get(LimitName::WallTime), limits.get(LimitName::CpuTime)), (20_000, 20_000));
    }

    #[test]
    fn in_the_background_a_program_has_the_time_that_its_level_permits() {
        let program = program(json!({"code": "1", "background": true})).unwrap();
        assert_eq!(program.request.limits.unwrap().get(LimitName::WallTime), 120_000);
    }

    #[test]
    fn a_call_may_ask_for_a_stricter_level_and_for_no_looser_one() {
        let hardened = program(json!({"code": "1", "level": "hardened"})).unwrap().request.limits.unwrap();
        assert_eq!((hardened.level(), hardened.get(LimitName::WallTime)), (Level::Hardened, 3_000));
        assert_eq!(
            program(json!({"code": "1", "level": "development"})).unwrap_err(),
            "error[GM-2002]: level development is looser than yours, production\nhint: leave `level` out, or use production or hardened"
        );
        assert_eq!(
            program(json!({"code": "1", "level": "hard"})).unwrap_err(),
            "error[GM-2002]: level is `hard`; it can be production or hardened"
        );
        // A time is judged by the level that was asked for.
        assert!(program(json!({"code": "1", "level": "hardened", "timeout_s": 60})).is_err());
    }

    #[test]
    fn a_plan_needs_no_code_and_takes_nothing_that_would_make_it_another() {
        assert_eq!(program(json!({"code": "", "plan": "p"})).unwrap().plan.as_deref(), Some("p"));
        assert_eq!(
            program(json!({"code": "", "plan": "p", "context": {"a": 1}})).unwrap_err(),
            "error[GM-2002]: `context` doesn't go with `plan`: a plan runs as it was dry-run\nhint: send `plan` alone"
        );
        assert!(program(json!({"code": "1", "dry_run": true})).unwrap().request.dry_run);
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_range() {
        assert_eq!(
            program(json!({"code": "1", "timeout_s": 1e300})).unwrap_err(),
            "error[GM-2002]: timeout_s is 1e300; at level production it can be 1 to 120\nhint: split the work over several programs"
        );
        assert_eq!(
            program(json!({"code": "1", "max_output_tokens": -1})).unwrap_err(),
            "error[GM-2002]: max_output_tokens is -1; it can be 50 to 100000"
        );
        assert_eq!(
            program(json!({"code": "1", "shape": "tables"})).unwrap_err(),
            "error[GM-2002]: shape is `tables`; it can be auto, summarize, sample, head_tail, schema, table, text, truncate"
        );
        assert_eq!(
            program(json!({"code": "  "})).unwrap_err(),
            "error[GM-2002]: `code` is empty\nhint: send the program's text as `code`"
        );
    }
}
