//! The role of a child.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use gristmill_protocol::{
    CallKind, Completion, FromWorker, Outcome, RunStats, ToWorker, encode_frame, recv_frame, send_frame,
};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use serde_json::json;

use super::script::done;
use super::zygote::{die_by, stall};
use super::{Script, Step, TAKEN_FILE};

/// Greets, then does what each program says, until the gateway hangs up. The socket to the gateway is
/// standard input; the one to the zygote is standard output.
pub(super) fn run(zygote: &str, greeting: &str) -> ! {
    end_with_the_zygote(zygote);
    let greeting: Vec<Step> = serde_json::from_str(greeting).expect("steps");
    let mut child = Child {
        socket: socket_of(io::stdin().as_fd()),
        zygote: socket_of(io::stdout().as_fd()),
        descriptors: Vec::new(),
        answers: Vec::new(),
        program: String::new(),
    };
    child.perform(&greeting);
    let mut is_confined = false;
    loop {
        let script = match child.receive() {
            ToWorker::Run(program) => {
                assert!(is_confined, "a program before its walls");
                child.program = program.code;
                Script::read(&child.program)
            }
            ToWorker::Analyze(job) => Script::read(&job.request),
            ToWorker::Confine(_) => {
                assert!(!is_confined, "other folders");
                is_confined = true;
                continue;
            }
            ToWorker::Completed(_) => continue,
        };
        child.answers.clear();
        child.perform(&script.steps);
    }
}

fn end_with_the_zygote(zygote: &str) {
    set_parent_process_death_signal(Some(Signal::KILL)).expect("a signal to come");
    // It may have ended before that.
    let parent = getppid().map(Pid::as_raw_nonzero).map(|pid| pid.to_string());
    if parent.as_deref() != Some(zygote) {
        std::process::exit(0);
    }
}

fn socket_of(descriptor: BorrowedFd<'_>) -> UnixStream {
    UnixStream::from(descriptor.try_clone_to_owned().expect("one more descriptor"))
}

struct Child {
    socket: UnixStream,
    zygote: UnixStream,
    /// What it was confined to, or what came with the analysis.
    descriptors: Vec<OwnedFd>,
    answers: Vec<Completion>,
    /// The text of the program.
    program: String,
}

impl Child {
    fn perform(&mut self, steps: &[Step]) {
        steps.iter().for_each(|step| self.perform_one(step));
    }

    fn perform_one(&mut self, step: &Step) {
        match step {
            Step::Say(messages) => self.write(&messages.iter().flat_map(frame).collect::<Vec<u8>>()),
            Step::Flood { message, times } => {
                let frame = frame(message);
                (0..*times).for_each(|_| self.write(&frame));
            }
            Step::Calls { kind, first_id, count, payload } => {
                self.call(*kind, *first_id..first_id + count, &payload.whole());
            }
            Step::Told(words) => {
                let outcome = Outcome::Returned(words.whole());
                self.write(&frame(&FromWorker::Done { outcome, stats: RunStats::default() }));
            }
            Step::Bytes(bytes) => self.write(bytes),
            Step::Smuggle { message, file, copies } => {
                let file = self.workspace_file(file, OFlags::CREATE | OFlags::WRONLY);
                let copies = vec![file.as_fd(); *copies];
                end_if_unheard(send_frame(&self.socket, message, &copies));
            }
            Step::TakeAnswers(count) => (0..*count).for_each(|_| self.take_answer()),
            Step::AwaitAnswer => {
                let mut fds = [PollFd::new(&self.socket, PollFlags::IN)];
                poll(&mut fds, None).expect("a socket");
            }
            Step::TellProgram => self.write(&frame(&done(&json!(self.program)))),
            Step::TellAnswers => {
                let told = |answer: &Completion| json!({ "id": answer.id, "ok": answer.ok, "payload": answer.payload });
                let answers: Vec<_> = self.answers.iter().map(told).collect();
                self.write(&frame(&done(&json!(answers))));
            }
            Step::WaitFor(fifo) => {
                let mut fifo = self.workspace_file(fifo, OFlags::RDONLY);
                let _ = fifo.read(&mut [0]);
            }
            Step::WriteOutput(text) => {
                let output = self.descriptors.last().expect("the output of an analysis");
                let output = output.try_clone().expect("one more descriptor");
                File::from(output).write_all(text.whole().as_bytes()).expect("room for the output");
            }
            Step::KeepWriting(file) => {
                let mut file = self.workspace_file(file, OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND);
                loop {
                    file.write_all(b".").expect("room for more");
                }
            }
            Step::WriteFile { file, text } => {
                let mut file = self.workspace_file(file, OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC);
                file.write_all(text.whole().as_bytes()).expect("room for the file");
            }
            Step::TellFile(file) => {
                let mut text = String::new();
                self.workspace_file(file, OFlags::RDONLY).read_to_string(&mut text).expect("a text");
                self.write(&frame(&done(&json!(text))));
            }
            Step::RemoveFile(file) => {
                let folder = self.descriptors.first().expect("a program's workspace");
                rustix::fs::unlinkat(folder, file.as_str(), rustix::fs::AtFlags::empty()).expect("a file");
            }
            Step::Stall => stall(),
            Step::HangUp => self.socket.shutdown(Shutdown::Both).expect("an open socket"),
            Step::StopReading => self.socket.shutdown(Shutdown::Read).expect("an open socket"),
            Step::Exit(code) => std::process::exit(*code),
            Step::Signal(signal) => die_by(*signal),
            Step::Zygote(step) => {
                let (mut done, asker) = UnixStream::pair().expect("a socket to wait at");
                end_if_unheard(send_frame(&self.zygote, step, &[asker.as_fd()]));
                drop(asker);
                let _ = done.read(&mut [0]);
            }
        }
    }

    fn call(&self, kind: CallKind, ids: std::ops::Range<u64>, payload: &str) {
        let flags = OFlags::CREATE | OFlags::TRUNC | OFlags::WRONLY;
        let taken_file = self.workspace_file(TAKEN_FILE, flags);
        let mut taken = 0;
        for id in ids {
            let payload = payload.to_owned();
            let frame = frame(&FromWorker::Call { id, kind, payload });
            self.write(&frame);
            taken += frame.len();
            taken_file.write_all_at(taken.to_string().as_bytes(), 0).expect("room for a number");
        }
    }

    fn take_answer(&mut self) {
        match self.receive() {
            ToWorker::Completed(answer) => self.answers.push(answer),
            other @ (ToWorker::Confine(_) | ToWorker::Run(_) | ToWorker::Analyze(_)) => {
                panic!("no answer: {other:?}")
            }
        }
    }

    /// The next message. Without a gateway there is nothing left to do.
    fn receive(&mut self) -> ToWorker {
        recv_frame(&self.socket, &mut self.descriptors).unwrap_or_else(|_| std::process::exit(0))
    }

    fn write(&self, bytes: &[u8]) {
        end_if_unheard((&self.socket).write_all(bytes));
    }

    /// A file of the workspace, which is the first folder that came.
    fn workspace_file(&self, name: &str, flags: OFlags) -> File {
        let workspace = self.descriptors.first().expect("a program's workspace");
        let mode = Mode::RUSR | Mode::WUSR;
        File::from(openat(workspace, name, flags | OFlags::CLOEXEC, mode).expect("a file of the workspace"))
    }
}

fn frame(message: &FromWorker) -> Vec<u8> {
    encode_frame(message).expect("a message that fits into a frame")
}

fn end_if_unheard(sent: io::Result<()>) {
    if sent.is_err() {
        std::process::exit(0);
    }
}
