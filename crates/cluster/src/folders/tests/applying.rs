//! Changes from a node that may be hostile, applied as a whole or not at all.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

use super::*;
use crate::folders::name::Name;
use crate::folders::placing::place;
use crate::folders::plan::{CheckedPlan, Plan, PlanStep};

fn forged() -> Forged {
    Forged::new(Kind::Changes)
}

/// A workspace with something in it, and something outside.
fn workspace() -> World {
    let world = World::new("applying");
    world.write("outside/secret", "untouched");
    world.write("workspace/a", "old a");
    world.write("workspace/folder/b", "old b");
    world.write("workspace/folder/below/c", "old c");
    symlink("../outside", world.at("workspace/link")).expect("a link");
    world
}

fn is_untouched(world: &World) {
    assert_eq!(world.tree("outside"), [("secret".to_owned(), "untouched".to_owned())]);
}

fn check_refused(archive: &[u8], bounds: Bounds) -> FolderError {
    let world = workspace();
    let before = world.tree("workspace");
    let error = world.apply("workspace", archive, bounds).expect_err("it is refused");
    assert_eq!(world.tree("workspace"), before, "nothing was applied: {error}");
    assert_eq!(world.names(""), ["outside", "workspace"]);
    is_untouched(&world);
    error
}

#[test]
fn hostile_changes_are_refused_as_a_whole() {
    for archive in [
        forged().file("a", b"new").file("../outside", b"x").done(),
        forged().gone("..").done(),
        forged().gone("").done(),
        forged().gone("folder/b").done(),
        forged().file("a", b"new").gone("a").done(),
        forged().gone("a").file("a", b"new").done(),
        forged().folder("folder").up().gone("folder").done(),
        forged().file("a", b"new").folder("..").up().done(),
        forged().file("a", b"new").folder("folder").done(),
        forged().file("a", b"new").cut(),
        Forged::new(Kind::Folder).file("a", b"new").done(),
    ] {
        let error = check_refused(&archive, BOUNDS);
        assert!(matches!(error, FolderError::Damaged(_)), "{error}");
    }
}

#[test]
fn more_than_the_session_may_hold_is_refused_before_anything_is_applied() {
    // 15 bytes in three files, two folders, and a link of 10 bytes.
    let exact = Bounds { bytes: 15 + 10 + 100, entries: 6 + 2, ..BOUNDS };
    let archive = forged().file("a", &[b'x'; 100]).file("new", b"12345").folder("new folder").up().done();
    let world = workspace();
    world.apply("workspace", &archive, exact).expect("it just fits");
    assert_eq!(world.names("workspace"), ["a", "folder", "link", "new", "new folder"]);
    let refused = |bounds| check_refused(&archive, bounds);
    assert!(matches!(refused(Bounds { bytes: 124, ..exact }), FolderError::TooManyBytes { bytes_max: 124 }));
    assert!(matches!(
        refused(Bounds { entries: 7, ..exact }),
        FolderError::TooManyEntries { entries_max: 7 }
    ));
    assert!(matches!(refused(Bounds { file_bytes: 99, ..exact }), FolderError::FileTooLarge { .. }));
    // More than all together may hold is not even staged.
    assert!(matches!(refused(Bounds { bytes: 50, ..exact }), FolderError::TooManyBytes { bytes_max: 50 }));
    let mut many = forged();
    for number in 0..20 {
        many = many.gone(format!("{number:02}"));
    }
    assert!(matches!(check_refused(&many.done(), exact), FolderError::TooManyEntries { .. }));
}

#[test]
fn what_is_removed_makes_room_and_a_workspace_beyond_its_limits_may_get_smaller() {
    let archive = forged().file("a", &[b'x'; 9]).gone("folder").done();
    let world = workspace();
    // 19 bytes and three entries are left; without the removal it would be 29 bytes and six entries.
    world.apply("workspace", &archive, Bounds { bytes: 19, entries: 2, ..BOUNDS }).expect("there is room");
    assert_eq!(world.names("workspace"), ["a", "link"]);
    let smaller = forged().folder("folder").gone("b").up().done();
    let world = workspace();
    world.apply("workspace", &smaller, Bounds { bytes: 5, entries: 2, ..BOUNDS }).expect("it gets smaller");
    assert_eq!(world.names("workspace/folder"), ["below"]);
}

#[test]
fn links_in_a_workspace_are_replaced_and_never_followed() {
    for archive in [
        forged().folder("link").file("secret", b"x").up().done(),
        forged().folder("link").gone("secret").up().done(),
        forged().folder("link").folder("new").up().up().done(),
        forged().file("link", b"x").done(),
        forged().gone("link").done(),
    ] {
        let world = workspace();
        world.apply("workspace", &archive, BOUNDS).expect("applied");
        assert!(!world.at("workspace/link").is_symlink());
        is_untouched(&world);
    }
}

#[test]
fn a_second_name_of_a_file_outside_is_not_written_through() {
    let world = workspace();
    fs::hard_link(world.at("outside/secret"), world.at("workspace/mine")).expect("a second name");
    world.apply("workspace", &forged().file("mine", b"x").done(), BOUNDS).expect("applied");
    is_untouched(&world);
}

#[test]
fn kinds_change_and_what_is_gone_already_is_no_matter() {
    let archive =
        forged().folder("a").file("below", b"1").up().file("folder", b"2").gone("never there").done();
    let world = workspace();
    let applied = world.apply("workspace", &archive, BOUNDS).expect("applied");
    assert_eq!(applied, Applied { files: 2, bytes: 2, removed: 0 });
    assert_eq!(fs::read_to_string(world.at("workspace/a/below")).expect("a file"), "1");
    assert_eq!(fs::read_to_string(world.at("workspace/folder")).expect("a file"), "2");
}

#[test]
fn an_archive_of_nothing_changes_nothing() {
    let world = workspace();
    let before = world.tree("workspace");
    let applied = world.apply("workspace", &forged().done(), BOUNDS).expect("applied");
    assert_eq!((applied, world.tree("workspace")), (Applied { files: 0, bytes: 0, removed: 0 }, before));
}

fn name(text: &str) -> Name {
    Name::read(text.as_bytes()).expect("a name")
}

#[test]
fn a_failure_halfway_takes_everything_back() {
    let world = workspace();
    let before = world.tree("workspace");
    let stage = world.folder("stage");
    world.write("stage/new-0", "new a");
    world.write("stage/new-1", "new b");
    let file = |at: &str, staged: &str| PlanStep::File { name: name(at), staged: name(staged), bytes: 5 };
    let steps = vec![
        file("a", "new-0"),
        PlanStep::Folder(name("brand new")),
        PlanStep::Folder(name("below")),
        file("file", "new-1"),
        PlanStep::Up,
        PlanStep::Up,
        PlanStep::Folder(name("folder")),
        PlanStep::Gone(name("b")),
        PlanStep::Gone(name("below")),
        PlanStep::Up,
        PlanStep::Folder(name("link")),
        PlanStep::Up,
        // What the stage doesn't have, as if the disk had failed.
        file("z", "new-2"),
    ];
    let plan = CheckedPlan(Plan { steps, files: 3, bytes: 15 });
    let error = place(world.open("workspace").as_fd(), stage.as_fd(), plan).expect_err("it fails at its end");
    assert!(matches!(error, FolderError::System { .. }), "{error}");
    assert_eq!(world.tree("workspace"), before);
    assert_eq!(world.names("stage"), ["new-0", "new-1"]);
    is_untouched(&world);
}
