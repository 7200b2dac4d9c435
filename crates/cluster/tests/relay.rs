//! Connections that are passed on from one gateway to another, on a bus that loses, doubles and cuts off.

#[expect(dead_code, reason = "tests of nodes use the rest of it")]
#[path = "nodes/bus.rs"]
mod bus;

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_cluster::relay::{Opening, PassedOn, PassedStream, RelayError, pass_on, take_connections};
use gristmill_cluster::{Bus, NodeName};
use gristmill_replica::seal::Seal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use bus::SmallBus;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Well above the time after which silence counts.
const NOTICED_WITHIN: Duration = Duration::from_secs(10);

/// What both ends have.
fn seal() -> Arc<Seal> {
    Arc::new(Seal::of(&[7; 32]))
}

/// A gateway that leads and one that stands by.
struct Pair {
    small: SmallBus,
    standby: Bus,
    incoming: mpsc::Receiver<PassedOn>,
    stop: CancellationToken,
    lost: CancellationToken,
}

type Passing = JoinHandle<Result<(), RelayError>>;

fn name(name: &str) -> NodeName {
    name.parse().expect("a name")
}

impl Pair {
    async fn start() -> Self {
        let small = SmallBus::start().await;
        let (leader, standby) = (small.connect("leader").await, small.connect("standby").await);
        let (taken, incoming) = mpsc::channel(4);
        let stop = CancellationToken::new();
        tokio::spawn(take_connections((leader, seal()), name("leader"), taken, stop.clone()));
        Self { small, standby, incoming, stop, lost: CancellationToken::new() }
    }

    /// Passes on what a client says on such a stream.
    fn pass_on(&self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Passing {
        self.pass_on_with(stream, Opening::default())
    }

    fn pass_on_with(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        opening: Opening,
    ) -> Passing {
        let (bus, lost) = (self.standby.clone(), self.lost.clone());
        tokio::spawn(async move {
            pass_on((&bus, &seal()), &name("standby"), &name("leader"), stream, opening, lost).await
        })
    }

    /// A client, what serves it, and what passes between them.
    async fn open(&mut self) -> (DuplexStream, PassedStream, Passing) {
        let (mut client, stream) = duplex(16 * 1024);
        let passing = self.pass_on(stream);
        let mut server = self.taken().await.stream;
        greet(&mut server, &mut client).await;
        (client, server, passing)
    }

    /// The same with a socket, which can be reset.
    async fn open_tcp(&mut self) -> (TcpStream, PassedStream, Passing) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let mut client =
            TcpStream::connect(listener.local_addr().expect("a port")).await.expect("it listens");
        let passing = self.pass_on(listener.accept().await.expect("a client").0);
        let mut server = self.taken().await.stream;
        greet(&mut server, &mut client).await;
        (client, server, passing)
    }

    async fn taken(&mut self) -> PassedOn {
        within(self.incoming.recv()).await.expect("the leader takes connections")
    }
}

/// After it the gateway that passes on knows that the leader has taken the connection.
async fn greet(server: &mut PassedStream, client: &mut (impl AsyncRead + Unpin)) {
    server.write_all(b"hello").await.expect("it takes them");
    assert_eq!(read_exactly(client, 5).await, b"hello");
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("it happens in time")
}

async fn ended(passing: Passing) -> Result<(), RelayError> {
    within(passing).await.expect("no panic")
}

async fn read_all(stream: &mut (impl AsyncRead + Unpin)) -> Vec<u8> {
    let mut all = Vec::new();
    within(stream.read_to_end(&mut all)).await.expect("it reads");
    all
}

async fn read_exactly(stream: &mut (impl AsyncRead + Unpin), length: usize) -> Vec<u8> {
    let mut read = vec![0; length];
    within(stream.read_exact(&mut read)).await.expect("it reads");
    read
}

/// Bytes that look random, other ones for each seed.
fn noise(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    let next = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    (0..length).map(next).collect()
}

