//! One program on a node, from the offer to the end of its link.

use std::io::Write;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::EngineId;
use gristmill_gateway::domain::{Level, LimitName};
use gristmill_gateway::ports::{RemoteEnd, RemoteHome, RemoteWorker};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::control::{Control, FilesAsked};
use super::folders::{Luggage, bring_in, changes_bytes_max, pack_luggage, pack_tree, spool_in};
use super::outward::Outward;
use super::{Inner, OpenLink};
use crate::bus::{Broken, Conversation, LOG_AREA};
use crate::folders::{FolderError, Spooled, TreeHash};
use crate::names::NodeName;
use crate::parts::next_part;
use crate::wire::{Ended, FromNode, Offer, PART_BYTES_MAX, Part, PartOf, Refused, SAID_BYTES_MAX, ToNode};

/// How long a node may take to take a program or refuse it, folders included. A node that is gone is noticed before.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

/// How long the last word may take to arrive. A node that doesn't hear it asks.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// What came of an offer.
pub(super) enum Offered {
    Taken(RemoteWorker),
    Full,
    /// This node can't, and why.
    Never(String),
    /// The node is gone.
    Lost,
    /// We can't, and why.
    Failed(String),
}

/// A program that is offered to a node.
struct Offering {
    link: OpenLink,
    talk: Conversation,
    home: Arc<RemoteHome>,
    scratch: PathBuf,
    node: NodeName,
}

/// Offers a program to a node. If it is taken, a task of its own goes on with it.
pub(super) async fn offer(
    inner: &Arc<Inner>,
    (node, incarnation): (NodeName, u64),
    (engine, level): (EngineId, Level),
    home: &Arc<RemoteHome>,
) -> Offered {
    let mut link = match inner.open_link(&node, incarnation) {
        Ok(link) => link,
        Err(error) => return Offered::Failed(format!("the system random source failed: {error}")),
    };
    let subject = inner.bus.subjects().to_node(&node, &inner.settings.name, link.id);
    let Some(packets) = link.received.take() else { return Offered::Lost };
    let talk = Conversation::new(&inner.bus, subject, packets);
    let scratch = inner.settings.scratch.clone();
    let (asked, trees) = (Arc::clone(home), Arc::clone(inner));
    let packing =
        tokio::task::spawn_blocking(move || pack_luggage(&asked, &trees.trees, &trees.settings.scratch));
    let luggage = match packing.await {
        Ok(Ok(luggage)) => luggage,
        Ok(Err(error)) => return Offered::Failed(format!("can't pack the program's folders: {error}")),
        Err(_) => return Offered::Failed("packing the program's folders failed".to_owned()),
    };
    let lost = link.lost.clone();
    let mut offering = Offering { link, talk, home: Arc::clone(home), scratch, node };
    let answer = tokio::select! {
        biased;
        () = lost.cancelled() => return Offered::Lost,
        answer = tokio::time::timeout(ANSWERED_WITHIN, offering.make(engine, level, luggage)) => answer,
    };
    match answer {
        Ok(Ok(None)) => offering.taken(),
        Ok(Ok(Some(Refused::Full))) => Offered::Full,
        Ok(Ok(Some(Refused::Never(why)))) => Offered::Never(gristmill_gateway::domain::one_line(&why, 300)),
        Ok(Err(OfferFailure::Folder(error))) => {
            Offered::Failed(format!("can't pack the program's folders: {error}"))
        }
        Ok(Err(OfferFailure::Broken(error))) => Offered::Never(format!("it broke the protocol: {error}")),
        Err(_) => Offered::Never("it neither took nor refused a program".to_owned()),
    }
}

enum OfferFailure {
    Broken(Broken),
    Folder(FolderError),
}

impl From<Broken> for OfferFailure {
    fn from(error: Broken) -> Self {
        Self::Broken(error)
    }
}

impl Offering {
    /// `None` if the program is taken.
    async fn make(
        &mut self,
        engine: EngineId,
        level: Level,
        luggage: Luggage,
    ) -> Result<Option<Refused>, OfferFailure> {
        let Luggage { workspace, results, trees } = luggage;
        let offer = Offer {
            engine: engine.name().to_owned(),
            level: level.as_str().to_owned(),
            confinement: self.home.confinement.clone(),
            has_workspace: workspace.is_some(),
            has_results: results.is_some(),
            trees: trees.iter().map(|(name, hash, _)| (name.clone(), *hash)).collect(),
        };
        self.talk.say(&ToNode::Offer(Box::new(offer)))?;
        for (of, folder) in [(PartOf::Workspace, workspace), (PartOf::Results, results)] {
            if let Some(folder) = folder {
                self.send(of, folder).await?;
            }
        }
        loop {
            match self.talk.take()? {
                None => self.talk.turn().await?,
                Some(FromNode::Ready) => return Ok(None),
                Some(FromNode::Refused(refused)) => return Ok(Some(refused)),
                Some(FromNode::Wants(hashes)) => self.send_trees(&hashes, &trees).await?,
                Some(FromNode::StillHere) => {}
                Some(
                    FromNode::Says(_) | FromNode::Ended(_) | FromNode::Files { .. } | FromNode::NoFiles(_),
                ) => return Err(Broken::Message.into()),
            }
        }
    }

