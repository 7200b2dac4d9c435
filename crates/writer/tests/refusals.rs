//! What the writer must not write: each reason to refuse, on small tools.

use gristmill_writer::{Candidate, Language, Outcome, SENTENCE_CHARS_MAX, Task, write};
use serde_json::{Value, json};

struct Tool {
    name: &'static str,
    description: &'static str,
    input: Value,
    output: Value,
    read_only: bool,
}

fn list_orders() -> Tool {
    Tool {
        name: "list_orders",
        description: "Lists orders of the shop, of one status if wanted.",
        input: json!({ "type": "object", "properties": {
            "status": { "type": "string", "enum": ["open", "paid", "lost"] },
        } }),
        output: json!({ "type": "object", "required": ["orders"], "properties": {
            "orders": { "type": "array", "items": { "type": "object", "required": ["id", "price", "city"],
                "properties": {
                    "id": { "type": "string" },
                    "price": { "type": "number" },
                    "city": { "type": "string" },
                } } },
        } }),
        read_only: true,
    }
}

fn outcome(sentence: &str, tools: &[Tool]) -> Outcome {
    let candidates: Vec<Candidate<'_>> = tools
        .iter()
        .map(|tool| Candidate {
            server: "shop",
            module: "shop",
            tool: tool.name,
            function: tool.name,
            description: tool.description,
            input_schema: &tool.input,
            output_schema: (!tool.output.is_null()).then_some(&tool.output),
            read_only: tool.read_only,
            nearness: 1.0,
        })
        .collect();
    write(&Task { sentence, language: Language::Python, tools: &candidates })
}

fn refused(sentence: &str, tools: &[Tool], part: &str) {
    match outcome(sentence, tools) {
        Outcome::Refused(refusal) => {
            assert!(refusal.reason.contains(part), "{sentence}: {}", refusal.reason);
            assert_eq!(refusal.nearest.is_empty(), tools.is_empty());
        }
        Outcome::Written(program) => panic!("{sentence}\n{}", program.code),
    }
}

fn code(sentence: &str, tools: &[Tool]) -> String {
    match outcome(sentence, tools) {
        Outcome::Written(program) => program.code,
        Outcome::Refused(refusal) => panic!("{sentence}: {}", refusal.reason),
    }
}

#[test]
fn words_that_nothing_accounts_for_are_a_reason() {
    refused("List the orders from space", &[list_orders()], "“space”");
    refused("List the orders except the paid ones", &[list_orders()], "“except”");
    refused("List the paid orders of last week", &[list_orders()], "“last”");
    refused("Delete the paid orders", &[list_orders()], "“Delete”");
    refused("List the orders and email them", &[list_orders()], "“email”");
}

#[test]
fn a_field_that_is_not_known_is_a_reason() {
    refused("What is the average weight of the orders?", &[list_orders()], "“weight”");
    refused("Count the orders by customer", &[list_orders()], "“customer”");
    refused("Show the 3 heaviest orders", &[list_orders()], "“weight”");
}

#[test]
fn an_answer_of_unknown_shape_is_shown_and_never_computed_with() {
    let silent = || Tool { output: Value::Null, ..list_orders() };
    assert!(code("List the paid orders", &[silent()]).ends_with("result = answer\n"));
    refused("How many orders are paid?", &[silent()], "doesn't say what it returns");
    refused("What is the total price of the orders?", &[silent()], "doesn't say what it returns");
}

#[test]
fn two_values_for_one_argument_are_a_reason() {
    refused("List the open and paid orders", &[list_orders()], "could be “open” or “paid”");
}

