//! `gristmill login NAME` and `gristmill logout NAME`.

use std::collections::HashMap;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_mcp::McpConnector;
use gristmill_mcp::oauth::Revocation;

use super::{Failure, Outcome, get};
use crate::arguments::ConfigFile;
use crate::terminal::one_line;
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct Login {
    /// The server's name
    pub name: String,

    /// Only print where to go
    #[arg(long)]
    pub no_browser: bool,

    /// How long to wait, in seconds
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub timeout_s: u64,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Args)]
pub struct Logout {
    /// The server's name
    pub name: String,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn login(arguments: Login) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (connector, server) = connector(&configured, &arguments.name)?;
    let browser = !arguments.no_browser;
    let open = move |url: &gristmill_mcp::Url| {
        eprintln!("log in here:\n  {url}");
        if browser && open_browser(url.as_str()) {
            eprintln!("(your browser should have opened it)");
        }
        eprintln!("waiting for the answer; Ctrl-C gives up");
        true
    };
    let time_limit = Duration::from_secs(arguments.timeout_s);
    let granted = tokio::select! {
        granted = connector.login(&server, &open, time_limit) => granted,
        _ = tokio::signal::ctrl_c() => return Err(Failure::Usage(anyhow!("given up; nothing was changed"))),
    };
    let granted = granted.map_err(|error| Failure::Usage(anyhow!(one_line(&error.to_string()))))?;
    println!("logged in to {}", arguments.name);
    if !granted.scopes.is_empty() {
        println!("scopes: {}", one_line(&granted.scopes.join(" ")));
    }
    match (granted.expires_at.and_then(|at| at.duration_since(SystemTime::now()).ok()), granted.is_renewed) {
        (_, true) => println!("the login is renewed by itself"),
        (Some(left), false) => println!("the login lasts {} minutes", left.as_secs() / 60),
        (None, false) => {}
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn logout(arguments: Logout) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (connector, server) = connector(&configured, &arguments.name)?;
    let out = connector.logout(&server).await;
    let out = out.map_err(|error| Failure::Usage(anyhow!(one_line(&error.to_string()))))?;
    match out.was_logged_in {
        true => println!("logged out of {}: its tokens are forgotten here", arguments.name),
        false => println!("there was no login to {}", arguments.name),
    }
    for revocation in out.revocations {
        match revocation {
            Revocation::Done => println!("the server has revoked them"),
            Revocation::NotOffered => {
                println!("the server does not revoke tokens: they last until they expire")
            }
            Revocation::Failed(error) => {
                eprintln!("warning: the server did not revoke them: {}", one_line(&error.to_string()));
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
        return Err(Failure::Usage(anyhow!("the server `{name}` is not used: {remedy}")));
    }
    let contexts = HashMap::from([(name.to_owned(), upstreams::secret_context(server))]);
    let connector = McpConnector::new(upstreams::supervisor()?, contexts, configured.data_folder()?)
        .map_err(|error| Failure::Internal(anyhow!(error)))?;
    Ok((connector, server.settings.clone()))
}

/// By the system's own opener, never through a shell.
fn open_browser(url: &str) -> bool {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}
