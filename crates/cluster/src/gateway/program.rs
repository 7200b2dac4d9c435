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
use super::folders::{
    Luggage, bring_in, changes_bytes_max, light_luggage, pack_luggage, pack_tree, spool_in,
};
use super::outward::Outward;
use super::{Inner, OpenLink};
use crate::bus::{Broken, Conversation, LOG_AREA};
use crate::folders::{FolderError, Spooled, TreeHash};
use crate::names::NodeName;
use crate::parts::next_part;
use crate::wire::{Ended, FromNode, Offer, PART_BYTES_MAX, Part, PartOf, Refused, SAID_BYTES_MAX, ToNode};

/// How long a node may take to take a program or refuse it, folders included. A node that is gone is noticed before.
const ANSWERED_WITHIN: Duration = Duration::from_secs(60);

/// Of a program and its variables, what an offer has room for: half of what a link carries at once.
const PROGRAM_BYTES_MAX: usize = 8 << 20;

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
    let luggage = match luggage_of(inner, home).await {
        Ok(luggage) => luggage,
        Err(why) => return Offered::Failed(why),
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
        Ok(Ok(Some(refused))) => refused.into(),
        Ok(Err(OfferFailure::Broken(Broken::Unknown))) => offering.refused_before(),
        Ok(Err(OfferFailure::Folder(error))) => {
            Offered::Failed(format!("can't pack the program's folders: {error}"))
        }
        Ok(Err(OfferFailure::Broken(error))) => Offered::Never(format!("it broke the protocol: {error}")),
        Err(_) => Offered::Never("it neither took nor refused a program".to_owned()),
    }
}

/// Mostly there is nothing to pack, and that is seen at once.
async fn luggage_of(inner: &Arc<Inner>, home: &Arc<RemoteHome>) -> Result<Luggage, String> {
    if let Some(luggage) = light_luggage(home, &inner.trees) {
        return Ok(luggage);
    }
    let (home, inner) = (Arc::clone(home), Arc::clone(inner));
    let packing =
        tokio::task::spawn_blocking(move || pack_luggage(&home, &inner.trees, &inner.settings.scratch));
    match packing.await {
        Ok(packed) => packed.map_err(|error| format!("can't pack the program's folders: {error}")),
        Err(_) => Err("packing the program's folders failed".to_owned()),
    }
}

impl From<Refused> for Offered {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Full => Self::Full,
            Refused::Never(why) => Self::Never(gristmill_gateway::domain::one_line(&why, 300)),
        }
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
            program: goes_along(&self.home).to_vec(),
            workspace_comes_back: self.home.workspace_comes_back,
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
                    FromNode::Says(_)
                    | FromNode::NothingLeft
                    | FromNode::Ended(_)
                    | FromNode::Files { .. }
                    | FromNode::NoFiles(_),
                ) => return Err(Broken::Message.into()),
            }
        }
    }

    /// What the node said of the program before it went away from the link, while we were still sending; if it said
    /// nothing, it's asked again once it has said what it has room for.
    fn refused_before(mut self) -> Offered {
        while let Ok(Some(said)) = self.talk.take() {
            if let FromNode::Refused(refused) = said {
                return refused.into();
            }
        }
        Offered::Full
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
            outward: Outward::new(ours, goes_along(&self.home).len()),
            home: self.home,
            scratch: self.scratch,
            kill,
            files_asked,
            asked: None,
            bringing: None,
            arrived: None,
            has_left_nothing: false,
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
    /// Somebody waits for files.
    asked: Option<FilesAsked>,
    bringing: Option<Bringing>,
    arrived: Option<Arrived>,
    /// Its workspace was empty after what the worker said last. If the program is done, there is nothing to ask for.
    has_left_nothing: bool,
    end: watch::Sender<Option<RemoteEnd>>,
}

/// Files on their way back.
struct Bringing {
    into: Box<dyn Collect>,
    bytes: u64,
}

