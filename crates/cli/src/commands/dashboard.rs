//! `gristmill dashboard`: a link that logs your browser in to a running `gristmill serve --http`.

use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::access::LocalToken;
use gristmill_http::DASHBOARD_LINK_PATH;
use gristmill_mcp::Url;
use gristmill_mcp::http_client::{HttpClientSettings, Redirects, http_client, innermost};
use serde_json::Value;

use super::login::open_browser;
use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::terminal::{eprint_lines, one_line};
use crate::upstreams;

/// Where the token of a gateway elsewhere is.
const TOKEN_VARIABLE: &str = "GRISTMILL_DASHBOARD_TOKEN";

const ANSWER_WAIT: Duration = Duration::from_secs(10);

#[derive(Args)]
pub struct DashboardArguments {
    /// Where `gristmill serve --http` listens
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8770", value_parser = crate::commands::listen::http_address)]
    pub http: SocketAddr,

    /// A gateway elsewhere, as https://HOST; its owner's token is in GRISTMILL_DASHBOARD_TOKEN
    #[arg(long, value_name = "URL", conflicts_with = "http")]
    pub url: Option<String>,

    /// Print the link without opening a browser
    #[arg(long)]
    pub no_browser: bool,

    #[command(flatten)]
    pub config: ConfigFile,
}

pub async fn dashboard(arguments: DashboardArguments) -> Outcome {
    let (gateway, path) = match &arguments.url {
        Some(url) => elsewhere(url).await?,
        None => here(arguments.http, arguments.config).await?,
    };
    let url = format!("{gateway}{path}");
    println!("{url}");
    let opened = !arguments.no_browser && open_browser(&url);
    let opening = if opened { "opening it in your browser; " } else { "" };
    eprint_lines(&format!("{opening}the link works once, within 5 minutes"));
    Ok(ExitCode::SUCCESS)
}

/// The origin of a gateway on this machine, and the path of a link.
async fn here(address: SocketAddr, config: ConfigFile) -> Result<(String, String), Failure> {
    // The owner's token opens everything: it stays on this machine.
    if !address.ip().is_loopback() {
        return Err(Failure::Usage(anyhow!(
            "{address} isn't an address of this machine\n\
             hint: run `gristmill dashboard` where the gateway runs, and forward the port: ssh -L 8770:127.0.0.1:8770 HOST\n\
             hint: `--url https://HOST` opens one behind TLS"
        )));
    }
    let configured = upstreams::read_without_servers(&Flags { config: config.config, ..Flags::default() })?;
    let token = LocalToken::open(&configured.data_folder()?).read();
    let token = token.map_err(|error| Failure::Usage(error.into()))?.ok_or_else(|| not_running(address))?;
    let gateway = format!("http://{address}");
    let path = new_link(&gateway, token.reveal()).await?.ok_or_else(|| not_running(address))?;
    Ok((gateway, path))
}

/// The same of one elsewhere, by its owner's token.
async fn elsewhere(url: &str) -> Result<(String, String), Failure> {
    let gateway = origin(url)?;
    let token = std::env::var(TOKEN_VARIABLE).ok().filter(|token| !token.trim().is_empty());
    let token = token.ok_or_else(|| {
        Failure::Usage(anyhow!(
            "no token for {gateway}\n\
             hint: set {TOKEN_VARIABLE} to what `local-token` in that gateway's data folder has"
        ))
    })?;
    let nobody = || Failure::Usage(anyhow!("no gateway answers at {gateway}"));
    let path = new_link(&gateway, token.trim()).await?.ok_or_else(nobody)?;
    Ok((gateway, path))
}

/// Where to. The owner's token opens everything, so it goes over TLS, or stays on this machine.
fn origin(text: &str) -> Result<String, Failure> {
    let wrong = || Failure::Usage(anyhow!("`{}` isn't an address such as https://HOST", one_line(text)));
    let url = Url::parse(text).map_err(|_| wrong())?;
    let host = url.host_str().ok_or_else(wrong)?;
    let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    let is_plain = url.username().is_empty() && url.password().is_none() && url.path() == "/";
    match (url.scheme(), is_plain) {
        ("https", true) => Ok(url.origin().ascii_serialization()),
        ("http", true) if is_here => Ok(url.origin().ascii_serialization()),
        (_, _) => Err(wrong()),
    }
}

/// Asks the gateway for a link; gives the path of its page, or nothing if nobody is there.
async fn new_link(gateway: &str, token: &str) -> Result<Option<String>, Failure> {
    let settings = HttpClientSettings {
        connect_timeout: Some(ANSWER_WAIT),
        total_timeout: Some(ANSWER_WAIT),
        redirects: Redirects::None,
        ..HttpClientSettings::default()
    };
    let client = http_client(&settings).map_err(|error| Failure::Internal(error.into()))?;
    let request = client.post(format!("{gateway}{DASHBOARD_LINK_PATH}"));
    let answer = request.header("Authorization", format!("Bearer {token}")).send().await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) if error.is_connect() => return Ok(None),
        Err(error) => {
            let why = innermost(&error);
            return Err(Failure::Usage(anyhow!("the gateway at {gateway} didn't answer: {why}")));
        }
    };
    let status = answer.status().as_u16();
    let text = answer.text().await.unwrap_or_default();
    let value: Value = serde_json::from_str(&text).unwrap_or_default();
    match value["path"].as_str().filter(|path| status == 200 && path.starts_with("/dashboard/")) {
        Some(path) => Ok(Some(path.to_owned())),
        None => {
            let why = value["error"]["message"].as_str().unwrap_or("it has no dashboard");
            Err(Failure::Usage(anyhow!("the gateway at {gateway} refused: {}", one_line(why))))
        }
    }
}

fn not_running(address: SocketAddr) -> Failure {
    Failure::Usage(anyhow!(
        "no gateway answers at {address}\n\
         hint: `gristmill serve --http {address}` starts one; `--http ADDRESS` names another"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owners_token_goes_over_tls_or_stays_here() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(origin(text).ok().as_deref(), expected, "{text}");
        };
        check("https://gristmill.example.com", Some("https://gristmill.example.com"));
        check("https://gristmill.example.com:8443/", Some("https://gristmill.example.com:8443"));
        check("http://127.0.0.1:8770", Some("http://127.0.0.1:8770"));
        check("http://gristmill.example.com", None);
        check("https://a:b@gristmill.example.com", None);
        check("https://gristmill.example.com/mcp", None);
        check("gristmill.example.com", None);
    }
}
