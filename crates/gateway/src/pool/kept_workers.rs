//! Interpreters that stay after their program, each for the next program of its own session.
//!
//! Walls: an interpreter is found under the key of the session that it was kept for and under no
//! other. While it is idle it must be silent: nothing that it says is read, and with the first byte
//! it is ended. Their number and their idle time are bounded.

use std::collections::{HashMap, VecDeque};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::lost::Lost;
use super::scratch::Scratch;
use super::worker::{Line, Silence, Worker};

/// Sessions of which it is remembered why their variables are gone, until they ask.
const LOSSES_MAX: usize = 1024;

/// How many interpreters are kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepSettings {
    /// Idle ones. None means that no variables are kept.
    pub count: usize,
    /// How long one may be idle.
    pub idle: Duration,
    /// The memory of all of them together; one alone may have more.
    pub memory_bytes: u64,
}

impl Default for KeepSettings {
    fn default() -> Self {
        Self { count: 16, idle: Duration::from_secs(30 * 60), memory_bytes: 2 << 30 }
    }
}

/// A process that holds an interpreter, and what stays with it. Ends with this value.
///
/// The pool knows nothing of what its programs are given: `T` is theirs who run them.
pub struct Interpreter<T> {
    // In this order: the folders go after the process that could write into them.
    pub worker: Worker,
    /// What its programs are given.
    pub belongings: Belongings<T>,
    /// The engine's memory, as the process told last.
    pub memory_bytes: u64,
}

/// What an interpreter is given with its first program, and has for its whole life.
pub struct Belongings<T> {
    /// What those who run programs have to hold for it.
    pub given: T,
    /// The folders that it sees, the workspace first. Held open, so that none of their numbers can
    /// come to mean another folder.
    pub folders: Vec<OwnedFd>,
    /// Its `/tmp`, and its workspace if that is thrown away.
    pub scratch: Scratch,
}

/// What is kept now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptInterpreters {
    pub count: usize,
    /// Their memory, shared pages included; `None` where the system does not tell.
    pub resident_bytes: Option<u64>,
}

pub struct KeptWorkers<T: Send + 'static> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    settings: KeepSettings,
    runtime: Handle,
    state: Mutex<State<T>>,
}

struct State<T> {
    kept: HashMap<String, Slot<T>>,
    /// Sessions whose program runs now, and why its interpreter must not be kept, if so.
    in_use: HashMap<String, Option<String>>,
    /// The oldest first.
    losses: VecDeque<(String, Lost)>,
    /// Grows: the smallest was used longest ago.
    next_number: u64,
    closed: bool,
}

struct Slot<T> {
    kept: Interpreter<T>,
    number: u64,
    watch: AbortHandle,
}

/// A session's interpreter, or its place, in the hands of one program. What is not used goes back.
pub struct Lease<T: Send + 'static> {
    shared: Arc<Shared<T>>,
    session: String,
    kept: Option<Interpreter<T>>,
    lost: Option<Lost>,
    room: Room,
}

/// Whether a program may leave its interpreter behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Yes,
    /// None is kept here.
    NoneKept,
    /// Another program of the session runs, and will leave its own.
    Busy,
}

