//! The table `approvals`.

use super::World;

const TABLE: &str = "[approvals.webhook]\nurl = 'https://hooks.example.com/x'\nsecret = '${WEBHOOK_SECRET}'\npublic_url = 'https://gm.example.com/'\n";

#[test]
fn a_webhook_is_read_with_its_reference_unresolved() {
    let loaded = World::new().user(TABLE).load();
    let webhook = loaded.config.approvals.webhook.expect("a webhook");
    assert_eq!(
        (webhook.url.as_str(), webhook.public_url.as_str()),
        ("https://hooks.example.com/x", "https://gm.example.com")
    );
    assert_eq!(webhook.secret.as_plain(), None);
    assert!(World::new().load().config.approvals.webhook.is_none());
}

#[test]
fn an_address_that_others_could_listen_at_is_an_error() {
    for (from, to) in [
        ("https://hooks.example.com/x", "http://hooks.example.com/x"),
        ("https://gm.example.com/", "http://127.0.0.1.example.com"),
        ("url = 'https://hooks.example.com/x'", ""),
        ("secret = '${WEBHOOK_SECRET}'", ""),
    ] {
        let loaded = World::new().user(&TABLE.replace(from, to)).load();
        assert!(loaded.config.approvals.webhook.is_none(), "{to}");
        assert!(!loaded.problems.is_empty(), "{to}");
    }
    let here = TABLE.replace("https://hooks.example.com/x", "http://127.0.0.1:9000/x");
    assert!(World::new().user(&here).load().config.approvals.webhook.is_some());
}

#[test]
fn a_project_cannot_have_your_questions_sent_elsewhere() {
    let world = World::new().user("level = 'production'\n").project(TABLE);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert!(world.said(&loaded).iter().any(|line| line.contains("`approvals`")));
    assert!(loaded.config.approvals.webhook.is_none());
}