/// Sends all of `bytes` and reads to the end, at once.
async fn exchange(stream: impl AsyncRead + AsyncWrite, bytes: &[u8]) -> Vec<u8> {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let writing = async {
        writer.write_all(bytes).await.expect("it takes them");
        writer.shutdown().await.expect("it ends");
    };
    let ((), read) = tokio::join!(within(writing), read_all(&mut reader));
    read
}

#[tokio::test]
async fn bytes_pass_both_ways_in_order() {
    let mut pair = Pair::start().await;
    let (client, server, passing) = pair.open().await;
    let (asked, answered) = (noise(1 << 20, 1), noise(1 << 20, 2));
    let (at_client, at_server) = tokio::join!(exchange(client, &asked), exchange(server, &answered));
    assert!(at_server == asked && at_client == answered, "{} and {}", at_server.len(), at_client.len());
    ended(passing).await.expect("both are done");
}

#[tokio::test]
async fn a_bus_that_loses_and_doubles_messages_loses_and_doubles_no_bytes() {
    let mut pair = Pair::start().await;
    pair.small.loses(15, 10);
    let (client, server, passing) = pair.open().await;
    let (asked, answered) = (noise(1 << 20, 3), noise(1 << 20, 4));
    let (at_client, at_server) = tokio::join!(exchange(client, &asked), exchange(server, &answered));
    assert!(at_server == asked && at_client == answered, "{} and {}", at_server.len(), at_client.len());
    ended(passing).await.expect("both are done");
}

#[tokio::test]
async fn a_connection_outlives_a_bus_that_is_away_for_a_moment() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open().await;
    pair.small.goes_down();
    client.write_all(b"asked meanwhile").await.expect("it takes them");
    tokio::time::sleep(Duration::from_millis(500)).await;
    pair.small.comes_up();
    assert_eq!(read_exactly(&mut server, 15).await, b"asked meanwhile");
    server.write_all(b"answered").await.expect("it takes them");
    assert_eq!(read_exactly(&mut client, 8).await, b"answered");
    drop(client);
    drop(server);
    ended(passing).await.expect("both are done");
}

#[tokio::test]
async fn a_small_request_is_answered_at_once() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, _passing) = pair.open().await;
    let began = Instant::now();
    for _ in 0..50 {
        client.write_all(b"ping").await.expect("it takes them");
        assert_eq!(read_exactly(&mut server, 4).await, b"ping");
        server.write_all(b"pong").await.expect("it takes them");
        assert_eq!(read_exactly(&mut client, 4).await, b"pong");
    }
    // Late acknowledgements alone would take 20 ms each.
    let took = began.elapsed();
    assert!(took < Duration::from_millis(50 * 15), "{took:?}");
}

#[tokio::test]
async fn the_opening_arrives_with_the_name_of_the_gateway_that_passes_on() {
    let mut pair = Pair::start().await;
    let opening = Opening {
        hosts: vec!["b.example".to_owned(), "b.example:8770".to_owned()],
        origins: vec!["http://b.example:8770".to_owned()],
        peer: Some("192.0.2.7:50000".to_owned()),
    };
    let (_client, stream) = duplex(64);
    let _passing = pair.pass_on_with(stream, opening.clone());
    let passed = pair.taken().await;
    assert_eq!((passed.from, passed.opening), (name("standby"), opening));
}

#[tokio::test]
async fn a_client_that_has_said_everything_still_gets_its_answer() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open_tcp().await;
    client.write_all(b"everything").await.expect("it takes them");
    client.shutdown().await.expect("its own side");
    assert_eq!(read_all(&mut server).await, b"everything");
    server.write_all(b"the answer").await.expect("it takes them");
    drop(server);
    assert_eq!(read_all(&mut client).await, b"the answer");
    ended(passing).await.expect("both are done");
}

