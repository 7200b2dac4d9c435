//! An MCP server and its login server on the loopback address, in one. It checks what a real one
//! checks (PKCE, redirect addresses, resources, rotated refresh tokens) and misbehaves on demand.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use url::Url;

/// One request, as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub target: String,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Seen {
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    pub fn form(&self) -> BTreeMap<String, String> {
        url::form_urlencoded::parse(self.body.as_bytes()).into_owned().collect()
    }
}

/// An answer that a test has prepared.
#[derive(Clone)]
pub enum Canned {
    Json(u16, Value),
    Raw(u16, String),
    Redirect(u16, String),
    /// More than anyone wants to read.
    Endless,
    /// A stream of events that stays open.
    Events,
    /// Never.
    Silence,
    /// The real answer, once the test gives leave.
    Held(Arc<Notify>),
    /// The same, and then 503.
    HeldTrouble(Arc<Notify>),
}

/// What the server does differently from a good one.
#[derive(Default)]
pub struct Script {
    /// Prepared answers by path.
    pub canned: HashMap<String, Canned>,
    /// Laid over the login server's metadata; null removes a field.
    pub metadata: BTreeMap<String, Value>,
    /// Laid over the MCP server's metadata.
    pub resource: BTreeMap<String, Value>,
    /// No pointer in the 401, so that the well-known place must be tried.
    pub silent_401: bool,
    /// Metadata at OpenID's place only.
    pub openid_only: bool,
    /// Users say no.
    pub denies: bool,
    /// What the browser's answer names as issuer.
    pub answers_as: Option<String>,
    /// Seconds that a token lives.
    pub lifetime: Option<u64>,
    /// No refresh tokens.
    pub no_refresh: bool,
    /// For clients that are known: id and secret.
    pub known_client: Option<(String, String)>,
}

#[derive(Default)]
struct State {
    script: Script,
    seen: Vec<Seen>,
    clients: HashMap<String, String>,
    codes: HashMap<String, HashMap<String, String>>,
    access: HashSet<String>,
    refresh: HashSet<String>,
    issued: u32,
}

/// See the module.
pub struct LoginServer {
    pub base: String,
    state: Arc<Mutex<State>>,
    arrived: Arc<Notify>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for LoginServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl LoginServer {
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State { script, ..State::default() }));
        let arrived = Arc::new(Notify::new());
        let (shared, origin, bell) = (Arc::clone(&state), base.clone(), Arc::clone(&arrived));
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let one = serve(stream, origin.clone(), Arc::clone(&shared), Arc::clone(&bell));
                tokio::spawn(one);
            }
        });
        Self { base, state, arrived, task }
    }

    /// Where the MCP server is.
    pub fn mcp(&self) -> Url {
        self.url("/mcp")
    }

    pub fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.base)).expect("a URL")
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// Changes its ways.
    pub fn script(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.state().script);
    }

    /// Every request so far.
    pub fn seen(&self) -> Vec<Seen> {
        self.state().seen.clone()
    }

    /// The requests to a path.
    pub fn seen_at(&self, path: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.path() == path).collect()
    }

    /// Waits until a path was asked for so often.
    pub async fn has_seen(&self, path: &str, count: usize) {
        loop {
            let bell = self.arrived.notified();
            if self.seen_at(path).len() >= count {
                return;
            }
            bell.await;
        }
    }

    /// Whether the MCP server would take this token.
    pub fn takes(&self, token: &str) -> bool {
        self.state().access.contains(token)
    }

    /// Takes every refresh token back.
    pub fn forget_refresh_tokens(&self) {
        self.state().refresh.clear();
    }

    /// Every token that it has given out.
    pub fn secrets(&self) -> Vec<String> {
        let state = self.state();
        let mut secrets: Vec<String> = state.codes.keys().cloned().collect();
        for number in 1..=state.issued {
            secrets.extend([format!("access-s3cret-{number}"), format!("refresh-s3cret-{number}")]);
        }
        secrets
    }
}

/// A user with a browser: opens the URL, agrees, and follows the way back. Gives the last page.
pub async fn browse(url: Url) -> String {
    let (_, location, page) = get(&url).await;
    match location {
        Some(location) => get(&Url::parse(&location).expect("a URL")).await.2,
        None => page,
    }
}

