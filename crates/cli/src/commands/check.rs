//! `gristmill check`: what can be said about a program without running it.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::checks::{CheckReport, Finding, Guardrails, Rule};
use gristmill_gateway::domain::{Level, counted};
use gristmill_gateway::ports::{Needed, ToolSource};
use gristmill_gateway::upstream::{NoTools, Refresh};
use gristmill_gateway::{
    EngineId, Folders, TypeChecker, check_program, check_program_with_types, is_javascript,
};
use serde_json::json;

use super::run_input::engine_of;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::terminal::{Printable, eprint_lines};
use crate::upstreams::{self, Configured};
use crate::{native_engine, type_checker};

/// As for `run`.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Args)]
pub struct Check {
    /// The program: a file, or `-` for standard input
    pub file: PathBuf,

    /// The program's language [default: told from the file's name, or from the code]
    #[arg(long, value_name = "LANGUAGE", value_parser = ["python", "typescript", "javascript"])]
    pub language: Option<String>,

    /// Isolation level whose rules apply [default: the configured one]
    #[arg(long)]
    pub level: Option<Level>,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn check(arguments: Check) -> Outcome {
    let code = read(&arguments.file).map_err(Failure::Usage)?;
    let flags = Flags { config: arguments.config.config.clone(), level: arguments.level, ..Flags::default() };
    let configured = upstreams::read(&flags)?;
    let file = Some(arguments.file.as_path());
    let engine = engine_of(arguments.language.as_deref(), file, &code).map_err(Failure::Usage)?;
    let is_typed = match (&arguments.language, arguments.file.extension()) {
        (Some(language), _) => !is_javascript(language),
        (None, extension) => !extension.and_then(|extension| extension.to_str()).is_some_and(is_javascript),
    };
    let types = Types::of(&configured, engine == EngineId::TypeScript && is_typed);
    let report = report_of(engine, &code, &configured, &types).await;
    types.close().await;
    let report = report?;
    let (guardrails, level) = (&configured.config.guardrails.settings, configured.config.level);
    let is_refused = |finding: &Finding| finding.rule == Rule::Syntax || guardrails.refuses(level, finding);
    let is_any_refused = report.findings.iter().any(is_refused);
    match arguments.json {
        true => {
            let findings: Vec<_> =
                report.findings.iter().map(|finding| as_json(finding, guardrails, level)).collect();
            let told =
                json!({"level": level, "refused": is_any_refused, "findings": findings, "more": report.more});
            println!("{told:#}");
        }
        false => print(&report, &arguments.file.display().to_string(), level, is_any_refused),
    }
    Ok(if is_any_refused { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The type checker of one check, and its folder.
struct Types(Option<(Arc<TypeChecker>, PathBuf)>);

impl Types {
    fn of(configured: &Configured, is_wanted: bool) -> Self {
        let command =
            is_wanted.then(|| type_checker::command(upstreams::types_mode(Some(configured)))).flatten();
        let cache = Folders::from_environment().ok().map(|folders| folders.cache);
        Self(command.zip(cache).map(|(command, cache)| {
            let folder = cache.join(format!("type-check-{}", std::process::id()));
            (TypeChecker::new(command, folder.clone()), folder)
        }))
    }

    async fn close(self) {
        if let Some((checker, folder)) = self.0 {
            checker.close().await;
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// With what is known of the servers; those that the program names and nobody has asked yet are asked.
async fn report_of(
    engine: EngineId,
    code: &str,
    configured: &Configured,
    types: &Types,
) -> Result<CheckReport, Failure> {
    let config = &configured.config;
    let packages = native_engine::wasm_packages(config).map(|packages| packages.modules).unwrap_or_default();
    let guardrails = &config.guardrails.settings.at(config.level, &packages);
    let usable = configured.usable();
    if usable.is_empty() {
        return Ok(check_program(engine, code, &NoTools, guardrails));
    }
    let upstreams = configured.connect(&usable, Refresh::WhenUsed)?;
    let tools = upstreams.freeze(None, Needed::ByProgram(code)).await;
    let report = match &types.0 {
        Some((checker, _)) => {
            check_program_with_types(engine, code, Arc::clone(&tools), guardrails, checker).await
        }
        None => check_program(engine, code, tools.as_ref(), guardrails),
    };
    drop(tools);
    upstreams.close().await;
    Ok(report)
}

fn read(path: &PathBuf) -> anyhow::Result<String> {
    let shown = path.display().to_string();
    let from: Box<dyn Read> = match path.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(path).with_context(|| format!("can't open {shown}"))?),
    };
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).with_context(|| format!("can't read {shown}"))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(anyhow!("{shown} is larger than 1 MB, the limit for a program"));
    }
    String::from_utf8(bytes).map_err(|_| anyhow!("{shown} isn't UTF-8 text; save the program as UTF-8"))
}

fn as_json(finding: &Finding, guardrails: &Guardrails, level: Level) -> serde_json::Value {
    let mut told = json!(finding);
    told["refused"] = json!(guardrails.refuses(level, finding));
    told
}

fn print(report: &CheckReport, file: &str, level: Level, is_refused: bool) {
    for finding in &report.findings {
        let Finding { rule, severity, line, column, message, .. } = finding;
        println!("{}:{line}:{column}: {rule} {severity}: {}", Printable::all(file), Printable::all(message));
        let marked = finding.marked("    ");
        if !marked.is_empty() {
            println!("{}", Printable::all(&marked));
        }
        if let Some(hint) = &finding.hint {
            println!("    hint: {}", Printable::all(hint));
        }
    }
    let count = counted(report.findings.len() + report.more, "finding");
    eprint_lines(&match is_refused {
        true => format!("{count}; at level {level} this program is refused or fails"),
        false => format!("{count}; at level {level} this program may run"),
    });
}
