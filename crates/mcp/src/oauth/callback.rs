//! Where the user's browser comes back to: a listener on the loopback address, for one answer.
//!
//! Walls: only 127.0.0.1, only `GET /callback`, only under our own host name (a web page elsewhere
//! cannot make a browser pass for us), only with the state of this login, compared in constant time.
//! Anything else is answered and forgotten, and the login waits on. Nothing from outside is put into
//! a page.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::error::server_words;
use crate::secret::Secret;

/// The longest request: a line and the headers of a browser.
const REQUEST_BYTES_MAX: usize = 16 * 1024;

/// Browsers open connections ahead of need; more than these have to wait.
const CONNECTIONS_MAX: usize = 16;

/// For one browser to say what it wants, or to take its page.
const CONNECTION_LIMIT: Duration = Duration::from_secs(10);

pub(super) struct Callback {
    listener: TcpListener,
    port: u16,
}

/// What the answer must match.
pub(super) struct Expected<'a> {
    pub(super) state: &'a Secret,
    pub(super) issuer: &'a str,
    pub(super) issuer_required: bool,
}

/// What the login server sent along with the browser.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// To be exchanged for tokens.
    Code(Secret),
    /// No; its words, cleaned.
    Refused(String),
    /// The answer is another login server's.
    WrongIssuer(String),
}

/// The browser, waiting for its page.
pub(super) struct Browser(TcpStream);

impl Callback {
    /// On this port, or on any free one.
    pub(super) async fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0))).await?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// What the login server is told.
    pub(super) fn redirect_uri(&self) -> String {
        format!("http://127.0.0.1:{}/callback", self.port)
    }

    /// Waits for the one answer that belongs to this login. Dropping it closes everything.
    pub(super) async fn answer(&self, expected: &Expected<'_>) -> (Answer, Browser) {
        let mut connections = FuturesUnordered::new();
        loop {
            let has_room = connections.len() < CONNECTIONS_MAX;
            tokio::select! {
                accepted = self.listener.accept(), if has_room => match accepted {
                    Ok((stream, _)) => connections.push(self.serve(stream, expected)),
                    // Out of descriptors, as a rule: others may give some back.
                    Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
                },
                Some(served) = connections.next(), if !connections.is_empty() => {
                    if let Some(answer) = served {
                        return answer;
                    }
                }
            }
        }
    }

    async fn serve(&self, mut stream: TcpStream, expected: &Expected<'_>) -> Option<(Answer, Browser)> {
        let head = tokio::time::timeout(CONNECTION_LIMIT, read_head(&mut stream)).await.ok()??;
        match judge(&head, self.port, expected) {
            Ok(answer) => Some((answer, Browser(stream))),
            Err(refusal) => {
                send(stream, refusal.status, refusal.page).await;
                None
            }
        }
    }
}

impl Browser {
    /// The end of the login, as it really was.
    pub(super) async fn show(self, is_logged_in: bool) {
        let page = if is_logged_in { LOGGED_IN } else { NOT_LOGGED_IN };
        send(self.0, "200 OK", page).await;
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    status: &'static str,
    page: &'static str,
}

const NOT_FOUND: Refusal = Refusal { status: "404 Not Found", page: NOTHING_HERE };
const NOT_THIS_LOGIN: Refusal = Refusal { status: "400 Bad Request", page: ANOTHER_LOGIN };

const LOGGED_IN: &str = "You're logged in. You can close this window.";
const NOT_LOGGED_IN: &str =
    "You're not logged in. See the terminal for the reason; you can close this window.";
const NOTHING_HERE: &str = "Nothing here.";
const ANOTHER_LOGIN: &str = "This response doesn't belong to the current login.";

/// Up to the empty line; None if it is too long or ends early.
async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        let seen = head.len().saturating_sub(3);
        head.extend_from_slice(&buffer[..count]);
        if head[seen..].windows(4).any(|end| end == b"\r\n\r\n") {
            return String::from_utf8(head).ok();
        }
        if head.len() > REQUEST_BYTES_MAX {
            return None;
        }
    }
}

fn judge(head: &str, port: u16, expected: &Expected<'_>) -> Result<Answer, Refusal> {
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (Some("GET"), Some(target)) = (request.next(), request.next()) else {
        return Err(NOT_FOUND);
    };
    let hosts: Vec<&str> = lines
        .filter_map(|line| line.split_once(':'))
        .filter(|(name, _)| name.eq_ignore_ascii_case("host"))
        .map(|(_, host)| host.trim())
        .collect();
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !matches!(hosts.as_slice(), [host] if ours.iter().any(|our| our == host)) || !target.starts_with('/') {
        return Err(NOT_FOUND);
    }
    let url = Url::parse(&format!("http://127.0.0.1{target}")).map_err(|_| NOT_FOUND)?;
    if url.path() != "/callback" {
        return Err(NOT_FOUND);
    }
    read_answer(&url, expected)
}

