//! What tools answer is learned from their answers, shown to programs and people, and forgotten on request.

mod support;

use gristmill_testkit::Home;
use serde_json::{Value, json};
use support::gristmill;

/// A shop whose tools declare no results.
fn with_shop(name: &str) -> Home {
    let home = Home::new(gristmill(), name);
    let server = home.path().join("shop.py");
    std::fs::write(&server, include_str!("support/plain_server.py")).unwrap();
    let changed = home.path().join("changed");
    home.ok(&["add", "shop", "--", "python3", server.to_str().unwrap(), changed.to_str().unwrap()]);
    home.ok(&["tools", "list", "shop"]);
    home
}

fn list_orders(home: &Home) {
    let program = "from servers.shop import list_orders\nlen((await list_orders())['orders'])";
    assert_eq!(home.ok(&["run", "-c", program]).trim(), "2");
}

fn learned(home: &Home) -> Vec<Value> {
    let printed = home.ok(&["tools", "learned", "--json"]);
    serde_json::from_str::<Value>(&printed).expect("JSON").as_array().expect("a list").clone()
}

const SIGNATURE: &str = "shop.list_orders() -> {next, orders: [{created, id, lines: [{count, sku}], paid, total_cents, coupon?}]}";

#[test]
fn a_program_teaches_what_a_tool_answers_and_the_next_one_sees_it() {
    let home = with_shop("learned");
    assert!(home.ok(&["tools", "search", "orders"]).contains("shop.list_orders()\n"));
    list_orders(&home);
    let found = home.ok(&["tools", "search", "list orders"]);
    assert!(found.contains(&format!("{SIGNATURE}  # seen in 1 call")), "{found}");
    let stub = home.ok(&["tools", "show", "shop.list_orders"]);
    for part in
        ["total_cents: int", "created: str  # date-time", "coupon: NotRequired[str]", "seen in 1 call"]
    {
        assert!(stub.contains(part), "{part} is not in\n{stub}");
    }
    let stub = home.ok(&["tools", "show", "shop.list_orders", "--format", "typescript"]);
    assert!(stub.contains("total_cents: number;") && stub.contains("coupon?: string;"), "{stub}");
    // Programs see the same: in the tree, by asking and by searching.
    for program in [
        "open('/servers/shop/list_orders.py').read()",
        "describe_tool('shop.list_orders')",
        "open('/servers/shop/list_orders.ts').read()",
    ] {
        let read = home.ok(&["run", "-c", program]);
        assert!(read.contains("total_cents") && read.contains("seen in 1 call"), "{program}: {read}");
    }
    let found = home.ok(&["run", "-c", "search_tools('list orders')[0]['signature']"]);
    assert!(found.contains("total_cents"), "{found}");
    let rows = learned(&home);
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (&rows[0]["tool"], &rows[0]["calls"], &rows[0]["drifts"]),
        (&json!("list_orders"), &json!(1), &json!(0))
    );
    assert_eq!(rows[0]["schema"]["required"], json!(["next", "orders"]));
    let table = home.ok(&["tools", "learned", "shop.list_orders"]);
    assert!(table.contains("shop.list_orders") && table.contains("total_cents"), "{table}");
}

#[test]
fn more_calls_are_counted_in_steps() {
    let home = with_shop("learned-steps");
    let program = "from servers.shop import list_orders\nfor _ in range(14): await list_orders()";
    home.ok(&["run", "-c", program]);
    assert_eq!(learned(&home)[0]["calls"], 14);
    assert!(home.ok(&["tools", "search", "list orders"]).contains("# seen in 10+ calls"));
}