#[test]
fn a_field_that_only_repeats_an_argument_is_no_answer() {
    let current = || Tool {
        name: "current",
        description: "The weather now.",
        input: json!({ "type": "object", "required": ["city"], "properties": { "city": { "type": "string" } } }),
        output: json!({ "type": "object", "required": ["city", "days", "temp_c"], "properties": {
            "city": { "type": "string" },
            "days": { "type": "integer" },
            "temp_c": { "type": "number" },
        } }),
        read_only: true,
    };
    assert!(code("What's the temperature in Lisbon?", &[current()]).contains("\"temp_c\""));
    refused("Show the cities in Germany", &[current()], "“cities”");
    refused("What's the temperature and the city in Lisbon?", &[current()], "“city”");
    // Of orders of one status the status is known; of any, it isn't.
    let with_status = || Tool {
        output: json!({ "type": "object", "required": ["orders"], "properties": {
            "orders": { "type": "array", "items": { "type": "object", "required": ["id", "status"],
                "properties": { "id": { "type": "string" }, "status": { "type": "string" } } } },
        } }),
        ..list_orders()
    };
    assert!(code("List the status of the orders", &[with_status()]).contains("row[\"status\"]"));
    refused("List the status of the paid orders", &[with_status()], "“status”");
}

#[test]
fn a_missing_argument_is_a_reason() {
    let get = Tool {
        name: "get_order",
        description: "Gets an order.",
        input: json!({ "type": "object", "required": ["order_id"], "properties": { "order_id": { "type": "string" } } }),
        ..list_orders()
    };
    refused("Get the order", &[get], "needs `order_id`");
}

#[test]
fn two_tools_that_fit_alike_are_a_reason() {
    let other = Tool { name: "orders_list", ..list_orders() };
    refused("List the paid orders", &[list_orders(), other], "several tools fit equally well");
}

#[test]
fn a_tool_that_writes_wants_its_own_verb_and_all_it_needs() {
    let cancel = || Tool {
        name: "cancel_order",
        description: "Cancels an order, so that it is not sent.",
        input: json!({ "type": "object", "required": ["order_id"], "properties": { "order_id": { "type": "string" } } }),
        output: Value::Null,
        read_only: false,
    };
    assert!(
        code("Please cancel order ORD-7", &[cancel()]).contains("cancel_order({\"order_id\": \"ORD-7\"})")
    );
    refused("Show order ORD-7", &[cancel()], "changes something");
    refused("Is order ORD-7 going to cancel?", &[cancel()], "changes something");
    refused("Cancel the order", &[cancel()], "needs `order_id`");
    refused("Cancel order ORD-7 unless it was sent", &[cancel()], "“unless”");
}

#[test]
fn pages_without_a_way_to_the_next_are_a_reason() {
    let paged = Tool {
        input: json!({ "type": "object", "properties": { "page": { "type": "integer" } } }),
        ..list_orders()
    };
    refused("What is the total price of the orders?", &[paged], "gives its answer in parts");
}

#[test]
fn an_empty_or_endless_sentence_and_no_tools_are_reasons() {
    refused("", &[list_orders()], "no task");
    refused("List orders", &[], "no tool was found");
    refused(&"x".repeat(SENTENCE_CHARS_MAX + 1), &[list_orders()], "longer than");
}

#[test]
fn what_is_asked_of_rows_becomes_python() {
    let check = |sentence: &str, end: &str| {
        let made = code(sentence, &[list_orders()]);
        assert!(made.ends_with(end), "{sentence}\n{made}");
    };
    check(
        "How many orders are paid?",
        "({\"status\": \"paid\"})\nrows = answer[\"orders\"]\nresult = len(rows)\n",
    );
    check(
        "What is the total price of the orders?",
        "values = [row[\"price\"] for row in rows]\nresult = sum(values)\n",
    );
    check("What's the highest price of the orders?", "result = max(values, default=None)\n");
    check(
        "Show the 3 orders with the highest price",
        "ordered = sorted(rows, key=lambda row: row[\"price\"], reverse=True)\nresult = ordered[:3]\n",
    );
    check("Top 3 orders by price", "result = ordered[:3]\n");
    check(
        "Which orders have a price above 20?",
        "rows = [row for row in rows if row[\"price\"] > 20]\nresult = rows\n",
    );
    check("Count the orders by city", "    groups[key] = groups.get(key, 0) + 1\nresult = groups\n");
}
