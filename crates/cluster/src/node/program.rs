//! One program of a gateway on this node, from its offer to the end of its link.

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gristmill_gateway::domain::{Level, LimitName};
use gristmill_gateway::hosting::{HostRefusal, HostRoom, Hosted, RawLine};
use gristmill_gateway::ports::RemoteEnd;
use gristmill_gateway::{EngineId, Gateway, ProgramLimits};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::folders::{Arriving, WantedTree, changed, fill_results, fill_workspace};
use crate::bus::{Broken, Conversation, LOG_AREA};
use crate::folders::{Bounds, CachedTree, FolderError, Snapshot, Spooled, TreeCache};
use crate::parts::is_empty;
use crate::wire::{
    Ended, FromNode, Offer, PART_BYTES_MAX, PartOf, Refused, SAID_BYTES_MAX, ToNode, WHY_CHARS_MAX,
};

/// How long an offer and its folders may take to arrive. A gateway that is gone is noticed before.
const OFFERED_WITHIN: Duration = Duration::from_secs(60);

/// How long a last word may take to arrive.
const DELIVERED_WITHIN: Duration = Duration::from_secs(5);

/// How often a link on which nothing happens is said to be needed: a gateway that has let go of it says so.
const STILL_HERE_EVERY: Duration = Duration::from_secs(5);

/// Trees of tools, skills and packages.
const TREE_BOUNDS: Bounds = Bounds { bytes: 1 << 30, entries: 500_000, file_bytes: 256 << 20, depth: 64 };

/// Read-only folders of one program.
const TREES_MAX: usize = 8;

/// What all programs of a node share.
pub(super) struct Given {
    pub gateway: Gateway,
    pub trees: TreeCache,
    pub scratch: PathBuf,
    /// Somebody came or went.
    pub changed: Notify,
}

/// Takes what a gateway offers, or refuses it, and is done when its gateway is.
pub(super) async fn host(mut talk: Conversation, given: Arc<Given>, takes: bool, lost: CancellationToken) {
    let hosting = async {
        let opened = tokio::time::timeout(OFFERED_WITHIN, open(&mut talk, &given, takes)).await;
        match opened {
            Ok(Ok(Ok(running))) => running.go_on(&mut talk, &given).await,
            Ok(Ok(Err(refused))) => refuse(&mut talk, refused).await,
            Ok(Err(error)) => Err(error),
            Err(_) => refuse(&mut talk, Refused::Never("the program didn't arrive in time".to_owned())).await,
        }
    };
    let outcome = tokio::select! {
        biased;
        () = lost.cancelled() => None,
        outcome = hosting => Some(outcome),
    };
    match outcome {
        Some(Ok(()) | Err(Broken::Unknown)) => {}
        Some(Err(error)) => {
            tracing::warn!(target: LOG_AREA, %error, "a gateway broke the protocol");
            talk.disown().await;
        }
        None => talk.disown().await,
    }
}

async fn refuse(talk: &mut Conversation, refused: Refused) -> Result<(), Broken> {
    talk.say(&FromNode::Refused(refused))?;
    let delivered = async {
        while !talk.is_delivered() {
            talk.turn().await?;
            // More of what was refused.
            while talk.take::<ToNode>()?.is_some() {}
        }
        Ok(())
    };
    tokio::time::timeout(DELIVERED_WITHIN, delivered).await.unwrap_or(Ok(()))
}

/// A program that a worker waits for, or runs.
struct Running {
    hosted: Hosted,
    line: RawLine,
    limits: ProgramLimits,
    /// What the worker is told first.
    program: Vec<u8>,
    workspace_comes_back: bool,
    before: Option<Snapshot>,
    /// As long as the program may read them.
    _trees: Vec<CachedTree>,
}

