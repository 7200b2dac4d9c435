//! What a child does with one program or one analysis.

use gristmill_protocol::{
    CallKind, FRAME_HEADER_BYTES, FromWorker, Outcome, PROTOCOL_VERSION, RunStats, Stream,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::ZygoteStep;

/// Before a script in a program's text.
const MARK: &str = "script: ";

/// In the workspace: how many bytes of its calls the gateway has taken so far.
pub const TAKEN_FILE: &str = "taken";

/// Steps, one after the other. A child that has done the last one waits for another program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Script {
    pub(super) steps: Vec<Step>,
}

pub fn script() -> Script {
    Script::default()
}

/// One thing that a child does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Step {
    /// Sends these messages in one write.
    Say(Vec<FromWorker>),
    /// Sends one message again and again.
    Flood { message: FromWorker, times: u64 },
    /// Makes calls with numbers in a row, and writes into [`TAKEN_FILE`] how much of them was taken.
    Calls {
        kind: CallKind,
        /// The number of the first.
        first_id: u64,
        count: u64,
        /// The same for each.
        payload: Text,
    },
    /// Ends the program with these last words.
    Told(Text),
    /// Sends bytes that need not be a frame.
    Bytes(Vec<u8>),
    /// Sends a message with descriptors of a file that it makes in its workspace.
    Smuggle { message: FromWorker, file: String, copies: usize },
    /// Waits for so many answers.
    TakeAnswers(u64),
    /// Waits until there is an answer, and does not read it.
    AwaitAnswer,
    /// Ends the program; the result is the list of all answers so far.
    TellAnswers,
    /// Ends the program; the result is its text, as it came.
    TellProgram,
    /// Waits until somebody writes to the FIFO of this name in its workspace.
    WaitFor(String),
    /// Writes the output of an analysis.
    WriteOutput(Text),
    /// Writes to a file in its workspace for as long as it lives.
    KeepWriting(String),
    /// Ends the program; the result is what a file in its workspace holds.
    TellFile(String),
    /// Writes a file in its workspace.
    WriteFile { file: String, text: Text },
    /// Removes a file from its workspace.
    RemoveFile(String),
    /// Says nothing more and reads nothing more.
    Stall,
    /// Closes its end of the socket, and lives on.
    HangUp,
    /// Takes no more messages, but may still send some.
    StopReading,
    /// Ends with this code.
    Exit(i32),
    /// Ends by this signal.
    Signal(i32),
    /// Has the zygote do something.
    Zygote(Box<ZygoteStep>),
}

/// A text that may be much longer than the script that says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text {
    before: String,
    unit: String,
    times: usize,
    after: String,
}

impl Text {
    /// `before`, then `unit` so many times, then `after`.
    pub fn repeated(before: &str, unit: &str, times: usize, after: &str) -> Self {
        Self { before: before.to_owned(), unit: unit.to_owned(), times, after: after.to_owned() }
    }

    pub fn whole(&self) -> String {
        format!("{}{}{}", self.before, self.unit.repeat(self.times), self.after)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::repeated(text, "", 0, "")
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl Script {
    /// The text of a program that does this.
    pub fn code(&self) -> String {
        format!("{MARK}{}", self.request())
    }

    /// The text of a TypeScript program that does this: a line with a type, and the script in a comment.
    pub fn typescript(&self) -> String {
        format!("const x: number = 1; /* {MARK}{} */", self.request())
    }

    /// The request of an analysis that does this.
    pub fn request(&self) -> String {
        serde_json::to_string(self).expect("a script is plain data")
    }

    /// The script of a program or of a request.
    pub(super) fn read(text: &str) -> Self {
        // In a comment of JavaScript, or the whole text.
        let commented =
            text.split_once("/* ").and_then(|(_, rest)| rest.split_once(" */")).map(|(text, _)| text);
        let text = if text.starts_with("\"use strict\"") { commented.unwrap_or(text) } else { text };
        serde_json::from_str(text.strip_prefix(MARK).unwrap_or(text)).expect("the program is a script")
    }

    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    pub fn say(self, message: FromWorker) -> Self {
        self.step(Step::Say(vec![message]))
    }

    pub fn print(self, text: &str) -> Self {
        self.say(FromWorker::Output { stream: Stream::Stdout, bytes: text.into() })
    }

    pub fn call(self, id: u64, tool: &str, arguments: &Value) -> Self {
        self.say(tool_call(id, tool, arguments))
    }

    /// Makes several calls that differ in their numbers alone.
    pub fn calls(self, kind: CallKind, first_id: u64, count: u64, payload: impl Into<Text>) -> Self {
        self.step(Step::Calls { kind, first_id, count, payload: payload.into() })
    }

    /// Takes a call back.
    pub fn cancel(self, id: u64) -> Self {
        self.say(FromWorker::CancelCall { id })
    }

    /// Ends the program with a result.
    pub fn done(self, result: &Value) -> Self {
        self.say(done(result))
    }

    /// Ends the program with these last words.
    pub fn told(self, words: impl Into<Text>) -> Self {
        self.step(Step::Told(words.into()))
    }

    /// Ends the program some other way.
    pub fn outcome(self, outcome: Outcome) -> Self {
        self.say(FromWorker::Done { outcome, stats: RunStats::default() })
    }

    /// Sends the beginning of a frame: a header that promises a body of so many bytes, and some of it.
    pub fn frame_of(self, promised: u32, body: &[u8]) -> Self {
        let header: [u8; FRAME_HEADER_BYTES] = promised.to_le_bytes();
        self.step(Step::Bytes([header.as_slice(), body].concat()))
    }

    /// Sends a whole frame that holds these bytes.
    pub fn body(self, body: &[u8]) -> Self {
        let promised = u32::try_from(body.len()).expect("a short body");
        self.frame_of(promised, body)
    }

    /// Has the zygote do something.
    pub fn zygote(self, step: ZygoteStep) -> Self {
        self.step(Step::Zygote(Box::new(step)))
    }
}

/// The message that calls a tool.
pub fn tool_call(id: u64, tool: &str, arguments: &Value) -> FromWorker {
    let payload = json!({ "name": tool, "arguments": arguments }).to_string();
    FromWorker::Call { id, kind: CallKind::Tool, payload }
}

/// The message that ends a program with a result.
pub fn done(result: &Value) -> FromWorker {
    let told = json!({ "ok": true, "has_result": true, "result": result });
    FromWorker::Done { outcome: Outcome::Returned(told.to_string()), stats: RunStats::default() }
}

impl Step {
    /// What every child says first.
    pub fn hello() -> Self {
        Step::Say(vec![FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us: 0 }])
    }
}