#[tokio::test]
async fn what_a_server_wrote_before_it_closed_arrives_and_then_the_end() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open_tcp().await;
    client.write_all(b"please").await.expect("it takes them");
    assert_eq!(read_exactly(&mut server, 6).await, b"please");
    let answer = noise(300_000, 5);
    within(server.write_all(&answer)).await.expect("it takes them");
    drop(server);
    // It reads late, and never closes its own side before.
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(read_all(&mut client).await == answer);
    drop(client);
    ended(passing).await.expect("the server was done");
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_all_of_what_a_closed_server_wrote() {
    let mut pair = Pair::start().await;
    let (mut client, server, passing) = pair.open().await;
    let answer = noise(2 << 20, 6);
    let expected = answer.clone();
    let writing = tokio::spawn(async move {
        let mut server = server;
        server.write_all(&answer).await.expect("it takes them");
    });
    let mut read = Vec::new();
    while read.len() < expected.len() {
        let mut part = vec![0; 40_000];
        let count = within(client.read(&mut part)).await.expect("it reads");
        assert!(count > 0, "cut after {} bytes", read.len());
        read.extend_from_slice(&part[..count]);
        if read.len() % 7 == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert!(read == expected);
    within(writing).await.expect("no panic");
    drop(client);
    ended(passing).await.expect("the server was done");
}

/// It's noticed that what is said arrives nowhere.
async fn nobody_is_there(server: &mut PassedStream) {
    let began = Instant::now();
    while server.write_all(b"anybody?").await.is_ok() {
        assert!(began.elapsed() < NOTICED_WITHIN, "it can be written to for ever");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_client_that_is_gone_is_gone_for_the_server_too() {
    let mut pair = Pair::start().await;
    let (client, mut server, passing) = pair.open_tcp().await;
    // With something unread, or so, closing it is a reset.
    client.set_zero_linger().expect("a socket");
    drop(client);
    assert_eq!(read_all(&mut server).await, b"");
    nobody_is_there(&mut server).await;
    ended(passing).await.expect("hanging up is no error");
}

#[tokio::test]
async fn a_client_that_hung_up_after_it_asked_is_noticed_when_it_is_answered() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open_tcp().await;
    client.write_all(b"please").await.expect("it takes them");
    drop(client);
    assert_eq!(read_all(&mut server).await, b"please");
    nobody_is_there(&mut server).await;
    ended(passing).await.expect("hanging up is no error");
}

#[tokio::test]
async fn a_side_that_does_not_read_holds_up_the_other_one_and_takes_little_memory() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open().await;
    let part = vec![7; 64 * 1024];
    let mut sent = 0_usize;
    while let Ok(written) = tokio::time::timeout(Duration::from_secs(1), client.write(&part)).await {
        sent += written.expect("it takes them");
        assert!(sent < 8 << 20, "nobody holds it up");
    }
    assert!(sent < 4 << 20, "{sent} bytes wait");
    // The other direction goes on.
    server.write_all(b"hold on").await.expect("it takes them");
    assert_eq!(read_exactly(&mut client, 7).await, b"hold on");
    // It is still there after a while, and what waits arrives.
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(read_exactly(&mut server, sent).await.iter().all(|byte| *byte == 7));
    drop((client, server));
    ended(passing).await.expect("both are done");
}

#[tokio::test]
async fn a_hundred_connections_at_once_keep_their_bytes_apart() {
    let mut pair = Pair::start().await;
    let mut clients = Vec::new();
    for number in 0..100 {
        let (client, stream) = duplex(4096);
        let passing = pair.pass_on(stream);
        clients.push(tokio::spawn(async move {
            let asked = noise(20_000, number);
            assert!(exchange(client, &asked).await == asked, "connection {number}");
            ended(passing).await.expect("both are done");
        }));
    }
    for _ in 0..clients.len() {
        let server = pair.taken().await.stream;
        tokio::spawn(async move {
            let (mut reader, mut writer) = tokio::io::split(server);
            tokio::io::copy(&mut reader, &mut writer).await.expect("an echo");
            writer.shutdown().await.expect("it ends");
        });
    }
    for client in clients {
        within(client).await.expect("its own bytes");
    }
}

#[tokio::test]
async fn a_leader_that_is_gone_is_noticed_and_so_is_a_gateway_that_passes_on() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open().await;
    let (began, isolated) = (Instant::now(), "leader");
    pair.small.isolate(isolated);
    let at_client = ended(passing);
    let (outcome, at_server) = tokio::join!(at_client, read_all(&mut server));
    assert!(matches!(outcome, Err(RelayError::Silent { .. })), "{outcome:?}");
    assert_eq!(at_server, b"");
    let took = began.elapsed();
    assert!(Duration::from_secs(3) < took && took < NOTICED_WITHIN, "{took:?}");
    assert_eq!(read_all(&mut client).await, b"");
}