async fn open(
    talk: &mut Conversation,
    given: &Arc<Given>,
    takes: bool,
) -> Result<Result<Running, Refused>, Broken> {
    let ToNode::Offer(offer) = next(talk).await? else { return Err(Broken::Message) };
    if !takes {
        return Ok(Err(Refused::Full));
    }
    let Offer {
        engine,
        level,
        confinement,
        program,
        workspace_comes_back,
        has_workspace,
        has_results,
        trees,
    } = *offer;
    let (Ok(engine), Ok(level)) = (engine.parse::<EngineId>(), level.parse::<Level>()) else {
        return Ok(Err(Refused::Never(format!("this node knows no {engine} at level {level}"))));
    };
    let room = match given.gateway.host_room() {
        Ok(room) => room,
        Err(refusal) => return Ok(Err(refused(&refusal))),
    };
    if trees.len() > TREES_MAX {
        return Err(Broken::Message);
    }
    let mut arriving = Arriving::new(&given.scratch);
    for (of, is_sent) in [(PartOf::Workspace, has_workspace), (PartOf::Results, has_results)] {
        if is_sent {
            arriving.expect(of);
        }
    }
    let mut folders: Vec<(String, OwnedFd)> = Vec::new();
    let (mut wanted, mut held) = (Vec::new(), Vec::new());
    for (mount, hash) in trees {
        match given.trees.open(&hash) {
            Some(tree) => {
                let Ok(folder) = tree.as_fd().try_clone_to_owned() else { return Ok(Err(Refused::Full)) };
                folders.push((mount, folder));
                held.push(tree);
            }
            None => wanted.push(WantedTree { mount, hash }),
        }
    }
    if !wanted.is_empty() {
        for tree in &wanted {
            arriving.expect(PartOf::Tree(tree.hash));
        }
        talk.say(&FromNode::Wants(wanted.iter().map(|tree| tree.hash).collect()))?;
    }
    let mut workspace = None;
    while !arriving.is_complete() {
        let ToNode::Part(part) = next(talk).await? else { return Err(Broken::Message) };
        let taking = tokio::task::spawn_blocking(move || {
            let taken = arriving.take(part);
            (taken, arriving)
        });
        let (taken, rest) = taking.await.map_err(|_| Broken::Message)?;
        arriving = rest;
        let outcome = match taken {
            Ok(None) => Ok(()),
            Ok(Some((PartOf::Workspace, archive))) => {
                workspace = Some(archive);
                Ok(())
            }
            Ok(Some((PartOf::Results, archive))) => results(&room, archive).await.map(|folder| {
                folders.push(("results".to_owned(), folder));
            }),
            Ok(Some((PartOf::Tree(hash), archive))) => {
                let given = Arc::clone(given);
                let put = tokio::task::spawn_blocking(move || given.trees.put(&hash, archive, TREE_BOUNDS));
                match put.await {
                    Ok(put) => put.and_then(|tree| {
                        for wanted in wanted.iter().filter(|wanted| wanted.hash == hash) {
                            let folder = tree.as_fd().try_clone_to_owned().map_err(FolderError::Write)?;
                            folders.push((wanted.mount.clone(), folder));
                        }
                        held.push(tree);
                        Ok(())
                    }),
                    Err(_) => Err(FolderError::Damaged("it can't be unpacked")),
                }
            }
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            return Ok(Err(Refused::Never(shown(&error.to_string()))));
        }
    }
    let limits = confinement.limits;
    let filled = match room.workspace().try_clone_to_owned() {
        Ok(_) if workspace.is_none() => Ok(Ok(Snapshot::empty())),
        Ok(folder) => tokio::task::spawn_blocking(move || fill_workspace(&folder, workspace, &limits)).await,
        Err(error) => return Ok(Err(Refused::Never(shown(&error.to_string())))),
    };
    let before = match filled {
        Ok(Ok(before)) => before,
        Ok(Err(error)) => return Ok(Err(Refused::Never(shown(&error.to_string())))),
        Err(_) => return Ok(Err(Refused::Never("the workspace couldn't be unpacked".to_owned()))),
    };
    let hosted = match room.begin(engine, level, confinement, folders).await {
        Ok(hosted) => hosted,
        Err(refusal) => return Ok(Err(refused(&refusal))),
    };
    let Some(line) = hosted.line() else { return Ok(Err(Refused::Full)) };
    talk.say(&FromNode::Ready)?;
    Ok(Ok(Running {
        hosted,
        line,
        limits,
        program,
        workspace_comes_back,
        before: Some(before),
        _trees: held,
    }))
}

async fn results(room: &HostRoom, archive: Spooled) -> Result<OwnedFd, FolderError> {
    let folder = room.make_results().map_err(FolderError::Write)?;
    let filling = tokio::task::spawn_blocking(move || fill_results(&folder, archive).map(|()| folder));
    filling.await.unwrap_or(Err(FolderError::Damaged("it can't be unpacked")))
}

fn refused(refusal: &HostRefusal) -> Refused {
    match refusal {
        HostRefusal::Full => Refused::Full,
        HostRefusal::NotHere(why) | HostRefusal::Failed(why) => Refused::Never(shown(why)),
    }
}

fn shown(why: &str) -> String {
    gristmill_gateway::domain::one_line(why, WHY_CHARS_MAX)
}

async fn next(talk: &mut Conversation) -> Result<ToNode, Broken> {
    loop {
        match talk.take()? {
            Some(message) => return Ok(message),
            None => talk.turn().await?,
        }
    }
}

impl Running {
    /// Passes on what both sides say, until the gateway has everything.
    async fn go_on(mut self, talk: &mut Conversation, given: &Given) -> Result<(), Broken> {
        // What the gateway says goes in beside what comes out: a worker that doesn't read holds up nothing else.
        let (into_worker, mut to_write) = mpsc::channel::<Vec<u8>>(1);
        let line = self.line.clone();
        let program = std::mem::take(&mut self.program);
        if !program.is_empty() {
            let _ = into_worker.try_send(program);
        }
        let writing = tokio::spawn(async move {
            while let Some(bytes) = to_write.recv().await {
                if line.write(&bytes).await.is_err() {
                    return;
                }
            }
        });
        let outcome = self.pass_on(talk, given, &into_worker).await;
        writing.abort();
        outcome
    }

