//! The role of supervisor and zygote.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gristmill_protocol::{ChildExit, ChildKind, FromZygote, ProcessUse, ToZygote, recv_frame, send_frame};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::{CHILD_COMMAND, Exits, Fork, Life, Step, ZygoteScript, ZygoteStep};

/// Plays its life until the gateway hangs up or the script ends it. The control socket is standard
/// input.
pub(super) fn run(folder: &Path) -> ! {
    let control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned().expect("a control socket"));
    let Ok(ToZygote::Hello { engine: asked, .. }) = recv_frame(&control, &mut Vec::new()) else {
        std::process::exit(1);
    };
    let Life { mut opening, forks, exits } = ZygoteScript::next_life(folder);
    // Whichever engine is asked for is the one that it has.
    for step in &mut opening {
        if let ZygoteStep::Say(FromZygote::Ready { engine, .. }) = step {
            *engine = asked;
        }
    }
    let (requests, from_children) = UnixStream::pair().expect("a socket for the children");
    let zygote = Arc::new(Zygote {
        folder: folder.to_owned(),
        control,
        requests,
        exits,
        stalls: AtomicBool::new(false),
        state: Mutex::new(State { forks: forks.into(), ..State::default() }),
    });
    opening.iter().for_each(|step| zygote.perform(step));
    let heard = Arc::clone(&zygote);
    std::thread::spawn(move || {
        // The child that asks waits until its end of this socket is closed.
        let mut asker = Vec::new();
        while let Ok(step) = recv_frame::<ZygoteStep>(&from_children, &mut asker) {
            heard.perform(&step);
            asker.clear();
        }
    });
    zygote.attend()
}

struct Zygote {
    folder: PathBuf,
    control: UnixStream,
    /// The children's end of the socket on which they have it do something.
    requests: UnixStream,
    exits: Exits,
    stalls: AtomicBool,
    state: Mutex<State>,
}

/// Whether the gateway gets something to kill a child by.
#[derive(Clone, Copy)]
enum Pidfd {
    Sent,
    Withheld,
}

#[derive(Default)]
struct State {
    forks: VecDeque<Fork>,
    children: HashMap<u64, OwnedFd>,
    last_id: u64,
}

impl Zygote {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attend(self: &Arc<Self>) -> ! {
        loop {
            self.stall_if_told();
            let order = recv_frame(&self.control, &mut Vec::new());
            self.stall_if_told();
            match order {
                Ok(ToZygote::Fork) => self.answer_fork(ChildKind::Programs),
                Ok(ToZygote::ForkAnalysis) => self.answer_fork(ChildKind::Analysis),
                Ok(ToZygote::Kill { id }) => {
                    if let Some(child) = self.lock().children.get(&id) {
                        let _ = pidfd_send_signal(child, Signal::KILL);
                    }
                }
                // Its children end with it.
                Ok(ToZygote::Hello { .. }) | Err(_) => std::process::exit(0),
            }
        }
    }

    fn answer_fork(self: &Arc<Self>, kind: ChildKind) {
        let fork = self.lock().forks.pop_front().unwrap_or_else(|| Fork::Child(vec![Step::hello()]));
        self.fork(fork, kind);
    }

    fn fork(self: &Arc<Self>, fork: Fork, kind: ChildKind) {
        match fork {
            Fork::Child(greeting) => self.start_child(None, &greeting, kind, Pidfd::Sent),
            Fork::WithoutPidfd => self.start_child(None, &[Step::hello()], kind, Pidfd::Withheld),
            Fork::Fails(message) => self.say(&FromZygote::ForkFailed { kind, message }, &[]),
            Fork::Instead(steps) => steps.iter().for_each(|step| self.perform(step)),
        }
    }

