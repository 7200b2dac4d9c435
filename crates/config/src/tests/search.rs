//! The table `search`.

use super::World;

#[test]
fn meaning_and_uses_are_switched_by_your_own_configuration() {
    let settings = World::new().load().config.search.settings;
    assert!(settings.by_meaning && settings.by_use);
    let world = World::new().user("[search]\nmeaning = false\nuses = false\n");
    let loaded = world.load();
    let settings = loaded.config.search.settings;
    assert!(!settings.by_meaning && !settings.by_use);
    let project = World::new().project("[search]\nmeaning = false\n").load();
    assert!(project.config.search.settings.by_meaning, "a project can't take it away");
}
