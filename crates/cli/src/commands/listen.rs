//! Where `gristmill serve` listens other than on stdin, and who gets in there: at a port with a token, at
//! a socket whoever is the same user.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use gristmill_gateway::access::{AccessTokens, Caller, LocalTokenState};
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::policy::TokenLimits;
use gristmill_gateway::ports::AuditLog;
use gristmill_http::{HttpSettings, Listener, OwnerSocket, WithoutToken};
use tokio::net::TcpListener;

use super::Failure;
use crate::terminal::eprint_lines;

#[derive(Args)]
pub struct ListenArguments {
    /// Serve over HTTP at this address, such as 127.0.0.1:8770 [default: stdio]
    #[arg(long, value_name = "ADDRESS", value_parser = http_address)]
    pub http: Option<SocketAddr>,

    /// Serve over HTTP at this Unix socket, for your own user only and without a token
    #[arg(long, value_name = "PATH", conflicts_with = "http")]
    pub unix: Option<PathBuf>,

    /// Accept this host name over HTTP, such as example.com; repeatable
    #[arg(long, value_name = "HOST", requires = "http")]
    pub allow_host: Vec<String>,

    /// Accept requests from this web origin, such as https://app.example.com; repeatable
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub allow_origin: Vec<String>,

    /// Require a token over HTTP (the default)
    #[arg(long, requires = "http", conflicts_with = "insecure_no_token")]
    pub require_token: bool,

    /// Let every user and program on this machine in without a token, with all of your rights
    #[arg(long, requires = "http")]
    pub insecure_no_token: bool,
}

/// An address as people write it: `127.0.0.1:8770`, `localhost:8770`, or a port of this machine.
pub fn http_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    text.parse().map_err(|_| "expected an IP address and a port, such as 127.0.0.1:8770".to_owned())
}

/// Where to listen.
pub enum Place<'a> {
    Port(SocketAddr),
    Socket(&'a Path),
}

impl ListenArguments {
    /// `None` for stdin and stdout.
    pub fn place(&self) -> Option<Place<'_>> {
        let socket = self.unix.as_deref().map(Place::Socket);
        self.http.map(Place::Port).or(socket)
    }

    /// Whether the flags fit together, before anything is started.
    pub fn check(&self) -> Result<(), Failure> {
        self.check_socket()?;
        if !self.insecure_no_token {
            return Ok(());
        }
        if let Some(address) = self.http.filter(|address| !address.ip().is_loopback()) {
            return Err(Failure::Usage(anyhow!(
                "`--insecure-no-token` would let anyone who reaches {address} run code as you\n\
                 hint: leave it out and create tokens with `gristmill token new NAME`"
            )));
        }
        if !self.allow_host.is_empty() {
            return Err(Failure::Usage(anyhow!(
                "`--allow-host` is for requests from elsewhere, and with `--insecure-no-token` they would \
                 have all of your rights\n\
                 hint: leave out `--insecure-no-token` and create tokens with `gristmill token new NAME`"
            )));
        }
        Ok(())
    }

    /// The parser lets flags of `--http` pass, because `--unix` is in its place.
    fn check_socket(&self) -> Result<(), Failure> {
        let flags = [
            ("--allow-host", !self.allow_host.is_empty()),
            ("--allow-origin", !self.allow_origin.is_empty()),
            ("--require-token", self.require_token),
            ("--insecure-no-token", self.insecure_no_token),
        ];
        match flags.into_iter().find(|(_, is_given)| *is_given && self.unix.is_some()) {
            None => Ok(()),
            Some((flag, _)) => Err(Failure::Usage(anyhow!(
                "`{flag}` is for `--http`; a Unix socket lets your own user in, and nobody else\n\
                 hint: leave it out, or use `--http` instead of `--unix`"
            ))),
        }
    }

    /// Takes the place, before anything is started that would have to be stopped again. `None` for stdin and stdout.
    pub async fn bind(&self) -> Result<Option<Bound>, Failure> {
        let listener = match self.place() {
            None => return Ok(None),
            Some(Place::Port(address)) => bind(address).await?.into(),
            Some(Place::Socket(path)) => {
                OwnerSocket::bind(path).map_err(|error| Failure::Usage(error.into()))?.into()
            }
        };
        Ok(Some(Bound { listener, is_told: false }))
    }

    /// Who gets in at the place that was taken, and says so.
    pub fn settings_for(
        &self,
        bound: &Bound,
        data: &Path,
        grace: Duration,
        audit: Option<&dyn AuditLog>,
    ) -> Result<HttpSettings, Failure> {
        let tokens = Arc::new(AccessTokens::open(data));
        let mut settings = match &bound.listener {
            Listener::Tcp(listener) => {
                let (address, told, settings) = self.serve_at_port(listener, &tokens, audit)?;
                if !bound.is_told {
                    eprintln!("listening on http://{address}/mcp");
                }
                eprint_lines(&told);
                settings
            }
            Listener::Unix(socket) => {
                eprint_lines(&words_about_socket(socket));
                HttpSettings::for_owner_socket()
            }
        };
        settings.tokens = Some(tokens);
        settings.grace = grace;
        Ok(settings)
    }

    /// Who may call at this address, by names and pages.
    pub fn settings_at(&self, address: SocketAddr) -> HttpSettings {
        let mut settings = HttpSettings::for_address(address);
        settings.hosts_allowed.extend(self.allow_host.iter().cloned());
        settings.origins_allowed.extend(self.allow_origin.iter().cloned());
        settings
    }

    /// Who gets in at a port, with its address and what is said about that.
    fn serve_at_port(
        &self,
        listener: &TcpListener,
        tokens: &Arc<AccessTokens>,
        audit: Option<&dyn AuditLog>,
    ) -> Result<(SocketAddr, String, HttpSettings), Failure> {
        // The port may have been left to the system.
        let address = listener.local_addr().map_err(|error| Failure::Internal(error.into()))?;
        let mut settings = self.settings_at(address);
        settings.tokens = Some(Arc::clone(tokens));
        settings.check().map_err(|error| Failure::Usage(error.into()))?;
        let told = match self.insecure_no_token {
            true => {
                settings.without_token = WithoutToken::Anyone;
                "warning: --insecure-no-token: every user and every program on this machine can run code here \
                 as you, with all connected servers, and so can everyone behind a proxy that hides itself\n\
                 hint: without the flag clients need a token, and `--unix PATH` needs none"
                    .to_owned()
            }
            false => words_about_token(tokens, address, audit)?,
        };
        Ok((address, told, settings))
    }
}