#[test]
fn keys_that_are_somebodys_and_errors_are_not_learned() {
    let home = with_shop("learned-private");
    let program = "from servers.shop import by_customer, broken\nawait by_customer()\n\
                   try:\n    await broken()\nexcept Exception:\n    pass";
    home.ok(&["run", "-c", program]);
    let rows = learned(&home);
    assert_eq!(rows.len(), 1, "{rows:#?}");
    assert_eq!(rows[0]["schema"], json!({"type": "object", "additionalProperties": {"type": "integer"}}));
    assert!(!home.ok(&["tools", "learned", "--json"]).contains("anna"));
    assert!(home.ok(&["tools", "search", "customer"]).contains("shop.by_customer() -> dict  # seen"));
}

#[test]
fn a_changed_definition_begins_anew_and_forgetting_wipes() {
    let home = with_shop("learned-reset");
    list_orders(&home);
    std::fs::write(home.path().join("changed"), "").unwrap();
    home.ok(&["tools", "review", "shop", "--approve", "--yes"]);
    assert!(
        home.ok(&["tools", "search", "list orders"]).contains("shop.list_orders()\n"),
        "it is another tool now"
    );
    assert!(home.ok(&["tools", "learned"]).contains("not shown: the tool's definition has changed since"));
    home.ok(&["run", "-c", "from servers.shop import list_orders\nlen((await list_orders())['entries'])"]);
    let rows = learned(&home);
    assert_eq!((rows.len(), &rows[0]["calls"]), (1, &json!(1)));
    assert_eq!(rows[0]["schema"]["required"], json!(["entries"]));
    assert_eq!(home.run(&["tools", "forget"]).code, Some(2), "which ones?");
    let ran = home.run(&["tools", "forget", "shop"]);
    assert!(ran.stderr.contains("forgot what 1 tool answered"), "{}", ran.stderr);
    assert_eq!(learned(&home), Vec::<Value>::new());
    assert!(home.ok(&["tools", "search", "list orders"]).contains("shop.list_orders()\n"));
}

#[test]
fn a_switch_ends_learning_and_showing() {
    let home = with_shop("learned-off");
    list_orders(&home);
    let text = std::fs::read_to_string(home.config_file()).unwrap();
    std::fs::write(home.config_file(), format!("{text}\n[learning]\ntypes = false\n")).unwrap();
    assert!(home.ok(&["tools", "search", "list orders"]).contains("shop.list_orders()\n"));
    let read = home.ok(&["run", "-c", "open('/servers/shop/list_orders.py').read()"]);
    assert!(!read.contains("total_cents"), "{read}");
    list_orders(&home);
    assert_eq!(learned(&home)[0]["calls"], 1, "it is kept as it was");
    let ran = home.run(&["tools", "learn", "shop", "--yes"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("learning is off"), "{}", ran.stderr);
}

#[test]
fn a_command_calls_what_reads_and_needs_nothing_after_asking() {
    let home = with_shop("learned-command");
    let ran = home.run(&["tools", "learn", "shop"]);
    assert_eq!((ran.code, learned(&home).len()), (Some(2), 0), "asked, and nobody answered");
    let ran = home.run(&["tools", "learn", "shop", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.contains(SIGNATURE), "{}", ran.stdout);
    assert!(!ran.stdout.contains("pay_all") && !ran.stdout.contains("get_order"), "{}", ran.stdout);
    assert!(ran.stderr.contains("shop.broken: error["), "{}", ran.stderr);
    let tools: Vec<Value> = learned(&home).iter().map(|row| row["tool"].clone()).collect();
    assert_eq!(tools, [json!("by_customer"), json!("list_orders")]);
    assert_eq!(home.run(&["tools", "learn", "nobody", "--yes"]).code, Some(2));
}

#[test]
fn a_program_is_not_refused_for_what_was_learned() {
    let home = with_shop("learned-hint");
    list_orders(&home);
    // Nothing that was learned says that there is no such field.
    let program = "from servers.shop import list_orders\n(await list_orders()).get('another')";
    assert_eq!(home.run(&["run", "-c", program]).code, Some(0));
    let file = home.path().join("program.py");
    std::fs::write(&file, program).unwrap();
    assert_eq!(home.run(&["check", file.to_str().unwrap()]).code, Some(0));
}