fn read_answer(url: &Url, expected: &Expected<'_>) -> Result<Answer, Refusal> {
    // A parameter that comes twice is not one that we can trust.
    let only = |wanted: &str| {
        let mut values =
            url.query_pairs().filter(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
        values.next().filter(|_| values.next().is_none())
    };
    let state = only("state").map(Secret::new).ok_or(NOT_THIS_LOGIN)?;
    if state != *expected.state {
        return Err(NOT_THIS_LOGIN);
    }
    // The state is right: from here on it is the end of this login, good or bad.
    match only("iss") {
        Some(issuer) if issuer != expected.issuer => {
            return Ok(Answer::WrongIssuer(server_words(&issuer, &[])));
        }
        None if expected.issuer_required => {
            return Ok(Answer::WrongIssuer("someone without a name".to_owned()));
        }
        Some(_) | None => {}
    }
    if let Some(error) = only("error") {
        let words =
            only("error_description").map_or_else(|| error.clone(), |more| format!("{error}: {more}"));
        return Ok(Answer::Refused(server_words(&words, &[expected.state])));
    }
    match only("code").filter(|code| !code.is_empty()) {
        Some(code) => Ok(Answer::Code(Secret::new(code))),
        None => Ok(Answer::Refused("its answer has no code in it".to_owned())),
    }
}

/// A page without anything from elsewhere, and headers that keep it so. The browser may be gone:
/// that changes nothing.
async fn send(mut stream: TcpStream, status: &str, text: &str) {
    let page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Gristmill</title>\
         <p>{text}</p></html>\n"
    );
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nContent-Security-Policy: default-src 'none'\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n{page}",
        page.len()
    );
    let sending = async {
        stream.write_all(answer.as_bytes()).await?;
        stream.shutdown().await
    };
    let _ = tokio::time::timeout(CONNECTION_LIMIT, sending).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "Host: 127.0.0.1:4000\r\n";

    fn judged(request: &str, headers: &str) -> Result<Answer, Refusal> {
        let state = Secret::new("st8");
        let expected = Expected { state: &state, issuer: "https://login.example", issuer_required: false };
        judge(&format!("{request} HTTP/1.1\r\n{headers}\r\n"), 4000, &expected)
    }

    #[test]
    fn the_answer_of_this_login_is_taken() {
        let code = || Ok(Answer::Code(Secret::new("c0de")));
        assert_eq!(judged("GET /callback?code=c0de&state=st8", HOST), code());
        assert_eq!(judged("GET /callback?state=st8&code=c0de", "host: localhost:4000\r\n"), code());
        assert_eq!(judged("GET /callback?iss=https%3A%2F%2Flogin.example&code=c0de&state=st8", HOST), code());
        let refused = |words: &str| Ok(Answer::Refused(words.to_owned()));
        assert_eq!(
            judged("GET /callback?error=access_denied&error_description=not%0Ayou&state=st8", HOST),
            refused("access_denied: not you")
        );
        assert_eq!(judged("GET /callback?state=st8", HOST), refused("its answer has no code in it"));
        let wrong = judged("GET /callback?iss=https%3A%2F%2Fevil.example&code=c0de&state=st8", HOST);
        assert_eq!(wrong, Ok(Answer::WrongIssuer("https://evil.example".to_owned())));
    }

    #[test]
    fn everything_else_is_turned_away() {
        for state in ["", "?code=c", "?code=c&state=", "?code=c&state=st9", "?code=c&state=st8&state=st8"] {
            assert_eq!(judged(&format!("GET /callback{state}"), HOST), Err(NOT_THIS_LOGIN), "{state}");
        }
        let good = "/callback?code=c0de&state=st8";
        for request in [
            "GET /",
            "GET /favicon.ico",
            "GET /callback/x?code=c&state=st8",
            "GET",
            "",
            "GET http://127.0.0.1/callback",
            &format!("POST {good}"),
            &format!("HEAD {good}"),
            "GET callback?code=c0de&state=st8",
            "GET //evil/callback?state=st8",
        ] {
            assert_eq!(judged(request, HOST), Err(NOT_FOUND), "{request}");
        }
        for host in ["", "Host: evil.example:4000\r\n", "Host: 127.0.0.1:4001\r\n", "Host: 127.0.0.1\r\n"] {
            assert_eq!(judged(&format!("GET {good}"), host), Err(NOT_FOUND), "{host}");
        }
        assert_eq!(judged(&format!("GET {good}"), &format!("{HOST}{HOST}")), Err(NOT_FOUND));
    }

    #[test]
    fn a_login_server_that_names_itself_must_do_so() {
        let state = Secret::new("st8");
        let expected = Expected { state: &state, issuer: "https://login.example", issuer_required: true };
        let request = "GET /callback?code=c0de&state=st8 HTTP/1.1\r\nHost: 127.0.0.1:4000\r\n\r\n";
        let answer = judge(request, 4000, &expected);
        assert_eq!(answer, Ok(Answer::WrongIssuer("someone without a name".to_owned())));
    }
}
