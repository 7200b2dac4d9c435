//! The blocks of README.md and docs/, as a reader uses them: every command is run, every program is run or
//! compiled, every configuration is read. What can't be tried here says so, with a reason, in a comment before
//! its block. The comments are described in `blocks.rs`.
//!
//! `UPDATE_EXPECTED=1` rewrites the output that the documents show.

mod blocks;
mod page;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use libtest_mimic::{Arguments, Failed, Trial};

/// How many blocks were treated in which way.
#[derive(Default)]
struct Counts {
    run: AtomicUsize,
    compiled: AtomicUsize,
    read: AtomicUsize,
    not_run: AtomicUsize,
}

impl Counts {
    fn add(&self, page: &page::Done) {
        self.run.fetch_add(page.run, Ordering::Relaxed);
        self.compiled.fetch_add(page.compiled, Ordering::Relaxed);
        self.read.fetch_add(page.read, Ordering::Relaxed);
        self.not_run.fetch_add(page.not_run, Ordering::Relaxed);
    }
}

fn main() {
    let arguments = Arguments::from_args();
    let repository =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository");
    let counts = Arc::new(Counts::default());
    let mut trials = vec![
        Trial::test(
            "a_block_that_cannot_be_tried_needs_a_reason",
            a_block_that_cannot_be_tried_needs_a_reason,
        ),
        Trial::test("output_is_compared_but_for_what_varies", output_is_compared_but_for_what_varies),
    ];
    for document in every_document(&repository) {
        let name = document.strip_prefix(&repository).unwrap_or(&document).display().to_string();
        let counts = Arc::clone(&counts);
        trials.push(Trial::test(format!("blocks::{name}"), move || {
            let done = page::check(&document)?;
            counts.add(&done);
            Ok(())
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let count = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    println!(
        "blocks: {} run, {} compiled, {} read, {} not run",
        count(&counts.run),
        count(&counts.compiled),
        count(&counts.read),
        count(&counts.not_run)
    );
    conclusion.exit();
}

/// README.md, and every page of docs/.
fn every_document(repository: &Path) -> Vec<PathBuf> {
    let mut found = vec![repository.join("README.md")];
    let mut folders = vec![repository.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if is_markdown(&path) => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    assert!(found.len() > 20, "only {} documents found", found.len());
    found
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

fn a_block_that_cannot_be_tried_needs_a_reason() -> Result<(), Failed> {
    let found = |text: &str| {
        blocks::find(text).map(|found| found.into_iter().map(|block| block.plan).collect::<Vec<_>>())
    };
    let check = |text: &str, expected: Result<Vec<blocks::Plan>, String>| match found(text) == expected {
        true => Ok(()),
        false => Err(Failed::from(format!("{text}\nis {:?}", found(text)))),
    };
    let not_run = |reason: &str| blocks::Plan::NotRun(reason.to_owned());
    check("```sh\nls\n```\n", Ok(vec![blocks::Plan::Shell]))?;
    check("<!-- not run: needs a browser -->\n```sh\nls\n```\n", Ok(vec![not_run("needs a browser")]))?;
    check("<!-- not run: -->\n```sh\nls\n```\n", Err("line 1: say why it isn't run".to_owned()))?;
    check("<!-- not rum: x -->\n```sh\nls\n```\n", Ok(vec![blocks::Plan::Shell]))?;
    check("```\ncargo test\n```\n", Ok(vec![not_run("builds Gristmill")]))?;
    check("```python a.py\n1\n```\n", Ok(vec![blocks::Plan::File("a.py".to_owned())]))?;
    check("```\n$ gristmill list\n```\n", Ok(vec![blocks::Plan::Console]))?;
    check("```\ngristmill list   every server\n```\n", Ok(Vec::new()))?;
    check("```sh\nls\n", Err("line 1: this block has no end".to_owned()))
}

fn output_is_compared_but_for_what_varies() -> Result<(), Failed> {
    let check = |shown: &str, printed: &str, expected: bool| match shown::fits(shown, printed) {
        found if found == expected => Ok(()),
        found => Err(Failed::from(format!("{shown}\n{printed}\n{found}"))),
    };
    check("a 12 ms\n", "a   9.5 ms\n", true)?;
    check("a 12 ms\n", "b 12 ms\n", false)?;
    check("took 12.5 ms, then 3 ms", "took 1.2 s, then 3 ms", true)?;
    check("12 tools", "13 tools", false)?;
    check("used 2026-11-16 07:45 UTC", "used 2027-01-02 23:59 UTC", true)?;
    check("one\n…\nlast", "one\ntwo\nthree\nlast\n", true)?;
    check("one\n…\nlast", "one\ntwo\n", false)?;
    check("a … z", "a b c z", true)?;
    check("a … z", "a b c", false)?;
    check("a", "a\nhint: b", true)?;
    check("a", "a\nb", false)
}
