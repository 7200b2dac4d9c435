//! What a program did to its files is found, whatever it does to hide it.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

/// Carries a workspace to a node, lets a program change it there, and brings the changes back.
fn check(program: impl FnOnce(&World), expected: (u64, u64)) {
    let world = World::new("changing");
    world.write("gateway/a", "content of a");
    world.write("gateway/b", "content of b");
    world.write("gateway/folder/c", "content of c");
    world.write("gateway/folder/below/d", "content of d");
    world.folder("gateway/nothing in it");
    for file in ["a", "b", "folder/c", "folder/below/d"] {
        world.set_modified(&format!("gateway/{file}"), 1_700_000_000);
    }
    let before = world.carry("gateway", "node");
    program(&world);
    let applied = world.bring_back("node", &before, "gateway").expect("applied");
    let without_links = |path| {
        let tree = world.tree(path).into_iter();
        tree.filter(|(_, what)| what != "->").collect::<Vec<_>>()
    };
    assert_eq!(without_links("gateway"), without_links("node"));
    assert_eq!((applied.files, applied.removed), expected);
    let times = |path: &str| {
        let now = snapshot(world.open(path).as_fd(), BOUNDS).expect("a snapshot");
        assert!(now == snapshot(world.open("node").as_fd(), BOUNDS).expect("a snapshot"), "times came along");
    };
    times("gateway");
}

#[test]
fn nothing_done_is_nothing_changed() {
    check(|_| {}, (0, 0));
    let world = World::new("nothing");
    world.write("gateway/folder/file", "content");
    let before = world.carry("gateway", "node");
    let (changed, _) = changes(world.open("node").as_fd(), &before, BOUNDS, Vec::new()).expect("changes");
    assert!(changed.is_empty() && changed.snapshot == before, "{changed:?}");
}

#[test]
fn a_file_of_the_same_size_with_its_time_set_back_is_found() {
    check(
        |world| {
            world.write("node/a", "CONTENT OF A");
            world.set_modified("node/a", 1_700_000_000);
        },
        (1, 0),
    );
}

#[test]
fn a_file_that_was_written_through_a_second_name_is_found() {
    check(
        |world| {
            fs::hard_link(world.at("node/folder/c"), world.at("name elsewhere")).expect("a second name");
            world.write("name elsewhere", "CONTENT OF C");
            world.set_modified("name elsewhere", 1_700_000_000);
        },
        (1, 0),
    );
}

#[test]
fn files_are_new_longer_shorter_emptied_and_touched() {
    check(
        |world| {
            world.write("node/new", "new");
            world.write("node/folder/below/deeper/new", "");
            world.write("node/a", "content of a, and more");
            world.write("node/b", "");
            world.set_modified("node/folder/c", 1_600_000_000);
        },
        (5, 0),
    );
}

#[test]
fn files_and_folders_are_renamed() {
    check(|world| fs::rename(world.at("node/a"), world.at("node/z")).expect("renamed"), (1, 1));
    check(|world| fs::rename(world.at("node/a"), world.at("node/b")).expect("renamed"), (1, 1));
    check(|world| fs::rename(world.at("node/folder"), world.at("node/other")).expect("renamed"), (2, 1));
    check(
        |world| {
            for (from, to) in [("a", "x"), ("b", "a"), ("x", "b")] {
                fs::rename(world.at(format!("node/{from}")), world.at(format!("node/{to}")))
                    .expect("renamed");
            }
        },
        (2, 0),
    );
}

#[test]
fn files_and_folders_are_removed() {
    check(|world| fs::remove_file(world.at("node/folder/below/d")).expect("removed"), (0, 1));
    check(|world| fs::remove_dir_all(world.at("node/folder")).expect("removed"), (0, 1));
    check(|world| fs::remove_dir(world.at("node/nothing in it")).expect("removed"), (0, 1));
    check(
        |world| {
            for (name, _) in world.tree("node").into_iter().filter(|(name, _)| !name.contains('/')) {
                let path = world.at(format!("node/{name}"));
                fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path)).expect("removed");
            }
        },
        (0, 4),
    );
}

#[test]
fn a_file_becomes_a_folder_and_a_folder_a_file() {
    check(
        |world| {
            fs::remove_file(world.at("node/a")).expect("removed");
            world.write("node/a/b/c", "below a");
            fs::remove_dir_all(world.at("node/folder")).expect("removed");
            world.write("node/folder", "a file");
            fs::remove_dir(world.at("node/nothing in it")).expect("removed");
            world.write("node/nothing in it", "");
        },
        (3, 0),
    );
    // And back: as if nothing had been.
    check(
        |world| {
            fs::remove_file(world.at("node/a")).expect("removed");
            world.folder("node/a");
            fs::remove_dir(world.at("node/a")).expect("removed");
            world.write("node/a", "content of a");
            world.set_modified("node/a", 1_700_000_000);
        },
        (0, 0),
    );
}

