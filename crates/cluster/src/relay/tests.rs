//! A leader against members that say what they like.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gristmill_replica::seal::Seal;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use super::limits::{CONNECTIONS_MAX, NAME_BYTES_MAX, NAMES_MAX, REFUSALS_MAX};
use super::message::{self, Said};
use super::opening::Opening;
use super::passage::Passage;
use super::passed_on::PassedOn;
use super::sealed_talk::SealedTalk;
use super::signs::Signs;
use super::taking::{Taking, leaders_side, serve};
use crate::bus::{Bus, BusSettings, Conversation, Insist, PACKETS_MAX, connect};
use crate::link::{Link, Moment};
use crate::names::LinkId;
use crate::wire::WIRE_VERSION;

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A leader that serves one link, and the other end of that.
struct World {
    packets: mpsc::Sender<Bytes>,
    signs: Arc<Signs>,
    incoming: mpsc::Receiver<PassedOn>,
    serving: JoinHandle<()>,
    link: LinkId,
}

/// Nobody is there: what is published is lost.
async fn bus_without_a_server() -> Bus {
    let settings = BusSettings {
        urls: vec!["nats://127.0.0.1:1".to_owned()],
        cluster: "test".parse().expect("a name"),
        nkey_seed: None,
        ca: None,
        client_certificate: None,
    };
    connect(&settings, "leader", Insist::Yes).await.expect("it tries for ever")
}

impl World {
    /// One that takes every connection as the same: what is said on it can be sealed before it's heard.
    async fn start() -> Self {
        Self::taking_as(message::Taking::default()).await
    }

    async fn taking_as(taking: message::Taking) -> Self {
        let (packets, received) = mpsc::channel(PACKETS_MAX);
        let (taken, incoming) = mpsc::channel(1);
        let talk = Conversation::new(&bus_without_a_server().await, "nowhere".to_owned(), received);
        let (from, signs) = ("member".parse().expect("a name"), Arc::new(Signs::default()));
        let (side, stream, other_end) = leaders_side();
        let link = LinkId::new().expect("random numbers");
        let talk = SealedTalk::new(talk, Arc::new(seal()), link, &side);
        let passage = (Passage::new(talk, Arc::clone(&signs), side), taking);
        let cut = CancellationToken::new();
        let serving = tokio::spawn(serve(passage, from, (stream, other_end), Some(taken), cut));
        Self { packets, signs, incoming, serving, link }
    }

    async fn hears(&self, packet: Vec<u8>) {
        self.signs.heard();
        // A leader that has let go of the link hears nothing more.
        let _ = self.packets.send(packet.into()).await;
    }

    async fn is_told(&self, messages: &[Vec<u8>]) {
        let sealed: Vec<_> =
            (0..).zip(messages).map(|(number, message)| sealed(self.link, number, message)).collect();
        self.is_sent(&sealed).await;
    }

    async fn is_sent(&self, messages: &[Vec<u8>]) {
        let mut link = Link::new();
        for message in messages {
            link.send(message).expect("room");
        }
        while let Some(packet) = link.poll_packet(Moment::START) {
            self.hears(packet).await;
        }
    }

    async fn has_ended(self) {
        let Self { packets: _packets, signs: _, incoming: _incoming, serving, link: _ } = self;
        tokio::time::timeout(PATIENCE, serving).await.expect("it ends").expect("no panic");
    }
}

fn seal() -> Seal {
    Seal::of(&[7; 32])
}

/// As whoever passes on a connection seals its messages.
fn sealed(link: LinkId, number: u64, plain: &[u8]) -> Vec<u8> {
    let place = format!("message {number} of the client on link {link} as {}", message::Taking::default());
    let sealed = seal().seal(&place, plain).expect("sealed");
    postcard::to_stdvec(&serde_bytes::ByteBuf::from(sealed)).expect("bytes")
}

fn bytes(said: &Said) -> Vec<u8> {
    postcard::to_stdvec(said).expect("bytes")
}

fn open(hosts: Vec<String>) -> Vec<u8> {
    bytes(&Said::Open { wire: WIRE_VERSION, opening: Opening { hosts, ..Opening::default() } })
}

#[tokio::test]
async fn an_opening_within_bounds_is_handed_over() {
    let mut world = World::start().await;
    world.is_told(&[open(vec!["b.example".to_owned()]), bytes(&Said::Bytes(b"hello".to_vec()))]).await;
    let mut passed = world.incoming.recv().await.expect("a connection");
    assert_eq!(
        (passed.from.as_str(), passed.opening.hosts.as_slice()),
        ("member", &["b.example".to_owned()][..])
    );
    let mut read = [0; 5];
    passed.stream.read_exact(&mut read).await.expect("it reads");
    assert_eq!(&read, b"hello");
    // How the other end lets go.
    world.hears(Vec::new()).await;
    world.has_ended().await;
}

