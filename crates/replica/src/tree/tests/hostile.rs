//! Changes that no machine of ours makes, and folders that lead elsewhere.

use std::os::unix::fs::symlink;

use super::*;
use crate::manifest::{Modified, Node};

fn file(content: &[u8]) -> Node {
    Node::File(FileState {
        hash: seal().content_hash(content),
        bytes: content.len() as u64,
        mode: 0o600,
        modified: Modified { seconds: 1, nanos: 0 },
        inline: Some(content.to_vec().into()),
    })
}

fn changes(nodes: &[(&str, Option<Node>)]) -> Changes {
    Changes { nodes: nodes.iter().map(|(name, node)| (path(name), node.clone())).collect() }
}

#[test]
fn paths_that_are_not_kept_are_refused_and_nothing_is_touched() {
    let to = folder();
    write(to.path(), &path("gristmill.db"), b"pages");
    write(to.path(), &path("sessions/ID/lock"), b"");
    let before = fs::read_dir(to.path()).expect("a folder").count();
    let own = [
        "gristmill.db",
        "sessions",
        "sessions/ID/lock",
        "sessions/ID/incoming/x",
        "sessions/x/workspace/a",
        "results/lock",
        "skills/.leftover-1-2",
        "new.json",
    ];
    for name in own {
        for node in [None, Some(file(b"x")), Some(Node::Folder { mode: 0o700 })] {
            let changes = changes(&[("pins.json", Some(file(b"{}"))), (name, node)]);
            let refused = Store::default().apply(to.path(), &changes).expect_err("not kept");
            assert!(
                matches!(&refused, ApplyError::NotKept { path: refused } if *refused == path(name)),
                "{refused}"
            );
        }
    }
    for (name, node) in [("pins.json", Node::Folder { mode: 0o700 }), ("sessions/ID", file(b"x"))] {
        let refused =
            Store::default().apply(to.path(), &changes(&[(name, Some(node))])).expect_err("another kind");
        assert!(matches!(refused, ApplyError::NotKept { .. }), "{refused}");
    }
    assert_eq!(fs::read_dir(to.path()).expect("a folder").count(), before);
}

#[test]
fn nothing_is_reached_through_a_link() {
    let (to, outside) = (folder(), folder());
    fs::write(outside.path().join("victim"), "untouched").expect("written");
    let links = ["sessions", "sessions/ID", "sessions/ID/workspace", "sessions/ID/workspace/a"];
    for link in links {
        let place = place(to.path(), &path(link));
        fs::create_dir_all(place.parent().expect("a folder")).expect("made");
        symlink(outside.path(), &place).expect("a link");
        let below = [
            ("sessions/ID/workspace/a/victim", None),
            ("sessions/ID/workspace/a/victim", Some(file(b"x"))),
            ("sessions/ID/workspace/a/new", Some(Node::Folder { mode: 0o777 })),
        ];
        for (name, node) in below {
            let refused = Store::default().apply(to.path(), &changes(&[(name, node)])).expect_err("a link");
            assert!(
                matches!(&refused, ApplyError::NotAFolder { path: at } if *at == path(link)),
                "{refused}"
            );
        }
        assert_eq!(fs::read(outside.path().join("victim")).expect("there"), b"untouched");
        assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 1);
        fs::remove_file(place).expect("removed");
    }
}

#[test]
fn a_link_gives_way_to_what_has_its_place() {
    let (to, outside) = (folder(), folder());
    fs::write(outside.path().join("victim"), "untouched").expect("written");
    let workspace = place(to.path(), &path("sessions/ID/workspace"));
    fs::create_dir_all(&workspace).expect("made");
    symlink(outside.path(), workspace.join("a")).expect("a link");
    symlink(outside.path().join("victim"), workspace.join("b")).expect("a link");
    let changes = changes(&[
        ("sessions/ID/workspace/a", Some(Node::Folder { mode: 0o700 })),
        ("sessions/ID/workspace/a/victim", Some(file(b"new"))),
        ("sessions/ID/workspace/b", Some(file(b"new"))),
    ]);
    Store::default().apply(to.path(), &changes).expect("applied");
    assert_eq!(fs::read(workspace.join("a/victim")).expect("there"), b"new");
    assert_eq!(fs::read(outside.path().join("victim")).expect("there"), b"untouched");
}

