//! Bytes between a stream and a link, both ways, until both ends are done.

use std::future::pending;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::limits::{
    DONE_WITHIN, LAST_WORDS_WITHIN, LOOK_EVERY, READ_BYTES, SILENT_AFTER, STILL_HERE_AFTER, STUCK_AFTER,
};
use super::message::Said;
use super::sealed_talk::SealedTalk;
use super::signs::Signs;
use crate::bus::Broken;

/// Whose stream it is.
pub(super) enum Side {
    /// A client's socket. Where it fails the client is gone, and whatever it still could have read with it.
    Client,
    /// Of a server in this process. What it wrote before it dropped its end is still passed on.
    Server { dropped: CancellationToken },
}

/// How a connection came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Finish {
    /// Both ends have everything, and the other one has let go of the link.
    Agreed,
    /// The other end needs nothing more, and all that it said is written.
    ByOtherEnd,
    /// The client is gone.
    ByClient,
}

/// Why a connection ends before that.
#[derive(Debug)]
pub(super) enum Cut {
    Silent,
    Stuck,
    LetGo,
    Refused(String),
    Broken(Broken),
}

impl From<Broken> for Cut {
    fn from(broken: Broken) -> Self {
        match broken {
            Broken::Unknown => Self::LetGo,
            Broken::Link(_) | Broken::Message | Broken::Send(_) | Broken::TooMuch => Self::Broken(broken),
        }
    }
}

/// What is written to the stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inward {
    Open,
    /// The other end has said everything; the stream's side of it is to be closed.
    Ending,
    Ended,
}

pub(super) struct Passage {
    pub talk: SealedTalk,
    signs: Arc<Signs>,
    side: Side,
    /// Of what was said last, so much is not written yet.
    unwritten: Vec<u8>,
    written: usize,
    inward: Inward,
    /// There is nothing more to read of the stream.
    is_read: bool,
    /// Nobody reads what is written to the stream.
    is_dropped: bool,
    /// When there was something to write and the stream took it: from then on the other end can be opened.
    progress: Instant,
    /// When this end has said that it's done.
    closed: Option<Instant>,
}

impl Passage {
    pub fn new(talk: SealedTalk, signs: Arc<Signs>, side: Side) -> Self {
        Self {
            talk,
            signs,
            side,
            unwritten: Vec::new(),
            written: 0,
            inward: Inward::Open,
            is_read: false,
            is_dropped: false,
            progress: Instant::now(),
            closed: None,
        }
    }

    /// The next message, before the connection is open. Who is silent meanwhile isn't there.
    pub async fn next(&mut self) -> Result<Said, Cut> {
        let mut look = looks();
        loop {
            if let Some(said) = self.talk.take()? {
                return Ok(said);
            }
            tokio::select! {
                turned = self.talk.turn() => turned?,
                _ = look.tick() => self.is_heard()?,
            }
        }
    }

    /// Waits until the other end has said something, which is left to be taken.
    pub async fn hear(&mut self) -> Result<(), Cut> {
        let said = self.next().await?;
        self.talk.leave(said);
        Ok(())
    }

    /// Tells the other end that nobody is at this one any more. One that doesn't hear it notices by the silence.
    pub async fn let_go(&self) {
        // A bus that is away takes nothing more at some point.
        let _ = tokio::time::timeout(LAST_WORDS_WITHIN, self.talk.disown()).await;
    }

    /// Passes on what both ends say.
    pub async fn run(&mut self, stream: impl AsyncRead + AsyncWrite) -> Result<Finish, Cut> {
        let (mut reader, mut writer) = tokio::io::split(stream);
        let (mut read, mut look) = (Vec::with_capacity(READ_BYTES), looks());
        loop {
            if let Some(finish) = self.take()? {
                return Ok(finish);
            }
            self.close_if_done()?;
            let reads = !self.is_read && self.closed.is_none() && !self.talk.is_full();
            let (writes, ends) = (!self.unwritten.is_empty(), self.inward == Inward::Ending);
            let finish = tokio::select! {
                turned = self.talk.turn() => self.turned(turned)?,
                outcome = reader.read_buf(&mut read), if reads => self.was_read(outcome, &mut read)?,
                put = put(&mut writer, &self.unwritten[self.written..]), if writes || ends => match put {
                    Put::Bytes(outcome) => self.was_written(outcome),
                    Put::End(outcome) => self.was_ended(outcome),
                },
                () = self.side.dropped(), if !self.is_dropped => {
                    self.drop_inward();
                    None
                }
                _ = look.tick() => {
                    self.look()?;
                    None
                }
            };
            if let Some(finish) = finish {
                return Ok(finish);
            }
        }
    }

