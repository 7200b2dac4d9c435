//! `gristmill check`: what can be said about a program without running it.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::check_program;
use gristmill_gateway::checks::{CheckReport, Finding, Guardrails, Rule};
use gristmill_gateway::domain::{Level, counted};
use gristmill_gateway::ports::{Needed, ToolSource};
use gristmill_gateway::upstream::{NoTools, Refresh};
use serde_json::json;

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::terminal::{Printable, eprint_lines};
use crate::upstreams::{self, Configured};

/// As for `run`.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

#[derive(Args)]
pub struct Check {
    /// The program: a file, or `-` for standard input
    pub file: PathBuf,

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
    let report = report_of(&code, &configured).await?;
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

/// With what is known of the servers; those that the program names and nobody has asked yet are asked.
async fn report_of(code: &str, configured: &Configured) -> Result<CheckReport, Failure> {
    let guardrails = &configured.config.guardrails.settings;
    let usable = configured.usable();
    if usable.is_empty() {
        return Ok(check_program(code, &NoTools, guardrails));
    }
    let upstreams = configured.connect(&usable, Refresh::WhenUsed)?;
    let tools = upstreams.freeze(Needed::ByProgram(code)).await;
    let report = check_program(code, tools.as_ref(), guardrails);
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
