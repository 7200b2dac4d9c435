//! `gristmill rerun`: a past execution again, with the same variables, in its session.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use gristmill_gateway::domain::format_bytes;
use gristmill_gateway::history::ExecutionRecord;
use gristmill_gateway::privacy::has_token;
use gristmill_gateway::{ExecuteRequest, engine_named};
use serde_json::{Map, Value};

use super::{Failure, Outcome, run, show};
use crate::arguments::answer::AnswerArguments;
use crate::arguments::{ConfigFile, LimitArguments, Run};
use crate::data_store::DataPlace;
use crate::own_sessions;
use crate::terminal::eprint_lines;

#[derive(Args)]
pub struct RerunArguments {
    /// Execution id; the first characters are enough
    pub execution: String,

    /// Print one JSON document instead of streaming the output
    #[arg(long)]
    pub json: bool,

    /// Folder to use as /workspace
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,

    /// Connect the example tools
    #[arg(long)]
    pub example_tools: bool,

    /// Don't connect any servers
    #[arg(long)]
    pub no_servers: bool,

    #[command(flatten)]
    pub answer: AnswerArguments,

    #[command(flatten)]
    pub config: ConfigFile,

    #[command(flatten)]
    pub limits: LimitArguments,
}

pub async fn rerun(arguments: RerunArguments) -> Outcome {
    let history = DataPlace::of(None, &arguments.config)?.open_history().await?;
    let record = show::find(&history, &arguments.execution).await?;
    history.close().await;
    let (code, context) = program_of(&record).map_err(Failure::Usage)?;
    if has_token(&code) {
        eprint_lines(
            "note: personal data in the program is hidden behind tokens; tools of its session get the values",
        );
    }
    let session = match (&arguments.workspace, record.summary.session.as_str()) {
        (Some(_), _) | (None, "") => None,
        (None, session) => own_sessions::if_still_there(&arguments.config, session).await?,
    };
    let again = Run {
        script: None,
        args: Vec::new(),
        code: None,
        language: None,
        // As it ran before; a native one stays native.
        engine: Some("wasm".to_owned()),
        json: arguments.json,
        dry_run: false,
        plan: None,
        watch: false,
        keep_variables: false,
        workspace: arguments.workspace,
        session,
        context: Vec::new(),
        context_json: None,
        example_tools: arguments.example_tools,
        no_servers: arguments.no_servers,
        answer: arguments.answer,
        config: arguments.config,
        limits: arguments.limits,
    };
    let engine = engine_named(&record.language).map_err(|error| Failure::Usage(error.into()))?;
    let request = ExecuteRequest { context: context.into(), ..ExecuteRequest::of(engine, code) };
    run::run_request(again, request).await
}

/// What it was, if enough of it is known.
fn program_of(record: &ExecutionRecord) -> anyhow::Result<(String, Map<String, Value>)> {
    let id = &record.summary.id;
    let Some(code) = record.summary.code.clone() else {
        return Err(anyhow!(
            "the program of {id} wasn't recorded, so it can't be re-run; set `content = true` under [history] in gristmill.toml to record programs"
        ));
    };
    let context = match (&record.context, record.context_bytes) {
        (_, 0) => Map::new(),
        (Some(context), _) => serde_json::from_str(context)
            .map_err(|error| anyhow!("can't read the variables of {id}: {error}"))?,
        (None, bytes) => {
            return Err(anyhow!(
                "the variables of {id} ({}) were too large to record; run the program with `gristmill run --context-json FILE`",
                format_bytes(bytes)
            ));
        }
    };
    Ok((code, context))
}
