//! The proxy of a server that may connect to some hosts only. It listens in that server's own network,
//! where there is nothing else, so nobody has to prove who they are.
//!
//! Walls: a host must be on the server's list. Names are judged by the addresses that are then
//! connected to: one that leads to this machine or its network is refused unless that very address is
//! on the list. Heads are read within bounds, and so many connections at once and no more.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::SandboxHost;
use gristmill_gateway::recv_some;
use gristmill_gateway::upstream::ServerLog;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio::sync::Semaphore;
use url::Url;

use crate::addresses::{AddressKind, Lookup};

const HEAD_BYTES_MAX: usize = 16 * 1024;
const HEAD_WAIT: Duration = Duration::from_secs(10);
const CONNECT_WAIT: Duration = Duration::from_secs(20);
/// Between a connection that could not be taken, for want of descriptors, and the next.
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
const CONNECTIONS_MAX: usize = 128;

pub(crate) struct Egress {
    pub hosts: Vec<SandboxHost>,
    pub lookup: Lookup,
    pub log: Arc<ServerLog>,
}

/// Why a server is not connected with whom it wants.
#[derive(Debug, PartialEq, Eq)]
enum Refused {
    NotListed,
    /// It is on the list, and leads to this machine or its network.
    Inside(&'static str),
    /// Nobody is there.
    Unreachable(String),
}

impl Egress {
    /// Waits for the listener that the server's launcher makes, then serves it for good.
    pub(crate) async fn run(self, handed: UnixListener) -> io::Result<()> {
        let (launcher, _) = handed.accept().await?;
        drop(handed);
        let mut descriptors: Vec<OwnedFd> = Vec::new();
        loop {
            launcher.readable().await?;
            let receive = || recv_some(&launcher, &mut [0], &mut descriptors);
            match launcher.try_io(Interest::READABLE, receive) {
                Ok(_) => break,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        let listener = descriptors.pop().ok_or(io::ErrorKind::UnexpectedEof)?;
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        Arc::new(self).serve(TcpListener::from_std(listener)?).await
    }

    async fn serve(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(ACCEPT_RETRY).await;
                continue;
            };
            let proxy = Arc::clone(&self);
            connections.spawn(async move {
                let _ = proxy.speak(stream).await;
                drop(place);
            });
            while connections.try_join_next().is_some() {}
        }
    }

    async fn speak(&self, mut client: TcpStream) -> io::Result<()> {
        let head = tokio::time::timeout(HEAD_WAIT, read_head(&mut client)).await;
        let Some(wanted) = head.map_err(|_| io::ErrorKind::TimedOut)??.as_deref().and_then(Wanted::read)
        else {
            return answer(&mut client, "400 Bad Request", "this proxy takes CONNECT and http:// requests")
                .await;
        };
        let (host, port) = (&wanted.host, wanted.port);
        let refused = match self.connect(host, port).await {
            Ok(mut server) => {
                match &wanted.forwarded {
                    Some(request) => server.write_all(request).await?,
                    None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
                }
                copy_bidirectional(&mut client, &mut server).await?;
                return Ok(());
            }
            Err(refused) => refused,
        };
        let (status, why) = match refused {
            Refused::NotListed => {
                ("403 Forbidden", format!("{host}:{port} isn't in this server's `sandbox.network`"))
            }
            Refused::Inside(kind) => {
                let why =
                    format!("{host} leads to a {kind} address; name the address itself in `sandbox.network`");
                ("403 Forbidden", why)
            }
            Refused::Unreachable(why) => {
                ("502 Bad Gateway", format!("{host}:{port} can't be reached: {why}"))
            }
        };
        self.log.line(&format!("gristmill: {why}"));
        answer(&mut client, status, &why).await
    }

    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Refused> {
        let addresses = self.permitted(host, port).await?;
        let connected = async {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in addresses {
                match TcpStream::connect(SocketAddr::new(address, port)).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = error,
                }
            }
            Err(last)
        };
        match tokio::time::timeout(CONNECT_WAIT, connected).await {
            Ok(outcome) => outcome.map_err(|error| Refused::Unreachable(error.to_string())),
            Err(_) => Err(Refused::Unreachable("it doesn't answer".to_owned())),
        }
    }

    /// The addresses of a host that may be connected to.
    async fn permitted(&self, host: &str, port: u16) -> Result<Vec<IpAddr>, Refused> {
        if !self.hosts.iter().any(|listed| listed.fits(host, port)) {
            return Err(Refused::NotListed);
        }
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => {
                let found = (self.lookup)(host.to_owned()).await;
                found.map_err(|error| Refused::Unreachable(error.to_string()))?
            }
        };
        let is_local_name = host.eq_ignore_ascii_case("localhost");
        let names_local = is_local_name && self.hosts.iter().any(|listed| listed.is_localhost());
        let is_permitted = |address: &IpAddr| {
            let kind = AddressKind::of(*address);
            kind == AddressKind::Public
                || (kind == AddressKind::Loopback && names_local)
                || self.hosts.iter().any(|listed| {
                    listed.address() == Some(*address) && listed.fits(&address.to_string(), port)
                })
        };
        let (permitted, others): (Vec<IpAddr>, Vec<IpAddr>) = found.into_iter().partition(is_permitted);
        match (permitted.is_empty(), others.first()) {
            (true, Some(other)) => Err(Refused::Inside(AddressKind::of(*other).words())),
            (true, None) => Err(Refused::Unreachable("it has no address".to_owned())),
            (false, _) => Ok(permitted),
        }
    }
}

