//! `gristmill ask`: a task in words becomes a program, which is shown, checked and run.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::anyhow;
use clap::Args;
use gristmill_gateway::ask::{
    AskEnding, AskEvent, AskLimits, AskRequest, Asked, ConsentRule, Go, check_task, skill_of,
};
use gristmill_gateway::domain::skills::SkillName;
use gristmill_gateway::ids::{Caller, Owner};
use gristmill_gateway::session::SessionChoice;
use gristmill_gateway::skills::{SkillError, Standing};
use gristmill_gateway::{EngineId, engine_named};

use super::ask_screen::AskScreen;
use super::run::{Equipment, Runner};
use super::{Failure, Outcome, run_questions};
use crate::arguments::{ConfigFile, LimitArguments};
use crate::exit_codes;
use crate::models::{self, ModelChoice};
use crate::native_engine;
use crate::terminal::{confirmed_afresh, eprint_lines};

/// More tries than these never helped.
const ATTEMPTS_MAX: i64 = 10;

#[derive(Args)]
pub struct Ask {
    /// The task, in words
    #[arg(value_name = "TASK", required = true)]
    pub task: Vec<String>,

    /// The program's language
    #[arg(long, value_name = "LANGUAGE", default_value = "python", value_parser = ["python", "typescript"])]
    pub language: String,

    /// Run the program without asking, whatever it writes
    #[arg(long, short = 'y')]
    pub yes: bool,

    /// Write and check the program, and don't run it
    #[arg(long, conflicts_with_all = ["yes", "save_skill"])]
    pub dry_run: bool,

    /// How often a program that fails is repaired
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=ATTEMPTS_MAX))]
    pub attempts: u32,

    /// The model that writes, such as gpt-5 [default: the first that's set up]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,

    /// The provider of the model, such as openai, azure or anthropic
    #[arg(long, value_name = "NAME")]
    pub provider: Option<String>,

    /// Use no model: write by rules, which do simple tasks
    #[arg(long, conflicts_with_all = ["model", "provider"])]
    pub no_model: bool,

    /// Keep what worked as a skill, with a test made from the run
    #[arg(long, value_name = "NAME")]
    pub save_skill: Option<String>,

    /// Run in a session, by name or handle; a new name creates one
    #[arg(long, value_name = "SESSION")]
    pub session: Option<String>,

    /// Print one JSON document at the end
    #[arg(long)]
    pub json: bool,

    /// Show what the model is sent
    #[arg(long, conflicts_with = "no_model")]
    pub show_prompt: bool,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}

pub async fn ask(arguments: Ask) -> Outcome {
    let engine = engine_named(&arguments.language).map_err(|error| Failure::Usage(anyhow!(error)))?;
    check_task(&arguments.task.join(" ")).map_err(|error| Failure::Usage(anyhow!(error)))?;
    let save_as = arguments.save_skill.as_deref().map(SkillName::new).transpose();
    let save_as = save_as.map_err(|error| Failure::Usage(anyhow!(error)))?;
    let equipment = Equipment {
        config: &arguments.config,
        limits: &arguments.limits,
        no_servers: false,
        example_tools: false,
        in_session: arguments.session.is_some(),
        native: native_engine::of_command(&arguments.config)?,
    };
    let runner = Runner::equipped(&equipment, Some(engine)).await?;
    let outcome = ask_in(&runner, &arguments, (engine, save_as)).await;
    runner.stop().await;
    outcome
}

async fn ask_in(
    runner: &Runner,
    arguments: &Ask,
    (engine, save_as): (EngineId, Option<SkillName>),
) -> Outcome {
    let mut request = request_of(runner, arguments, engine)?;
    if let Some(name) = save_as {
        request.save_as = new_skill(runner, name).await?;
    }
    let asks_model = !request.models.is_empty();
    let mut asking = runner.gateway().ask(request);
    let mut screen = AskScreen::new(arguments.json, arguments.show_prompt, asks_model);
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        let event = tokio::select! {
            event = asking.next_event() => event,
            _ = &mut interrupted => {
                // Dropped: the program is stopped, and what it did is recorded.
                drop(asking);
                return Ok(ExitCode::from(130));
            }
        };
        let Some(event) = event else { break };
        still_read(screen.show(&event))?;
        match event {
            AskEvent::AwaitingConsent { .. } => tokio::select! {
                is_consented = is_consented() => asking.consent(is_consented),
                _ = &mut interrupted => return Ok(ExitCode::from(130)),
            },
            AskEvent::Running { follower, .. } if run_questions::answers().approvals => {
                tokio::spawn(run_questions::ask_on_terminal(follower));
            }
            _ => {}
        }
    }
    let asked =
        asking.finish().await.ok_or_else(|| Failure::Internal(anyhow!("the task was interrupted")))?;
    if let Some(error) = &asked.bad_name {
        return Err(Failure::Usage(anyhow!("{error}")));
    }
    still_read(screen.end(&asked))?;
    match &arguments.save_skill {
        Some(name) if asked.ending == AskEnding::Finished => save(runner, &asked, name).await,
        Some(_) | None => Ok(exit_code(&asked)),
    }
}

