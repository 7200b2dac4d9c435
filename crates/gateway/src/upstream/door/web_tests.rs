//! Requests to hosts at the door: what is refused, what rules and records see, and where values may go.

use gristmill_domain::policy::{Condition, Decision, Mark, Marks, Policy, PolicySettings, Rule};
use gristmill_domain::{
    AllowedHost, Code, HTTP_SERVER, HostsSettings, Level, PrivacyMode, ServerSettings, Transport,
};
use serde_json::json;

use super::personal_tests::{ADDRESS, World as People, refusal, token};
use super::policy_tests::{Person, call, refused};
use super::tests::{World, program};
use crate::ports::{Asker, WebFacts};
use crate::privacy::{Kind, PrivacySettings, RestoreRule, Vault};
use crate::upstream::{Guard, GuardSettings};

fn hosts(entries: &[&str]) -> ServerSettings {
    let allowed = entries.iter().map(|entry| AllowedHost::read(entry).unwrap()).collect();
    let hosts = HostsSettings { allowed, ..HostsSettings::default() };
    let marks = Marks::of([Mark::Untrusted, Mark::External]);
    ServerSettings { marks, ..ServerSettings::new(HTTP_SERVER, Transport::Hosts(hosts)) }
}

fn guard(rules: Vec<Rule>) -> Guard {
    let user = rules.into_iter().map(|rule| (rule, "gristmill.toml:1".to_owned())).collect();
    let policy = Policy::new(PolicySettings { user, ..PolicySettings::default() });
    let level = Level::Production;
    Guard::new(GuardSettings { policy, level, data: None, store: None, marks: None, notify: None })
}

#[tokio::test]
async fn a_host_that_is_not_allowed_is_refused_before_anybody_is_asked() {
    let ask = Rule { server: Some(HTTP_SERVER.to_owned()), ..Rule::deciding(Decision::Ask) };
    let world = World::of_settings(Some(guard(vec![ask])), vec![hosts(&["api.example.com"])]).await;
    let person = Person::says(&["once"]);
    let caller = program();
    let to = |url: &str| json!({ "url": url });
    let (code, said) =
        refused(call(&world, &caller, "http.look", to("https://evil.net/"), person.asker()).await);
    assert_eq!(code, Code::HostNotAllowed);
    assert!(said.contains("https://evil.net") && said.contains("`allowed_hosts`"), "{said}");
    assert_eq!((person.asked(), world.heard()), (0, Vec::new()));
    let allowed = to("https://api.example.com/");
    call(&world, &caller, "http.look", allowed, person.asker()).await.unwrap();
    assert_eq!(person.asked(), 1);
}

#[tokio::test]
async fn rules_and_records_see_the_url_as_it_is_sent() {
    let inside = Condition::read("url", "https://api.example.com/admin*").unwrap();
    let deny = Rule { conditions: vec![inside], ..Rule::deciding(Decision::Deny) };
    let world = World::of_settings(Some(guard(vec![deny])), vec![hosts(&["api.example.com"])]).await;
    let caller = program();
    for url in [
        "https://api.example.com/admin",
        "https://api.example.com/public/../admin",
        "https://api.example.com/%2e%2e/admin?x",
        "HTTPS://API.EXAMPLE.COM:443/admin",
        "https:\\\\api.example.com\\admin",
    ] {
        let (code, _) =
            refused(call(&world, &caller, "http.look", json!({ "url": url }), Asker::none()).await);
        assert_eq!(code, Code::PolicyDenied, "{url}");
    }
    world.recorded();
    let url = "https://api.example.com/public/./a?token=hunter2";
    call(&world, &caller, "http.look", json!({ "url": url }), Asker::none()).await.unwrap();
    assert_eq!(world.heard(), [r#"call look {"url":"https://api.example.com/public/a?token=hunter2"}"#]);
    let (host, path) = ("api.example.com:443".to_owned(), "/public/a".to_owned());
    let web = world.recorded().pop().unwrap().web;
    assert_eq!(web, Some(WebFacts { host, path, status: None }));
}

#[tokio::test]
async fn a_value_goes_to_a_host_by_a_rule_of_the_users_and_not_otherwise() {
    let settings = |restore| PrivacySettings {
        mode: PrivacyMode::Boundary,
        restore,
        ..PrivacySettings::of(Level::Production)
    };
    let servers = [("crm", PrivacyMode::Off), (HTTP_SERVER, PrivacyMode::Off)];
    let caller = program();
    let open = async |restore| {
        let vault = Vault::open(None, None).unwrap();
        People::of(settings(restore), &servers, vault, None).await
    };
    let world = open(Vec::new()).await;
    let own = token(&world.call(&caller, "http.find", json!({})).await.unwrap(), "email");
    let found = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    for address in [&own, &found] {
        let told = refusal(world.call(&caller, "http.send", json!({ "to": address })).await);
        assert!(told.contains("(rule `hosts`)") && told.contains("gristmill privacy let"), "{told}");
    }
    let rule =
        RestoreRule { kinds: vec![Kind::Email], to: "http.*".to_owned(), fields: Vec::new(), allow: true };
    let world = open(vec![rule]).await;
    let found = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    world.heard();
    world.call(&caller, "http.send", json!({ "to": found })).await.unwrap();
    assert_eq!(world.heard(), [format!("send {}", json!({ "to": ADDRESS }))]);
}
