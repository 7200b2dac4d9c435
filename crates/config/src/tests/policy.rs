//! The table `policy`.

use gristmill_gateway::domain::Level;
use gristmill_gateway::domain::policy::{Decision, Mark, Marks, Policy, Preset};

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

#[test]
fn servers_have_marks_and_a_misspelled_one_is_told() {
    let world =
        World::new().user("[servers.web]\nurl = 'http://127.0.0.1:1/'\nmarks = ['untrusted', 'external']\n");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config.servers[0].settings.marks, Marks::of([Mark::External, Mark::Untrusted]));
    assert!(show::as_toml(&loaded.config).contains("marks = [\"untrusted\", \"external\"]"));
    let world = World::new().user("[servers.web]\nurl = 'http://127.0.0.1:1/'\nmarks = ['untrustd']\n");
    let said = world.said(&world.load());
    assert!(
        said[0].contains("servers.web.marks") && said[0].contains("did you mean `untrusted`?"),
        "{said:?}"
    );
}

#[test]
fn a_project_adds_marks_and_takes_none_away_and_makes_the_flow_stricter_only() {
    let own = "[policy]\nflow = 'ask'\n[servers.crm]\nurl = 'http://127.0.0.1:1/'\nmarks = ['private']\n";
    let project = |flow: &str| {
        format!(
            "[policy]\nflow = '{flow}'\n[servers.crm]\nurl = 'http://127.0.0.1:2/'\nmarks = ['external']\n"
        )
    };
    let flow = |text: &str| {
        let world = World::new().user(own).project(text);
        world.approve("home/project/gristmill.toml");
        let loaded = world.load();
        let marks = loaded.config.servers[0].settings.marks.clone();
        assert_eq!(marks, Marks::of([Mark::Private, Mark::External]));
        let told = world.said(&loaded).iter().any(|line| line.contains("policy.flow"));
        (loaded.config.policy.settings.flow.decision(Level::Production), told)
    };
    assert_eq!(flow(&project("deny")), (Decision::Deny, false));
    assert_eq!(flow(&project("ask")), (Decision::Ask, false));
    assert_eq!(flow(&project("allow")), (Decision::Ask, true));
}

#[test]
fn no_rule_is_called_flow() {
    let world = World::new().user("[[policy.rules]]\nname = 'flow'\ndecision = 'allow'\n");
    let said = world.said(&world.load());
    assert!(said.iter().any(|line| line.contains("use another name")), "{said:?}");
}
