//! The table `sessions`.

use std::time::Duration;

use super::World;
use crate::commands::config_show;
use crate::config::Origin;

#[test]
fn sessions_are_configured_key_by_key() {
    let world = World::new()
        .user("[sessions]\nidle = '2h'\nmax = 7\n")
        .project("[sessions]\nmax = 9\nkept_interpreters = 0\n");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let sessions = &loaded.config.sessions;
    assert_eq!((sessions.settings.idle, sessions.settings.max), (Duration::from_secs(7_200), 9));
    assert_eq!(sessions.keep.count, 0);
    assert!(
        matches!(&sessions.kept_origin, Origin::File { path, line: 3 } if path.ends_with("project/gristmill.toml"))
    );
    let shown = config_show::as_toml(&loaded.config);
    assert!(shown.contains("\nkept_interpreters = 0 # "), "{shown}");
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