#[test]
fn a_folder_that_somebody_keeps_elsewhere_is_not_replaced() {
    for name in ["skills", "sessions"] {
        let (data, outside) = (folder(), folder());
        fs::create_dir_all(outside.path().join(ID).join("workspace")).expect("made");
        symlink(outside.path(), data.path().join(name)).expect("a link");
        let mut scanner = Scanner::new(data.path()).expect("a data folder");
        let refused = scanner.scan(&Scope::Everything, &seal()).expect_err("a link");
        assert!(matches!(&refused, ScanError::Unexpected { path: at } if *at == path(name)), "{refused}");
        for left_out in [LeftOut::Removed, LeftOut::Stays] {
            let fetch = &mut |_: &FileState| panic!("there is nothing to fetch");
            let refused = reconcile(data.path(), &Manifest::default(), &seal(), left_out, fetch).map(drop);
            assert!(
                matches!(refused, Err(ApplyError::NotAFolder { .. } | ApplyError::Scan(_))),
                "{refused:?}"
            );
        }
        assert!(outside.path().join(ID).join("workspace").is_dir());
    }
}

#[test]
fn another_content_than_the_announced_one_changes_nothing() {
    let to = folder();
    write(to.path(), &path("pins.json"), b"before");
    let announced = |bytes: u64, inline: Option<&[u8]>| {
        let Node::File(state) = file(b"content") else { panic!("a file") };
        let inline = inline.map(|inline| inline.to_vec().into());
        changes(&[("pins.json", Some(Node::File(FileState { bytes, inline, ..state })))])
    };
    let apply_with = |changes: &Changes, fetched: &'static [u8]| {
        apply(to.path(), changes, &seal(), &mut |_| Ok(Box::new(fetched)))
    };
    for wrong in [&b""[..], b"conten", b"contenX", b"c"] {
        for changes in [announced(7, None), announced(7, Some(wrong)), announced(6, None), announced(0, None)]
        {
            let refused = apply_with(&changes, wrong).expect_err("another content");
            assert!(matches!(refused, ApplyError::OtherContent { .. }), "{refused}");
        }
    }
    let lost = apply(to.path(), &announced(7, None), &seal(), &mut |_| Err(io::ErrorKind::NotFound.into()));
    assert!(matches!(lost, Err(ApplyError::Fetch { .. })), "{lost:?}");
    assert_eq!(fs::read(to.path().join("pins.json")).expect("there"), b"before");
    assert_eq!(fs::read_dir(to.path()).expect("a folder").count(), 1);
    apply_with(&announced(7, None), b"content").expect("applied");
    assert_eq!(fs::read(to.path().join("pins.json")).expect("there"), b"content");
}

#[test]
fn a_path_that_is_too_long_is_told_and_the_rest_is_taken() {
    use rustix::fs::{Mode, OFlags, mkdirat, openat};

    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"a");
    let workspace = place(world.from.path(), &path("sessions/ID/workspace"));
    // Step by step, as a program does: the kernel doesn't take such a path at once.
    let mut folder: std::os::fd::OwnedFd = fs::File::open(workspace).expect("a folder").into();
    let name = "n".repeat(200);
    for _ in 0..25 {
        mkdirat(&folder, &name, Mode::RWXU).expect("made");
        folder = openat(&folder, &name, OFlags::RDONLY, Mode::empty()).expect("a folder");
    }
    let scanned = world.scan(&Scope::Everything);
    let longest = scanned.changes.nodes.iter().map(|(path, _)| path.as_bytes().len()).max();
    assert!(longest.is_some_and(|bytes| (3_800..=4_096).contains(&bytes)), "{longest:?}");
    assert_eq!(scanned.skipped.iter().map(|skipped| skipped.why).collect::<Vec<_>>(), [SkippedWhy::TooDeep]);
    world.ship(&Scope::Everything);
    assert_eq!(fs::read(place(world.to.path(), &path("sessions/ID/workspace/a"))).expect("there"), b"a");
}

#[test]
fn folders_nested_too_deep_are_told_and_the_rest_is_taken() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"a");
    let deep = vec!["d"; 258].join("/");
    let workspace = place(world.from.path(), &path("sessions/ID/workspace"));
    fs::create_dir_all(workspace.join(deep)).expect("made");
    let scanned = world.scan(&Scope::Everything);
    assert_eq!(scanned.skipped.iter().map(|skipped| skipped.why).collect::<Vec<_>>(), [SkippedWhy::TooDeep]);
    world.ship(&Scope::Everything);
    assert_eq!(fs::read(place(world.to.path(), &path("sessions/ID/workspace/a"))).expect("there"), b"a");
    // What no manifest can name goes when a folder is made what one says.
    let manifest = world.scanner.manifest().clone();
    world.store.reconcile(world.from.path(), &manifest).expect("reconciled");
    world.check_equal();
}
