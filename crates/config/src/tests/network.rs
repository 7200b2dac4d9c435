//! The table `network`.

use gristmill_gateway::domain::policy::{Decision, Mark};
use gristmill_gateway::domain::{Level, Transport};

use super::World;
use crate::{Flags, Severity};

const HOSTS: &str = "[network]\nallowed_hosts = ['api.example.com', 'http://127.0.0.1:8080']\n";

#[test]
fn programs_have_no_network_unless_hosts_are_allowed() {
    let config = World::new().load().config;
    assert!(config.network.hosts.is_empty() && config.servers.is_empty());
    assert!(config.policy.settings.user.is_empty());
    let table = "timeout = '5s'\nrequest_size = '2M'\nresponse_size = '64K'\nrequests_per_execution = 7\n\
                 [network.credentials.'api.example.com']\nheader = 'Authorization'\nvalue = 'Bearer ${env:API_PASS}'\n";
    let world = World::new().user(&format!("{HOSTS}{table}"));
    let loaded = world.load();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let server = &loaded.config.server("http").expect("a server").settings;
    assert_eq!((server.limits.call_ms, server.limits.result_bytes), (5_000, 64 << 10));
    assert!(server.marks.has(Mark::External) && server.marks.has(Mark::Untrusted));
    assert_eq!(
        server.description.as_deref(),
        Some("HTTP requests to api.example.com, http://127.0.0.1:8080")
    );
    let Transport::Hosts(hosts) = &server.transport else { panic!("{server:?}") };
    assert_eq!((hosts.allowed.len(), hosts.credentials.len(), hosts.request_bytes), (2, 1, 2 << 20));
    let rules = &loaded.config.policy.settings.user;
    assert_eq!((rules[0].0.level, rules[0].0.decision), (Some(Level::Hardened), Some(Decision::Deny)));
    assert_eq!((rules[1].0.budgets.calls_per_execution, rules[1].0.decision), (Some(7), None));
    let unmet = crate::needs::unmet(&loaded.config, &world.surroundings);
    assert!(unmet.iter().any(|problem| problem.to_string().contains("API_PASS")), "{unmet:?}");
    let shown = crate::commands::show::as_toml(&loaded.config);
    assert!(shown.contains("[network]\nallowed_hosts = [\"api.example.com\", \"http://127.0.0.1:8080\"] # "));
    assert!(shown.contains("value = \"Bearer ${API_PASS}\"") && !shown.contains("[servers.http]"), "{shown}");
}

#[test]
fn rules_of_the_users_stand_below_those_of_the_network() {
    let rule = "[[policy.rules]]\nserver = 'http'\ndecision = 'allow'\n";
    let loaded = World::new().user(&format!("{HOSTS}{rule}")).load();
    let decisions: Vec<_> =
        loaded.config.policy.settings.user.iter().map(|(rule, _)| rule.decision).collect();
    assert_eq!(decisions, [Some(Decision::Deny), None, Some(Decision::Allow)]);
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    for wrong in [
        "[network]\nallowed_hosts = ['*']\n",
        "[network]\nallowed_hosts = ['*.com']\n",
        "[network]\nallowed_hosts = ['https://api.example.com/path']\n",
        "[network]\nallowed_hosts = 'api.example.com'\n",
        "[network]\nallowed = ['api.example.com']\n",
        "[network]\nallowed_hosts = ['a.example.com']\ntimeout = '1h'\n",
        "[network]\nallowed_hosts = ['a.example.com']\nresponse_size = '1G'\n",
        "[network]\nallowed_hosts = ['a.example.com']\nrequests_per_execution = 0\n",
        "[network.credentials.'a.example.com']\nheader = 'X'\nvalue = 'y'\n",
        "[network]\nallowed_hosts = ['a.example.com']\n[network.credentials.'a.example.com']\nheader = 'X'\n",
        "[network]\nallowed_hosts = ['a.example.com']\n[network.credentials.'a.example.com']\nheader = 'X:'\nvalue = 'y'\n",
        "[network]\nallowed_hosts = ['http://a.example.com']\n[network.credentials.'http://a.example.com']\nheader = 'X'\nvalue = 'y'\n",
    ] {
        let loaded = World::new().user(wrong).load();
        assert!(loaded.problems.iter().any(|problem| problem.severity == Severity::Error), "{wrong}");
    }
}

#[test]
fn a_project_allows_no_host_even_if_it_is_approved() {
    let world = World::new().user("level = 'production'\n").project(HOSTS);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert!(loaded.config.network.hosts.is_empty() && loaded.config.server("http").is_none());
    assert!(world.said(&loaded).iter().any(|line| line.contains("`network`")), "{:?}", world.said(&loaded));
}

#[test]
fn a_projects_server_does_not_take_the_place_of_the_hosts() {
    let world = World::new().user(HOSTS).project("[servers.http]\ncommand = 'evil'\n");
    let waits = world.load();
    assert!(matches!(waits.config.server("http").unwrap().settings.transport, Transport::Hosts(_)));
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert!(matches!(loaded.config.server("http").unwrap().settings.transport, Transport::Hosts(_)));
    assert!(world.said(&loaded).iter().any(|line| line.contains("rename it")), "{:?}", world.said(&loaded));
}

#[test]
fn at_level_hardened_hosts_are_refused_with_words() {
    let world = World::new().user(HOSTS);
    let loaded = world.load_with(&Flags { level: Some(Level::Hardened), ..Flags::default() });
    assert!(loaded.config.server("http").is_none());
    let said = world.said(&loaded);
    assert!(said.iter().any(|line| line.contains("programs have no network there")), "{said:?}");
}
