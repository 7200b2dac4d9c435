//! The table `sessions`.

use std::time::Duration;

use super::World;
use crate::Origin;
use crate::commands::{approve, show};

#[test]
fn sessions_are_configured_key_by_key() {
    let world = World::new().user("[sessions]\nidle = '2h'\nmax = 9\nkept_interpreters = 0\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let sessions = &loaded.config.sessions;
    assert_eq!((sessions.settings.idle, sessions.settings.max), (Duration::from_secs(7_200), 9));
    assert_eq!(sessions.keep.count, 0);
    assert!(
        matches!(&sessions.kept_origin, Origin::File { path, line: 4 } if path.ends_with(".config/gristmill/gristmill.toml"))
    );
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("\nkept_interpreters = 0 # "), "{shown}");
}

#[test]
fn an_approved_project_does_not_say_how_long_anything_is_kept() {
    let world = World::new().user("[sessions]\nidle = '2h'\n[history]\nkeep = '90d'\n").project(
        "level = 'hardened'\n[sessions]\nidle = '1m'\nmax = 1\n[history]\nkeep = '1h'\ncontent = false\n",
    );
    let shown = approve::prepare(&world.surroundings, None).unwrap().text;
    assert!(shown.contains("# [history] is ignored in a project's file\n"), "{shown}");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let said = world.said(&loaded);
    for (line, part) in said.iter().zip(["gristmill.toml:2: `sessions`", "gristmill.toml:5: `history`"]) {
        let is_told = line.starts_with("Warning ") && line.contains("is ignored in a project file");
        assert!(is_told && line.contains(part), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), 2);
    let (sessions, history) = (&loaded.config.sessions.settings, &loaded.config.history.settings);
    assert_eq!((sessions.idle, sessions.max), (Duration::from_secs(7_200), 1_000));
    assert_eq!((history.keep, history.content), (Duration::from_secs(90 * 86_400), true));
    assert_eq!(loaded.config.level.as_str(), "hardened", "the rest of the file is used");
}

#[test]
fn what_cannot_be_meant_of_sessions_is_told_with_its_line() {
    let world = World::new().user("[sessions]\nkept_interpreters = 1001\nkept_interpreter = 1\n");
    let loaded = world.load();
    let said = world.said(&loaded);
    for part in ["sessions.kept_interpreters", "1000", "did you mean `kept_interpreters`?"] {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), 2);
    assert_eq!(loaded.config.sessions, Default::default());
}
