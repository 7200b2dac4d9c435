//! `gristmill dashboard`: a link that logs your browser in to a running `gristmill serve --http`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::access::LocalToken;
use gristmill_http::DASHBOARD_LINK_PATH;
use gristmill_mcp::http_client::{HttpClientSettings, Redirects, http_client, innermost};
use serde_json::Value;

use super::login::open_browser;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::terminal::{eprint_lines, one_line};
use crate::upstreams;

/// The gateway is on this machine.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct DashboardArguments {
    /// Where `gristmill serve --http` listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8770", value_parser = crate::commands::listen::http_address)]
    pub http: SocketAddr,

    /// Print the link without opening a browser
    #[arg(long)]
    pub no_browser: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn dashboard(arguments: DashboardArguments) -> Outcome {
    let address = arguments.http;
    // The owner's token opens everything: it stays on this machine.
    if !address.ip().is_loopback() {
        return Err(Failure::Usage(anyhow!(
            "{address} isn't an address of this machine\n\
             hint: run `gristmill dashboard` where the gateway runs, and forward the port: ssh -L 8770:127.0.0.1:8770 HOST"
        )));
    }
    let configured =
        upstreams::read_without_servers(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let token = LocalToken::open(&configured.data_folder()?).read();
    let token = token.map_err(|error| Failure::Usage(error.into()))?.ok_or_else(|| not_running(address))?;
    let path = new_link(address, token.reveal()).await?;
    let url = format!("http://{address}{path}");
    println!("{url}");
    let opened = !arguments.no_browser && open_browser(&url);
    let opening = if opened { "opening it in your browser; " } else { "" };
    eprint_lines(&format!("{opening}the link works once, within 5 minutes"));
    Ok(ExitCode::SUCCESS)
}

/// Asks the gateway for a link; gives the address of its page.
async fn new_link(address: SocketAddr, token: &str) -> Result<String, Failure> {
    let settings = HttpClientSettings {
        connect_timeout: Some(ANSWER_WAIT),
        total_timeout: Some(ANSWER_WAIT),
        redirects: Redirects::None,
        ..HttpClientSettings::default()
    };
    let client = http_client(&settings).map_err(|error| Failure::Internal(error.into()))?;
    let request = client.post(format!("http://{address}{DASHBOARD_LINK_PATH}"));
    let answer = request.header("Authorization", format!("Bearer {token}")).send().await;
    let answer = answer.map_err(|error| match error.is_connect() {
        true => not_running(address),
        false => Failure::Usage(anyhow!("the gateway at {address} didn't answer: {}", innermost(&error))),
    })?;
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    match value["path"].as_str().filter(|path| status == 200 && path.starts_with("/dashboard/")) {
        Some(path) => Ok(path.to_owned()),
        None => {
            let why = value["error"]["message"].as_str().unwrap_or("it has no dashboard");
            Err(Failure::Usage(anyhow!("the gateway at {address} refused: {}", one_line(why))))
        }
    }
}

fn not_running(address: SocketAddr) -> Failure {
    Failure::Usage(anyhow!(
        "no gateway answers at {address}\n\
         hint: `gristmill serve --http {address}` starts one; `--http ADDRESS` names another"
    ))
}
