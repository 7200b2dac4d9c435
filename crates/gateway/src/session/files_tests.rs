//! Attacks on the files of a workspace, each by its name, and what works.

use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gristmill_domain::Level;
use gristmill_testkit::TestFolder;

use super::*;
use crate::session::listing::FileKind;

const SECRET: &str = "the secret";

/// A workspace, and beside it what nobody may touch.
struct World {
    folder: TestFolder,
    files: WorkspaceFiles,
}

impl World {
    fn new() -> Self {
        Self::with(Limits::of(Level::Production))
    }

    fn with(limits: Limits) -> Self {
        let folder = TestFolder::new("files");
        let open = |name: &str| {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            OwnedFd::from(File::open(folder.path().join(name)).unwrap())
        };
        let files = WorkspaceFiles::new(open("workspace"), open("incoming"), limits);
        std::fs::create_dir(folder.path().join("outside")).unwrap();
        std::fs::write(folder.path().join("outside/secret"), SECRET).unwrap();
        Self { folder, files }
    }

    fn inside(&self, path: &str) -> PathBuf {
        self.folder.path().join("workspace").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.folder.path().join("outside").join(path)
    }

    fn text(&self, path: &str) -> Result<String, FileError> {
        self.files.read(path, 0, READ_BYTES_MAX, Encoding::Text).map(|part| part.content.into_text())
    }

    fn listed(&self, pattern: Option<&str>) -> Vec<String> {
        let listing = self.files.list(pattern, 1_000).unwrap();
        listing.files.into_iter().map(|file| file.path).collect()
    }

    /// Nothing outside has changed, and nothing half-written is left.
    fn is_untouched(&self) {
        let there: Vec<_> = std::fs::read_dir(self.folder.path().join("outside")).unwrap().collect();
        assert_eq!(there.len(), 1);
        assert_eq!(std::fs::read_to_string(self.outside("secret")).unwrap(), SECRET);
        assert_eq!(std::fs::read_dir(self.folder.path().join("incoming")).unwrap().count(), 0);
    }
}

#[test]
fn what_was_written_is_read_replaced_listed_and_removed() {
    let world = World::new();
    assert_eq!(world.files.write("data/a.txt", b"one").unwrap(), FileWritten { size: 3, replaced: false });
    assert_eq!(world.files.write("data/a.txt", b"two!").unwrap(), FileWritten { size: 4, replaced: true });
    assert_eq!(world.text("/workspace/data/a.txt").unwrap(), "two!");
    world.files.write("b.bin", &[0, 255]).unwrap();
    assert_eq!(world.listed(None), ["b.bin", "data/a.txt"]);
    assert_eq!(world.listed(Some("**/*.txt")), ["data/a.txt"]);
    world.files.remove("data/a.txt").unwrap();
    assert_eq!(world.listed(None), ["b.bin", "data"]);
    world.files.remove("data").unwrap();
    assert_eq!(world.files.remove("data"), Err(FileError::Missing { path: "data".to_owned() }));
    assert_eq!(world.text("data/a.txt"), Err(FileError::Missing { path: "data/a.txt".to_owned() }));
    assert!(matches!(world.files.write("b.bin/x", b""), Err(FileError::NotFolder { .. })));
    world.is_untouched();
}

#[test]
fn a_text_is_read_in_parts_that_end_between_characters() {
    let world = World::new();
    let text = "z\u{17c}\u{1f33e}".repeat(1_000);
    world.files.write("a", text.as_bytes()).unwrap();
    let (mut found, mut offset) = (String::new(), 0);
    loop {
        let part = world.files.read("a", offset, 100, Encoding::Text).unwrap();
        assert_eq!(part.size, 7_000);
        found.push_str(&part.content.into_text());
        match part.next_offset {
            Some(next) => offset = next,
            None => break,
        }
    }
    assert_eq!(found, text);
    let beyond = world.files.read("a", 1 << 40, 100, Encoding::Text).unwrap();
    assert_eq!(beyond, ReadPart { content: Content::Text(String::new()), next_offset: None, size: 7_000 });
    assert!(matches!(world.files.read("a", 2, 100, Encoding::Text), Err(FileError::NotText { at: 2, .. })));
}

#[test]
fn bytes_that_are_no_text_are_read_as_base64() {
    let world = World::new();
    world.files.write("a", &[b'a', 0xff, 0]).unwrap();
    let refused = world.text("a").unwrap_err();
    assert_eq!(refused, FileError::NotText { path: "a".to_owned(), at: 1 });
    let part = world.files.read("a", 0, 10, Encoding::Base64).unwrap();
    assert_eq!(part.content.into_text(), "Yf8A");
    assert_eq!(Encoding::Base64.decode("Yf8A\n".to_owned()), Ok(vec![b'a', 0xff, 0]));
    assert!(matches!(Encoding::Base64.decode("?".to_owned()), Err(FileError::NotBase64 { .. })));
    // A character that is cut off at the very end is no text either.
    world.files.write("b", &"\u{1f33e}".as_bytes()[..2]).unwrap();
    assert!(matches!(world.text("b"), Err(FileError::NotText { .. })));
}

