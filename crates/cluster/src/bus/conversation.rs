//! One end of a link: messages of ours in, packets of the bus out, and the other way round.

use std::future::pending;
use std::time::Instant;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{mpsc, watch};

use super::Bus;
use crate::link::{Link, LinkError, Moment, SendError};

/// Packets that wait for a link's owner. More than a window has: what is beyond is sent again.
pub(crate) const PACKETS_MAX: usize = 64;

/// The other end broke the rules. The link is of no use any more.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Broken {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error("a message can't be read")]
    Message,
    #[error(transparent)]
    Send(#[from] SendError),
    /// What it sends is more than it may.
    #[error("it sends more than it may")]
    TooMuch,
    /// The other end knows nothing of this link.
    #[error("the other side has ended")]
    Unknown,
}

pub(crate) struct Conversation {
    bus: Bus,
    /// Where our packets go.
    subject: String,
    link: Link,
    began: Instant,
    packets: mpsc::Receiver<Bytes>,
    reconnects: watch::Receiver<u64>,
    /// A packet that is on its way out.
    leaving: Option<Vec<u8>>,
}

impl Conversation {
    pub fn new(bus: &Bus, subject: String, packets: mpsc::Receiver<Bytes>) -> Self {
        let (bus, reconnects) = (bus.clone(), bus.reconnects());
        Self { bus, subject, link: Link::new(), began: Instant::now(), packets, reconnects, leaving: None }
    }

    /// The same, whose other end says nothing longer than this.
    pub fn for_messages_of(self, bytes_max: usize) -> Self {
        Self { link: self.link.for_messages_of(bytes_max), ..self }
    }

    /// Says something; it leaves with the next [`Conversation::turn`].
    pub fn say<T: Serialize>(&mut self, message: &T) -> Result<(), Broken> {
        let bytes = postcard::to_stdvec(message).map_err(|_| Broken::Message)?;
        Ok(self.link.send(&bytes)?)
    }

    /// Whether nothing more should be said for now.
    pub fn is_full(&self) -> bool {
        self.link.is_full()
    }

    /// Whether the other end has everything.
    pub fn is_delivered(&self) -> bool {
        self.leaving.is_none() && self.link.unsent_bytes() == 0 && self.link.unacknowledged_bytes() == 0
    }

    /// What the other end said next, if anything is here.
    pub fn take<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Broken> {
        match self.link.next_message() {
            None => Ok(None),
            Some(bytes) => postcard::from_bytes(&bytes).map(Some).map_err(|_| Broken::Message),
        }
    }

    /// Sends what can be sent, then waits until something has come in or has to be sent again. Safe to drop and call
    /// again.
    pub async fn turn(&mut self) -> Result<(), Broken> {
        self.send_all().await;
        let due = self.link.next_due();
        let (began, packets, reconnects) = (self.began, &mut self.packets, &mut self.reconnects);
        let due = async move {
            match due {
                Some(due) => tokio::time::sleep_until((began + due.since_start()).into()).await,
                None => pending().await,
            }
        };
        tokio::select! {
            packet = packets.recv() => match packet {
                Some(packet) => self.received(&packet)?,
                None => return Err(Broken::Unknown),
            },
            Ok(()) = reconnects.changed() => self.link.peer_is_back(),
            () = due => {}
        }
        while let Ok(packet) = self.packets.try_recv() {
            self.received(&packet)?;
        }
        self.send_all().await;
        Ok(())
    }

    /// Sends what can be sent now.
    pub async fn send_all(&mut self) {
        loop {
            if self.leaving.is_none() {
                self.leaving = self.link.poll_packet(self.now());
            }
            let Some(packet) = &self.leaving else { return };
            self.bus.publish(self.subject.clone(), packet.clone()).await;
            self.leaving = None;
        }
    }

    /// Tells the other end, if it's there, that nobody is at this one any more.
    pub async fn disown(&self) {
        self.bus.publish(self.subject.clone(), Vec::new()).await;
    }

    fn received(&mut self, packet: &Bytes) -> Result<(), Broken> {
        // How a machine says that it knows nothing of a link.
        if packet.is_empty() {
            return Err(Broken::Unknown);
        }
        let now = self.now();
        Ok(self.link.received(packet, now)?)
    }

    fn now(&self) -> Moment {
        Moment::after_start(self.began.elapsed())
    }
}
