//! From a request to the worker's frame: everything measured, nothing parsed.

use std::fs::File;
use std::io::Seek;

use gristmill_domain::{Code, CpuShare, LimitName, Limits, format_bytes, one_line};
use gristmill_protocol::{
    ANALYSIS_INPUTS_MAX, AnalysisJob, AnalysisLimits, CALL_PAYLOAD_BYTES_MAX, DataFormat, JSON_DEPTH_MAX,
    JobInput, JsonCaps, PROTOCOL_VERSION, ToWorker, encode_frame,
};
use rustix::fs::{OFlags, fcntl_getfl};

use super::{AnalysisData, AnalysisFailure, AnalysisInput, AnalysisRequest, format};

/// Longest request without its data: a long list of steps takes a few kilobytes.
pub const REQUEST_BYTES_MAX: usize = 1024 * 1024;

/// Longest name of an input.
pub const NAME_BYTES_MAX: usize = 256;

/// Largest output: as much as a transformed table of a million rows takes, and a quarter of what all
/// stored results may take together.
pub const OUTPUT_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// An analysis that only needs a worker.
pub(super) struct Job {
    /// The message to the worker, as bytes.
    pub frame: Vec<u8>,
    /// The inputs that are files, in their order.
    pub files: Vec<File>,
    pub output: File,
    pub limits: Limits,
}

pub(super) fn prepare(request: AnalysisRequest, defaults: &Limits) -> Result<Job, AnalysisFailure> {
    let AnalysisRequest { request, inputs, limits, output } = request;
    let limits = limits.unwrap_or_else(|| defaults.clone());
    if limits.level() != defaults.level() {
        return Err(refused(
            format!("this gateway runs at level {}, not {}", defaults.level(), limits.level()),
            "start a gateway at that level: its workers run behind other sandbox layers",
        ));
    }
    let caps =
        JsonCaps { bytes_max: REQUEST_BYTES_MAX, depth_max: JSON_DEPTH_MAX, values_max: REQUEST_BYTES_MAX };
    caps.check(request.as_bytes()).map_err(|error| {
        refused(format!("the request: {error}"), "pass data as an input, not inside the steps")
    })?;
    check_output(&output)?;
    let mut files = Vec::new();
    let inputs = described(inputs, &mut files)?;
    check_memory(&inputs, &files, &limits)?;
    let job = AnalysisJob {
        version: PROTOCOL_VERSION,
        request,
        inputs,
        limits: AnalysisLimits {
            memory_bytes: limits.get(LimitName::Memory),
            cpu_ms: limits.cpu_end(CpuShare::Counted).1,
            output_bytes: OUTPUT_BYTES_MAX,
        },
    };
    let mut frame = encode_frame(&ToWorker::Analyze(Box::new(job))).map_err(|error| {
        refused(error.to_string(), "put the data into a file in the workspace, and pass its path")
    })?;
    // Many of them may wait for a place: without the room that they have grown into.
    frame.shrink_to_fit();
    Ok(Job { frame, files, output, limits })
}

/// The inputs in the worker's terms; files are collected in their order.
fn described(inputs: Vec<AnalysisInput>, files: &mut Vec<File>) -> Result<Vec<JobInput>, AnalysisFailure> {
    if inputs.is_empty() || inputs.len() > ANALYSIS_INPUTS_MAX {
        return Err(refused(
            format!("{} inputs, but an analysis takes 1 to {ANALYSIS_INPUTS_MAX}", inputs.len()),
            "join what belongs together in several analyses",
        ));
    }
    let mut inline_bytes = 0usize;
    let mut made = Vec::with_capacity(inputs.len());
    for AnalysisInput { name, format, data } in inputs {
        if name.len() > NAME_BYTES_MAX {
            return Err(refused(
                format!("the input's name `{}` is too long", one_line(&name, 40)),
                "pick a shorter one",
            ));
        }
        let format = format.as_deref().map(format::read).transpose()?;
        let inline = match data {
            AnalysisData::Inline(text) => {
                inline_bytes = inline_bytes.saturating_add(text.len());
                check_inline(&name, format, &text, inline_bytes)?;
                Some(text)
            }
            AnalysisData::File(file) => {
                files.push(read_only(&name, file)?);
                None
            }
        };
        made.push(JobInput { name, format, inline });
    }
    Ok(made)
}