/// What a client asks of the proxy.
struct Wanted {
    host: String,
    port: u16,
    /// What to send on, of a request that is not encrypted.
    forwarded: Option<Vec<u8>>,
}

impl Wanted {
    fn read(head: &[u8]) -> Option<Self> {
        let end = head.windows(4).position(|four| four == b"\r\n\r\n")?;
        let (head, body) = (&head[..end], &head[end + 4..]);
        let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
        let line = lines.next()?;
        let mut words = line.split(' ');
        let (method, target, _version) = (words.next()?, words.next()?, words.next()?);
        if method == "CONNECT" {
            let (host, port) = target.rsplit_once(':')?;
            let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
            return Some(Self { host, port: port.parse().ok()?, forwarded: None });
        }
        let url = Url::parse(target).ok().filter(|url| url.scheme() == "http")?;
        let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = url.port_or_known_default()?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        // One request for each connection: the next may be for another host.
        let is_ours = |line: &&str| {
            let name = line.split(':').next().unwrap_or_default();
            !["connection", "proxy-connection", "proxy-authorization"]
                .iter()
                .any(|one| name.eq_ignore_ascii_case(one))
        };
        let headers: String = lines.filter(is_ours).map(|line| format!("{line}\r\n")).collect();
        let path = url.path();
        let request = format!("{method} {path}{query} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        let forwarded = Some([request.as_bytes(), body].concat());
        Some(Self { host, port, forwarded })
    }
}

/// A request's head, and what came with it; `None` if it is too long or not all there.
async fn read_head(client: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    while head.len() < HEAD_BYTES_MAX {
        if client.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
        if head.windows(4).any(|four| four == b"\r\n\r\n") {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

async fn answer(client: &mut TcpStream, status: &str, why: &str) -> io::Result<()> {
    let length = why.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{why}\n"
    );
    client.write_all(answer.as_bytes()).await?;
    client.shutdown().await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn egress(hosts: &[&str]) -> Egress {
        let lookup: Lookup = Arc::new(|name| {
            Box::pin(async move {
                let address: &str = match name.as_str() {
                    "api.example.com" => "93.184.216.34",
                    "localhost" | "rebound.example.com" => "127.0.0.1",
                    "metadata.example.com" => "::ffff:169.254.169.254",
                    other => return Err(io::Error::other(format!("no {other}"))),
                };
                Ok(vec![address.parse().expect("an address")])
            })
        });
        let hosts = hosts.iter().map(|host| SandboxHost::read(host).expect("a host")).collect();
        Egress { hosts, lookup, log: Arc::new(ServerLog::in_memory()) }
    }

    #[tokio::test]
    async fn a_host_is_reached_if_it_is_listed_and_leads_outside() {
        let check = async |hosts: &[&str], host: &str, port: u16, expected: Result<&str, Refused>| {
            let expected = expected.map(|address| vec![address.parse().expect("an address")]);
            assert_eq!(egress(hosts).permitted(host, port).await, expected, "{host}:{port}");
        };
        let listed = ["*.example.com"];
        check(&listed, "api.example.com", 443, Ok("93.184.216.34")).await;
        check(&listed, "api.example.com", 22, Err(Refused::NotListed)).await;
        check(&listed, "example.org", 443, Err(Refused::NotListed)).await;
        check(&listed, "rebound.example.com", 443, Err(Refused::Inside("loopback"))).await;
        check(&listed, "metadata.example.com", 443, Err(Refused::Inside("reserved"))).await;
        check(&["*"], "127.0.0.1", 80, Err(Refused::Inside("loopback"))).await;
        check(&["*"], "localhost", 80, Err(Refused::Inside("loopback"))).await;
        check(&["localhost"], "localhost", 80, Ok("127.0.0.1")).await;
        check(&["127.0.0.1:9"], "127.0.0.1", 9, Ok("127.0.0.1")).await;
        check(&["rebound.example.com", "127.0.0.1"], "rebound.example.com", 80, Ok("127.0.0.1")).await;
        let other_port = ["rebound.example.com", "127.0.0.1:9"];
        check(&other_port, "rebound.example.com", 80, Err(Refused::Inside("loopback"))).await;
    }

    #[test]
    fn a_plain_request_is_passed_on_without_what_was_for_the_proxy() {
        let head = b"POST http://api.example.com/a?b=1 HTTP/1.1\r\nHost: api.example.com\r\nProxy-Connection: keep-alive\r\nContent-Length: 2\r\n\r\nhi";
        let wanted = Wanted::read(head).expect("a request");
        assert_eq!((wanted.host.as_str(), wanted.port), ("api.example.com", 80));
        let forwarded = String::from_utf8(wanted.forwarded.expect("a request")).expect("text");
        assert_eq!(
            forwarded,
            "POST /a?b=1 HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi"
        );
        let tunnel = Wanted::read(b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n").expect("a tunnel");
        assert_eq!((tunnel.host.as_str(), tunnel.port), ("::1", 443));
        for wrong in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET ftp://a/ HTTP/1.1\r\n\r\n",
            "CONNECT a HTTP/1.1\r\n\r\n",
            "\r\n\r\n",
        ] {
            assert!(Wanted::read(wrong.as_bytes()).is_none(), "{wrong}");
        }
    }
}