#[test]
fn a_link_in_the_place_of_a_file_takes_the_file_away_and_brings_nothing() {
    let world_of = |kind: &str| {
        let outside = kind.to_owned();
        move |world: &World| {
            world.write("outside/secret", "secret");
            for name in ["node/a", "node/new"] {
                let _ = fs::remove_file(world.at(name));
                symlink(&outside, world.at(name)).expect("a link");
            }
            fs::remove_dir_all(world.at("node/folder")).expect("removed");
            symlink("../outside", world.at("node/folder")).expect("a link");
        }
    };
    check(world_of("../outside/secret"), (0, 2));
    check(world_of("../outside"), (0, 2));
}

#[test]
fn names_of_any_bytes_come_back() {
    check(
        |world| {
            for name in [&b"\xff"[..], b"-", b"a\n", b"folder\xc3\xa9/\xfe"] {
                world.write(os(&[b"node/", name].concat()), "x");
            }
        },
        (4, 0),
    );
}

#[test]
fn the_second_time_only_what_changed_since_the_first_is_sent() {
    let world = World::new("twice");
    world.write("gateway/a", "a");
    let before = world.carry("gateway", "node");
    world.write("node/b", "b");
    let (changed, first) = changes(world.open("node").as_fd(), &before, BOUNDS, Vec::new()).expect("changes");
    assert_eq!((changed.files, changed.removed), (1, 0));
    fs::remove_file(world.at("node/a")).expect("removed");
    world.write("node/c", "c");
    let (second, archive) =
        changes(world.open("node").as_fd(), &changed.snapshot, BOUNDS, Vec::new()).expect("changes");
    assert_eq!((second.files, second.removed), (1, 1));
    for archive in [first, archive] {
        world.apply("gateway", &archive, BOUNDS).expect("applied");
    }
    assert_eq!(world.names("gateway"), ["b", "c"]);
}

#[test]
fn what_the_node_never_saw_stays() {
    let world = World::new("unseen");
    world.write("outside", "untouched");
    world.write("gateway/a", "a");
    symlink("../outside", world.at("gateway/link")).expect("a link");
    let before = world.carry("gateway", "node");
    world.write("node/b", "b");
    // Meanwhile somebody else writes a file here.
    world.write("gateway/c", "c");
    world.bring_back("node", &before, "gateway").expect("applied");
    assert_eq!(world.names("gateway"), ["a", "b", "c", "link"]);
}

/// What a program has locked for its owner is sent all the same. Without the rights of root, or nothing is locked.
#[cfg(target_os = "linux")]
#[test]
fn what_a_program_has_locked_comes_back() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

    let work = || {
        let mut sets = capabilities(None).expect("ours");
        sets.effective.remove(CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH);
        set_capabilities(None, sets).expect("less than before");
        let world = World::new("locked");
        let set = |path: &str, mode| {
            fs::set_permissions(world.at(path), fs::Permissions::from_mode(mode)).expect("a mode");
        };
        world.write("gateway/folder/a", "old");
        world.write("gateway/folder/b", "old");
        world.write("gateway/gone/c", "old");
        let before = world.carry("gateway", "node");
        world.write("node/folder/a", "new a");
        world.write("node/folder/below/new", "new");
        fs::remove_dir_all(world.at("node/gone")).expect("removed");
        for (path, mode) in [("folder/a", 0), ("folder/b", 0o200), ("folder/below", 0o100), ("folder", 0o400)]
        {
            set(&format!("node/{path}"), mode);
        }
        // And on the gateway's side nothing is in the way either.
        for (path, mode) in [("folder/a", 0), ("folder", 0o500), ("gone", 0o500)] {
            set(&format!("gateway/{path}"), mode);
        }
        assert!(fs::read(world.at("node/folder/a")).is_err(), "it is locked");
        let applied = world.bring_back("node", &before, "gateway").expect("applied");
        assert_eq!((applied.files, applied.removed), (2, 1));
        assert_eq!(world.tree("gateway"), world.tree("node"));
        assert_eq!(fs::read_to_string(world.at("gateway/folder/a")).expect("a file"), "new a");
    };
    std::thread::spawn(work).join().expect("it comes back");
}
