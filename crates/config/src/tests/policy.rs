//! The table `policy`.

use gristmill_gateway::domain::policy::{Decision, Policy, Preset};

use super::World;
use crate::commands::show;

const RULES: &str = "[policy]
preset = 'strict'
read_only_sessions = ['audit-*']

[[policy.rules]]
server = 'crm'
tool = 'delete_*'
where = { amount = '>1000', 'order.kind' = 'gift*' }
decision = 'deny'
reason = 'no large gifts'

[[policy.rules]]
calls_per_minute = 5
";

#[test]
fn rules_are_read_in_order_with_their_lines() {
    let world = World::new().user(RULES);
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let settings = &loaded.config.policy.settings;
    assert_eq!(settings.preset, Preset::Strict);
    let rules: Vec<(String, Option<Decision>, bool)> = settings
        .user
        .iter()
        .map(|(rule, origin)| (rule.words(), rule.decision, origin.ends_with("gristmill.toml:6")))
        .collect();
    let words = "crm.delete_* where amount >1000 where order.kind gift*".to_owned();
    assert_eq!(rules, [(words, Some(Decision::Deny), true), ("*".to_owned(), None, false)]);
    assert_eq!(settings.read_only_sessions[0].0, "audit-*");
    let shown = show::as_toml(&loaded.config);
    assert!(shown.contains("[policy]\npreset = \"strict\" # "), "{shown}");
    assert!(shown.parse::<toml_edit::DocumentMut>().is_ok());
}

#[test]
fn the_preset_alone_may_be_a_word() {
    let world = World::new().user("policy = 'trusting'\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config.policy.settings.preset, Preset::Trusting);
    assert_eq!(World::new().load().config.policy.settings.preset, Preset::Careful);
}

#[test]
fn what_cannot_be_meant_is_told_with_its_key() {
    let world = World::new().user(
        "[policy]\npreset = 'carefull'\nreadonly = true\n\
         [[policy.rules]]\nservre = 'a'\ndecision = 'deny'\n\
         [[policy.rules]]\nserver = 'a'\n\
         [[policy.rules]]\nserver = 'a'\ndecision = 'forbid'\n\
         [[policy.rules]]\nwhere = { 'a..b' = 'x', b = '>much' }\ncalls_per_day = 0\n",
    );
    let said = world.said(&world.load());
    let parts = [
        "did you mean `careful`?",
        "did you mean `read_only`?",
        "did you mean `server`?",
        "policy.rules[1]` needs `decision`",
        "allow, ask, deny",
        "names with dots between them",
        "a comparison such as `>1000`",
        "policy.rules[3].calls_per_day` must be a whole number",
    ];
    for part in parts {
        assert!(said.iter().any(|line| line.contains(part)), "{part} is not in {said:#?}");
    }
    assert_eq!(said.len(), parts.len(), "{said:#?}");
}

#[test]
fn a_projects_file_makes_the_policy_stricter_and_never_looser() {
    let project = "[policy]\npreset = 'trusting'\nread_only = false\n\
         [[policy.rules]]\nserver = 'crm'\ndecision = 'allow'\n\
         [[policy.rules]]\nserver = 'mail'\ndecision = 'deny'\n";
    let world = World::new()
        .user("[policy]\nread_only = true\n[[policy.rules]]\nserver = 'mail'\ndecision = 'allow'\n")
        .project(project);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let said = world.said(&loaded);
    assert_eq!(said.iter().filter(|line| line.contains("would allow more")).count(), 3, "{said:#?}");
    let settings = &loaded.config.policy.settings;
    assert_eq!((settings.preset, settings.read_only.is_some()), (Preset::Careful, true));
    assert_eq!((settings.user.len(), settings.project.len()), (1, 1));
    assert_eq!(Policy::new(settings.clone()).preset(), Preset::Careful);
    let world = World::new().project("policy = 'strict'\n");
    assert_eq!(world.load().config.policy.settings.preset, Preset::Careful, "not approved");
    world.approve("home/project/gristmill.toml");
    assert_eq!(world.load().config.policy.settings.preset, Preset::Strict);
}
