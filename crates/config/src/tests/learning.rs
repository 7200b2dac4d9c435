//! The table `learning`.

use super::World;
use crate::commands::show;

#[test]
fn learning_types_can_be_turned_off_in_your_own_file() {
    let world = World::new().user("[learning]\ntypes = false\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert!(!loaded.config.learning.types);
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[learning]\ntypes = false # "), "{shown}");
    assert!(World::new().load().config.learning.types);
}

#[test]
fn what_is_no_switch_is_told() {
    for wrong in ["types = 'no'", "type = false"] {
        let world = World::new().user(&format!("[learning]\n{wrong}\n"));
        let loaded = world.load();
        let said = world.said(&loaded);
        assert!(said.len() == 1 && said[0].contains("learning.type"), "{said:#?}");
        assert!(loaded.config.learning.types);
    }
}