/// Whoever read our output may have seen enough: what was asked for is done all the same.
fn still_read(shown: io::Result<()>) -> Result<(), Failure> {
    match shown {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Internal(anyhow!("can't write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn request_of(runner: &Runner, arguments: &Ask, engine: EngineId) -> Result<AskRequest, Failure> {
    let choice = ModelChoice {
        provider: arguments.provider.clone(),
        model: arguments.model.clone(),
        no_model: arguments.no_model,
    };
    let writers = models::writers(runner.configured(), &choice)?;
    Ok(AskRequest {
        models: writers.models,
        rules: writers.rules,
        without: writers.without,
        go: if arguments.dry_run { Go::Write } else { Go::Run },
        consent: if arguments.yes { ConsentRule::Yes } else { ConsentRule::Ask },
        session: arguments.session.clone().map(SessionChoice::Named),
        answers: run_questions::answers(),
        limits: AskLimits { repairs: arguments.attempts, ..AskLimits::default() },
        level: arguments.limits.level,
        changes_skills_as: Some(Owner::local()),
        ..AskRequest::new(Caller::local(), arguments.task.join(" "), engine)
    })
}

/// Asks on the terminal. Nobody there is no.
async fn is_consented() -> bool {
    tokio::task::spawn_blocking(|| confirmed_afresh("Run it?")).await.unwrap_or(false)
}

/// The name, if a new skill would have it; `None` if it would be a new version of one. Looked at before anything
/// is written: saving refuses what is refused here.
async fn new_skill(runner: &Runner, name: SkillName) -> Result<Option<SkillName>, Failure> {
    let usage = |error: SkillError| Failure::Usage(anyhow!(error));
    let skills = runner.gateway().skills().ok_or_else(no_skills)?;
    let view = skills.look().await;
    let alike = view.all().iter().filter(|skill| skill.name.folded() == name.folded());
    let alike: Vec<_> = alike.filter(|skill| skill.standing != Standing::Waiting).collect();
    match alike.iter().find(|skill| skill.name != name) {
        Some(other) => {
            Err(usage(SkillError::Alike { name: name.to_string(), known: other.name.to_string() }))
        }
        None => Ok(alike.is_empty().then_some(name)),
    }
}

fn no_skills() -> Failure {
    Failure::Usage(anyhow!("skills can't be saved: there is no folder for them"))
}

async fn save(runner: &Runner, asked: &Asked, name: &str) -> Outcome {
    let request = skill_of(asked, name).map_err(|error| Failure::Usage(anyhow!("not saved: {error}")))?;
    let skills = runner.gateway().skills().ok_or_else(no_skills)?;
    let saved = skills.save(request).await.map_err(|error| Failure::Usage(anyhow!(error)))?;
    eprint_lines(&saved.text());
    Ok(exit_code(asked))
}

/// 0 if it did what was asked, 1 if nobody wrote a program, said yes to it, or it failed; a failed program's own code.
fn exit_code(asked: &Asked) -> ExitCode {
    let of_report = |asked: &Asked| match asked.report.as_ref().map(Arc::as_ref) {
        Some(report) if report.error.is_some() => exit_codes::of(report),
        Some(_) | None => ExitCode::FAILURE,
    };
    match asked.ending {
        AskEnding::Finished | AskEnding::Written => exit_codes::OK,
        AskEnding::Failed => of_report(asked),
        AskEnding::NoConsent | AskEnding::NotWritten => ExitCode::FAILURE,
        AskEnding::Cancelled => ExitCode::from(130),
    }
}