    /// Takes what the other end says, as long as the stream keeps up with it.
    fn take(&mut self) -> Result<Option<Finish>, Cut> {
        while self.unwritten.is_empty() {
            match (self.talk.take()?, self.inward) {
                (None, _) => break,
                (Some(Said::Bytes(bytes)), Inward::Open) => {
                    if !self.is_dropped {
                        (self.unwritten, self.written, self.progress) = (bytes, 0, Instant::now());
                    }
                }
                (Some(Said::End), Inward::Open) => self.inward = Inward::Ending,
                (Some(Said::Close), _) => return Ok(Some(Finish::ByOtherEnd)),
                (Some(Said::StillHere), _) => {}
                (Some(Said::Bytes(_) | Said::End), Inward::Ending | Inward::Ended)
                | (Some(Said::Open { .. } | Said::Taken(_) | Said::Refused(_)), _) => {
                    return Err(Broken::Message.into());
                }
            }
        }
        Ok(None)
    }

    fn turned(&self, turned: Result<(), Broken>) -> Result<Option<Finish>, Cut> {
        match turned {
            Ok(()) => Ok(None),
            // How the other end answers that this one is done.
            Err(Broken::Unknown) if self.closed.is_some() => Ok(Some(Finish::Agreed)),
            Err(broken) => Err(broken.into()),
        }
    }

    fn was_read(&mut self, outcome: io::Result<usize>, read: &mut Vec<u8>) -> Result<Option<Finish>, Cut> {
        match outcome {
            Ok(0) => {
                self.is_read = true;
                self.talk.say(&Said::End)?;
            }
            Ok(_) => {
                // The buffer keeps its room, and what is said only what it needs.
                self.talk.say(&Said::Bytes(read.clone()))?;
                read.clear();
            }
            Err(_) => {
                self.is_read = true;
                return Ok(self.failed());
            }
        }
        Ok(None)
    }

    fn was_written(&mut self, outcome: io::Result<usize>) -> Option<Finish> {
        let Ok(count @ 1..) = outcome else { return self.failed() };
        self.progress = Instant::now();
        self.written += count;
        if self.written >= self.unwritten.len() {
            (self.unwritten, self.written) = (Vec::new(), 0);
        }
        None
    }

    fn was_ended(&mut self, outcome: io::Result<()>) -> Option<Finish> {
        self.inward = Inward::Ended;
        outcome.is_err().then(|| self.failed()).flatten()
    }

    /// The stream can't be read or written.
    fn failed(&mut self) -> Option<Finish> {
        match self.side {
            Side::Client => Some(Finish::ByClient),
            Side::Server { .. } => {
                self.drop_inward();
                None
            }
        }
    }

    fn drop_inward(&mut self) {
        self.is_dropped = true;
        (self.unwritten, self.written, self.progress) = (Vec::new(), 0, Instant::now());
    }

    fn close_if_done(&mut self) -> Result<(), Cut> {
        let is_done = self.is_read && (self.is_dropped || self.inward == Inward::Ended);
        if is_done && self.closed.is_none() {
            self.talk.say(&Said::Close)?;
            self.closed = Some(Instant::now());
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), Cut> {
        self.is_heard()?;
        if self.closed.is_some_and(|closed| closed.elapsed() >= DONE_WITHIN) {
            return Err(Cut::Stuck);
        }
        // How long a server takes is its own matter, and bounded there.
        let is_clients = matches!(self.side, Side::Client);
        if is_clients && !self.unwritten.is_empty() && self.progress.elapsed() >= STUCK_AFTER {
            return Err(Cut::Stuck);
        }
        // What isn't acknowledged is sent again anyway.
        if self.talk.own_silence() >= STILL_HERE_AFTER && self.talk.is_delivered() {
            self.talk.say(&Said::StillHere)?;
        }
        Ok(())
    }

    fn is_heard(&self) -> Result<(), Cut> {
        let silence = match self.unwritten.is_empty() {
            true => self.talk.silence().min(self.progress.elapsed()),
            // Nothing is opened until it is written; how long that may take is bounded elsewhere.
            false => self.signs.silence(),
        };
        if silence >= SILENT_AFTER { Err(Cut::Silent) } else { Ok(()) }
    }
}

/// What was done to the stream.
enum Put {
    Bytes(io::Result<usize>),
    End(io::Result<()>),
}

/// Writes some of this, or its end if there is nothing. Safe to drop and call again.
async fn put(writer: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> Put {
    match bytes {
        [] => Put::End(writer.shutdown().await),
        _ => Put::Bytes(writer.write(bytes).await),
    }
}

impl Side {
    async fn dropped(&self) {
        match self {
            Self::Client => pending().await,
            Self::Server { dropped } => dropped.cancelled().await,
        }
    }
}

fn looks() -> Interval {
    let mut looks = tokio::time::interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    looks
}