impl<T: Send + 'static> KeptWorkers<T> {
    /// None yet.
    pub fn new(settings: KeepSettings, runtime: Handle) -> Self {
        let state = Mutex::new(State::empty());
        Self { shared: Arc::new(Shared { settings, runtime, state }) }
    }

    /// The session's interpreter, if there is one, for one program.
    pub fn take(&self, session: &str) -> Lease<T> {
        let mut state = self.shared.lock();
        let slot = state.kept.remove(session);
        let mut lost = state.take_loss(session);
        // A second program of one session at the same time has its own interpreter, which ends with it.
        let room = match (self.shared.settings.count > 0 && !state.closed, state.in_use.contains_key(session))
        {
            (false, _) => Room::NoneKept,
            (true, true) => Room::Busy,
            (true, false) => Room::Yes,
        };
        if room == Room::Yes {
            state.in_use.insert(session.to_owned(), None);
        }
        drop(state);
        let mut kept = None;
        if let Some(slot) = slot {
            slot.watch.abort();
            match silent(&slot.kept) {
                Ok(()) => kept = Some(slot.kept),
                Err(why) => lost = Some(self.shared.refuse(slot.kept, why)),
            }
        }
        Lease { shared: Arc::clone(&self.shared), session: session.to_owned(), kept, lost, room }
    }

    /// Ends a session's interpreter, or the one that runs now as soon as its program has ended.
    pub fn forget(&self, session: &str, why: &str) {
        let mut state = self.shared.lock();
        let slot = state.kept.remove(session);
        if let Some(running) = state.in_use.get_mut(session) {
            *running = Some(why.to_owned());
        }
        if slot.is_some() {
            state.remember_loss(session, Lost::Forgotten(why.to_owned()));
        }
        drop(state);
        self.shared.end(slot);
    }

    /// How many there are, and what they take.
    pub fn now(&self) -> KeptInterpreters {
        let state = self.shared.lock();
        let sizes = state.kept.values().map(|slot| slot.kept.worker.resident_bytes());
        KeptInterpreters { count: state.kept.len(), resident_bytes: sizes.sum() }
    }

    /// Ends all of them, and keeps no more.
    pub fn close(&self) {
        let mut state = self.shared.lock();
        state.closed = true;
        let kept = std::mem::take(&mut state.kept);
        drop(state);
        for slot in kept.values() {
            slot.watch.abort();
        }
    }
}

impl<T: Send + 'static> Lease<T> {
    /// The interpreter that waits for this program.
    pub fn kept(&self) -> Option<&Interpreter<T>> {
        self.kept.as_ref()
    }

    /// Takes it: from here on it comes back only through [`Lease::keep`].
    pub fn take(&mut self) -> Option<Interpreter<T>> {
        self.kept.take()
    }

    /// Ends it: it does not fit any more.
    pub fn give_up(&mut self, why: Lost) {
        if let Some(kept) = self.kept.take() {
            self.lost = Some(why);
            self.shared.reap(kept);
        }
    }

    /// There are none here, and why; an interpreter that is here all the same is ended.
    pub fn lack(&mut self, why: Lost) {
        if let Some(kept) = self.kept.take() {
            self.shared.reap(kept);
        }
        self.lost = Some(why);
    }

    /// Why there was none although there had been one. Told once.
    pub fn take_loss(&mut self) -> Option<Lost> {
        self.lost.take()
    }

    /// Whether the program's interpreter is to stay.
    pub fn room(&self) -> Room {
        self.room
    }

    /// Keeps an interpreter for the session's next program; or says why not.
    pub fn keep(mut self, kept: Interpreter<T>) -> Result<(), Lost> {
        self.hand_back(kept)
    }

    fn hand_back(&mut self, kept: Interpreter<T>) -> Result<(), Lost> {
        let leaves = std::mem::replace(&mut self.room, Room::Busy) == Room::Yes;
        self.shared.keep(&self.session, kept, leaves)
    }
}

impl<T: Send + 'static> Drop for Lease<T> {
    fn drop(&mut self) {
        let mut lost = self.lost.take();
        if let Some(kept) = self.kept.take() {
            // Nothing ran.
            lost = self.hand_back(kept).err();
        }
        let mut state = self.shared.lock();
        if self.room == Room::Yes {
            state.in_use.remove(&self.session);
        }
        // What was not told is for the next program to hear.
        if let Some(why) = lost {
            state.remember_loss(&self.session, why);
        }
    }
}