    fn start_child(self: &Arc<Self>, id: Option<u64>, greeting: &[Step], kind: ChildKind, sent: Pidfd) {
        let (ours, theirs) = UnixStream::pair().expect("a socket for a child");
        let child = Command::new(std::env::current_exe().expect("the test binary"))
            .arg(CHILD_COMMAND)
            .arg(&self.folder)
            .arg(std::process::id().to_string())
            .arg(serde_json::to_string(greeting).expect("steps are plain data"))
            .stdin(OwnedFd::from(theirs))
            .stdout(OwnedFd::from(self.requests.try_clone().expect("one more descriptor")))
            .stderr(Stdio::inherit())
            .spawn()
            .expect("a child");
        let pid = Pid::from_raw(child.id() as i32).expect("a process number");
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).expect("a child that is not reaped yet");
        let id = {
            let mut state = self.lock();
            let id = id.unwrap_or(state.last_id + 1);
            state.last_id = state.last_id.max(id);
            state.children.insert(id, pidfd.try_clone().expect("one more descriptor"));
            id
        };
        let descriptors = [ours.as_fd(), pidfd.as_fd()];
        let message = FromZygote::Child { id, pid: pid.as_raw_nonzero().get(), kind };
        let descriptors = match sent {
            Pidfd::Sent => &descriptors[..],
            Pidfd::Withheld => &descriptors[..1],
        };
        self.say(&message, descriptors);
        let zygote = Arc::clone(self);
        std::thread::spawn(move || zygote.reap(id, child));
    }

    fn reap(&self, id: u64, mut child: Child) {
        let status = child.wait().expect("a child of ours");
        self.lock().children.remove(&id);
        let times = match self.exits {
            Exits::Told => 1,
            Exits::ToldTwice => 2,
            Exits::Untold => 0,
        };
        for _ in 0..times {
            self.say(&FromZygote::Exited { id, exit: exit_of(status), used: ProcessUse::default() }, &[]);
        }
    }

    fn perform(self: &Arc<Self>, step: &ZygoteStep) {
        match step {
            ZygoteStep::Say(message) => self.say(message, &[]),
            ZygoteStep::Bytes(bytes) => {
                let _one = self.lock();
                let _ = (&self.control).write_all(bytes);
            }
            ZygoteStep::Smuggle { message, file, copies } => {
                let file = File::create(self.folder.join(file)).expect("a file to be smuggled");
                self.say(message, &vec![file.as_fd(); *copies]);
            }
            ZygoteStep::Fork(fork) => self.fork(fork.clone(), ChildKind::Programs),
            ZygoteStep::ForkAs(id) => {
                self.start_child(Some(*id), &[Step::hello()], ChildKind::Programs, Pidfd::Sent);
            }
            ZygoteStep::Print(text) => {
                let _ = io::stderr().write_all(text.whole().as_bytes());
            }
            ZygoteStep::Stall => self.stalls.store(true, Ordering::SeqCst),
            ZygoteStep::Exit(code) => std::process::exit(*code),
            ZygoteStep::Signal(signal) => die_by(*signal),
        }
    }

    fn stall_if_told(&self) {
        if self.stalls.load(Ordering::SeqCst) {
            stall();
        }
    }

    /// One message at a time: they come from several threads.
    fn say(&self, message: &FromZygote, descriptors: &[BorrowedFd<'_>]) {
        let _one = self.lock();
        // Whoever is gone needs no message.
        let _ = send_frame(&self.control, message, descriptors);
    }
}

fn exit_of(status: ExitStatus) -> ChildExit {
    match (status.code(), status.signal()) {
        (Some(code), _) => ChildExit::Code(code),
        (None, signal) => ChildExit::Signal(signal.unwrap_or_default()),
    }
}

/// Does nothing until it is killed.
pub(super) fn stall() -> ! {
    loop {
        std::thread::park();
    }
}

/// Ends this process by a signal.
pub(super) fn die_by(signal: i32) -> ! {
    let signal = Signal::from_named_raw(signal).expect("a signal that has a name");
    rustix::process::kill_process(rustix::process::getpid(), signal).expect("it is ours to kill");
    stall()
}
