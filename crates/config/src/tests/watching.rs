//! The tables `watch`, `alerts` and `dashboard`.

use super::World;

const ALERTS: &str = "[alerts]\nlog = false\nnotices = true\ncommand = ['/usr/bin/notify', '--now']\n[alerts.webhook]\nurl = 'https://hooks.example.com/x'\nsecret = '${WEBHOOK_SECRET}'\n";

#[test]
fn the_watch_is_on_and_configured_key_by_key() {
    let default = World::new().load().config;
    assert!(default.watch.enabled && default.alerts.log && !default.alerts.notices);
    assert!(default.alerts.command.is_empty() && default.alerts.webhook.is_none());
    let table = "[watch]\ncalls_per_minute = 50\ndenials_per_minute = 3\noutput_per_minute = '64KiB'\n";
    let loaded = World::new().user(&format!("{table}{ALERTS}")).load();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let watch = &loaded.config.watch.settings;
    let counts = (watch.calls_a_minute, watch.tool_calls_a_minute, watch.denials_a_minute);
    assert_eq!((counts, watch.output_bytes_a_minute), ((50, 50, 3), 64 << 10));
    let alerts = &loaded.config.alerts;
    assert_eq!((alerts.log, alerts.notices, alerts.command.len()), (false, true, 2));
    assert!(alerts.webhook.as_ref().is_some_and(|webhook| webhook.secret.as_plain().is_none()));
    let shown = crate::commands::show::as_toml(&loaded.config);
    assert!(shown.contains("[watch]\nenabled = true # "), "{shown}");
    assert!(shown.contains("command = [\"/usr/bin/notify\",\"--now\"] # "), "{shown}");
    assert!(shown.contains("webhook.secret = \"${WEBHOOK_SECRET}\" # "), "{shown}");
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    for wrong in [
        "[watch]\ncalls_per_minute = 0\n",
        "[watch]\nenabled = 'yes'\n",
        "[watch]\ncals = 1\n",
        "[alerts]\ncommand = 'notify now'\n",
        "[alerts]\ncommand = ['']\n",
        "[alerts.webhook]\nurl = 'http://hooks.example.com/x'\nsecret = 'a long enough secret'\n",
        "[alerts.webhook]\nurl = 'https://hooks.example.com/x'\n",
    ] {
        assert!(!World::new().user(wrong).load().problems.is_empty(), "{wrong}");
    }
}

#[test]
fn a_project_neither_ends_the_watch_nor_has_a_command_started() {
    let project = format!("[watch]\nenabled = false\n{ALERTS}");
    let world = World::new().user("level = 'production'\n").project(&project);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    for table in ["`watch`", "`alerts`"] {
        assert!(world.said(&loaded).iter().any(|line| line.contains(table)), "{table}");
    }
    assert!(loaded.config.watch.enabled && loaded.config.alerts.command.is_empty());
    assert!(loaded.config.alerts.webhook.is_none());
}

#[test]
fn the_price_of_tokens_is_configured_and_cannot_be_below_nothing() {
    let price = |table: &str| {
        let loaded = World::new().user(table).load();
        (loaded.config.dashboard.price_per_million, loaded.problems.is_empty())
    };
    assert_eq!(price(""), (3.0, true));
    assert_eq!(price("[dashboard]\nprice_per_million_tokens = 1.25\n"), (1.25, true));
    assert_eq!(price("[dashboard]\nprice_per_million_tokens = 0\n"), (0.0, true));
    for wrong in ["-1", "'3'", "nan", "200000"] {
        let (kept, is_fine) = price(&format!("[dashboard]\nprice_per_million_tokens = {wrong}\n"));
        assert_eq!((kept, is_fine), (3.0, false), "{wrong}");
    }
}
