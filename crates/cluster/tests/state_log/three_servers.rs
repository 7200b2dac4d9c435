//! Three servers that keep three copies, of which the one that leads is killed.

use std::time::{Duration, Instant};

use gristmill_cluster::state::log::{LogError, StateLog};

use crate::server::{Server, bus_at, free_port, soon};

struct Trio {
    servers: Vec<Server>,
}

impl Trio {
    async fn start() -> Option<Self> {
        let ports: Vec<u16> = (0..6).map(|_| free_port()).collect();
        let routes: Vec<String> =
            ports[3..].iter().map(|port| format!("\"nats://127.0.0.1:{port}\"")).collect();
        let routes = routes.join(", ");
        let mut servers = Vec::new();
        for number in 0..3 {
            let route_port = ports[3 + number];
            servers.push(Server::configured(ports[number], |folder| {
                format!(
                    "server_name: \"n{number}\"\njetstream {{ store_dir: \"{}\" }}\n\
                     cluster {{ name: \"c\", listen: \"127.0.0.1:{route_port}\", routes: [{routes}] }}\n",
                    folder.display()
                )
            })?);
        }
        Some(Self { servers })
    }

    fn ports(&self) -> Vec<u16> {
        self.servers.iter().map(|server| server.port).collect()
    }

    /// Opens the log once the servers have found each other.
    async fn log(&self, name: &str) -> StateLog {
        let bus = bus_at(&self.ports(), name).await;
        let until = Instant::now() + Duration::from_secs(40);
        loop {
            match StateLog::open(&bus, 3).await {
                Ok(log) => return log,
                Err(LogError::Unavailable(_) | LogError::NoJetStream | LogError::TooFewServers { .. })
                    if Instant::now() < until => {}
                Err(error) => panic!("{error}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Which of them leads the stream.
    async fn leader(&self) -> usize {
        let jetstream = self.servers[0].jetstream().await;
        let stream = jetstream.get_stream("GM_TEST_1_STATE").await.expect("the stream");
        let cluster = stream.get_info().await.expect("told").cluster.expect("a cluster");
        let leader = cluster.leader.expect("one that leads");
        leader[1..].parse().expect("a number")
    }
}

#[tokio::test]
async fn appends_go_on_after_the_server_that_leads_is_killed() {
    let Some(mut trio) = Trio::start().await else { return };
    let log = trio.log("a").await;
    let follower = trio.log("b").await;
    let mut follow = follower.follow(0).await.expect("followed");
    let mut times = Vec::new();
    let mut last = 0;
    for _ in 0..200_u8 {
        let began = Instant::now();
        last = log.append(last, vec![0; 4096], soon(20)).await.expect("appended");
        times.push(began.elapsed());
    }
    times.sort_unstable();
    println!("append of 4 KB to three: median {:?}, 99th percentile {:?}", times[100], times[198]);

    let leader = trio.leader().await;
    trio.servers[leader].kill();
    let began = Instant::now();
    for round in 0..20_u8 {
        last = log.append(last, vec![1, round], soon(60)).await.expect("appended");
        if round == 0 {
            println!("the first append after the kill took {:?}", began.elapsed());
        }
    }
    trio.servers[leader].start();
    last = log.append(last, vec![2], soon(60)).await.expect("appended");
    let mut heard = 0;
    for number in 0..221 {
        let next = tokio::time::timeout(Duration::from_secs(20), follow.next()).await.expect("in time");
        let (sequence, entry) = next.expect("an entry");
        let expected = match number {
            0..200 => vec![0; 4096],
            200..220 => vec![1, u8::try_from(number - 200).expect("small")],
            _ => vec![2],
        };
        assert_eq!(*entry, expected);
        heard = sequence;
    }
    assert_eq!(heard, last);
    assert_eq!(follower.last().await.expect("the last"), last);
}
