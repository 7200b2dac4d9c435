//! Which pages a run touches, found out once, so that every child can have them ready before
//! anyone waits.
//!
//! After a fork, a child shares all memory with the zygote; each page that it writes is copied at
//! that moment, and each page of code that it runs must be mapped. One program touches several
//! hundred, which costs more than the program. So the zygote forks one child as a probe, lets it
//! run a typical program, and reads from the kernel which pages became its own; every child after
//! that asks for exactly those, in a few calls, while it is still waiting.
//!
//! Where the kernel does not tell, children run the guest's warm-up instead.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;

use gristmill_protocol::Program;

use crate::engine::fork_interpreter;
use crate::engine::{EngineError, Interpreter};
use crate::fork::{Forked, exit_now};

const PAGE_BYTES: u64 = 4096;

/// More runs than this are not worth their calls.
const RUNS_MAX: usize = 4096;

/// A run of pages that a program is known to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PageRun {
    start: u64,
    bytes: u64,
    written: bool,
}

pub struct PageWarming {
    runs: Vec<PageRun>,
}

impl PageWarming {
    /// Finds the pages that `sample` touches, with a child of this process as probe.
    pub fn probe(interpreter: &mut dyn Interpreter, sample: &Program) -> Self {
        let runs = probe(interpreter, sample).unwrap_or_default();
        Self { runs }
    }

    /// Readies this child: its pages where they are known, the guest's own warm-up elsewhere.
    pub fn warm(&self, interpreter: &mut dyn Interpreter) -> Result<(), EngineError> {
        if self.runs.is_empty() {
            return interpreter.warm();
        }
        for run in &self.runs {
            populate(*run);
        }
        Ok(())
    }
}

fn probe(interpreter: &mut dyn Interpreter, sample: &Program) -> io::Result<Vec<PageRun>> {
    let (mut read, mut write) = io::pipe()?;
    match fork_interpreter(interpreter)? {
        Forked::Child => {
            drop(read);
            let touched = interpreter.ready().is_ok() && interpreter.run(sample).is_ok();
            let sent = match touched {
                true => find_touched().and_then(|runs| write.write_all(&encode(&runs))),
                false => Ok(()),
            };
            exit_now(i32::from(sent.is_err()));
        }
        Forked::Parent(pid) => {
            drop(write);
            let mut bytes = Vec::new();
            let received = read.read_to_end(&mut bytes);
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::empty());
            received?;
            Ok(decode(&bytes))
        }
    }
}

/// Every page of this process that is its own or, for code, mapped.
fn find_touched() -> io::Result<Vec<PageRun>> {
    /// Bits of an entry in `pagemap`.
    const PRESENT: u64 = 1 << 63;
    const FILE_OR_SHARED: u64 = 1 << 61;
    const EXCLUSIVE: u64 = 1 << 56;
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let pagemap = File::open("/proc/self/pagemap")?;
    let mut runs = Vec::new();
    for (start, end, written) in maps.lines().filter_map(mapping) {
        let mut entries = vec![0u8; ((end - start) / PAGE_BYTES * 8) as usize];
        if pagemap.read_exact_at(&mut entries, start / PAGE_BYTES * 8).is_err() {
            continue;
        }
        let pages = entries.as_chunks::<8>().0.iter().map(|entry| u64::from_ne_bytes(*entry));
        let touched = pages.map(|entry| match written {
            true => entry & PRESENT != 0 && entry & EXCLUSIVE != 0 && entry & FILE_OR_SHARED == 0,
            false => entry & PRESENT != 0,
        });
        join(start, touched, written, &mut runs);
    }
    Ok(if runs.len() > RUNS_MAX { Vec::new() } else { runs })
}

/// Start, end, and whether it is written to (or else code and constants). Other mappings are of no interest.
fn mapping(line: &str) -> Option<(u64, u64, bool)> {
    let mut words = line.split(' ');
    let (start, end) = words.next()?.split_once('-')?;
    let written = match words.next()? {
        "rw-p" => true,
        "r-xp" | "r--p" => false,
        _ => return None,
    };
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    // The vDSO and its like lie above what madvise takes.
    (end <= 1 << 47 && !line.ends_with(']') || line.ends_with("[heap]") || line.ends_with("[stack]"))
        .then_some((start, end, written))
}

fn join(start: u64, touched: impl Iterator<Item = bool>, written: bool, runs: &mut Vec<PageRun>) {
    let first = runs.len();
    for (index, touched) in (0u64..).zip(touched) {
        if !touched {
            continue;
        }
        let at = start + index * PAGE_BYTES;
        match runs[first..].last_mut() {
            Some(run) if at == run.start + run.bytes => run.bytes += PAGE_BYTES,
            Some(_) | None => runs.push(PageRun { start: at, bytes: PAGE_BYTES, written }),
        }
    }
}

fn encode(runs: &[PageRun]) -> Vec<u8> {
    runs.iter()
        .flat_map(|run| [run.start, run.bytes, u64::from(run.written)])
        .flat_map(u64::to_ne_bytes)
        .collect()
}

fn decode(bytes: &[u8]) -> Vec<PageRun> {
    let numbers: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    let triples = numbers.as_chunks::<3>().0;
    triples
        .iter()
        .map(|[start, bytes, written]| PageRun { start: *start, bytes: *bytes, written: *written == 1 })
        .collect()
}

#[cfg(target_os = "linux")]
fn populate(run: PageRun) {
    let advice = if run.written { libc::MADV_POPULATE_WRITE } else { libc::MADV_POPULATE_READ };
    // SAFETY: neither advice changes what the memory holds; where it is not mapped or the kernel
    // is too old, the call fails and nothing happens.
    unsafe {
        libc::madvise(run.start as *mut libc::c_void, run.bytes as usize, advice);
    }
}

/// No probe succeeds there, so there is nothing to ask for.
#[cfg(not(target_os = "linux"))]
fn populate(_run: PageRun) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighboring_pages_are_asked_for_together() {
        let touched = [true, true, false, true, false, false, true, true, true];
        let mut runs = Vec::new();
        join(0x10000, touched.into_iter(), true, &mut runs);
        let run = |start, pages| PageRun { start, bytes: pages * PAGE_BYTES, written: true };
        assert_eq!(runs, [run(0x10000, 2), run(0x13000, 1), run(0x16000, 3)]);
        assert_eq!(decode(&encode(&runs)), runs);
    }

    #[test]
    fn only_data_and_code_are_of_interest() {
        assert_eq!(mapping("1000-3000 rw-p 00000000 00:00 0 "), Some((0x1000, 0x3000, true)));
        assert_eq!(mapping("1000-3000 r-xp 00000000 08:01 7 /x.cwasm"), Some((0x1000, 0x3000, false)));
        assert_eq!(mapping("1000-3000 ---p 00000000 00:00 0 "), None);
        assert_eq!(mapping("1000-3000 r-xp 00000000 00:00 0 [vdso]"), None);
    }
}