    /// Those that were announced, each once.
    async fn send_trees(
        &mut self,
        hashes: &[TreeHash],
        trees: &[(String, TreeHash, usize)],
    ) -> Result<(), OfferFailure> {
        for (_, hash, place) in trees.iter().filter(|(_, hash, _)| hashes.contains(hash)) {
            let (home, scratch, place) = (Arc::clone(&self.home), self.scratch.clone(), *place);
            let packing = tokio::task::spawn_blocking(move || pack_tree(&home, place, &scratch));
            let tree = packing.await.map_err(|_| Broken::Message)?.map_err(OfferFailure::Folder)?;
            self.send(PartOf::Tree(*hash), tree).await?;
        }
        Ok(())
    }

    async fn send(&mut self, of: PartOf, folder: Spooled) -> Result<(), OfferFailure> {
        let mut left = folder;
        loop {
            let reading = tokio::task::spawn_blocking(move || {
                let part = next_part(&mut left, PART_BYTES_MAX);
                (part, left)
            });
            let (part, rest) = reading.await.map_err(|_| Broken::Message)?;
            left = rest;
            let bytes = part.map_err(|error| OfferFailure::Folder(FolderError::Read(error)))?;
            let is_last = bytes.len() < PART_BYTES_MAX;
            self.talk.say(&ToNode::Part(Part { of, bytes, is_last }))?;
            while self.talk.is_full() {
                self.talk.turn().await?;
            }
            if is_last {
                return Ok(());
            }
        }
    }

    fn taken(self) -> Offered {
        let failed =
            |error: std::io::Error| Offered::Failed(format!("can't make a pair of sockets: {error}"));
        let sockets = StdUnixStream::pair().and_then(|(line, ours)| {
            ours.set_nonblocking(true)?;
            Ok((line, UnixStream::from_std(ours)?))
        });
        let (line, ours) = match sockets {
            Ok(sockets) => sockets,
            Err(error) => return failed(error),
        };
        let (kill, (files, files_asked), (end, told)) =
            (CancellationToken::new(), mpsc::channel(4), watch::channel(None));
        let control = Control { node: self.node.clone(), kill: kill.clone(), files, end: told };
        let running = Running {
            link: self.link,
            talk: self.talk,
            outward: Outward::new(ours),
            home: self.home,
            scratch: self.scratch,
            kill,
            files_asked,
            bringing: None,
            end,
        };
        tokio::spawn(running.go_on());
        Offered::Taken(RemoteWorker { line, control: Arc::new(control) })
    }
}

/// A program that a node has taken.
struct Running {
    link: OpenLink,
    talk: Conversation,
    outward: Outward,
    home: Arc<RemoteHome>,
    scratch: PathBuf,
    kill: CancellationToken,
    files_asked: mpsc::Receiver<FilesAsked>,
    bringing: Option<Bringing>,
    end: watch::Sender<Option<RemoteEnd>>,
}

/// Files on their way back, and who waits for them.
struct Bringing {
    into: Box<dyn Collect>,
    bytes: u64,
    asked: FilesAsked,
}

/// Puts together what comes in parts.
trait Collect: Write + Send {
    fn finish(self: Box<Self>) -> std::io::Result<Spooled>;
}

impl<F: FnMut() -> std::io::Result<std::fs::File> + Send> Collect for crate::folders::Spool<F> {
    fn finish(self: Box<Self>) -> std::io::Result<Spooled> {
        (*self).finish()
    }
}

impl Running {
    async fn go_on(mut self) {
        let lost = self.link.lost.clone();
        let outcome = tokio::select! {
            biased;
            () = lost.cancelled() => Err(None),
            outcome = self.pass_on() => outcome.map_err(Some),
        };
        match outcome {
            Ok(()) => self.close().await,
            Err(None) => self.tell(RemoteEnd::NodeLost),
            Err(Some(Broken::Unknown)) => self.tell(RemoteEnd::NodeLost),
            Err(Some(error)) => {
                tracing::warn!(target: LOG_AREA, %error, "a node broke the protocol");
                self.tell(RemoteEnd::Unknown);
                let _ = self.talk.say(&ToNode::Close);
                self.talk.send_all().await;
            }
        }
    }