/// Whether the data alone fits: all of it is read into memory, and would fail there in worse words.
fn check_memory(inputs: &[JobInput], files: &[File], limits: &Limits) -> Result<(), AnalysisFailure> {
    let inline: usize = inputs.iter().filter_map(|input| input.inline.as_ref()).map(String::len).sum();
    let in_files = files.iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len());
    let bytes = in_files.fold(inline as u64, u64::saturating_add);
    if bytes <= limits.get(LimitName::Memory) {
        return Ok(());
    }
    let message = format!(
        "the data is {}, but memory is limited to {} (`memory`); nothing ran",
        format_bytes(bytes),
        format_bytes(limits.get(LimitName::Memory))
    );
    let most = format_bytes(limits.range(LimitName::Memory).1);
    let hint = format!(
        "analyze it in parts, or raise `memory` (up to {most} at level {}) to several times the data's size",
        limits.level()
    );
    Err(AnalysisFailure::new(Code::Memory, message, hint))
}

fn check_inline(
    name: &str,
    format: Option<DataFormat>,
    text: &str,
    inline_bytes: usize,
) -> Result<(), AnalysisFailure> {
    let name = one_line(name, 40);
    if inline_bytes > CALL_PAYLOAD_BYTES_MAX {
        return Err(refused(
            format!(
                "`{name}`: inline data is limited to {} for all inputs together",
                format_bytes(CALL_PAYLOAD_BYTES_MAX as u64)
            ),
            "put the data into a file in the workspace, and pass its path",
        ));
    }
    let may_be_json = match format {
        None | Some(DataFormat::Json | DataFormat::JsonLines) => true,
        Some(DataFormat::Csv | DataFormat::Parquet) => false,
    };
    if !may_be_json {
        return Ok(());
    }
    let caps = JsonCaps {
        bytes_max: CALL_PAYLOAD_BYTES_MAX,
        depth_max: JSON_DEPTH_MAX,
        values_max: CALL_PAYLOAD_BYTES_MAX,
    };
    let flatter = "pass flatter data";
    caps.check(text.as_bytes()).map(|_| ()).map_err(|error| refused(format!("`{name}`: {error}"), flatter))
}

/// A plain file from its beginning, through which the worker cannot write.
fn read_only(name: &str, mut file: File) -> Result<File, AnalysisFailure> {
    let name = one_line(name, 40);
    let unusable = |why: String| refused(format!("the file of `{name}` {why}"), "name a plain file");
    let metadata = file.metadata().map_err(|error| unusable(format!("can't be inspected: {error}")))?;
    if !metadata.is_file() {
        return Err(unusable("is none".to_owned()));
    }
    let flags = fcntl_getfl(&file).map_err(|error| unusable(format!("can't be inspected: {error}")))?;
    if flags & OFlags::RWMODE != OFlags::RDONLY {
        file = reopened(&file).map_err(|error| unusable(format!("is open for writing: {error}")))?;
    }
    file.rewind().map_err(|error| unusable(format!("can't be read: {error}")))?;
    Ok(file)
}

/// The same file, open for reading only; it may have no name any more.
#[cfg(target_os = "linux")]
fn reopened(file: &File) -> std::io::Result<File> {
    use std::os::fd::AsRawFd;
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(not(target_os = "linux"))]
fn reopened(_file: &File) -> std::io::Result<File> {
    Err(std::io::Error::other("open it for reading only"))
}

fn check_output(output: &File) -> Result<(), AnalysisFailure> {
    match output.metadata() {
        Ok(metadata) if metadata.is_file() && metadata.len() == 0 => Ok(()),
        Ok(_) => Err(refused("the output isn't an empty file".to_owned(), "open a new one")),
        Err(error) => Err(refused(format!("can't use the output file: {error}"), "open a new one")),
    }
}

