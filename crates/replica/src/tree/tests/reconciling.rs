//! A data folder made what a manifest says.

use super::*;

#[test]
fn what_is_right_stays_and_the_rest_is_fetched_or_removed() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/same", &[1; 20_000]);
    world.write("sessions/ID/workspace/other", &[2; 20_000]);
    world.write("sessions/ID/workspace/missing", &[3; 20_000]);
    world.ship(&Scope::Everything);
    let to = world.to.path();
    let at = |name: &str| place(to, &path(&format!("sessions/ID/workspace/{name}")));
    // Of the same length, and of the same time.
    let modified = fs::metadata(at("other")).expect("there").modified().expect("noted");
    fs::write(at("other"), [9; 20_000]).expect("written");
    fs::File::open(at("other")).expect("a file").set_modified(modified).expect("ours");
    fs::remove_file(at("missing")).expect("removed");
    write(to, &path("sessions/OTHER/workspace/extra"), b"extra");
    write(to, &path("sessions/OTHER/lock"), b"");
    write(to, &path("sessions/ID/lock"), b"");
    write(to, &path("skills/.git/config"), b"own");
    write(to, &path("gristmill.db"), b"pages");
    for left in ["", "sessions/", "skills/"] {
        write(to, &path(&format!("{left}.replica-{OWNER}")), b"half");
    }
    let (_, applied) = world.store.reconcile(to, world.scanner.manifest()).expect("reconciled");
    // The other session as a whole, and the folder of skills, which is a machine's own only below the dot.
    assert_eq!((applied.written, applied.bytes_fetched), (2, 40_000));
    assert!(!place(to, &path("sessions/OTHER")).exists());
    for own in ["sessions/ID/lock", "gristmill.db"] {
        assert!(place(to, &path(own)).exists(), "{own}");
    }
    for left in ["", "sessions", "skills"] {
        assert!(!to.join(left).join(format!(".replica-{OWNER}")).exists(), "{left}");
    }
    world.check_equal();
}

#[test]
fn what_no_manifest_has_stays_where_it_may_be_the_only_one() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"a");
    world.write("sessions/ID/workspace/b/c", b"c");
    world.write("sessions/OTHER/workspace/a", b"a");
    world.ship(&Scope::Everything);
    let to = world.to.path().to_owned();
    let at = |name: &str| place(&to, &path(name));
    let link = |name: &str| std::os::unix::fs::symlink("/etc", at(name)).expect("a link");
    link("sessions/ID/workspace/link");
    link("sessions/OTHER/workspace/link");
    std::os::unix::net::UnixListener::bind(at("sessions/ID/workspace/b/socket")).expect("a socket");
    let huge = fs::File::create(at("sessions/ID/workspace/huge")).expect("a file");
    huge.set_len(65 << 30).expect("with nothing in it");
    // Where something else belongs they go.
    fs::remove_file(at("sessions/ID/workspace/a")).expect("removed");
    link("sessions/ID/workspace/a");
    // And so they do with a session that is gone.
    fs::remove_dir_all(place(world.from.path(), &path("sessions/OTHER"))).expect("removed");
    let removed = world.scan(&Scope::Everything).changes;
    world.scanner.commit(&removed);
    let manifest = world.scanner.manifest();
    for _ in 0..2 {
        let fetch = &mut |state: &FileState| world.store.get(state);
        let reconciled = reconcile(&to, manifest, &seal(), LeftOut::Stays, fetch);
        let (mut scanner, _) = reconciled.expect("reconciled");
        assert!(scanner.scan(&Scope::Everything, &seal()).expect("scanned").changes.is_empty());
    }
    for left in ["link", "b/socket", "huge"] {
        let left = at(&format!("sessions/ID/workspace/{left}"));
        fs::symlink_metadata(&left).unwrap_or_else(|error| panic!("{}: {error}", left.display()));
        fs::remove_file(left).expect("removed");
    }
    world.check_equal();
}

#[test]
fn a_machine_that_takes_the_lead_goes_on_from_the_manifest() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"one");
    world.write("sessions/ID/workspace/b", &[2; 20_000]);
    world.ship(&Scope::Everything);
    let (mut scanner, _) =
        world.store.reconcile(world.to.path(), world.scanner.manifest()).expect("reconciled");
    assert!(scanner.scan(&Scope::Everything, &seal()).expect("scanned").changes.is_empty());
    write(world.to.path(), &path("sessions/ID/workspace/a"), b"two");
    let changed = scanner.scan(&Scope::Everything, &seal()).expect("scanned").changes;
    assert_eq!(
        changed.nodes.into_iter().map(|(path, _)| path).collect::<Vec<_>>(),
        [path("sessions/ID/workspace/a")]
    );
}

#[test]
fn a_data_folder_is_made_where_there_is_none() {
    let mut world = World::new();
    world.write("skills/a/skill.py", b"def a(): ...");
    world.ship(&Scope::Everything);
    let new = folder();
    let to = new.path().join("deep/data");
    world.store.reconcile(&to, world.scanner.manifest()).expect("reconciled");
    assert_eq!(tree(&to), tree(world.from.path()));
    assert_eq!(fs::metadata(&to).expect("there").permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_manifest_with_a_path_that_is_not_kept_is_refused() {
    let to = folder();
    let mut manifest = Manifest::default();
    manifest.insert(path("sessions/ID/lock"), crate::manifest::Node::Folder { mode: 0o700 });
    let refused = Store::default().reconcile(to.path(), &manifest).map(drop);
    assert!(matches!(refused, Err(ApplyError::NotKept { .. })), "{refused:?}");
    assert_eq!(fs::read_dir(to.path()).expect("a folder").count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_folder_is_it_becomes_what_the_manifest_says(
        ours in acts(20),
        theirs in acts(20),
        begins_equal in any::<bool>(),
    ) {
        let mut world = World::new();
        ours.iter().for_each(|next| act(world.from.path(), next));
        tidy_top(world.from.path());
        let scanned = world.scan(&Scope::Everything);
        world.store.put_all(&scanned);
        world.scanner.commit(&scanned.changes);
        if begins_equal {
            world.store.apply(world.to.path(), &scanned.changes).expect("applied");
        }
        theirs.iter().for_each(|next| act(world.to.path(), next));
        let (mut scanner, _) = world.store.reconcile(world.to.path(), world.scanner.manifest()).expect("reconciled");
        prop_assert_eq!(tree(world.to.path()), without_others(tree(world.from.path())));
        prop_assert!(scanner.scan(&Scope::Everything, &seal()).expect("scanned").changes.is_empty());
        let (_, again) = world.store.reconcile(world.to.path(), world.scanner.manifest()).expect("reconciled");
        prop_assert_eq!(again, Applied::default());
    }
}
