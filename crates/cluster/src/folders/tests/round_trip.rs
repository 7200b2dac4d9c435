//! A folder arrives as it was sent.

use std::fs;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use rustix::fs::{FileType, Mode, OFlags};

use super::*;
use crate::folders::{Packed, Spool, pack_files, tree_hash, unlinked_file};

#[test]
fn names_of_any_bytes_and_empty_folders_arrive_as_they_were() {
    let world = World::new("names");
    let longest = "n".repeat(255);
    let names: [&[u8]; 14] = [
        b"a",
        b"a-",
        b"a.b",
        b"-rf",
        b".hidden",
        b"a\nb",
        b" ",
        b"\xff\xfe not text",
        "\u{17c}\u{f3}\u{142}\u{107} \u{1f980}".as_bytes(),
        "e\u{301}".as_bytes(),
        "\u{e9}".as_bytes(),
        b"...",
        b"A",
        longest.as_bytes(),
    ];
    world.folder("from/empty/er");
    for (number, name) in names.iter().enumerate() {
        let mut path = b"from/".to_vec();
        path.extend_from_slice(name);
        world.write(os(&path), format!("content {number}"));
        let mut below = b"from/folder/".to_vec();
        below.extend_from_slice(name);
        world.write(os(&[&below[..], b"/below"].concat()), "");
    }
    let noted = world.carry("from", "to");
    assert_eq!(world.tree("to"), world.tree("from"));
    assert_eq!(world.tree("to").len(), 2 + 1 + 3 * names.len());
    assert_eq!(noted, snapshot(world.open("to").as_fd(), BOUNDS).expect("a snapshot"));
}

#[test]
fn times_are_kept_to_the_second_and_modes_are_the_owners_alone() {
    let world = World::new("times");
    world.write("from/old", "x");
    world.write("from/folder/run.sh", "#!/bin/sh");
    for (seconds, kept) in [(1_234_567_890, 1_234_567_890), (0, 0), (253_402_300_799, 253_402_300_799)] {
        world.set_modified("from/old", seconds);
        fs::set_permissions(world.at("from/folder/run.sh"), fs::Permissions::from_mode(0o777))
            .expect("a mode");
        let to = format!("to-{seconds}");
        world.carry("from", &to);
        let metadata = |path: &str| fs::metadata(world.at(format!("{to}/{path}"))).expect("it is there");
        let (sent, arrived) = (fs::metadata(world.at("from/old")).expect("a file"), metadata("old"));
        assert_eq!(arrived.mtime(), kept.min(sent.mtime()));
        assert_eq!(metadata("folder/run.sh").mode() & 0o7777, 0o600);
        assert_eq!(metadata("folder").mode() & 0o7777, 0o700);
    }
}

#[test]
fn links_pipes_sockets_and_devices_are_left_out_and_counted() {
    let world = World::new("kinds");
    world.write("from/file", "1234567");
    world.write("secret", "secret");
    symlink("../secret", world.at("from/link")).expect("a link");
    symlink("nowhere", world.at("from/dangling")).expect("a link");
    symlink("..", world.at("from/up")).expect("a link");
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, world.at("from/pipe"), FileType::Fifo, mode, 0).expect("a pipe");
    let _socket = UnixListener::bind(world.at("from/socket")).expect("a socket");
    fs::hard_link(world.at("from/file"), world.at("from/second name")).expect("a second name");
    let (packed, archive) = pack(world.open("from").as_fd(), BOUNDS, Vec::new()).expect("packed");
    assert_eq!(packed, Packed { files: 2, folders: 0, bytes: 14, left_out: 5 });
    unpack(world.folder("to").as_fd(), archive.as_slice(), BOUNDS).expect("unpacked");
    assert_eq!(world.names("to"), ["file", "second name"]);
    assert_eq!(fs::metadata(world.at("to/file")).expect("a file").nlink(), 1);
}

#[test]
fn a_large_file_goes_through_a_file_without_a_name() {
    let world = World::new("large");
    // What doesn't get smaller.
    let mut large = vec![0; 5_000_000];
    blake3::Hasher::new().finalize_xof().fill(&mut large);
    world.write("from/large", &large);
    world.write("from/zeros", vec![0; 3_000_000]);
    let spool = Spool::new(100_000, || unlinked_file(world.folder("scratch").as_fd()));
    let (packed, spool) = pack(world.open("from").as_fd(), BOUNDS, spool).expect("packed");
    let spooled = spool.finish().expect("it can be read");
    assert!(!spooled.is_in_memory() && spooled.total_bytes() < 5_100_000, "{spooled:?}");
    let unpacked = unpack(world.folder("to").as_fd(), spooled, BOUNDS).expect("unpacked");
    assert_eq!((unpacked.bytes, unpacked.entries), (packed.bytes, 2));
    assert!(fs::read(world.at("to/large")).expect("a file") == large);
    assert_eq!(world.names("scratch"), [""; 0]);
}

#[test]
fn an_empty_folder_is_a_few_bytes() {
    let world = World::new("empty");
    world.folder("from");
    let (packed, archive) = pack(world.open("from").as_fd(), BOUNDS, Vec::new()).expect("packed");
    assert_eq!(packed, Packed::default());
    assert!(archive.len() < 64, "{}", archive.len());
    let unpacked = unpack(world.folder("to").as_fd(), archive.as_slice(), BOUNDS).expect("unpacked");
    assert_eq!((unpacked.entries, unpacked.snapshot), (0, Snapshot::empty()));
}

