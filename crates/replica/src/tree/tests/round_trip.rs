//! What goes from one data folder to the other.

use super::*;

#[test]
fn what_people_and_programs_made_is_there_on_the_other_machine() {
    let mut world = World::new();
    world.write("pins.json", b"{}");
    world.write("gristmill.db", b"pages");
    world.write("sessions/ID/workspace/large.bin", &[3; 1_000_000]);
    world.write("sessions/ID/workspace/deep/er/small.txt", b"small");
    world.write("sessions/ID/lock", b"");
    world.write("results/OWNER/h.json", b"[1]");
    world.write("results/incoming/x", b"half");
    world.write("skills/add/skill.py", b"def add(): ...");
    world.write("skills/.leftover-1-2/skill.py", b"half");
    fs::create_dir(place(world.from.path(), &path("sessions/ID/workspace/empty"))).expect("made");
    world.ship(&Scope::Everything);
    world.check_equal();
    assert_eq!(world.scanner.manifest().len(), 13);
    for own in ["gristmill.db", "sessions/ID/lock", "results/incoming", "skills/.leftover-1-2"] {
        assert!(!place(world.to.path(), &path(own)).exists(), "{own}");
    }
}

#[test]
fn what_did_not_change_is_not_shipped_again() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"one");
    world.write("sessions/ID/workspace/b", &[1; 10_000]);
    world.ship(&Scope::Everything);
    assert!(world.scan(&Scope::Everything).changes.is_empty());
    world.write("sessions/ID/workspace/a", b"two");
    let scanned = world.scan(&Scope::Everything);
    let changed: Vec<_> = scanned.changes.nodes.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!((changed, scanned.contents.len()), (vec![path("sessions/ID/workspace/a")], 0));
}

#[test]
fn a_scan_that_is_not_committed_is_found_again() {
    let mut world = World::new();
    world.write("pins.json", b"{}");
    world.write("sessions/ID/workspace/b", &[1; 10_000]);
    let first = world.scan(&Scope::Everything);
    let second = world.scan(&Scope::Everything);
    assert_eq!(first.changes, second.changes);
    assert_eq!((first.contents.len(), second.contents.len()), (1, 1));
    world.scanner.commit(&first.changes);
    assert!(world.scan(&Scope::Everything).changes.is_empty());
    fs::remove_file(world.from.path().join("pins.json")).expect("removed");
    let gone = Changes { nodes: vec![(path("pins.json"), None)] };
    assert_eq!(world.scan(&Scope::Everything).changes, gone);
    assert_eq!(world.scan(&Scope::Settings).changes, gone);
}

#[test]
fn each_scope_finds_its_own_part_only() {
    let mut world = World::new();
    let session = |id: &str| Scope::Session(id.to_owned());
    let parts = [
        (Scope::Settings, "pins.json"),
        (session(ID), "sessions/ID/workspace/a"),
        (session(OTHER_ID), "sessions/OTHER/workspace/a"),
        (Scope::Results, "results/OWNER/h"),
        (Scope::Skills, "skills/a/b.py"),
    ];
    for (_, file) in &parts {
        world.write(file, b"x");
    }
    for (scope, file) in &parts {
        let changes = world.scan(scope).changes;
        assert!(changes.nodes.iter().all(|(path, _)| scope.covers(path)), "{changes:?}");
        assert!(changes.nodes.iter().any(|(changed, _)| *changed == path(file)));
        world.ship(scope);
    }
    world.check_equal();
    fs::remove_dir_all(world.from.path().join("sessions").join(ID)).expect("removed");
    for (scope, _) in &parts {
        assert_eq!(world.scan(scope).changes.is_empty(), *scope != session(ID), "{scope:?}");
    }
    world.ship(&session(ID));
    world.check_equal();
    let wrong = world.scanner.scan(&session("../x"), &seal()).expect_err("no id");
    assert!(matches!(wrong, ScanError::NotASession { .. }), "{wrong}");
}