/// Status, `Location`, and the whole answer.
pub async fn get(url: &Url) -> (u16, Option<String>, String) {
    let address =
        format!("{}:{}", url.host_str().expect("a host"), url.port_or_known_default().expect("a port"));
    let mut stream = TcpStream::connect(&address).await.expect("someone listens");
    let target = match url.query() {
        Some(query) => format!("{}?{query}", url.path()),
        None => url.path().to_owned(),
    };
    let request = format!("GET {target} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let location = answer.lines().find_map(|line| line.strip_prefix("Location: ")).map(str::to_owned);
    (status, location, answer)
}

struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

fn reply(status: u16, body: Value) -> Reply {
    Reply { status, headers: vec![("Content-Type", "application/json".to_owned())], body: body.to_string() }
}

async fn serve(mut stream: TcpStream, base: String, state: Arc<Mutex<State>>, arrived: Arc<Notify>) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    let canned = {
        let mut state = state.lock().expect("no panic");
        state.seen.push(request.clone());
        state.script.canned.get(request.path()).cloned()
    };
    arrived.notify_waiters();
    let reply = match canned {
        Some(Canned::Json(status, body)) => reply(status, body),
        Some(Canned::Raw(status, body)) => Reply { status, headers: Vec::new(), body },
        Some(Canned::Redirect(status, to)) => {
            Reply { status, headers: vec![("Location", to)], body: String::new() }
        }
        Some(Canned::Silence) => return std::future::pending().await,
        Some(Canned::Endless) => return endless(stream).await,
        Some(Canned::Events) => {
            let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n";
            let _ = stream.write_all(head).await;
            return std::future::pending().await;
        }
        Some(Canned::Held(leave)) => {
            leave.notified().await;
            state.lock().expect("no panic").answer(&request, &base)
        }
        Some(Canned::HeldTrouble(leave)) => {
            leave.notified().await;
            reply(503, json!({}))
        }
        None => state.lock().expect("no panic").answer(&request, &base),
    };
    let mut text = format!(
        "HTTP/1.1 {} X\r\nConnection: close\r\nContent-Length: {}\r\n",
        reply.status,
        reply.body.len()
    );
    for (name, value) in reply.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(&reply.body);
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

async fn endless(mut stream: TcpStream) {
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n\"").await;
    while stream.write_all(&[b'x'; 65536]).await.is_ok() {}
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).ok()?;
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, target) = (first.next()?.to_owned(), first.next()?.to_owned());
    let header =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    let headers: HashMap<String, String> = lines.filter_map(header).collect();
    let length: usize = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    while bytes.len() < end + length {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8(bytes[end..].to_vec()).ok()?;
    Some(Seen { method, target, headers, body })
}

impl State {
    fn answer(&mut self, request: &Seen, base: &str) -> Reply {
        let metadata = "/.well-known/oauth-authorization-server";
        match (request.method.as_str(), request.path()) {
            (_, "/mcp") => self.mcp(request, base),
            ("GET", "/.well-known/oauth-protected-resource/mcp") => reply(200, self.resource_metadata(base)),
            ("GET", path) if path == metadata && !self.script.openid_only => reply(200, self.metadata(base)),
            ("GET", "/.well-known/openid-configuration") => reply(200, self.metadata(base)),
            ("POST", "/register") => self.register(request),
            ("GET", "/authorize") => self.authorize(request, base),
            ("POST", "/token") => self.token(request, base),
            ("POST", "/revoke") => self.revoke(request),
            _ => reply(404, json!({"error": "not_found"})),
        }
    }

    fn mcp(&self, request: &Seen, base: &str) -> Reply {
        let token = request.headers.get("authorization").and_then(|header| header.strip_prefix("Bearer "));
        if token.is_some_and(|token| self.access.contains(token)) {
            return reply(200, json!({"welcome": true}));
        }
        let mut refusal = reply(401, json!({"error": "login"}));
        if !self.script.silent_401 {
            let pointer = format!("{base}/.well-known/oauth-protected-resource/mcp");
            let challenge = format!("Bearer resource_metadata=\"{pointer}\", scope=\"read write\"");
            refusal.headers.push(("WWW-Authenticate", challenge));
        }
        refusal
    }

    fn resource_metadata(&self, base: &str) -> Value {
        let good = json!({
            "resource": format!("{base}/mcp"),
            "authorization_servers": [base],
            "scopes_supported": ["read"],
        });
        laid_over(good, &self.script.resource)
    }