/// A file that somebody writes to while it is packed. `on_write` is called when the archive is first written out.
struct Meddling<F: FnMut()> {
    archive: Vec<u8>,
    on_write: F,
}

impl<F: FnMut()> Write for Meddling<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.on_write)();
        self.archive.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_that_grows_or_shrinks_while_it_is_packed_is_cut_where_it_ends() {
    let noise = |count: usize| {
        let mut bytes = vec![0; count];
        blake3::Hasher::new().finalize_xof().fill(&mut bytes);
        bytes
    };
    for is_growing in [true, false] {
        let world = World::new("meddling");
        world.write("from/file", noise(3_000_000));
        world.write("from/z", "behind it");
        let path = world.at("from/file");
        let on_write = || {
            let file = fs::OpenOptions::new().write(true).open(&path).expect("a file");
            let length = file.metadata().expect("a length").len();
            file.set_len(if is_growing { length + 1_000_000 } else { 1_000_000 }).expect("a length");
        };
        let out = Meddling { archive: Vec::new(), on_write };
        let bounds = Bounds { bytes: 4_000_000, ..BOUNDS };
        let (packed, out) = pack(world.open("from").as_fd(), bounds, out).expect("packed");
        let unpacked = unpack(world.folder("to").as_fd(), out.archive.as_slice(), bounds).expect("unpacked");
        assert_eq!(packed.bytes, unpacked.bytes);
        let length = fs::metadata(world.at("to/file")).expect("a file").len();
        match is_growing {
            true => assert_eq!(length, 3_000_000),
            false => assert!((1_000_000..3_000_000).contains(&length), "{length}"),
        }
        assert_eq!(fs::read_to_string(world.at("to/z")).expect("a file"), "behind it");
    }
}

#[test]
fn a_folder_beyond_the_bounds_is_not_packed() {
    let world = World::new("bounds");
    world.write("from/a/b/c", [b'x'; 600]);
    world.write("from/d", [b'x'; 400]);
    let exact = Bounds { bytes: 1000, entries: 4, file_bytes: 600, depth: 2 };
    let packed =
        |bounds| pack(world.open("from").as_fd(), bounds, Vec::new()).map(|(packed, _)| packed.bytes);
    assert_eq!(packed(exact).expect("it fits"), 1000);
    let hashed = |bounds| tree_hash(world.open("from").as_fd(), bounds).map(drop);
    hashed(exact).expect("it fits");
    for (bounds, why) in [
        (Bounds { bytes: 999, ..exact }, "its files hold more than 999 bytes"),
        (Bounds { entries: 3, ..exact }, "it holds more than 3 files and folders"),
        (Bounds { file_bytes: 599, ..exact }, "a file in it holds more than 599 bytes"),
        (Bounds { depth: 1, ..exact }, "it has folders nested more than 1 levels deep"),
    ] {
        assert_eq!(packed(bounds).expect_err("too much").to_string(), why);
        assert_eq!(hashed(bounds).expect_err("too much").to_string(), why);
    }
    // It is refused for what it says, not read until the disk ends.
    fs::File::create(world.at("from/holes"))
        .and_then(|file| file.set_len(1 << 40))
        .expect("a file with holes");
    assert!(matches!(packed(BOUNDS), Err(FolderError::FileTooLarge { .. })));
}

#[test]
fn chosen_files_of_a_folder_that_cannot_be_listed_are_packed() {
    let world = World::new("chosen");
    for name in ["one.json", "two.txt", "other"] {
        world.write(format!("results/{name}"), name);
    }
    world.write("secret", "secret");
    symlink("../secret", world.at("results/link")).expect("a link");
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let results = rustix::fs::open(world.at("results"), flags, Mode::empty()).expect("a folder");
    let names = ["two.txt", "one.json", "one.json", "missing", "../secret", "link", ".", "", "a/b"];
    let (packed, archive) = pack_files(results.as_fd(), &names, BOUNDS, Vec::new()).expect("packed");
    assert_eq!((packed.files, packed.bytes), (2, 15));
    unpack(world.folder("to").as_fd(), archive.as_slice(), BOUNDS).expect("unpacked");
    assert_eq!(world.names("to"), ["one.json", "two.txt"]);
}

#[test]
fn a_writer_that_fails_is_told_of_and_one_that_reads_little_gets_all() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    struct OneByOne<'a>(&'a [u8]);
    impl Read for OneByOne<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(1);
            self.0.read(&mut buffer[..most])
        }
    }
    let world = World::new("line");
    world.write("from/a/file", "content");
    assert!(matches!(pack(world.open("from").as_fd(), BOUNDS, Full), Err(FolderError::Write(_))));
    let (_, archive) = pack(world.open("from").as_fd(), BOUNDS, Vec::new()).expect("packed");
    unpack(world.folder("to").as_fd(), OneByOne(&archive), BOUNDS).expect("unpacked");
    assert_eq!(world.tree("to"), world.tree("from"));
}
