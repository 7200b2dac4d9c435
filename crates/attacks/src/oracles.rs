//! What would notice on the host that something got through.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use gristmill_gateway::Report;

/// What the system keeps of a program's name.
const PROCESS_NAME_BYTES: usize = 15;

/// All texts that came back of a program.
pub(crate) fn texts_of(report: &Report) -> Vec<String> {
    let mut texts = vec![report.stdout.clone(), report.stderr.clone()];
    texts.extend(report.result.as_ref().map(|result| match result {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    }));
    texts.extend(report.error.as_ref().map(|error| format!("{error:?}")));
    texts.extend(report.notes.iter().cloned());
    texts
}

/// Where any of these words came back, if one did.
pub(crate) fn came_back(texts: &[String], words: &[&str]) -> Option<String> {
    words.iter().find_map(|word| {
        let place = texts.iter().find(|text| text.contains(word))?;
        Some(format!("`{word}` came back in: {}", place.chars().take(600).collect::<String>()))
    })
}

/// A connection that reached the listener.
pub(crate) fn connected(listener: &TcpListener) -> Option<String> {
    listener.accept().ok().map(|(_, from)| format!("a connection reached the listener, from {from}"))
}

/// A file with this nonce in one of the folders that attacks aim at, whatever a program says about them: a path
/// that exists here may name one of the program's own folders there.
pub(crate) fn appeared(folders: &[&Path], nonce: &str) -> Option<String> {
    let marks = [format!("guest-{nonce}"), format!("planted-{nonce}")];
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
    for entry in entries {
        let name = entry.file_name();
        if marks.iter().any(|mark| name.to_string_lossy().starts_with(mark)) {
            return Some(format!("{} appeared on the host", entry.path().display()));
        }
    }
    None
}

/// A process below this one that runs another program than us and our workers. None where processes can't be
/// looked at.
pub(crate) fn foreign_process(worker_name: &str) -> Option<String> {
    let us = std::process::id();
    let all: Vec<Process> =
        fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| process(&entry)).collect();
    let mut below = BTreeSet::from([us]);
    // As often as there are generations.
    loop {
        let before = below.len();
        for process in &all {
            if below.contains(&process.parent) {
                below.insert(process.id);
            }
        }
        if below.len() == before {
            break;
        }
    }
    // Between its fork and its program a child has the name of one of our threads, and runs what we run.
    let own_program = program_of(us);
    let is_ours = |process: &Process| {
        process.id == us
            || process.name == worker_name
            || own_program.is_some() && program_of(process.id) == own_program
    };
    let foreign = all.iter().find(|process| below.contains(&process.id) && !is_ours(process))?;
    Some(format!("process {} runs `{}`", foreign.id, foreign.name))
}

/// The file that a process runs, if we may know.
fn program_of(process: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/exe")).ok()
}

/// A program's name as the system keeps it.
pub(crate) fn process_name(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let bytes = name.as_bytes();
    String::from_utf8_lossy(&bytes[..bytes.len().min(PROCESS_NAME_BYTES)]).into_owned()
}

struct Process {
    id: u32,
    parent: u32,
    name: String,
}

fn process(entry: &fs::DirEntry) -> Option<Process> {
    let id = entry.file_name().to_str()?.parse().ok()?;
    let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
    let (before, after) = stat.rsplit_once(") ")?;
    let name = before.split_once('(')?.1.to_owned();
    let mut words = after.split(' ');
    let is_dead = words.next()? == "Z";
    let parent = words.next()?.parse().ok()?;
    (!is_dead).then_some(Process { id, parent, name })
}

/// The memory that this process has, in bytes. None where that can't be told.
pub(crate) fn own_memory() -> Option<u64> {
    let statm = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}