/// Files that are here, and wait until somebody asks for them.
enum Arrived {
    /// Nothing has changed.
    Nothing,
    Changes(Spooled),
    /// The node can't send them, and why.
    Not(String),
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
            // Whoever waits for its files hears of it, although its end was told.
            Err(None | Some(Broken::Unknown)) => drop(self.end.send_replace(Some(RemoteEnd::NodeLost))),
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
            // Whoever had its worker killed has mostly let go of it by now.
            if self.files_asked.is_closed() && self.files_asked.is_empty() {
                return Ok(());
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
                asked = self.files_asked.recv(), if self.asked.is_none() => match asked {
                    None => return Ok(()),
                    Some(asked) => {
                        // One that is killed may do something without a further word.
                        if self.has_left_nothing && !self.kill.is_cancelled() {
                            let _ = asked.send(Ok(()));
                            continue;
                        }
                        self.asked = Some(asked);
                        match (&self.arrived, &self.bringing) {
                            (None, None) => self.talk.say(&ToNode::SendFiles)?,
                            (Some(_), _) | (_, Some(_)) => self.hand_over().await,
                        }
                    }
                },
            }
        }
    }

    async fn heard(&mut self, message: FromNode) -> Result<(), Broken> {
        match message {
            FromNode::Says(bytes) => {
                self.has_left_nothing = false;
                self.outward.push(bytes);
            }
            FromNode::NothingLeft => self.has_left_nothing = true,
            FromNode::Ended(ended) => {
                self.tell(ended.map_or(RemoteEnd::Unknown, told));
                self.outward.close_when_empty();
            }
            FromNode::Files { bytes, is_last } => self.brought(bytes, is_last).await?,
            FromNode::NoFiles(why) => {
                self.bringing = None;
                self.arrived = Some(Arrived::Not(gristmill_gateway::domain::one_line(&why, 300)));
                self.hand_over().await;
            }
            FromNode::StillHere => {}
            FromNode::Ready | FromNode::Refused(_) | FromNode::Wants(_) => return Err(Broken::Message),
        }
        Ok(())
    }

    async fn brought(&mut self, bytes: Vec<u8>, is_last: bool) -> Result<(), Broken> {
        // What comes is newer.
        self.has_left_nothing = false;
        let Bringing { mut into, bytes: before } = self
            .bringing
            .take()
            .unwrap_or_else(|| Bringing { into: Box::new(spool_in(&self.scratch)), bytes: 0 });
        let so_far = before.saturating_add(bytes.len() as u64);
        if so_far > changes_bytes_max(&self.home) {
            return Err(Broken::TooMuch);
        }
        if !bytes.is_empty() {
            let writing = tokio::task::spawn_blocking(move || into.write_all(&bytes).map(|()| into));
            into = writing.await.map_err(|_| Broken::Message)?.map_err(|_| Broken::Message)?;
        }
        if !is_last {
            self.bringing = Some(Bringing { into, bytes: so_far });
            return Ok(());
        }
        self.arrived = Some(match so_far {
            0 => Arrived::Nothing,
            _ => into.finish().map_or_else(|error| Arrived::Not(error.to_string()), Arrived::Changes),
        });
        self.hand_over().await;
        Ok(())
    }

    /// Gives what has arrived to whoever has asked for it. Until then nothing is put into the workspace: it may be
    /// another program's by now.
    async fn hand_over(&mut self) {
        if self.asked.is_none() || self.arrived.is_none() {
            return;
        }
        let (Some(asked), Some(arrived)) = (self.asked.take(), self.arrived.take()) else { return };
        let outcome = match arrived {
            Arrived::Nothing => Ok(()),
            Arrived::Not(why) => Err(why),
            Arrived::Changes(changes) => {
                let (home, link) = (Arc::clone(&self.home), self.link.id);
                let applying = tokio::task::spawn_blocking(move || bring_in(&home, changes, link));
                match applying.await {
                    Ok(applied) => applied.map_err(|error| error.to_string()),
                    Err(_) => Err("they couldn't be put into the workspace".to_owned()),
                }
            }
        };
        let _ = asked.send(outcome);
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
                while let Ok(Some(_)) = self.talk.take::<FromNode>() {}
            }
        };
        tokio::select! {
            () = lost.cancelled() => {}
            _ = tokio::time::timeout(CLOSED_WITHIN, delivered) => {}
        }
    }
}

/// The program's message, if it has room in the offer. A larger one follows when the worker waits for it.
fn goes_along(home: &RemoteHome) -> &[u8] {
    if home.program.len() <= PROGRAM_BYTES_MAX { &home.program } else { &[] }
}

fn told(ended: Ended) -> RemoteEnd {
    let Ended { exit, used, limit } = ended;
    let limit = limit.and_then(|name| LimitName::ALL.iter().copied().find(|limit| limit.as_str() == name));
    RemoteEnd::Told { exit, used, limit }
}