#[tokio::test]
async fn an_idle_connection_stays_as_long_as_both_ends_are_there() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, _passing) = pair.open().await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    client.write_all(b"still here").await.expect("it takes them");
    assert_eq!(read_exactly(&mut server, 10).await, b"still here");
}

#[tokio::test]
async fn where_nobody_leads_nothing_is_read_and_the_next_leader_gets_it_all() {
    let small = SmallBus::start().await;
    let standby = small.connect("standby").await;
    let (mut client, mut stream) = duplex(1024);
    client.write_all(b"asked early").await.expect("it takes them");
    let (opening, lost) = (Opening::default(), CancellationToken::new());
    let (own, nobody) = (name("standby"), name("nobody"));
    let seal = seal();
    let passing = pass_on((&standby, &seal), &own, &nobody, &mut stream, opening.clone(), lost.clone());
    let error = within(passing).await.expect_err("nobody is there");
    assert_eq!(error.to_string(), "nobody doesn't take the connection: it doesn't answer");
    assert!(error.nothing_was_read());
    // Another one leads.
    let (taken, mut incoming) = mpsc::channel(1);
    let leader = small.connect("leader").await;
    tokio::spawn(take_connections(
        (leader, Arc::clone(&seal)),
        name("leader"),
        taken,
        CancellationToken::new(),
    ));
    let serving = tokio::spawn(async move {
        let mut server = incoming.recv().await.expect("a connection").stream;
        read_exactly(&mut server, 11).await
    });
    let leader = name("leader");
    let passing = pass_on((&standby, &seal), &own, &leader, &mut stream, opening, lost);
    tokio::select! {
        outcome = passing => panic!("it ends early: {outcome:?}"),
        read = within(serving) => assert_eq!(read.expect("no panic"), b"asked early"),
    }
}

#[tokio::test]
async fn when_another_gateway_leads_connections_end_at_once_on_both_sides() {
    let mut pair = Pair::start().await;
    let (mut client, mut server, passing) = pair.open().await;
    let began = Instant::now();
    pair.lost.cancel();
    let error = ended(passing).await.expect_err("it was cut");
    assert!(matches!(error, RelayError::LeaderChanged { was_taken: true, .. }), "{error:?}");
    assert!(!error.nothing_was_read());
    assert_eq!(read_all(&mut server).await, b"");
    assert_eq!(read_all(&mut client).await, b"");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_leader_that_stops_says_so() {
    let mut pair = Pair::start().await;
    let (_client, _server, passing) = pair.open().await;
    let began = Instant::now();
    pair.stop.cancel();
    let error = ended(passing).await.expect_err("it was cut");
    assert!(matches!(error, RelayError::LetGo { .. }), "{error:?}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_leader_whose_server_has_ended_takes_nothing() {
    let mut pair = Pair::start().await;
    pair.incoming.close();
    let (_client, stream) = duplex(64);
    let error = ended(pair.pass_on(stream)).await.expect_err("it is refused");
    assert_eq!(error.to_string(), "leader doesn't take the connection: it doesn't serve any more");
    assert!(error.nothing_was_read());
}

#[tokio::test]
async fn a_gateway_that_says_too_much_of_a_connection_is_told_before_anything_is_sent() {
    let pair = Pair::start().await;
    let (_client, stream) = duplex(64);
    let opening = Opening { hosts: vec!["h".to_owned(); 129], ..Opening::default() };
    let error = ended(pair.pass_on_with(stream, opening)).await.expect_err("too many");
    assert!(matches!(error, RelayError::Opening(_)) && error.nothing_was_read(), "{error:?}");
}
