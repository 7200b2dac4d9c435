//! The table `audit`.

use std::time::Duration;

use super::World;
use crate::commands::show;

#[test]
fn the_audit_is_on_and_configured_key_by_key() {
    let loaded = World::new().load();
    let audit = &loaded.config.audit;
    assert_eq!(audit.wanted().map(|settings| settings.arguments), Some(false));
    let world = World::new().user("[audit]\narguments = true\nkeep = '90d'\nmax_size = '10MB'\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let settings = loaded.config.audit.settings;
    assert_eq!((settings.arguments, settings.bytes_max), (true, 10 << 20));
    assert_eq!(settings.keep, Duration::from_secs(90 * 86_400));
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[audit]\nenabled = true # "), "{shown}");
    let world = World::new().user("[audit]\nenabled = false\n");
    assert_eq!(world.load().config.audit.wanted(), None);
}

#[test]
fn a_project_cannot_turn_the_audit_off() {
    let world = World::new().user("level = 'production'\n").project("[audit]\nenabled = false\n");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let said = world.said(&loaded);
    assert!(said.iter().any(|line| line.contains("`audit`")), "{said:#?}");
    assert!(loaded.config.audit.wanted().is_some());
}
