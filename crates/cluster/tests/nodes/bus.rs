//! A message bus of two servers in this process that speaks as much of NATS as we use, and fails as a test says.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_cluster::{Bus, BusSettings, Insist, NodePresence, connect};
use parking_lot::Mutex;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const INFO: &str = "INFO {\"server_id\":\"small\",\"server_name\":\"small\",\"version\":\"2.10.0\",\"go\":\"\",\"host\":\"127.0.0.1\",\"port\":4222,\"headers\":true,\"max_payload\":1048576,\"proto\":1,\"client_id\":1}\r\n";

#[derive(Clone)]
pub struct SmallBus {
    shared: Arc<Shared>,
    /// Of its servers.
    ports: [u16; 2],
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    clients: HashMap<u64, Client>,
    next: u64,
    /// Machines that nobody hears and that hear nobody, by the name that they gave.
    isolated: Vec<String>,
    /// Machines that are heard on links alone, by the name that they gave.
    muted: Vec<String>,
    /// Machines that say something else of themselves than they do.
    altered: HashMap<String, Alter>,
    /// Of a hundred messages of links, so many are lost, and so many come twice.
    lost: u64,
    doubled: u64,
    random: u64,
    /// Messages of links that were sent.
    link_messages: usize,
    is_down: bool,
    /// Servers, by their ports, that hold their connections and say nothing on them.
    silent: Vec<u16>,
}

/// What of a node's word is changed on its way.
type Alter = fn(&mut NodePresence);

struct Client {
    /// Of its server.
    port: u16,
    name: String,
    subscriptions: Vec<(String, String)>,
    out: mpsc::UnboundedSender<Vec<u8>>,
    ends: CancellationToken,
}

impl SmallBus {
    pub async fn start() -> Self {
        let mut bus = Self { shared: Arc::default(), ports: [0; 2] };
        for port in &mut bus.ports {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            *port = listener.local_addr().expect("its number").port();
            let (shared, port) = (Arc::clone(&bus.shared), *port);
            tokio::spawn(async move {
                loop {
                    let Ok((stream, _)) = listener.accept().await else { return };
                    if !shared.state.lock().is_down {
                        tokio::spawn(serve(Arc::clone(&shared), stream, port));
                    }
                }
            });
        }
        bus
    }

    /// A connection of a machine.
    pub async fn connect(&self, name: &str) -> Bus {
        let settings = BusSettings {
            urls: self.ports.map(|port| format!("nats://127.0.0.1:{port}")).to_vec(),
            cluster: "test".parse().expect("a name"),
            nkey_seed: None,
            ca: None,
            client_certificate: None,
        };
        connect(&settings, name, Insist::No).await.expect("a connection")
    }

    /// Cuts a machine off, and says nothing of it to anybody.
    pub fn isolate(&self, name: &str) {
        self.shared.state.lock().isolated.push(format!("gristmill {name}"));
    }

    /// Nobody hears any more that a machine is there. What it says about programs is heard.
    pub fn mutes(&self, name: &str) {
        self.shared.state.lock().muted.push(format!("gristmill {name}"));
    }

    /// Has a machine say something else of itself from here on, as one of another build would.
    pub fn alters(&self, name: &str, alter: Alter) {
        self.shared.state.lock().altered.insert(format!("gristmill {name}"), alter);
    }

    /// Has it say again what it says.
    pub fn alters_no_more(&self, name: &str) {
        self.shared.state.lock().altered.remove(&format!("gristmill {name}"));
    }

    /// Loses and doubles messages of links from here on.
    pub fn loses(&self, lost: u64, doubled: u64) {
        let mut state = self.shared.state.lock();
        (state.lost, state.doubled) = (lost, doubled);
    }

    /// How many messages machines have sent about their programs.
    pub fn link_messages(&self) -> usize {
        self.shared.state.lock().link_messages
    }

    /// Ends every connection. New ones are taken once it is up again.
    pub fn goes_down(&self) {
        let mut state = self.shared.state.lock();
        state.is_down = true;
        for client in state.clients.values() {
            client.ends.cancel();
        }
    }

    pub fn comes_up(&self) {
        self.shared.state.lock().is_down = false;
    }

    /// The server that a machine is connected to says nothing any more, and tells nobody.
    pub fn silences_server_of(&self, name: &str) {
        let mut state = self.shared.state.lock();
        let port = state.port_of(name).expect("it is connected");
        state.silent.push(port);
    }

    /// Whether a machine is connected to a server that speaks.
    pub fn is_heard(&self, name: &str) -> bool {
        self.shared.state.lock().port_of(name).is_some()
    }
}

