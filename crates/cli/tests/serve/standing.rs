//! What the description of `execute_code` tells of the servers' tools: all of them if they fit, the servers and the
//! most used ones if they don't; the same bytes until something changes, and then clients hear of it.

use serde_json::json;

use crate::cases;
use crate::client::{Client, Manners, legacy, modern};
use crate::gateways::Place;

cases![
    a_small_catalogue_needs_no_search,
    it_is_the_same_bytes_after_a_restart_although_a_server_is_gone,
    beyond_the_budget_servers_are_named_and_used_tools_shown,
    a_token_is_told_only_of_what_it_may_use,
    clients_are_told_when_the_list_changes,
];

/// The description of `execute_code`.
fn told(client: &Client) -> String {
    let listed = client.result("tools/list", json!({}));
    listed["tools"][0]["description"].as_str().expect("a description").to_owned()
}

fn started(place: &Place, manners: Manners, arguments: &[&str]) -> Client {
    let client = Client::start(place.plain_command(arguments), manners);
    // However busy the machine is, the servers are known from here on.
    client.structured("search_tools", json!({}));
    client
}

fn a_small_catalogue_needs_no_search() {
    let place = Place::new("standing-small").example("calculator").example("crm");
    let served = started(&place, modern(), &[]);
    let description = told(&served);
    let (ours, theirs) = description.split_once("\n\nAll tools by server ").expect("a list");
    assert!(ours.ends_with("analysis are functions too: help()."), "{ours}");
    for part in [
        "(? optional):\ncalculator: convert_units(value: float, from_, to), evaluate(expression), ",
        "\ncrm: add_note(record_id, text), create_record(type: account|contact|lead|meeting, fields: dict), ",
        "get_record(type: account|…, id), list_activities(record_id), ",
        "list_leads(status?: new|contacted|qualified|won|lost, owner?, page=1, page_size=50)",
    ] {
        assert!(theirs.contains(part), "{part}\n{theirs}");
    }
    assert!(!description.contains("Computes"), "a server's own sentences are not told: {description}");
    let instructions = served.result("server/discover", json!({}))["instructions"].take();
    assert!(!instructions.as_str().unwrap_or_default().contains("crm"), "{instructions}");
    assert!(gristmill_gateway::tokens::count(theirs) <= 500);
    assert!(description.chars().count() < 2_048);
}

fn it_is_the_same_bytes_after_a_restart_although_a_server_is_gone() {
    let place = Place::new("standing-restart").example("calculator").scripted("robot", &[]);
    let first = told(&started(&place, modern(), &[]));
    assert!(first.contains("\nrobot: "), "{first}");
    // Without a word to the servers: what they offered is known.
    assert_eq!(told(&Client::start(place.plain_command(&[]), modern())), first);
    let served = Client::start(place.plain_command(&[]), legacy());
    served.call("execute_code", json!({"code": "from servers.robot import crash\nawait crash(code=3)"}));
    assert_eq!(told(&served), first);
}

fn beyond_the_budget_servers_are_named_and_used_tools_shown() {
    let place = Place::new("standing-large").example("calculator").example("crm").example("weather");
    let served = started(&place, modern(), &["--signature-tokens", "60"]);
    let description = told(&served);
    let (_, theirs) = description.split_once("\n\nServers ").expect("servers");
    assert!(theirs.contains("calculator (3)\ncrm (7)\nweather ("), "{theirs}");
    assert!(!theirs.contains("evaluate("), "nothing was used before today: {theirs}");
    assert!(!told(&started(&place, modern(), &["--signature-tokens", "0"])).contains("calculator"));
}

fn a_token_is_told_only_of_what_it_may_use() {
    let rules = json!({"rules": [{"server": "crm", "tool": "update_*", "decision": "deny"}]});
    let place = Place::new("standing-denied").example("calculator").example("crm").setting("policy", rules);
    let description = told(&started(&place, modern(), &[]));
    assert!(description.contains("get_record(") && !description.contains("update_record("), "{description}");
}

fn clients_are_told_when_the_list_changes() {
    let robot = |accept: &str| {
        let ourselves = std::env::current_exe().expect("our own path");
        json!({"command": ourselves, "args": ["scripted-server"], "accept": accept})
    };
    let place =
        Place::new("standing-changes").server("robot", robot("nothing")).server("open", robot("additions"));
    let served = Client::mute(place.plain_command(&[]), legacy());
    let greeted = served.request("initialize", legacy().greeting());
    assert_eq!(greeted["result"]["capabilities"]["tools"]["listChanged"], true, "{greeted}");
    served.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    served.structured("search_tools", json!({}));
    let before = told(&served);
    let change = |server: &str, tool: &str| {
        let code = format!(
            "from servers.{server} import set_tools\n\
             await set_tools(tools=[{{'name': '{tool}', 'inputSchema': {{'type': 'object'}}}}])"
        );
        assert_eq!(served.structured("execute_code", json!({"code": code}))["result"], "changed");
    };
    // The first is held back: nobody approved it. The second is taken as its server's entry says.
    change("robot", "not_approved");
    change("open", "brand_new");
    served.until_notified("a change of the list", |told| {
        told.iter().any(|told| told["method"] == "notifications/tools/list_changed").then_some(())
    });
    let after = told(&served);
    assert_ne!(before, after);
    assert!(after.contains("brand_new(") && !after.contains("not_approved"), "{after}");
}