#[test]
fn a_symlink_to_outside_is_neither_read_nor_written_through() {
    let world = World::new();
    symlink(world.outside("secret"), world.inside("absolute")).unwrap();
    symlink("../outside/secret", world.inside("relative")).unwrap();
    symlink("/proc/self/environ", world.inside("magic")).unwrap();
    symlink("nowhere", world.inside("dangling")).unwrap();
    for path in ["absolute", "relative", "magic", "dangling"] {
        assert!(matches!(world.text(path), Err(FileError::Link { .. })), "{path}: {:?}", world.text(path));
        assert!(matches!(world.files.write(path, b"x"), Err(FileError::Link { .. })), "{path}");
    }
    let listing = world.files.list(None, 10).unwrap();
    assert!(listing.files.iter().all(|file| file.kind == FileKind::Other && file.size == 0), "{listing:?}");
    world.files.remove("absolute").unwrap();
    world.is_untouched();
}

#[test]
fn a_symlinked_folder_in_the_middle_leads_nowhere() {
    let world = World::new();
    symlink("../outside", world.inside("folder")).unwrap();
    std::fs::create_dir(world.inside("real")).unwrap();
    symlink("../../outside", world.inside("real/below")).unwrap();
    for path in ["folder/secret", "real/below/secret"] {
        let refused =
            |error: &FileError| matches!(error, FileError::Link { .. } | FileError::NotFolder { .. });
        assert!(world.text(path).is_err_and(|error| refused(&error)), "{path}");
        assert!(world.files.write(path, b"x").is_err_and(|error| refused(&error)), "{path}");
        assert!(world.files.remove(path).is_err_and(|error| refused(&error)), "{path}");
    }
    assert_eq!(world.listed(None), ["folder", "real/below"], "and is not listed through");
    world.is_untouched();
}

#[test]
fn a_hard_link_to_a_secret_is_neither_read_nor_replaced() {
    let world = World::new();
    std::fs::hard_link(world.outside("secret"), world.inside("mine")).unwrap();
    assert_eq!(world.text("mine"), Err(FileError::Link { path: "mine".to_owned() }));
    assert_eq!(world.files.write("mine", b"x"), Err(FileError::Link { path: "mine".to_owned() }));
    assert_eq!(world.files.list(None, 10).unwrap().files[0].kind, FileKind::Other);
    world.is_untouched();
}

#[test]
fn a_pipe_that_nobody_writes_to_holds_nobody_up() {
    let world = World::new();
    let pipe = rustix::fs::CWD;
    rustix::fs::mknodat(pipe, world.inside("pipe"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let began = Instant::now();
    assert_eq!(world.text("pipe"), Err(FileError::Special { path: "pipe".to_owned() }));
    assert_eq!(world.files.write("pipe", b"x"), Err(FileError::Special { path: "pipe".to_owned() }));
    let _socket = std::os::unix::net::UnixListener::bind(world.inside("socket")).unwrap();
    assert_eq!(world.text("socket"), Err(FileError::Special { path: "socket".to_owned() }));
    assert!(began.elapsed() < Duration::from_secs(5));
    std::fs::create_dir(world.inside("folder")).unwrap();
    assert_eq!(world.text("folder"), Err(FileError::IsFolder { path: "folder".to_owned() }));
    assert_eq!(world.files.write("folder", b""), Err(FileError::IsFolder { path: "folder".to_owned() }));
    world.is_untouched();
}

/// A folder that is swapped with a link to outside again and again, while we read and write.
#[test]
fn a_rename_race_never_reaches_outside() {
    let world = World::new();
    std::fs::create_dir(world.inside("folder")).unwrap();
    std::fs::write(world.inside("folder/secret"), "mine").unwrap();
    symlink("../outside", world.inside("link")).unwrap();
    let (stop, swaps) = (AtomicBool::new(false), std::sync::atomic::AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, link) = (world.inside("folder"), world.inside("link"));
            let (here, swap) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(here, &folder, here, &link, swap).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        let began = Instant::now();
        let (mut reads, mut writes) = (0, 0);
        // On a busy machine the other thread may hardly get to run.
        let is_enough = || began.elapsed() > Duration::from_secs(1) && swaps.load(Ordering::Relaxed) > 100;
        while !is_enough() && began.elapsed() < Duration::from_secs(60) {
            if let Ok(text) = world.text("folder/secret") {
                assert_ne!(text, SECRET);
                reads += 1;
            }
            writes += usize::from(world.files.write("folder/secret", b"mine").is_ok());
            writes += usize::from(world.files.write("folder/new", b"x").is_ok());
            drop(world.files.remove("folder/new"));
            let listing = world.files.list(Some("folder/*"), 10).unwrap();
            assert!(listing.files.iter().all(|file| file.size != SECRET.len() as u64), "{listing:?}");
        }
        stop.store(true, Ordering::Relaxed);
        let swaps = swaps.load(Ordering::Relaxed);
        assert!(reads > 0 && writes > 0 && swaps > 100, "{reads} reads, {writes} writes, {swaps} swaps");
    });
    world.is_untouched();
}

