//! What `gristmill doctor` finds out about the servers, and about the address for `serve --http`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use gristmill_config::Flags;
use gristmill_gateway::access::LocalToken;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::Failure;
use super::list::{self, Listing, Look};
use super::list_screen::Progress;
use crate::terminal::{one_line, print_lines};
use crate::upstreams;

/// How far a section's lines are set in.
const INDENT: usize = 2;

/// Whoever listens on this machine answers at once.
const ANSWER_WAIT: Duration = Duration::from_secs(2);

/// Enough of an answer to know who it is.
const ANSWER_BYTES_MAX: u64 = 4_096;

/// How the servers are.
#[derive(Serialize)]
pub struct Servers {
    /// Each of them, as `gristmill list --json` has it.
    servers: Value,
    /// Why they cannot be told.
    problem: Option<String>,
    /// Those that run with the user's rights.
    free: Vec<String>,
    #[serde(skip)]
    lines: Vec<String>,
    /// Whether any is down or wants a login.
    #[serde(skip)]
    is_wrong: bool,
}

impl Servers {
    /// Reaches every configured server.
    pub async fn look(config: Option<PathBuf>) -> Self {
        let configured = upstreams::read(&Flags { config, ..Flags::default() });
        let listing = match &configured {
            Ok(configured) => {
                let look = Look::Ask { timeout: list::TIMEOUT, progress: Progress::Spinner };
                Listing::of(configured, look).await.map_err(|failure| words(&failure))
            }
            Err(failure) => Err(words(failure)),
        };
        match listing {
            Ok(listing) => Self {
                servers: listing.json(),
                problem: None,
                free: listing.free().into_iter().map(str::to_owned).collect(),
                lines: listing.lines(INDENT),
                is_wrong: listing.is_wrong(),
            },
            Err(problem) => {
                let (free, lines) = (Vec::new(), Vec::new());
                Self { servers: Value::Null, problem: Some(problem), free, lines, is_wrong: true }
            }
        }
    }

    /// Whether the configuration cannot be used.
    pub fn is_misconfigured(&self) -> bool {
        self.problem.is_some()
    }

    /// In a few words, what to look at.
    pub fn trouble(&self) -> Option<&'static str> {
        match (self.is_wrong, self.is_misconfigured()) {
            (false, _) => None,
            (true, true) => Some("the configuration has errors"),
            (true, false) => Some("not every server is up"),
        }
    }

    /// As a person reads it.
    pub fn print(&self) {
        println!("\nservers:");
        if let Some(problem) = &self.problem {
            println!("  {problem}");
        } else if self.lines.is_empty() {
            println!(
                "  none configured; `gristmill import` imports them from your MCP clients, `gristmill add` adds one"
            );
        }
        self.lines.iter().for_each(|line| println!("  {line}"));
        if !self.free.is_empty() {
            let names: Vec<String> = self.free.iter().map(|name| one_line(name)).collect();
            println!("  run with your rights, outside a sandbox: {}", names.join(", "));
            println!(
                "          fix: `sandbox = true` in a server's configuration confines it (docs/servers.md)"
            );
        }
    }
}

/// What a failure says.
pub fn words(failure: &Failure) -> String {
    match failure {
        Failure::Usage(error) | Failure::Configuration(error) | Failure::Internal(error) => {
            format!("{error:#}")
        }
    }
}

/// Whether `gristmill serve --http` can have its address.
#[derive(Serialize)]
pub struct Address {
    address: SocketAddr,
    /// `free`, `served` by a gristmill, or `taken`.
    state: &'static str,
    detail: String,
    /// Where the local owner's token is, or what is wrong with it.
    token: String,
}

impl Address {
    pub async fn look(address: SocketAddr) -> Self {
        let (state, detail) = match TcpListener::bind(address).await {
            Ok(_) => ("free", format!("`gristmill serve --http {address}` can use it")),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                match is_gristmill(address).await {
                    true => ("served", "Gristmill is serving here".to_owned()),
                    false => ("taken", "another program uses this port; choose another".to_owned()),
                }
            }
            Err(error) => ("taken", format!("can't listen here: {error}")),
        };
        Self { address, state, detail, token: token() }
    }

    /// As a person reads it.
    pub fn print(&self) {
        println!("\nHTTP:\n  {:<7} {}: {}", self.state, self.address, self.detail);
        print_lines(&format!("  {:<7} {}", "token", self.token));
    }
}

/// Nothing is sent: whoever listens at a port need not be who they say.
fn token() -> String {
    let Ok(folder) = upstreams::data_folder(None) else { return "no data folder to keep one in".to_owned() };
    let local = LocalToken::open(&folder);
    match local.read() {
        Ok(Some(_)) => format!("yours is in {}", local.path().display()),
        Ok(None) => "none yet; the first `gristmill serve --http` creates one".to_owned(),
        Err(error) => error.to_string(),
    }
}

async fn is_gristmill(address: SocketAddr) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = tokio::time::timeout(ANSWER_WAIT, asked).await;
    matches!(answer, Ok(Ok(answer)) if answer.contains("gristmill"))
}