    fn tell(&mut self, end: RemoteEnd) {
        self.end.send_if_modified(|told| {
            let is_first = told.is_none();
            *told = told.or(Some(end));
            is_first
        });
    }

    /// Until nobody needs the worker any more.
    async fn pass_on(&mut self) -> Result<(), Broken> {
        let mut is_killed = false;
        loop {
            while !self.outward.is_waiting() {
                match self.talk.take()? {
                    Some(message) => self.heard(message).await?,
                    None => break,
                }
            }
            let may_say = !self.talk.is_full();
            tokio::select! {
                turned = self.talk.turn() => turned?,
                said = self.outward.next(may_say, SAID_BYTES_MAX) => {
                    if let Some(said) = said {
                        self.talk.say(&ToNode::Say(said))?;
                    }
                }
                () = self.kill.cancelled(), if !is_killed => {
                    is_killed = true;
                    self.talk.say(&ToNode::Kill)?;
                }
                asked = self.files_asked.recv(), if self.bringing.is_none() => match asked {
                    None => return Ok(()),
                    Some(asked) => {
                        let into = Box::new(spool_in(&self.scratch));
                        self.bringing = Some(Bringing { into, bytes: 0, asked });
                        self.talk.say(&ToNode::SendFiles)?;
                    }
                },
            }
        }
    }

    async fn heard(&mut self, message: FromNode) -> Result<(), Broken> {
        match message {
            FromNode::Says(bytes) => self.outward.push(bytes),
            FromNode::Ended(ended) => {
                self.tell(ended.map_or(RemoteEnd::Unknown, told));
                self.outward.close_when_empty();
            }
            FromNode::Files { bytes, is_last } => {
                let Some(bringing) = self.bringing.take() else { return Err(Broken::Message) };
                self.brought(bringing, bytes, is_last).await?;
            }
            FromNode::NoFiles(why) => {
                if let Some(Bringing { asked, .. }) = self.bringing.take() {
                    let _ = asked.send(Err(gristmill_gateway::domain::one_line(&why, 300)));
                }
            }
            FromNode::StillHere => {}
            FromNode::Ready | FromNode::Refused(_) | FromNode::Wants(_) => return Err(Broken::Message),
        }
        Ok(())
    }

    async fn brought(&mut self, bringing: Bringing, bytes: Vec<u8>, is_last: bool) -> Result<(), Broken> {
        let Bringing { mut into, bytes: before, asked } = bringing;
        let so_far = before.saturating_add(bytes.len() as u64);
        if so_far > changes_bytes_max(&self.home) {
            let _ = asked.send(Err("its node sends more than the workspace may hold".to_owned()));
            return Err(Broken::Message);
        }
        let (home, link) = (Arc::clone(&self.home), self.link.id);
        let work = tokio::task::spawn_blocking(move || {
            into.write_all(&bytes).map_err(FolderError::Write)?;
            match is_last {
                false => Ok(Some(into)),
                true => {
                    let changes = into.finish().map_err(FolderError::Read)?;
                    bring_in(&home, changes, link).map(|()| None)
                }
            }
        });
        let outcome: Result<Option<Box<dyn Collect>>, FolderError> =
            work.await.map_err(|_| Broken::Message)?;
        match outcome {
            Ok(Some(into)) => self.bringing = Some(Bringing { into, bytes: so_far, asked }),
            Ok(None) => drop(asked.send(Ok(()))),
            // The rest of it is not waited for: the link ends here.
            Err(error) if !is_last => {
                let _ = asked.send(Err(error.to_string()));
                return Err(Broken::Message);
            }
            Err(error) => drop(asked.send(Err(error.to_string()))),
        }
        Ok(())
    }

    /// Says that it is over, until the node knows.
    async fn close(&mut self) {
        if self.talk.say(&ToNode::Close).is_err() {
            return;
        }
        let lost = self.link.lost.clone();
        let delivered = async {
            while !self.talk.is_delivered() {
                if self.talk.turn().await.is_err() {
                    return;
                }
                // What it says now is for nobody.
                while let Ok(Some(FromNode::Says(_) | FromNode::Ended(_))) = self.talk.take::<FromNode>() {}
            }
        };
        tokio::select! {
            () = lost.cancelled() => {}
            _ = tokio::time::timeout(CLOSED_WITHIN, delivered) => {}
        }
    }
}

fn told(ended: Ended) -> RemoteEnd {
    let Ended { exit, used, limit } = ended;
    let limit = limit.and_then(|name| LimitName::ALL.iter().copied().find(|limit| limit.as_str() == name));
    RemoteEnd::Told { exit, used, limit }
}
