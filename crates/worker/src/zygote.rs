//! The zygote: one warm interpreter, from which children are forked ahead of need; and, when they are
//! asked for, children that analyze and leave the interpreter alone.
//!
//! Invariants: one thread, no runtime, so that forking is sound. It reads control messages only and
//! never sees a program, a workspace, data or a secret. The analysis engine is not touched here: it
//! would start threads.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

use gristmill_protocol::{
    ChildKind, EngineId, FromZygote, PROTOCOL_VERSION, ReceiveError, ToZygote, Wall, recv_frame, send_frame,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Pid;

use crate::engine::{self, Interpreter};
use crate::fork::{Forked, exit_now};
use crate::jail::{self, ChildSignal, NamespacesEntered, Prepared};
use crate::page_warming::PageWarming;
use crate::reaped::{self, Reaped};
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
    let (id, required, native) = match recv_frame(control, &mut Vec::new()) {
        Ok(ToZygote::Hello { version: PROTOCOL_VERSION, engine, required, native }) => {
            (engine, required, native)
        }
        Ok(ToZygote::Hello { version, .. }) => {
            return Err(format!(
                "the gateway speaks protocol {version} and this worker {PROTOCOL_VERSION}; restart gristmill so that both have the same version"
            ));
        }
        Ok(ToZygote::Fork | ToZygote::ForkAnalysis | ToZygote::Kill { .. }) => {
            return Err("the gateway did not say hello".to_owned());
        }
        Err(ReceiveError::Closed) => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let engine = match native.filter(|_| id == EngineId::Native) {
        Some(start) => engine::load_native(&start, &namespaces, !required.contains(&Wall::MountNamespace)),
        None => engine::load(id, cache),
    };
    let engine = engine.map_err(|error| error.to_string())?;
    let mut interpreter = engine.start().map_err(|error| error.to_string())?;
    interpreter.warm().map_err(|error| error.to_string())?;
    // While /proc can still be seen.
    let sample = engine::trusted_program(id, engine.sample());
    let pages = PageWarming::probe(interpreter.as_mut(), &sample);
    let prepared = jail::prepare_zygote(namespaces, id).map_err(|error| error.to_string())?;
    let walls = [engine.walls(), prepared.walls()].concat();
    if let Some(missing) = jail::first_missing(&walls, &required) {
        return Err(missing);
    }
    let signal = ChildSignal::new().map_err(|error| format!("signals: {error}"))?;
    let description = engine.description().to_owned();
    let ready = FromZygote::Ready { version: PROTOCOL_VERSION, engine: id, description, walls };
    send_frame(control, &ready, &[]).map_err(|error| error.to_string())?;
    Zygote { control, interpreter, prepared, pages, signal, children: BTreeMap::new(), next_id: 1 }
        .serve_gateway()
}

struct Zygote<'a> {
    control: BorrowedFd<'a>,
    interpreter: Box<dyn Interpreter>,
    prepared: Prepared,
    pages: PageWarming,
    signal: ChildSignal,
    children: BTreeMap<i32, u64>,
    next_id: u64,
}

impl Zygote<'_> {
    /// Answers the gateway and reaps children, until the gateway hangs up.
    fn serve_gateway(mut self) -> Result<(), String> {
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
                self.reap()?;
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
            Err(error) => return self.send(&failed(error), &[]),
        };
        match engine::fork_interpreter(self.interpreter.as_mut()) {
            Ok(Forked::Child) => {
                drop(ours);
                let socket = OwnedFd::from(theirs);
                exit_now(match kind {
                    ChildKind::Programs => {
                        child::run(socket, self.interpreter.as_mut(), &self.prepared, &self.pages)
                    }
                    ChildKind::Analysis => analysis_child::run(socket, &self.prepared),
                });
            }
            Ok(Forked::Parent(pid)) => {
                drop(theirs);
                self.announce(pid, &ours, kind)
            }
            Err(error) => self.send(&failed(error), &[]),
        }
    }

    fn announce(&mut self, pid: Pid, socket: &UnixStream, kind: ChildKind) -> Result<(), String> {
        let id = self.next_id;
        self.next_id += 1;
        let pid_number = pid.as_raw_nonzero().get();
        self.children.insert(pid_number, id);
        let child = FromZygote::Child { id, pid: pid_number, kind };
        match jail::process_descriptor(pid) {
            Some(pidfd) => self.send(&child, &[socket.as_fd(), pidfd.as_fd()]),
            None => self.send(&child, &[socket.as_fd()]),
        }
    }

    fn reap(&mut self) -> Result<(), String> {
        while let Some(Reaped { pid, exit, used }) = reaped::next() {
            let Some(id) = self.children.remove(&pid) else { continue };
            self.send(&FromZygote::Exited { id, exit, used }, &[])?;
        }
        Ok(())
    }

    /// Only by number: one that is reaped already is no longer in the list, so no other process
    /// that got its pid can be hit.
    fn kill(&self, id: u64) {
        let pid = self.children.iter().find(|(_, known)| **known == id).map(|(pid, _)| *pid);
        if let Some(pid) = pid.and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }

    fn send(&self, message: &FromZygote, descriptors: &[BorrowedFd<'_>]) -> Result<(), String> {
        send_frame(self.control, message, descriptors).map_err(|error| error.to_string())
    }
}
