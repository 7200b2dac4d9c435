//! Somebody renames, links and writes while we work.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;

const SECRET: &str = "the secret of somebody else";

/// Ends the other threads of a test, also when it fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Swaps a folder with a link to outside again and again, and makes again what was taken away.
fn swap_while(world: &World, mut work: impl FnMut()) {
    world.write("outside/secret", SECRET);
    world.write("inside/folder/secret", "mine");
    symlink("../outside", world.at("inside/link")).expect("a link");
    let (stop, swaps) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, link) = (world.at("inside/folder"), world.at("inside/link"));
            while !stop.load(Ordering::Relaxed) {
                if renameat_with(CWD, &folder, CWD, &link, RenameFlags::EXCHANGE).is_ok() {
                    swaps.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                let _ = symlink("../outside", &link);
                let _ = fs::create_dir(&folder);
            }
        });
        let _stop = Stop(&stop);
        let began = Instant::now();
        // On a busy machine the other thread may hardly get to run.
        let is_enough =
            || began.elapsed() > Duration::from_millis(700) && swaps.load(Ordering::Relaxed) > 100;
        while !is_enough() && began.elapsed() < Duration::from_secs(60) {
            work();
        }
    });
    assert!(swaps.load(Ordering::Relaxed) > 100);
    let outside = fs::read_to_string(world.at("outside/secret")).expect("it is there");
    assert_eq!((outside.as_str(), world.names("outside")), (SECRET, vec!["secret".to_owned()]));
}

#[test]
fn a_link_in_the_place_of_a_folder_never_leads_packing_outside() {
    let world = World::new("race-pack");
    let mut packed = 0;
    swap_while(&world, || {
        let (_, archive) = pack(world.open("inside").as_fd(), BOUNDS, Vec::new()).expect("packed");
        let (_, changed) =
            changes(world.open("inside").as_fd(), &Snapshot::empty(), BOUNDS, Vec::new()).expect("changes");
        for archive in [archive, changed] {
            let bytes = zstd::decode_all(archive.as_slice()).expect("an archive");
            let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
            assert!(!holds(SECRET));
            packed += usize::from(holds("mine"));
        }
    });
    assert!(packed > 0);
}

#[test]
fn a_link_in_the_place_of_a_folder_never_leads_changes_outside() {
    let world = World::new("race-apply");
    let archives = [
        Forged::new(Kind::Changes).folder("folder").file("new", b"x").file("secret", b"mine").up().done(),
        Forged::new(Kind::Changes).folder("folder").gone("new").gone("secret").folder("sub").up().up().done(),
        Forged::new(Kind::Changes).folder("folder").gone("sub").up().done(),
    ];
    let (mut applied, mut round) = (0, 0);
    swap_while(&world, || {
        let outcome = world.apply("inside", &archives[round % archives.len()], BOUNDS);
        applied += usize::from(outcome.is_ok());
        round += 1;
    });
    assert!(applied > 0, "{round} rounds");
}

/// Each file appears whole: with the old content or the new.
#[test]
fn whoever_reads_while_changes_are_applied_sees_whole_files() {
    let world = World::new("race-read");
    let content = |byte: u8| vec![byte; 50_000];
    world.write("workspace/folder/file", content(b'a'));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = std::collections::BTreeSet::new();
            while !stop.load(Ordering::Relaxed) {
                let bytes = fs::read(world.at("workspace/folder/file")).expect("it is always there");
                assert_eq!(bytes.len(), 50_000);
                assert!(bytes.iter().all(|byte| *byte == bytes[0]), "not a mix");
                seen.insert(bytes[0]);
            }
            seen
        });
        let stopping = Stop(&stop);
        let began = Instant::now();
        for round in 0_u8.. {
            let byte = b'a' + round % 2;
            let archive = content(byte);
            let forged = Forged::new(Kind::Changes).folder("folder").file("file", &archive).up().done();
            world.apply("workspace", &forged, BOUNDS).expect("applied");
            if round > 50 || began.elapsed() > Duration::from_secs(30) {
                break;
            }
        }
        drop(stopping);
        assert!(!reader.join().expect("whole files").is_empty());
    });
}

/// Files come, go and change while their folder is packed: every archive can be unpacked.
#[test]
fn a_folder_that_is_worked_in_gives_an_archive_all_the_same() {
    let world = World::new("race-work");
    world.write("inside/stays", "here");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut round = 0_usize;
            while !stop.load(Ordering::Relaxed) {
                let path = format!("inside/{}/{}", round % 7, round % 3);
                let _ = fs::create_dir_all(world.at(format!("inside/{}", round % 7)));
                let _ = fs::write(world.at(&path), vec![b'x'; (round * 997) % 100_000]);
                let _ = fs::remove_dir_all(world.at(format!("inside/{}", (round + 3) % 7)));
                round += 1;
            }
        });
        let _stop = Stop(&stop);
        let began = Instant::now();
        let mut before = Snapshot::empty();
        for round in 0.. {
            let (_, archive) = pack(world.open("inside").as_fd(), BOUNDS, Vec::new()).expect("packed");
            let to = format!("to-{round}");
            unpack(world.folder(&to).as_fd(), archive.as_slice(), BOUNDS).expect("unpacked");
            let (changed, archive) =
                changes(world.open("inside").as_fd(), &before, BOUNDS, Vec::new()).expect("changes");
            world.folder("copy");
            world.apply("copy", &archive, BOUNDS).expect("applied");
            let copied = snapshot(world.open("copy").as_fd(), BOUNDS).expect("a snapshot");
            assert!(copied == changed.snapshot, "the copy follows");
            before = changed.snapshot;
            gristmill_files::remove_tree(&world.at(&to)).expect("removed");
            if round > 40 || began.elapsed() > Duration::from_secs(30) {
                break;
            }
        }
    });
    assert_eq!(fs::read_to_string(world.at("copy/stays")).expect("a file"), "here");
}