#[test]
fn a_mode_or_a_time_goes_without_the_content() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/b", &[1; 10_000]);
    world.ship(&Scope::Everything);
    let file = place(world.from.path(), &path("sessions/ID/workspace/b"));
    fs::set_permissions(&file, Permissions::from_mode(0o751)).expect("ours");
    let opened = fs::File::open(&file).expect("a file");
    opened.set_modified(SystemTime::UNIX_EPOCH + Duration::new(5, 7)).expect("ours");
    assert!(world.scan(&Scope::Everything).contents.is_empty());
    let applied = world.ship(&Scope::Everything);
    assert_eq!(applied, Applied { there: 1, ..Applied::default() });
    world.check_equal();
}

#[test]
fn reading_a_file_to_take_it_does_not_count_as_reading_it() {
    let mut world = World::new();
    world.write("results/OWNER/h.json", b"[1]");
    let file = place(world.from.path(), &path("results/OWNER/h.json"));
    let marked = SystemTime::UNIX_EPOCH + Duration::from_secs(2_145_830_400);
    let times = fs::FileTimes::new().set_accessed(SystemTime::UNIX_EPOCH).set_modified(marked);
    fs::File::open(&file).expect("a file").set_times(times).expect("ours");
    world.ship(&Scope::Results);
    if cfg!(target_os = "linux") {
        assert_eq!(fs::metadata(&file).expect("there").accessed().expect("noted"), SystemTime::UNIX_EPOCH);
    }
    let copy = fs::metadata(place(world.to.path(), &path("results/OWNER/h.json"))).expect("there");
    assert!(copy.accessed().expect("noted") <= SystemTime::now());
    world.check_equal();
}

#[test]
fn links_and_sockets_are_left_out() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/a", b"one");
    let workspace = place(world.from.path(), &path("sessions/ID/workspace"));
    std::os::unix::fs::symlink("a", workspace.join("to-a")).expect("a link");
    std::os::unix::fs::symlink("/etc", workspace.join("to-etc")).expect("a link");
    std::os::unix::net::UnixListener::bind(workspace.join("socket")).expect("a socket");
    assert_eq!(world.scan(&Scope::Everything).left_out, 3);
    world.ship(&Scope::Everything);
    let expected: Vec<_> =
        ["sessions/ID", "sessions/ID/workspace", "sessions/ID/workspace/a"].map(path).into();
    assert_eq!(tree(world.to.path()).into_keys().collect::<Vec<_>>(), expected);
}

#[test]
fn files_in_a_folder_that_nobody_may_change_arrive_nevertheless() {
    let mut world = World::new();
    world.write("sessions/ID/workspace/closed/a", b"one");
    let closed = place(world.from.path(), &path("sessions/ID/workspace/closed"));
    for content in [&b"one"[..], b"two", b"three"] {
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).expect("ours");
        fs::write(closed.join("a"), content).expect("written");
        fs::write(closed.join(format!("new-{}", content.len())), content).expect("written");
        fs::set_permissions(&closed, Permissions::from_mode(0o555)).expect("ours");
        world.ship(&Scope::Everything);
        world.check_equal();
    }
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).expect("ours");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_done_to_one_folder_the_other_becomes_equal(rounds in proptest::collection::vec(acts(12), 1..5)) {
        let mut world = World::new();
        for round in &rounds {
            round.iter().for_each(|next| act(world.from.path(), next));
            tidy_top(world.from.path());
            let scanned = world.scan(&Scope::Everything);
            prop_assert_eq!(&scanned.skipped, &vec![]);
            world.store.put_all(&scanned);
            world.store.apply(world.to.path(), &scanned.changes).expect("applied");
            prop_assert_eq!(tree(world.to.path()), without_others(tree(world.from.path())));
            // A second time nothing is fetched, and nothing changes.
            let again = apply(world.to.path(), &scanned.changes, &seal(), &mut |_| panic!("fetched again"));
            prop_assert_eq!(again.expect("applied").written, 0);
            prop_assert_eq!(tree(world.to.path()), without_others(tree(world.from.path())));
            world.scanner.commit(&scanned.changes);
            prop_assert!(world.scan(&Scope::Everything).changes.is_empty());
        }
    }
}
