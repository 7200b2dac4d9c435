//! One child that analyzes: waits, confines itself, does one analysis, ends.
//!
//! Invariants: no WebAssembly stands here, the engine is native code. So this child never sees an
//! interpreter's memory in use, opens nothing, and has what came with its one job: files to read, one
//! to write. Hostile data can end it, and that is all it can do.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

use gristmill_analysis::{Analyzed, Format, Input, Problem, Source};
use gristmill_protocol::{
    AnalysisJob, ChildKind, DataFormat, FromWorker, Outcome, PROTOCOL_VERSION, ReceiveError, RunStats,
    ToWorker, Trap, TrapKind, WorkerLimit,
};

use crate::channel::Channel;
use crate::jail::{self, Prepared};

/// What is gathered before it is written.
const OUTPUT_BUFFER_BYTES: usize = 256 * 1024;

/// The child's whole life. Gives the exit code.
pub fn run(socket: OwnedFd, prepared: &Prepared) -> i32 {
    let Ok(socket) = jail::detach_child(socket, ChildKind::Analysis) else { return 1 };
    // There is nobody to read what a panic writes.
    std::panic::set_hook(Box::new(|_| {}));
    let mut channel = Channel::unconnected();
    channel.connect(socket);
    if prepared.filter_analysis_calls().is_err() {
        return 1;
    }
    if channel.send(&FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us: 0 }).is_err() {
        return 1;
    }
    let mut descriptors = Vec::new();
    let job = match channel.receive(&mut descriptors) {
        Ok(ToWorker::Analyze(job)) => job,
        // The gateway has no use for this child any more.
        Err(ReceiveError::Closed) => return 0,
        Ok(ToWorker::Confine(_) | ToWorker::Run(_) | ToWorker::Completed(_)) | Err(_) => return 1,
    };
    let (cpu_us_before, resident_before) = (jail::cpu_us(), jail::resident_peak_bytes());
    let (outcome, limits_hit) = match begin(*job, descriptors, prepared) {
        Ok(ready) => ready.carry_out(),
        Err(reason) => (Outcome::Refused(reason), Vec::new()),
    };
    let stats = RunStats {
        memory_peak_bytes: jail::resident_peak_bytes().saturating_sub(resident_before),
        cpu_us: jail::cpu_us().saturating_sub(cpu_us_before),
        limits_hit,
        ..RunStats::default()
    };
    i32::from(channel.send(&FromWorker::Done { outcome, stats }).is_err())
}

/// An analysis behind all its walls.
struct Ready {
    request: String,
    inputs: Vec<Input>,
    output: Output,
}

/// Everything that must hold before the first byte of data is looked at.
fn begin(job: AnalysisJob, descriptors: Vec<OwnedFd>, prepared: &Prepared) -> Result<Ready, String> {
    if job.version != PROTOCOL_VERSION {
        return Err(format!("protocol {PROTOCOL_VERSION} here, {} there", job.version));
    }
    let (limits, files_wanted) =
        (job.limits, job.inputs.iter().filter(|input| input.inline.is_none()).count());
    let mut files = descriptors.into_iter().map(File::from);
    if files.len() != files_wanted + 1 {
        return Err(format!("{files_wanted} files and an output, but {} descriptors", files.len()));
    }
    let mut inputs = Vec::with_capacity(job.inputs.len());
    for input in job.inputs {
        let source = match input.inline {
            Some(text) => Source::Bytes(text.into_bytes()),
            None => Source::File(files.next().ok_or("an input without its file")?),
        };
        inputs.push(Input { name: input.name, format: input.format.map(format_of), source });
    }
    let file = files.next().ok_or("no file for the output")?;
    let text = |error: jail::JailError| error.to_string();
    prepared.confine_analysis(&limits).map_err(text)?;
    jail::limit_cpu(limits.cpu_ms, false).map_err(text)?;
    Ok(Ready { request: job.request, inputs, output: Output::new(file, limits.output_bytes) })
}

impl Ready {
    fn carry_out(self) -> (Outcome, Vec<WorkerLimit>) {
        let Self { request, inputs, mut output } = self;
        let analyzed = catch_unwind(AssertUnwindSafe(|| {
            let analyzed = gristmill_analysis::analyze(&request, inputs, &mut output)?;
            output.flush().map_err(unwritten)?;
            Ok::<Analyzed, Problem>(analyzed)
        }));
        let outcome = match analyzed {
            Ok(told) => match serde_json::to_string(&told) {
                Ok(json) => Outcome::Returned(json),
                Err(error) => Outcome::Refused(error.to_string()),
            },
            Err(panic) => Outcome::Trapped(Trap { kind: TrapKind::Crash, message: words_of(panic.as_ref()) }),
        };
        let limits_hit = if output.refused { vec![WorkerLimit::FileBytes] } else { Vec::new() };
        (outcome, limits_hit)
    }
}

fn unwritten(error: io::Error) -> Problem {
    Problem { step: None, message: format!("can't write the output: {error}"), hint: None, field: None }
}

/// What a panic says.
fn words_of(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(words), _) => (*words).to_owned(),
        (None, Some(words)) => words.clone(),
        (None, None) => "without a word".to_owned(),
    }
}

fn format_of(format: DataFormat) -> Format {
    match format {
        DataFormat::Json => Format::Json,
        DataFormat::JsonLines => Format::JsonLines,
        DataFormat::Csv => Format::Csv,
        DataFormat::Parquet => Format::Parquet,
    }
}

/// The output, up to its limit; the kernel's limit on the file stands behind it.
struct Output {
    file: BufWriter<File>,
    room_bytes: u64,
    refused: bool,
}

impl Output {
    fn new(file: File, bytes_max: u64) -> Self {
        let file = BufWriter::with_capacity(OUTPUT_BUFFER_BYTES, file);
        Self { file, room_bytes: bytes_max, refused: false }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.room_bytes {
            self.refused = true;
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the output is larger than it may be"));
        }
        let written = self.file.write(bytes)?;
        self.room_bytes -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_over_its_limit_is_an_error_that_is_remembered() {
        let folder = gristmill_testkit::TestFolder::new("output");
        let path = folder.path().join("output.json");
        let mut output = Output::new(File::create(&path).unwrap(), 10);
        output.write_all(b"12345678").unwrap();
        assert!(output.write_all(b"901").is_err() && output.refused);
        output.flush().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"12345678");
    }
}
