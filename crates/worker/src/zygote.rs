//! The zygote: one warm interpreter, from which children are forked ahead of need; and, when they are
//! asked for, children that analyze and leave the interpreter alone.
//!
//! Walls: one thread, no runtime, so that forking is sound. It reads control messages only and
//! never sees a program, a workspace, data or a secret. The analysis engine is not touched here: it
//! would start threads.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use gristmill_protocol::{
    ChildExit, ChildKind, FromZygote, PROTOCOL_VERSION, ReceiveError, ToZygote, recv_frame, send_frame,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, WaitOptions};

use crate::artifact::Artifact;
use crate::engine::{self, Python};
use crate::fork::{Forked, exit_now, fork};
use crate::jail::{self, ChildSignal, NamespacesEntered, Prepared};
use crate::page_warming::PageWarming;
use crate::{analysis_child, child};

/// Runs the zygote until the gateway hangs up. Gives the exit code.
pub fn run(cache: &Path, namespaces: NamespacesEntered) -> i32 {
    let stdin = io::stdin();
    let control = stdin.as_fd();
    match serve(control, cache, namespaces) {
        Ok(()) => 0,
        Err(message) => {
            let _ = send_frame(control, &FromZygote::Failed { message }, &[]);
            1
        }
    }
}

fn serve(control: BorrowedFd<'_>, cache: &Path, namespaces: NamespacesEntered) -> Result<(), String> {
    let required = match recv_frame(control, &mut Vec::new()) {
        Ok(ToZygote::Hello { version: PROTOCOL_VERSION, required }) => required,
        Ok(ToZygote::Hello { version, .. }) => {
            return Err(format!(
                "the gateway speaks protocol {version} and this worker {PROTOCOL_VERSION}; restart gristmill so that both are of one version"
            ));
        }
        Ok(ToZygote::Fork | ToZygote::ForkAnalysis | ToZygote::Kill { .. }) => {
            return Err("the gateway did not say hello".to_owned());
        }
        Err(ReceiveError::Closed) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let mut python = bring_up(control, cache)?;
    // While /proc can still be seen.
    let pages = PageWarming::probe(&mut python);
    let prepared = jail::prepare_zygote(namespaces).map_err(|error| error.to_string())?;
    let walls = prepared.walls();
    if let Some(missing) = jail::first_missing(&walls, &required) {
        return Err(missing);
    }
    let signal = ChildSignal::new().map_err(|error| format!("signals: {error}"))?;
    let ready = FromZygote::Ready { version: PROTOCOL_VERSION, engine: Python::NAME.to_owned(), walls };
    send_frame(control, &ready, &[]).map_err(|error| error.to_string())?;
    Zygote { control, python, prepared, pages, signal, children: BTreeMap::new(), next_id: 1 }.attend()
}

fn bring_up(control: BorrowedFd<'_>, cache: &Path) -> Result<Python, String> {
    let text = |error: crate::ArtifactError| error.to_string();
    engine::raise_stack_limit();
    let artifact = Artifact::in_cache(cache).map_err(text)?;
    let engine = engine::runtime().map_err(|error| format!("{error:#}"))?;
    let component = match artifact.load(&engine).map_err(text)? {
        Some(component) => component,
        None => {
            let step = "compiling the Python engine for this machine, once".to_owned();
            let _ = send_frame(control, &FromZygote::Preparing { step }, &[]);
            let executable = std::env::current_exe().map_err(|error| error.to_string())?;
            artifact.prepare(&executable, |_| {}).map_err(text)?;
            artifact
                .load(&engine)
                .map_err(text)?
                .ok_or("the compiled engine vanished from the cache as soon as it was made")?
        }
    };
    let mut python = Python::instantiate(&engine, &component).map_err(|error| error.to_string())?;
    python.warm().map_err(|error| error.to_string())?;
    Ok(python)
}

struct Zygote<'a> {
    control: BorrowedFd<'a>,
    python: Python,
    prepared: Prepared,
    pages: PageWarming,
    signal: ChildSignal,
    children: BTreeMap<i32, u64>,
    next_id: u64,
}

impl Zygote<'_> {
    /// Answers the gateway and buries the dead, until the gateway hangs up.
    fn attend(mut self) -> Result<(), String> {
        loop {
            let mut fds = [
                PollFd::from_borrowed_fd(self.control, PollFlags::IN),
                PollFd::from_borrowed_fd(self.signal.as_fd(), PollFlags::IN),
            ];
            match poll(&mut fds, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.to_string()),
            }
            let (asked, died) = (!fds[0].revents().is_empty(), !fds[1].revents().is_empty());
            if died {
                self.signal.clear();
                self.bury()?;
            }
            if asked {
                match recv_frame(self.control, &mut Vec::new()) {
                    Ok(ToZygote::Fork) => self.fork_child(ChildKind::Programs)?,
                    Ok(ToZygote::ForkAnalysis) => self.fork_child(ChildKind::Analysis)?,
                    Ok(ToZygote::Kill { id }) => self.kill(id),
                    Ok(ToZygote::Hello { .. }) => return Err("a second hello".to_owned()),
                    Err(ReceiveError::Closed) => return Ok(()),
                    Err(error) => return Err(error.to_string()),
                }
            }
        }
    }

    fn fork_child(&mut self, kind: ChildKind) -> Result<(), String> {
        let failed = |error: io::Error| FromZygote::ForkFailed { kind, message: error.to_string() };
        let (ours, theirs) = match UnixStream::pair() {
            Ok(pair) => pair,
            Err(error) => return self.tell(&failed(error), &[]),
        };
        match fork() {
            Ok(Forked::Child) => {
                drop(ours);
                let socket = OwnedFd::from(theirs);
                exit_now(match kind {
                    ChildKind::Programs => child::run(socket, &mut self.python, &self.prepared, &self.pages),
                    ChildKind::Analysis => analysis_child::run(socket, &self.prepared),
                });
            }
            Ok(Forked::Parent(pid)) => {
                drop(theirs);
                self.introduce(pid, &ours, kind)
            }
            Err(error) => self.tell(&failed(error), &[]),
        }
    }

    fn introduce(&mut self, pid: Pid, socket: &UnixStream, kind: ChildKind) -> Result<(), String> {
        let id = self.next_id;
        self.next_id += 1;
        let pid_number = pid.as_raw_nonzero().get();
        self.children.insert(pid_number, id);
        let child = FromZygote::Child { id, pid: pid_number, kind };
        match jail::process_descriptor(pid) {
            Some(pidfd) => self.tell(&child, &[socket.as_fd(), pidfd.as_fd()]),
            None => self.tell(&child, &[socket.as_fd()]),
        }
    }

    fn bury(&mut self) -> Result<(), String> {
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            let Some(id) = self.children.remove(&pid.as_raw_nonzero().get()) else { continue };
            let exit = match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => ChildExit::Code(code),
                (None, Some(signal)) => ChildExit::Signal(signal),
                (None, None) => continue,
            };
            self.tell(&FromZygote::Exited { id, exit }, &[])?;
        }
        Ok(())
    }

    /// Only by number: one that is buried already is no longer in the list, so no other process
    /// that got its pid can be hit.
    fn kill(&self, id: u64) {
        let pid = self.children.iter().find(|(_, known)| **known == id).map(|(pid, _)| *pid);
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    fn tell(&self, message: &FromZygote, descriptors: &[BorrowedFd<'_>]) -> Result<(), String> {
        send_frame(self.control, message, descriptors).map_err(|error| error.to_string())
    }
}
