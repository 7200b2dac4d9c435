//! The table `results`.

use std::time::Duration;

use super::World;
use crate::Origin;
use crate::commands::show;

#[test]
fn what_is_kept_of_results_is_configured_key_by_key() {
    let world = World::new().user("[results]\nkeep = '2d'\nmax_size = '10MB'\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let results = &loaded.config.results;
    assert_eq!(results.settings.keep, Duration::from_secs(2 * 86_400));
    assert_eq!(results.settings.bytes_max, 10 << 20);
    assert!(matches!(&results.size_origin, Origin::File { line: 3, .. }), "{:?}", results.size_origin);
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[results]\nkeep = \"2 d\" # "), "{shown}");
    assert!(shown.parse::<toml_edit::DocumentMut>().is_ok());
    let defaults = World::new().load();
    assert!(show::as_toml(&defaults.config).contains("max_size = \"1 GB\" # "));
}

#[test]
fn what_cannot_be_meant_of_results_is_told_with_its_line() {
    let world = World::new().user("[results]\nkeep = '5m'\nmax_size = 'much'\nkeeps = 1\n");
    let loaded = world.load();
    let said = world.said(&loaded);
    for part in ["results.keep", "3600 s", "results.max_size", "\"1GiB\"", "did you mean `keep`?"] {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), 3);
    assert_eq!(loaded.config.results, Default::default());
}

#[test]
fn a_projects_file_does_not_say_how_long_results_are_kept() {
    let world = World::new().project("[results]\nkeep = '1h'\n");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let said = world.said(&loaded);
    let is_told = |line: &String| line.contains("`results`") && line.contains("is ignored in a project file");
    assert!(said.len() == 1 && said.iter().all(is_told), "{said:#?}");
    assert_eq!(loaded.config.results, Default::default());
}