fn refused(message: String, hint: &str) -> AnalysisFailure {
    AnalysisFailure::new(Code::BadRequest, format!("{message}; nothing ran"), hint)
}

#[cfg(test)]
mod tests {
    use gristmill_domain::Level;
    use gristmill_protocol::{FRAME_HEADER_BYTES, decode_body};

    use super::*;
    use crate::analysis::unlinked_file_in;

    fn inline(name: &str, format: Option<&str>, text: &str) -> AnalysisInput {
        AnalysisInput {
            name: name.to_owned(),
            format: format.map(str::to_owned),
            data: AnalysisData::Inline(text.to_owned()),
        }
    }

    fn prepared(inputs: Vec<AnalysisInput>) -> Result<Job, AnalysisFailure> {
        let folder = gristmill_testkit::TestFolder::new("job");
        let output = unlinked_file_in(folder.path()).unwrap();
        let request = r#"{"steps":[]}"#.to_owned();
        let defaults = Limits::of(Level::Production);
        prepare(AnalysisRequest { request, inputs, limits: None, output }, &defaults)
    }

    fn refusal(inputs: Vec<AnalysisInput>) -> String {
        let failure = prepared(inputs).err().expect("a refusal");
        assert_eq!(failure.code, Code::BadRequest);
        failure.message
    }

    #[test]
    fn a_job_holds_what_was_asked_and_the_limits() {
        let job = prepared(vec![inline("data", Some("json"), "[1]")]).unwrap();
        let sent: ToWorker = decode_body(&job.frame[FRAME_HEADER_BYTES..]).unwrap();
        let ToWorker::Analyze(sent) = sent else { panic!("{sent:?}") };
        assert_eq!(sent.inputs[0].inline.as_deref(), Some("[1]"));
        assert_eq!(sent.limits.cpu_ms, 5_000);
        assert!(job.files.is_empty());
    }

    #[test]
    fn what_cannot_be_taken_is_refused_before_a_worker_sees_it() {
        assert!(refusal(Vec::new()).contains("takes 1 to 4"));
        let many = (0..5).map(|n| inline(&n.to_string(), None, "[]")).collect();
        assert!(refusal(many).contains("5 inputs"));
        assert!(refusal(vec![inline("data", None, &"[".repeat(101))]).contains("nested deeper"));
        let half = format!("\"{}\"", "x".repeat(CALL_PAYLOAD_BYTES_MAX / 2));
        let two = vec![inline("a", None, &half), inline("b", None, &half)];
        assert!(refusal(two).contains("`b`: inline data is limited to 16 MB"));
    }

    #[test]
    fn data_that_cannot_fit_into_memory_is_refused_before_it_is_read() {
        let folder = gristmill_testkit::TestFolder::new("large");
        let path = folder.path().join("large.csv");
        File::create(&path).unwrap().set_len(600 << 20).unwrap();
        let data = AnalysisData::File(File::open(&path).unwrap());
        let failure = prepared(vec![AnalysisInput { name: "data".to_owned(), format: None, data }]).err();
        let failure = failure.expect("a refusal");
        assert_eq!(failure.code, Code::Memory);
        assert!(failure.message.contains("600 MB") && failure.message.contains("512 MB"), "{failure}");
    }

    #[test]
    fn no_input_can_be_written_through_and_each_is_a_plain_file() {
        let folder = gristmill_testkit::TestFolder::new("inputs");
        let with = |file: File| AnalysisInput {
            name: "data".to_owned(),
            format: None,
            data: AnalysisData::File(file),
        };
        let writable = unlinked_file_in(folder.path()).unwrap();
        if cfg!(target_os = "linux") {
            let job = prepared(vec![with(writable)]).unwrap();
            assert_eq!(fcntl_getfl(&job.files[0]).unwrap() & OFlags::RWMODE, OFlags::RDONLY);
        }
        assert!(refusal(vec![with(File::open(folder.path()).unwrap())]).contains("is none"));
    }
}