/// A program that replaces its files and removes folders is no reason to refuse a file.
#[test]
fn every_file_is_written_though_others_come_and_go() {
    let world = World::new();
    let (stop, rounds) = (AtomicBool::new(false), std::sync::atomic::AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let paths = ["file.new", "file", "notes", "notes/below"].map(|path| world.inside(path));
            let [new, file, notes, below] = &paths;
            while !stop.load(Ordering::Relaxed) {
                std::fs::write(new, "x").unwrap();
                std::fs::rename(new, file).unwrap();
                // Whatever is in the way by now, or not there any more.
                let _ = std::fs::create_dir_all(below);
                let _ = std::fs::remove_dir_all(notes);
                rounds.fetch_add(1, Ordering::Relaxed);
            }
        });
        let began = Instant::now();
        let mut refused = Vec::new();
        let is_enough = || began.elapsed() > Duration::from_secs(1) && rounds.load(Ordering::Relaxed) > 100;
        while !is_enough() && began.elapsed() < Duration::from_secs(60) {
            refused.extend(world.files.write("notes/below/mine.txt", b"mine").err());
            refused.extend(world.files.write("mine.txt", b"mine").err());
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(refused, []);
        assert!(rounds.load(Ordering::Relaxed) > 100);
    });
    assert_eq!(world.text("mine.txt").unwrap(), "mine");
    world.is_untouched();
}

#[test]
fn names_that_look_alike_are_different_files() {
    let world = World::new();
    let names = ["\u{e9}", "e\u{301}", "A", "a", "\u{430}", "file\u{202e}txt.exe", "-rf", "a\nb"];
    for name in names {
        world.files.write(name, name.as_bytes()).unwrap();
    }
    for name in names {
        assert_eq!(world.text(name).unwrap(), name);
    }
    assert_eq!(world.listed(None).len(), names.len());
    // As it is shown, nothing is hidden in it.
    let shown = one_line("file\u{202e}txt.exe", 80);
    assert!(!shown.contains('\u{202e}') && shown.contains("202e"), "{shown}");
}

#[test]
fn paths_that_are_none_are_refused_by_all() {
    let world = World::new();
    let long = "n".repeat(5_000);
    let deep = "d/".repeat(100) + "f";
    for path in ["", "/", "/etc/passwd", "../outside/secret", "a/../../outside/secret", "a\0b", &long, &deep]
    {
        assert!(matches!(world.text(path), Err(FileError::BadPath { .. })), "{path:?}");
        assert!(matches!(world.files.write(path, b"x"), Err(FileError::BadPath { .. })), "{path:?}");
        assert!(matches!(world.files.remove(path), Err(FileError::BadPath { .. })), "{path:?}");
    }
    assert_eq!(world.listed(None), [""; 0]);
    assert_eq!(world.listed(Some("../**")), [""; 0]);
    assert_eq!(world.files.list(Some(&long), 10), Err(FileError::BadPattern));
    world.is_untouched();
}

#[test]
fn a_workspace_holds_no_more_than_its_session_may() {
    let mut limits = Limits::of(Level::Production);
    for (name, value) in
        [(LimitName::WorkspaceBytes, 100), (LimitName::WorkspaceFiles, 3), (LimitName::FileBytes, 90)]
    {
        limits.set(name, value).unwrap();
    }
    let world = World::with(limits);
    let refused = |path: &str, size: usize, name: &str| {
        let error = world.files.write(path, &vec![b'x'; size]).unwrap_err();
        assert!(matches!(&error, FileError::Limit(text) if text.contains(name)), "{path}: {error}");
    };
    refused("a", 91, "file_bytes");
    world.files.write("a", &[b'x'; 80]).unwrap();
    refused("b", 21, "workspace_bytes");
    // What takes the place of something counts in its place.
    world.files.write("a", &[b'y'; 90]).unwrap();
    refused("deep/er/b", 1, "workspace_files");
    world.files.write("deep/b", b"x").unwrap();
    refused("c", 1, "workspace_files");
    assert_eq!(world.listed(None), ["a", "deep/b"]);
    world.is_untouched();
}

#[test]
fn a_listing_of_thousands_is_cut_and_counted() {
    let world = World::new();
    for number in 0..1_200 {
        std::fs::write(world.inside(&format!("{number:04}")), "").unwrap();
    }
    let listing = world.files.list(Some("0*"), 100).unwrap();
    assert_eq!((listing.files.len(), listing.total, listing.is_cut), (100, 1_000, false));
    let mut deep = world.inside("deep");
    for _ in 0..100 {
        std::fs::create_dir(&deep).unwrap();
        deep.push("d");
    }
    let listing = world.files.list(Some("deep/**"), 100).unwrap();
    assert_eq!((listing.total, listing.is_cut), (0, true));
}

#[test]
fn only_their_owner_reads_what_is_written() {
    let world = World::new();
    world.files.write("folder/a", b"x").unwrap();
    let mode = |path: &str| world.inside(path).metadata().unwrap().mode() & 0o777;
    assert_eq!((mode("folder"), mode("folder/a")), (0o700, 0o600));
}
