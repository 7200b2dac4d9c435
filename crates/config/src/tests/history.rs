//! The table `history`.

use std::time::Duration;

use super::World;
use crate::Origin;
use crate::commands::show;

#[test]
fn the_history_is_configured_key_by_key() {
    let world = World::new().user("[history]\nkeep = '2d'\ncontent = false\nmax_size = '10MB'\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let history = &loaded.config.history;
    assert_eq!(history.settings.keep, Duration::from_secs(2 * 86_400));
    assert_eq!((history.settings.bytes_max, history.settings.content), (10 << 20, false));
    assert!(
        matches!(&history.content_origin, Origin::File { path, line: 3 } if path.ends_with(".config/gristmill/gristmill.toml"))
    );
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[history]\nkeep = \"2 d\" # "), "{shown}");
    assert!(shown.contains("content = false # "), "{shown}");
    assert!(shown.parse::<toml_edit::DocumentMut>().is_ok());
}

#[test]
fn what_cannot_be_meant_is_told_with_its_line() {
    let world =
        World::new().user("[history]\nkeep = '5m'\nmax_size = 'much'\ncontent = 'yes'\nmaxsize = 1\n");
    let loaded = world.load();
    let said = world.said(&loaded);
    let parts = [
        "history.keep",
        "3600 s",
        "history.max_size",
        "\"256MB\"",
        "history.content",
        "did you mean `max_size`?",
    ];
    for part in parts {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), 4);
    assert_eq!(loaded.config.history.settings, Default::default());
}
