//! `.env` files: read, added to, and removed from.

use std::path::Path;

use gristmill_config::{edit_env, env_file};

use crate::target::{Reached, Target, about};

pub const TARGET: Target = Target {
    name: "env_file",
    promise: "what is added to a file reads back and changes nothing else; what is removed is gone and nothing else is",
    run,
    dictionary: &[
        b"export ",
        b"=",
        b"'",
        b"\"",
        b" #",
        b"\n",
        b"\r\n",
        b"\\n",
        b"${HOME}",
        b"NEW=",
        b"`",
        b"\xef\xbb\xbf",
    ],
    bytes_max: 1024,
};

const NEW: &str = "NEW";

fn run(bytes: &[u8]) -> Reached {
    let Ok(text) = std::str::from_utf8(bytes) else { return Reached::of(0) };
    let parse = |text: &str| env_file::parse(text, Path::new(".env"));
    let (before, problems) = parse(text);
    let problems = problems.into_vec();
    for problem in &problems {
        let lines = text.lines().count().max(1);
        assert!(problem.place.line.is_none_or(|line| (1..=lines).contains(&line)), "{problem:?}");
    }
    // The text is also a value: anything may be one.
    let added = edit_env::add("OLD='kept'\n", &[(NEW, text)]);
    if let Some(added) = &added {
        let (read, _) = parse(added);
        assert_eq!((read.get("OLD"), read.get(NEW)), (Some("kept"), Some(text)), "{added}");
    }
    assert!(
        added.is_some() || text.contains('\0') || text.len() > 900,
        "a value that can't be added: {text:?}"
    );
    let beside = edit_env::add(text, &[(NEW, "1")]);
    if let Some(beside) = &beside {
        let (read, _) = parse(beside);
        assert!(beside.starts_with(text), "what was there stays");
        assert_eq!(read.get(NEW), Some("1"));
        assert!(before.names().all(|name| name == NEW || read.get(name) == before.get(name)));
    }
    let removed = edit_env::remove(text, &[NEW]);
    if let Some(removed) = &removed {
        let (read, _) = parse(removed);
        assert_eq!(read.get(NEW), None);
        assert!(before.names().all(|name| name == NEW || read.get(name) == before.get(name)));
    }
    let places = (about(before.names().count()), problems.len().min(4), added.is_some());
    Reached::of((places, beside.is_some(), removed.is_some(), before.get(NEW).is_some()))
}
