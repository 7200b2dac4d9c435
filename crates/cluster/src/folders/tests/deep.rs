//! Folders inside each other, deeper than any stack.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use super::*;
use crate::folders::tree_hash;

/// Little enough that one frame for each level would not fit.
const STACK_BYTES: usize = 256 * 1024;

fn nest(world: &World, path: &str, levels: usize) {
    let mut at: OwnedFd = world.folder(path);
    for _ in 0..levels {
        rustix::fs::mkdirat(&at, "d", Mode::RWXU).expect("a folder");
        at = rustix::fs::openat(&at, "d", OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())
            .expect("a folder");
    }
    rustix::fs::openat(&at, "file", OFlags::WRONLY | OFlags::CREATE, Mode::RUSR).expect("a file");
}

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work).expect("a thread");
    thread.join().expect("it does not run out of stack");
}

#[test]
fn twenty_thousand_nested_folders_are_refused_on_a_small_stack() {
    on_a_small_stack(|| {
        let world = World::new("deep");
        nest(&world, "deep", 20_000);
        let bounds = Bounds { entries: 1_000_000, depth: 256, ..BOUNDS };
        let folder = world.open("deep");
        let too_deep =
            |error: FolderError| assert!(matches!(error, FolderError::TooDeep { depth_max: 256 }), "{error}");
        too_deep(pack(folder.as_fd(), bounds, Vec::new()).map(drop).expect_err("too deep"));
        too_deep(snapshot(folder.as_fd(), bounds).map(drop).expect_err("too deep"));
        too_deep(tree_hash(folder.as_fd(), bounds).map(drop).expect_err("too deep"));
        let changed = changes(folder.as_fd(), &Snapshot::empty(), bounds, Vec::new());
        too_deep(changed.map(drop).expect_err("too deep"));
        let gone = Forged::new(Kind::Changes).gone("d").done();
        too_deep(world.apply("deep", &gone, bounds).expect_err("too deep to be counted"));
    });
}

#[test]
fn as_many_levels_as_may_be_travel_on_a_small_stack() {
    on_a_small_stack(|| {
        let world = World::new("levels");
        let bounds = Bounds { depth: 256, ..BOUNDS };
        nest(&world, "gateway", 256);
        let (_, archive) = pack(world.open("gateway").as_fd(), bounds, Vec::new()).expect("packed");
        let before =
            unpack(world.folder("node").as_fd(), archive.as_slice(), bounds).expect("unpacked").snapshot;
        let hash = |path| tree_hash(world.open(path).as_fd(), bounds).expect("a hash");
        assert_eq!(hash("node"), hash("gateway"));
        gristmill_files::remove_tree(&world.at("node/d")).expect("removed");
        nest(&world, "node", 256);
        let deepest = format!("node/{}file", "d/".repeat(256));
        world.write(deepest, "new");
        let (_, archive) = changes(world.open("node").as_fd(), &before, bounds, Vec::new()).expect("changes");
        world.apply("gateway", &archive, bounds).expect("applied");
        assert_eq!(hash("node"), hash("gateway"));
        let gone = Forged::new(Kind::Changes).gone("d").done();
        world.apply("gateway", &gone, bounds).expect("applied");
        assert_eq!(world.names("gateway"), [""; 0]);
    });
}