#[tokio::test]
async fn what_was_sealed_otherwise_or_for_another_place_opens_nothing() {
    let opening = open(Vec::new());
    let in_the_clear =
        |plain: &[u8]| postcard::to_stdvec(&serde_bytes::ByteBuf::from(plain.to_vec())).expect("bytes");
    let place =
        |link: LinkId| format!("message 0 of the client on link {link} as {}", message::Taking::default());
    let by_another_key = |link: LinkId| {
        let sealed = Seal::of(&[8; 32]).seal(&place(link), &opening).expect("sealed");
        postcard::to_stdvec(&serde_bytes::ByteBuf::from(sealed)).expect("bytes")
    };
    for case in 0..4 {
        let mut world = World::start().await;
        let first = match case {
            0 => in_the_clear(&opening),
            1 => by_another_key(world.link),
            2 => sealed(LinkId::new().expect("random numbers"), 0, &opening),
            _ => sealed(world.link, 1, &opening),
        };
        world.is_sent(&[first]).await;
        assert!(world.incoming.recv().await.is_none(), "case {case}: it is served");
        world.has_ended().await;
    }
    // One message that is sent once more ends the connection.
    let mut world = World::start().await;
    let hello = sealed(world.link, 1, &bytes(&Said::Bytes(b"hello".to_vec())));
    world.is_sent(&[sealed(world.link, 0, &opening), hello.clone(), hello]).await;
    let mut passed = world.incoming.recv().await.expect("a connection");
    let mut read = Vec::new();
    passed.stream.read_to_end(&mut read).await.expect("it ends");
    assert!(read == b"hello" || read.is_empty(), "{read:?}");
    world.has_ended().await;
}

#[tokio::test]
async fn a_hostile_opening_is_let_go_of_and_nothing_is_served() {
    let mut opening = Opening { hosts: vec!["h".to_owned(); NAMES_MAX], ..Opening::default() };
    let mut too_many = bytes(&Said::Open { wire: WIRE_VERSION, opening: opening.clone() });
    // One host more, as the count of the list has it.
    let count = too_many.iter().position(|byte| *byte == 0x80).expect("128 takes two bytes");
    too_many[count] = 0x81;
    opening.hosts.clear();
    let other_version = bytes(&Said::Open { wire: WIRE_VERSION + 1, opening });
    let cases = [
        ("no message", vec![0xff; 50]),
        ("an empty message", Vec::new()),
        ("bytes before the opening", bytes(&Said::Bytes(vec![1; 10]))),
        ("too many hosts", too_many),
        ("very many hosts", open(vec![String::new(); 100_000])),
        ("a host that is too long", open(vec!["h".repeat(NAME_BYTES_MAX + 1)])),
        ("another version", other_version),
    ];
    // A refusal waits until the other end has heard it.
    let mut trials = JoinSet::new();
    for (case, message) in cases {
        trials.spawn(async move {
            let mut world = World::start().await;
            world.is_told(&[message]).await;
            assert!(world.incoming.recv().await.is_none(), "{case}: it is served");
            world.has_ended().await;
        });
    }
    trials.join_all().await;
}

#[tokio::test]
async fn packets_of_a_link_that_began_elsewhere_open_nothing() {
    // The rest of a stream whose beginning another leader has heard.
    let mut link = Link::new();
    link.send(&vec![7; 300_000]).expect("room");
    link.poll_packet(Moment::START).expect("its beginning");
    let rest = link.poll_packet(Moment::START).expect("its rest");
    for packet in [rest, b"no packet".to_vec(), vec![0; 200_000]] {
        let mut world = World::start().await;
        world.hears(packet).await;
        assert!(world.incoming.recv().await.is_none(), "it is served");
        world.has_ended().await;
    }
}

#[tokio::test]
async fn what_breaks_the_rules_after_the_opening_ends_the_connection() {
    let again = [
        open(Vec::new()),
        bytes(&Said::Taken(message::Taking::default())),
        bytes(&Said::Refused("x".to_owned())),
        vec![0xff; 9],
    ];
    let after_the_end = [bytes(&Said::End), bytes(&Said::Bytes(vec![1]))];
    let twice = [bytes(&Said::End), bytes(&Said::End)];
    for broken in again.iter().map(std::slice::from_ref).chain([&after_the_end[..], &twice[..]]) {
        let mut world = World::start().await;
        world.is_told(&[&[open(Vec::new()), bytes(&Said::StillHere)], broken].concat()).await;
        let mut passed = world.incoming.recv().await.expect("a connection");
        let mut read = Vec::new();
        passed.stream.read_to_end(&mut read).await.expect("it ends");
        assert!(read.is_empty() && passed.stream.write_all(b"x").await.is_err());
        world.has_ended().await;
    }
}