    fn metadata(&self, base: &str) -> Value {
        let good = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "revocation_endpoint": format!("{base}/revoke"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        laid_over(good, &self.script.metadata)
    }

    fn register(&mut self, request: &Seen) -> Reply {
        let wanted: Value = serde_json::from_str(&request.body).expect("JSON");
        let redirect = wanted["redirect_uris"][0].as_str().expect("a redirect address").to_owned();
        let id = format!("client-{}", self.clients.len() + 1);
        self.clients.insert(id.clone(), redirect.clone());
        reply(201, json!({"client_id": id, "redirect_uris": [redirect]}))
    }

    fn authorize(&mut self, request: &Seen, base: &str) -> Reply {
        let query = request.target.split_once('?').map_or("", |(_, query)| query);
        let asked: HashMap<String, String> =
            url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let text = |name: &str| asked.get(name).cloned().unwrap_or_default();
        let is_known = self.clients.get(&text("client_id")) == Some(&text("redirect_uri"))
            || self.script.known_client.as_ref().is_some_and(|(id, _)| *id == text("client_id"));
        if !is_known || text("code_challenge_method") != "S256" || text("response_type") != "code" {
            return reply(400, json!({"error": "invalid_request"}));
        }
        let mut back = Url::parse(&text("redirect_uri")).expect("a redirect address");
        back.query_pairs_mut().append_pair("state", &text("state"));
        if self.script.denies {
            back.query_pairs_mut().append_pair("error", "access_denied");
        } else {
            let code = format!("code-s3cret-{}", self.codes.len() + 1);
            let issuer = self.script.answers_as.clone().unwrap_or_else(|| base.to_owned());
            back.query_pairs_mut().append_pair("code", &code).append_pair("iss", &issuer);
            self.codes.insert(code, asked);
        }
        Reply { status: 302, headers: vec![("Location", back.to_string())], body: String::new() }
    }

    fn token(&mut self, request: &Seen, base: &str) -> Reply {
        let form = request.form();
        let text = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
        if let Some((id, secret)) = &self.script.known_client {
            let encoded =
                |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let both = format!("{}:{}", encoded(id), encoded(secret));
            let proof = format!("Basic {}", base64(both.as_bytes(), BASE64));
            if request.headers.get("authorization") != Some(&proof) {
                return reply(401, json!({"error": "invalid_client"}));
            }
        }
        if text("resource") != format!("{base}/mcp") {
            return reply(400, json!({"error": "invalid_target"}));
        }
        let scope = match text("grant_type") {
            "authorization_code" => match self.codes.get_mut(text("code")).map(std::mem::take) {
                Some(asked) if is_proven(&asked, &form) => asked.get("scope").cloned(),
                Some(_) | None => None,
            },
            "refresh_token" if self.refresh.remove(text("refresh_token")) => Some(String::new()),
            _ => None,
        };
        let Some(scope) = scope else {
            // A careless server that repeats what it was sent.
            let words = format!("{} is of no use", text("refresh_token"));
            return reply(400, json!({"error": "invalid_grant", "error_description": words}));
        };
        self.issued += 1;
        let access = format!("access-s3cret-{}", self.issued);
        let refresh = format!("refresh-s3cret-{}", self.issued);
        self.access.insert(access.clone());
        let lifetime = self.script.lifetime.unwrap_or(3600);
        let mut tokens = json!({"access_token": access, "token_type": "Bearer", "expires_in": lifetime});
        if !scope.is_empty() {
            tokens["scope"] = json!(scope);
        }
        if !self.script.no_refresh {
            self.refresh.insert(refresh.clone());
            tokens["refresh_token"] = json!(refresh);
        }
        reply(200, tokens)
    }

    fn revoke(&mut self, request: &Seen) -> Reply {
        let token = request.form().get("token").cloned().unwrap_or_default();
        self.access.remove(&token);
        self.refresh.remove(&token);
        reply(200, json!({}))
    }
}

fn is_proven(asked: &HashMap<String, String>, form: &BTreeMap<String, String>) -> bool {
    let verifier = form.get("code_verifier").map(String::as_str).unwrap_or_default();
    let challenge = base64(&Sha256::digest(verifier.as_bytes()), BASE64_URL).trim_end_matches('=').to_owned();
    verifier.len() >= 43
        && asked.get("code_challenge") == Some(&challenge)
        && asked.get("redirect_uri") == form.get("redirect_uri")
        && asked.get("resource") == form.get("resource")
}

fn laid_over(mut good: Value, patch: &BTreeMap<String, Value>) -> Value {
    let fields = good.as_object_mut().expect("an object");
    for (name, value) in patch {
        if value.is_null() {
            fields.remove(name);
        } else {
            fields.insert(name.clone(), value.clone());
        }
    }
    good
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64_URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, at| bits << 8 | u32::from(three.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let sextet = (bits >> (18 - 6 * at)) & 63;
            text.push(if at <= three.len() { char::from(alphabet[sextet as usize]) } else { '=' });
        }
    }
    text
}
