//! `gristmill login NAME` and `gristmill logout NAME`.

use std::collections::HashMap;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::counted;
use gristmill_mcp::McpConnector;
use gristmill_mcp::oauth::Revocation;

use super::{Failure, Outcome, get};
use crate::arguments::ConfigFile;
use crate::audit_log;
use crate::terminal::one_line;
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct Login {
    /// Server name
    pub name: String,

    /// Print the URL instead of opening a browser
    #[arg(long)]
    pub no_browser: bool,

    /// How long to wait for you to log in
    #[arg(long, alias = "timeout-s", default_value = "5m", value_name = "TIME", value_parser = super::list::time)]
    pub timeout: Duration,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Args)]
pub struct Logout {
    /// Server name
    pub name: String,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn login(arguments: Login) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (connector, server) = connector(&configured, &arguments.name)?;
    let browser = !arguments.no_browser;
    let open = move |url: &gristmill_mcp::Url| {
        eprintln!("Log in here:\n  {url}");
        if browser && open_browser(url.as_str()) {
            eprintln!("(It should have opened in your browser.)");
        }
        eprintln!("Waiting… press Ctrl-C to cancel.");
        true
    };
    let time_limit = arguments.timeout;
    let granted = tokio::select! {
        granted = connector.login(&server, &open, time_limit) => granted,
        _ = tokio::signal::ctrl_c() => return Err(Failure::Usage(anyhow!("cancelled; nothing was changed"))),
    };
    let granted = granted.map_err(|error| Failure::Usage(anyhow!(one_line(&error.to_string()))))?;
    audit_log::note(&configured, AuditEvent::login(&arguments.name));
    println!("logged in to {}", arguments.name);
    if !granted.scopes.is_empty() {
        println!("scopes: {}", one_line(&granted.scopes.join(" ")));
    }
    match (granted.expires_at.and_then(|at| at.duration_since(SystemTime::now()).ok()), granted.is_renewed) {
        (_, true) => println!("the login renews itself"),
        (Some(left), false) => println!("the login lasts {}", counted(left.as_secs() / 60, "minute")),
        (None, false) => {}
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn logout(arguments: Logout) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (connector, server) = connector(&configured, &arguments.name)?;
    let out = connector.logout(&server).await;
    let out = out.map_err(|error| Failure::Usage(anyhow!(one_line(&error.to_string()))))?;
    if out.was_logged_in {
        audit_log::note(&configured, AuditEvent::logout(&arguments.name));
    }
    match out.was_logged_in {
        true => println!("logged out of {}; its tokens were deleted", arguments.name),
        false => println!("you weren't logged in to {}", arguments.name),
    }
    for revocation in out.revocations {
        match revocation {
            Revocation::Done => println!("the server revoked them"),
            Revocation::NotOffered => {
                println!("the server can't revoke tokens, so they stay valid until they expire")
            }
            Revocation::Failed(error) => {
                eprintln!("warning: the server didn't revoke them: {}", one_line(&error.to_string()));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn connector(
    configured: &Configured,
    name: &str,
) -> Result<(McpConnector, gristmill_gateway::domain::ServerSettings), Failure> {
    let server = get::find(&configured.config, name).map_err(|error| Failure::Usage(error.into()))?;
    if let Some(remedy) = server.approval.remedy() {
        return Err(Failure::Usage(anyhow!("the server `{name}` isn't used: {remedy}")));
    }
    let contexts = HashMap::from([(name.to_owned(), upstreams::secret_context(server))]);
    let connector = McpConnector::new(upstreams::supervisor()?, contexts, configured.data_folder()?);
    Ok((connector, server.settings.clone()))
}

/// By the system's own opener, never through a shell.
pub fn open_browser(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}
