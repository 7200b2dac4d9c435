//! The table `engines`.

use gristmill_gateway::EngineId;

use super::World;
use crate::commands::show;

#[test]
fn a_language_can_be_kept_warm_in_your_own_file() {
    let world = World::new().user("[engines]\nwarm = ['python', 'typescript', 'javascript']\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config.engines.warm, [EngineId::Python, EngineId::TypeScript]);
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[engines]\nwarm = [\"python\",\"typescript\"] # "), "{shown}");
    assert_eq!(World::new().load().config.engines.warm, [EngineId::Python]);
}

#[test]
fn a_language_that_nothing_runs_is_told() {
    let world = World::new().user("[engines]\nwarm = ['ruby']\n");
    let said = world.said(&world.load());
    assert!(said.len() == 1 && said[0].contains("engines.warm"), "{said:#?}");
}