async fn serve(shared: Arc<Shared>, stream: TcpStream, port: u16) {
    stream.set_nodelay(true).expect("a socket");
    let (read, mut write) = stream.into_split();
    let (out, mut waiting) = mpsc::unbounded_channel::<Vec<u8>>();
    let ends = CancellationToken::new();
    let number = {
        let mut state = shared.state.lock();
        state.next += 1;
        let number = state.next;
        let (name, subscriptions) = (String::new(), Vec::new());
        state.clients.insert(number, Client { port, name, subscriptions, out, ends: ends.clone() });
        state.say(number, INFO.as_bytes().to_vec());
        number
    };
    let writing = async {
        while let Some(bytes) = waiting.recv().await {
            if write.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    let mut read = BufReader::new(read);
    tokio::select! {
        () = ends.cancelled() => {}
        () = writing => {}
        () = listen(&shared, number, &mut read) => {}
    }
    shared.state.lock().clients.remove(&number);
}

async fn listen(shared: &Shared, number: u64, read: &mut BufReader<tokio::net::tcp::OwnedReadHalf>) {
    let mut line = String::new();
    loop {
        line.clear();
        if read.read_line(&mut line).await.unwrap_or(0) == 0 {
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["CONNECT", ..] => {
                let told: serde_json::Value =
                    serde_json::from_str(line["CONNECT".len()..].trim()).expect("JSON");
                let name = told["name"].as_str().unwrap_or_default().to_owned();
                shared.state.lock().clients.get_mut(&number).expect("it is there").name = name;
            }
            ["PING"] => shared.state.lock().say(number, b"PONG\r\n".to_vec()),
            ["PONG"] => {}
            ["SUB", subject, .., id] => {
                let subscription = ((*subject).to_owned(), (*id).to_owned());
                shared
                    .state
                    .lock()
                    .clients
                    .get_mut(&number)
                    .expect("it is there")
                    .subscriptions
                    .push(subscription);
            }
            ["UNSUB", id, ..] => {
                let mut state = shared.state.lock();
                let client = state.clients.get_mut(&number).expect("it is there");
                client.subscriptions.retain(|(_, known)| known != id);
            }
            ["PUB", subject, .., length] => {
                let length: usize = length.parse().expect("a length");
                let mut payload = vec![0; length + 2];
                if read.read_exact(&mut payload).await.is_err() {
                    return;
                }
                payload.truncate(length);
                shared.state.lock().publish(number, subject, &payload);
            }
            other => panic!("the small bus doesn't know {other:?}"),
        }
    }
}

impl State {
    /// Of the server that it's connected to and heard at.
    fn port_of(&self, name: &str) -> Option<u16> {
        let name = format!("gristmill {name}");
        let mut clients =
            self.clients.values().filter(|client| client.name == name && self.speaks_to(client));
        clients.next().map(|client| client.port)
    }

    fn speaks_to(&self, client: &Client) -> bool {
        !self.silent.contains(&client.port)
    }

    fn say(&self, number: u64, bytes: Vec<u8>) {
        if let Some(client) = self.clients.get(&number).filter(|client| self.speaks_to(client)) {
            let _ = client.out.send(bytes);
        }
    }

    fn publish(&mut self, from: u64, subject: &str, payload: &[u8]) {
        let Some(client) = self.clients.get(&from).filter(|client| self.speaks_to(client)) else { return };
        let sender = client.name.clone();
        if self.isolated.contains(&sender) {
            return;
        }
        if self.muted.contains(&sender) && !subject.contains(".l.") {
            return;
        }
        let altered = self.altered.get(&sender).filter(|_| subject.contains(".here.")).map(|alter| {
            let mut presence = postcard::from_bytes(payload).expect("a node's word");
            alter(&mut presence);
            postcard::to_stdvec(&presence).expect("bytes")
        });
        let payload = altered.as_deref().unwrap_or(payload);
        let is_of_link = subject.contains(".l.");
        self.link_messages += usize::from(is_of_link);
        let times = match (is_of_link, self.draw()) {
            (true, drawn) if drawn < self.lost => 0,
            (true, drawn) if drawn < self.lost + self.doubled => 2,
            (true | false, _) => 1,
        };
        let hears = |client: &&Client| !self.isolated.contains(&client.name) && self.speaks_to(client);
        for client in self.clients.values().filter(hears) {
            for (_, id) in client.subscriptions.iter().filter(|(pattern, _)| fits(pattern, subject)) {
                for _ in 0..times {
                    let mut message = format!("MSG {subject} {id} {}\r\n", payload.len()).into_bytes();
                    message.extend_from_slice(payload);
                    message.extend_from_slice(b"\r\n");
                    let _ = client.out.send(message);
                }
            }
        }
    }

    fn draw(&mut self) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) % 100
    }
}

fn fits(pattern: &str, subject: &str) -> bool {
    let (mut pattern, mut subject) = (pattern.split('.'), subject.split('.'));
    loop {
        match (pattern.next(), subject.next()) {
            (Some(">"), Some(_)) | (None, None) => return true,
            (Some(wanted), Some(is)) if wanted == "*" || wanted == is => {}
            _ => return false,
        }
    }
}