impl<T: Send + 'static> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    /// `leaves`: the session's program is the one that leaves it, and no longer in use from here on.
    fn keep(self: &Arc<Self>, session: &str, mut kept: Interpreter<T>, leaves: bool) -> Result<(), Lost> {
        let silent = silent(&kept);
        kept.worker.forget_buffer();
        let mut state = self.lock();
        // Under the same lock: the next program must find either this or the interpreter.
        let forgotten = if leaves { state.in_use.remove(session).flatten() } else { None };
        let refusal = match (silent, forgotten) {
            (Err(why), _) => Some(why),
            (Ok(()), Some(why)) => Some(Lost::Forgotten(why)),
            (Ok(()), None) if state.closed => Some(Lost::Gone),
            (Ok(()), None) => None,
        };
        if let Some(why) = refusal {
            drop(state);
            return Err(self.refuse(kept, why));
        }
        let number = state.next_number;
        state.next_number += 1;
        let watching =
            watch(Arc::downgrade(self), session.to_owned(), number, kept.worker.line(), self.settings.idle);
        let watch = self.runtime.spawn(watching).abort_handle();
        let replaced = state.kept.insert(session.to_owned(), Slot { kept, number, watch });
        let evicted = state.evict(self.settings);
        drop(state);
        for slot in replaced.into_iter().chain(evicted) {
            self.end(Some(slot));
        }
        Ok(())
    }

    fn refuse(&self, kept: Interpreter<T>, why: Lost) -> Lost {
        self.reap(kept);
        why
    }

    /// An idle interpreter came to its end, unless it has been taken meanwhile.
    fn lose(&self, session: &str, number: u64, why: Lost) {
        let mut state = self.lock();
        if state.kept.get(session).is_none_or(|slot| slot.number != number) {
            return;
        }
        let slot = state.kept.remove(session);
        state.remember_loss(session, why);
        drop(state);
        self.end(slot);
    }

    fn end(&self, slot: Option<Slot<T>>) {
        if let Some(slot) = slot {
            slot.watch.abort();
            self.reap(slot.kept);
        }
    }

    /// Killed at once; its folder is removed where nobody waits for it.
    fn reap(&self, kept: Interpreter<T>) {
        kept.worker.kill();
        self.runtime.spawn_blocking(move || drop(kept));
    }
}

impl<T> State<T> {
    fn empty() -> Self {
        Self {
            kept: HashMap::new(),
            in_use: HashMap::new(),
            losses: VecDeque::new(),
            next_number: 0,
            closed: false,
        }
    }

    /// Makes room; gives those that were used longest ago.
    fn evict(&mut self, settings: KeepSettings) -> Vec<Slot<T>> {
        let mut evicted = Vec::new();
        while self.is_over(settings) {
            let oldest = self.kept.iter().min_by_key(|(_, slot)| slot.number);
            let Some(oldest) = oldest.map(|(session, _)| session.clone()) else { break };
            self.remember_loss(&oldest, Lost::MadeRoom);
            evicted.extend(self.kept.remove(&oldest));
        }
        evicted
    }

    fn is_over(&self, settings: KeepSettings) -> bool {
        let bytes = self.kept.values().fold(0, |sum: u64, slot| sum.saturating_add(slot.kept.memory_bytes));
        self.kept.len() > settings.count || (self.kept.len() > 1 && bytes > settings.memory_bytes)
    }

    fn remember_loss(&mut self, session: &str, why: Lost) {
        self.losses.retain(|(other, _)| other != session);
        if self.losses.len() >= LOSSES_MAX {
            self.losses.pop_front();
        }
        self.losses.push_back((session.to_owned(), why));
    }

    fn take_loss(&mut self, session: &str) -> Option<Lost> {
        let at = self.losses.iter().position(|(other, _)| other == session)?;
        self.losses.remove(at).map(|(_, why)| why)
    }
}

/// Whether an interpreter that has nothing to say says nothing.
fn silent<T>(kept: &Interpreter<T>) -> Result<(), Lost> {
    match kept.worker.silence() {
        Silence::Kept => Ok(()),
        Silence::Broken => Err(Lost::Spoke),
        Silence::Gone => Err(Lost::Gone),
    }
}

/// Stays with an idle interpreter until it is taken, which ends this.
async fn watch<T: Send + 'static>(
    shared: Weak<Shared<T>>,
    session: String,
    number: u64,
    line: Arc<Line>,
    idle: Duration,
) {
    let why = tokio::select! {
        silence = line.broken() => match silence {
            Silence::Broken => Lost::Spoke,
            Silence::Gone | Silence::Kept => Lost::Gone,
        },
        () = tokio::time::sleep(idle) => Lost::Idle(idle),
    };
    if let Some(shared) = shared.upgrade() {
        shared.lose(&session, number, why);
    }
}

#[cfg(test)]
#[path = "kept_workers_tests.rs"]
mod tests;
