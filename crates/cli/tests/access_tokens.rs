//! `gristmill token`, as people and scripts use it.

mod support;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn a_token_is_made_shown_once_listed_and_taken_back() {
    let home = Home::new(gristmill(), "tokens");
    let made = home.run(&["token", "new", "laptop"]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let token = made.stdout.trim();
    assert_eq!((token.len(), &token[..4], made.stdout.lines().count()), (53, "gmt_", 1));
    assert!(made.stderr.contains("allows execute and search, until 20"), "{}", made.stderr);
    assert!(made.stderr.contains("Authorization: Bearer") && made.stderr.contains("won't be shown again"));
    assert!(!made.stderr.contains(token), "{}", made.stderr);

    let listed = home.ok(&["token", "list"]);
    assert!(listed.starts_with("NAME    ALLOWS           CREATED     EXPIRES\n"), "{listed}");
    assert!(listed.contains("\nlaptop  execute, search  20"), "{listed}");
    let everything = [listed, home.ok(&["token", "list", "--json"])].concat();
    assert!(!everything.contains(&token[..12]), "{everything}");

    assert_eq!(home.ok(&["token", "remove", "laptop"]), "revoked laptop\n");
    assert_eq!(parsed(&home.ok(&["token", "list", "--json"])), json!([]));
    let empty = home.run(&["token", "list"]);
    assert_eq!((empty.code, empty.stdout.as_str()), (Some(0), ""));
    assert_eq!(empty.stderr, "No access tokens.\n");
}

#[test]
fn a_machine_gets_json_with_scopes_and_times() {
    let home = Home::new(gristmill(), "tokens-json");
    let made = parsed(&home.ok(&["token", "new", "ci", "--scope", "search", "--expires", "never", "--json"]));
    assert_eq!(
        (&made["name"], &made["scopes"], &made["expires"]),
        (&json!("ci"), &json!(["search"]), &Value::Null)
    );
    assert!(made["token"].as_str().is_some_and(|token| token.starts_with("gmt_")), "{made}");
    let listed = parsed(&home.ok(&["token", "list", "--json"]));
    let expected = json!([
        { "name": "ci", "scopes": ["search"], "created": made["created"], "expires": null }
    ]);
    assert_eq!(listed, expected);
    let dated = parsed(&home.ok(&["token", "new", "dated", "--expires", "2999-12-31", "--json"]));
    assert_eq!(dated["expires"], "2999-12-31T23:59:59Z", "through that day");
}

#[test]
fn a_token_can_be_limited_and_the_list_says_to_what() {
    let home = Home::new(gristmill(), "tokens-limited");
    let words =
        ["token", "new", "ci", "--servers", "crm,mail", "--tools", "crm.get_*", "--level", "hardened"];
    let more = ["--calls-per-minute", "60", "--read-only", "--privacy", "boundary", "--expires", "30d"];
    let words: Vec<&str> = words.into_iter().chain(more).collect();
    let made = home.run(&words);
    let says =
        "servers crm, mail; tools crm.get_*; level hardened; 60 calls a minute; read-only; privacy boundary";
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    assert!(made.stderr.contains(&format!("It's limited to {says}.")), "{}", made.stderr);
    let limits = json!({
        "servers": ["crm", "mail"], "tools": ["crm.get_*"], "level": "hardened", "calls_per_minute": 60,
        "read_only": true, "privacy": "boundary",
    });
    assert_eq!(parsed(&home.ok(&["token", "list", "--json"]))[0]["limits"], limits);
    let listed = home.ok(&["token", "list"]);
    let words: Vec<&str> = listed.split_whitespace().collect();
    assert!(listed.contains("LIMITED TO") && words.join(" ").contains("privacy boundary"), "{listed}");
}

#[test]
fn limits_that_fit_no_server_are_warned_of_and_the_token_is_made() {
    let home = Home::new(gristmill(), "tokens-nowhere");
    home.add_example("crm");
    let check = |name: &str, limits: &[&str], expected: &[&str]| {
        let made = home.run(&[&["token", "new", name], limits].concat());
        assert_eq!((made.code, made.stdout.lines().count()), (Some(0), 1), "{}", made.stderr);
        let warned: Vec<&str> = made.stderr.lines().filter(|line| line.starts_with("warning:")).collect();
        assert_eq!(warned, expected, "{}", made.stderr);
    };
    check("a", &["--servers", "crm,c*", "--tools", "crm.*,*.get_lead,*"], &[]);
    let near = "warning: no server is named `crn`; did you mean `crm`?";
    check("b", &["--servers", "crn", "--tools", "crn.*"], &[near]);
    let nothing = ["warning: no server's name fits `x*`", "warning: no server is named `nope`"];
    check("c", &["--servers", "x*", "--tools", "nope.*"], &nothing);
    let tool = "warning: `get_record` must be SERVER.TOOL, such as crm.get_record";
    check("d", &["--tools", "get_record"], &[tool]);
}

#[test]
fn several_scopes_are_told_with_commas() {
    let home = Home::new(gristmill(), "tokens-scopes");
    let words = ["token", "new", "a", "--scope", "admin", "--scope", "execute", "--scope", "search"];
    let made = home.run(&words);
    assert!(made.stderr.contains("allows execute, search and admin, until"), "{}", made.stderr);
    assert!(home.ok(&["token", "list"]).contains("a     execute, search, admin  20"));
}

#[test]
fn mistakes_say_what_is_allowed() {
    let home = Home::new(gristmill(), "tokens-wrong");
    home.ok(&["token", "new", "a"]);
    let check = |arguments: &[&str], says: &str| {
        let ran = home.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{arguments:?}\n{}", ran.stderr);
        assert!(ran.stderr.contains(says), "{arguments:?}\n{}", ran.stderr);
    };
    check(&["token", "new", "a"], "a token named `a` already exists; remove it first, or pick another name");
    check(&["token", "new", "My Laptop"], "use 1 to 64 characters of a-z, 0-9");
    check(&["token", "new", "b", "--scope", "root"], "the scopes are execute, search, admin and metrics");
    check(&["token", "new", "b", "--privacy", "all"], "use off, output or boundary");
    check(
        &["token", "new", "b", "--expires", "soon"],
        "use 30d, 12h, 8w, a date such as 2027-01-31, or never",
    );
    check(&["token", "new", "b", "--expires", "2020-02-29"], "2020-02-29 is over in UTC");
    check(&["token", "remove", "b"], "no token is named `b`; there are a");
    std::fs::write(home.path().join("data/access-tokens.json"), "{").unwrap();
    check(&["token", "list"], "move it away and issue the tokens again");
}