/// A place that was taken.
pub struct Bound {
    pub listener: Listener,
    /// Whether it has been said where.
    is_told: bool,
}

impl Bound {
    /// A port that whoever took it has told of.
    pub fn told(listener: TcpListener) -> Self {
        Self { listener: listener.into(), is_told: true }
    }
}

/// Takes a port.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|error| {
        Failure::Usage(anyhow!(
            "can't listen on {address}: {error}\nhint: `gristmill doctor --http {address}` checks it"
        ))
    })
}

/// Makes the local owner's token if there is none, and says where it is. The token itself is not said:
/// what goes to stderr often goes to a log.
fn words_about_token(
    tokens: &AccessTokens,
    address: SocketAddr,
    audit: Option<&dyn AuditLog>,
) -> Result<String, Failure> {
    let local = tokens.local();
    let state = local.ensure().map_err(|error| Failure::Usage(error.into()))?;
    if let (LocalTokenState::New, Some(audit)) = (state, audit) {
        audit.note(local_token_made());
    }
    let path = local.path().display();
    let made = match state {
        LocalTokenState::New => "your own was just created",
        LocalTokenState::Known => "yours is",
    };
    let url = if address.ip().is_unspecified() {
        format!("http://127.0.0.1:{}/mcp", address.port())
    } else {
        format!("http://{address}/mcp")
    };
    Ok(format!(
        "clients need a token; {made} in {path}\n\
         hint: `gristmill connect CLIENT --http {url}` adds it, `gristmill token new NAME` makes others\n\
         hint: by hand: -H \"Authorization: Bearer $(cat '{path}')\""
    ))
}

/// The local owner's token, which a command made by itself.
pub fn local_token_made() -> AuditEvent {
    let Caller { name, scopes, .. } = Caller::local();
    let scopes: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    AuditEvent::token_issued(&name, &scopes, &TokenLimits::default(), None)
}

fn words_about_socket(socket: &OwnerSocket) -> String {
    let path = socket.path().display();
    format!(
        "listening on {path}, for your own user only; no token needed\n\
         hint: curl --unix-socket '{path}' http://localhost/healthz"
    )
}