#[tokio::test]
async fn a_member_that_is_silent_after_it_opened_holds_nothing_for_long() {
    let mut world = World::start().await;
    world.is_told(&[open(Vec::new()), bytes(&Said::StillHere)]).await;
    let mut passed = world.incoming.recv().await.expect("a connection");
    let mut read = Vec::new();
    tokio::time::timeout(PATIENCE, passed.stream.read_to_end(&mut read))
        .await
        .expect("in time")
        .expect("it ends");
    world.has_ended().await;
}

#[tokio::test]
async fn what_was_recorded_of_another_connection_is_not_served() {
    let recorded = [open(Vec::new()), bytes(&Said::Bytes(b"hello".to_vec()))];
    let taking = message::Taking::new().expect("random numbers");
    // The opening alone, and with what was said after it on that connection.
    for (count, taking) in [(1, message::Taking::default()), (1, taking), (2, taking)] {
        let mut world = World::taking_as(taking).await;
        world.is_told(&recorded[..count]).await;
        assert!(world.incoming.recv().await.is_none(), "{count} messages: it is served");
        world.has_ended().await;
    }
}

#[tokio::test]
async fn packets_that_open_to_nothing_are_no_sign_of_life() {
    let mut world = World::start().await;
    let mut link = Link::new();
    for (number, message) in (0..).zip([open(Vec::new()), bytes(&Said::StillHere)]) {
        link.send(&sealed(world.link, number, &message)).expect("room");
    }
    let mut packets = Vec::new();
    while let Some(packet) = link.poll_packet(Moment::START) {
        world.hears(packet.clone()).await;
        packets.push(packet);
    }
    let _passed = world.incoming.recv().await.expect("a connection");
    let recorded = async {
        while !world.serving.is_finished() {
            for packet in &packets {
                world.hears(packet.clone()).await;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(PATIENCE, recorded).await.expect("it ends");
    world.has_ended().await;
}

#[tokio::test]
async fn one_connection_too_many_is_not_served_and_there_is_room_again_later() {
    let (taken, mut incoming) = mpsc::channel(2 * CONNECTIONS_MAX);
    let sealing = (bus_without_a_server().await, Arc::new(seal()));
    let mut taking = Taking::new(sealing, "leader".parse().expect("a name"), taken);
    taking.made_up = || Ok(message::Taking::default());
    let opening = |id: LinkId| {
        let mut link = Link::new();
        for (number, message) in (0..).zip([open(Vec::new()), bytes(&Said::StillHere)]) {
            link.send(&sealed(id, number, &message)).expect("room");
        }
        (id, Bytes::from(link.poll_packet(Moment::START).expect("a packet")))
    };
    let member = || "member".parse().expect("a name");
    let new = || LinkId::new().expect("random numbers");
    let first = new();
    for id in std::iter::once(first).chain((1..CONNECTIONS_MAX).map(|_| new())) {
        let (id, packet) = opening(id);
        taking.packet_came(member(), id, packet).await;
    }
    let mut served = Vec::new();
    while served.len() < CONNECTIONS_MAX {
        served.push(
            tokio::time::timeout(PATIENCE, incoming.recv()).await.expect("in time").expect("it is taken"),
        );
    }
    let another = "another".parse().expect("a name");
    // Nobody else ends a link, and what opens nothing takes no room.
    taking.packet_came(another, first, Bytes::new()).await;
    taking.packet_came(member(), new(), Bytes::new()).await;
    for _ in 0..2 * REFUSALS_MAX {
        let (id, packet) = opening(new());
        taking.packet_came(member(), id, packet).await;
    }
    assert_eq!(taking.count(), CONNECTIONS_MAX + REFUSALS_MAX);
    let more = tokio::time::timeout(Duration::from_millis(200), incoming.recv()).await;
    assert!(more.is_err(), "one too many is served");

    // Once those who were refused have heard it, and one has let go, another one fits.
    taking.packet_came(member(), first, Bytes::new()).await;
    while taking.count() >= CONNECTIONS_MAX {
        tokio::time::timeout(PATIENCE, taking.forget_one()).await.expect("in time");
    }
    let (id, packet) = opening(new());
    taking.packet_came(member(), id, packet).await;
    served
        .push(tokio::time::timeout(PATIENCE, incoming.recv()).await.expect("in time").expect("it is taken"));
}