    async fn pass_on(
        &mut self,
        talk: &mut Conversation,
        given: &Given,
        into_worker: &mpsc::Sender<Vec<u8>>,
    ) -> Result<(), Broken> {
        let mut said = Vec::new();
        let (mut has_ended, mut limit) = (false, None);
        let begins = tokio::time::Instant::now() + STILL_HERE_EVERY;
        let mut still_here = tokio::time::interval_at(begins, STILL_HERE_EVERY);
        still_here.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            while has_room(into_worker) {
                match talk.take()? {
                    None => break,
                    Some(ToNode::Say(bytes)) => drop(into_worker.try_send(bytes)),
                    Some(ToNode::Kill) => self.hosted.kill(),
                    // After the end they are sent already.
                    Some(ToNode::SendFiles) if has_ended => {}
                    Some(ToNode::SendFiles) => self.send_files(talk, given).await?,
                    // It waits until we have let go of it.
                    Some(ToNode::Close) => {
                        talk.disown().await;
                        return Ok(());
                    }
                    Some(ToNode::Offer(_) | ToNode::Part(_)) => return Err(Broken::Message),
                }
            }
            let may_say = !talk.is_full() && !has_ended;
            tokio::select! {
                turned = talk.turn() => turned?,
                read = self.line.read(&mut said), if may_say => match read {
                    Ok(count) if count > 0 => {
                        for part in said.chunks(SAID_BYTES_MAX) {
                            talk.say(&FromNode::Says(part.to_vec()))?;
                        }
                        said.clear();
                        if self.workspace_comes_back && self.has_left_nothing() {
                            talk.say(&FromNode::NothingLeft)?;
                        }
                    }
                    Ok(_) | Err(_) => {
                        has_ended = true;
                        if self.workspace_comes_back {
                            self.send_files(talk, given).await?;
                        }
                        let ended = ended(self.hosted.end().await, limit);
                        talk.say(&FromNode::Ended(ended))?;
                    }
                },
                filled = self.hosted.overfilled(), if limit.is_none() && !has_ended => {
                    limit = Some(filled);
                    self.hosted.kill();
                }
                // Room for what the gateway says next.
                _ = into_worker.reserve(), if !has_room(into_worker) => {}
                _ = still_here.tick() => talk.say(&FromNode::StillHere)?,
            }
        }
    }

    /// Whether there was nothing in the workspace, and is nothing.
    fn has_left_nothing(&self) -> bool {
        self.before.as_ref().is_some_and(Snapshot::is_empty)
            && self.hosted.workspace().is_ok_and(|workspace| is_empty(&workspace))
    }

    async fn send_files(&mut self, talk: &mut Conversation, given: &Given) -> Result<(), Broken> {
        if self.has_left_nothing() {
            return talk.say(&FromNode::Files { bytes: Vec::new(), is_last: true });
        }
        let (before, limits, scratch) = (self.before.take(), self.limits, given.scratch.clone());
        let workspace = match (self.hosted.workspace(), before) {
            (Ok(workspace), Some(before)) => (workspace, before),
            (Err(_), _) | (_, None) => {
                talk.say(&FromNode::NoFiles("its files can't be compared any more".to_owned()))?;
                return Ok(());
            }
        };
        let comparing = tokio::task::spawn_blocking(move || {
            let (workspace, before) = workspace;
            changed(&workspace, &before, &limits, &scratch)
        });
        let mut archive = match comparing.await {
            Ok(Ok((None, now))) => {
                self.before = Some(now);
                return talk.say(&FromNode::Files { bytes: Vec::new(), is_last: true });
            }
            Ok(Ok((Some(archive), now))) => {
                self.before = Some(now);
                archive
            }
            Ok(Err(error)) => return talk.say(&FromNode::NoFiles(shown(&error.to_string()))),
            Err(_) => return talk.say(&FromNode::NoFiles("its files can't be read".to_owned())),
        };
        loop {
            let reading = tokio::task::spawn_blocking(move || {
                let part = next_part(&mut archive);
                (part, archive)
            });
            let Ok((part, rest)) = reading.await else {
                return talk.say(&FromNode::NoFiles("its files can't be read".to_owned()));
            };
            archive = rest;
            let Ok(bytes) = part else {
                return talk.say(&FromNode::NoFiles("its files can't be read".to_owned()));
            };
            let is_last = bytes.len() < PART_BYTES_MAX;
            talk.say(&FromNode::Files { bytes, is_last })?;
            while talk.is_full() {
                talk.turn().await?;
            }
            if is_last {
                return Ok(());
            }
        }
    }
}

/// Whether the worker has taken what was written last; one that is gone takes everything.
fn has_room(into_worker: &mpsc::Sender<Vec<u8>>) -> bool {
    into_worker.capacity() > 0 || into_worker.is_closed()
}

fn next_part(from: &mut Spooled) -> std::io::Result<Vec<u8>> {
    crate::parts::next_part(from, PART_BYTES_MAX)
}

fn ended(end: RemoteEnd, limit: Option<LimitName>) -> Option<Ended> {
    match end {
        RemoteEnd::Told { exit, used, .. } => {
            Some(Ended { exit, used, limit: limit.map(|limit| limit.as_str().to_owned()) })
        }
        RemoteEnd::NodeLost | RemoteEnd::Unknown => None,
    }
}
