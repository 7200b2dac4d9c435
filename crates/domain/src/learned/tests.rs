use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::catalogue::{Catalogue, ServerOffer, ToolDefinition};
use crate::stubs::{self, Language};

fn learned(answers: &[Value]) -> LearnedType {
    let mut learned = LearnedType::default();
    for answer in answers {
        learned.learn(observe(&answer.to_string(), &NothingPersonal).expect("JSON"));
    }
    learned
}

fn schema(answers: &[Value]) -> Value {
    learned(answers).schema()
}

fn conforms(schema: &Value, answer: &Value) -> bool {
    jsonschema::validator_for(schema).expect("a schema").is_valid(answer)
}

/// Takes whatever has this text in it for personal.
struct Marked;

impl Personal for Marked {
    fn is_key(&self, key: &str) -> bool {
        key.contains("anna")
    }

    fn is_word(&self, _field: &str, text: &str) -> bool {
        text.contains("anna")
    }
}

#[test]
fn fields_of_several_answers_become_one_type_with_what_may_be_missing() {
    let made = schema(&[
        json!({"id": 1, "name": "a", "at": "2024-05-01T10:00:00Z", "tags": [], "owner": null}),
        json!({"id": 2.5, "name": "b", "at": "2024-05-02T10:00:00Z", "tags": ["x"], "owner": {"id": "u"}}),
        json!({"id": 3, "name": "c", "at": "2024-05-03T10:00:00Z", "tags": [], "owner": null, "extra": true}),
    ]);
    assert_eq!(
        made,
        json!({
            "type": "object",
            "properties": {
                "at": {"type": "string", "format": "date-time"},
                "extra": {"type": "boolean"},
                "id": {"type": "number"},
                "name": {"type": "string"},
                "owner": {"anyOf": [
                    {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
                    {"type": "null"},
                ]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
            "required": ["at", "id", "name", "owner", "tags"],
        })
    );
}

#[test]
fn text_and_mixed_answers_have_a_type_too() {
    assert_eq!(schema(&[json!("some words")]), json!({"type": "string"}));
    assert_eq!(
        schema(&[json!("some words"), json!([1])]),
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]})
    );
    assert_eq!(
        schema(&[json!(1), json!(null), json!(true)]),
        json!({"type": ["boolean", "integer", "null"]})
    );
    assert_eq!(schema(&[json!([])]), json!({"type": "array"}));
    assert_eq!(schema(&[json!({"$file": 0})]), json!({}));
    assert_eq!(observe("{", &NothingPersonal), None);
}

#[test]
fn keys_that_are_data_become_a_map() {
    let by_id = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    assert_eq!(schema(&[json!({"4711": 1, "4712": 2})]), by_id);
    assert_eq!(schema(&[json!({"a@example.com": 1})]), by_id);
    // One of them beside names of fields.
    assert_eq!(
        schema(&[json!({"total": 1, "2024-05-01": 7})]),
        json!({
            "type": "object",
            "properties": {"total": {"type": "integer"}},
            "required": ["total"],
            "additionalProperties": {"type": "integer"},
        })
    );
    // Very many.
    let many: serde_json::Map<String, Value> =
        (b'a'..=b'z').flat_map(|a| ["x", "y"].map(|b| (format!("{}{b}", a as char), json!(1)))).collect();
    assert_eq!(schema(&[Value::Object(many)]), by_id);
    // Other ones in each answer.
    let answers: Vec<Value> =
        ["eur", "usd", "gbp", "jpy", "chf", "sek"].iter().map(|key| json!({(*key): 1})).collect();
    assert_eq!(schema(&answers), by_id);
    // One record by key.
    let person = |age: u8| json!({"age": age, "city": "x"});
    assert_eq!(
        schema(&[json!({"anna": person(1), "bob": person(2)})]),
        json!({"type": "object", "additionalProperties": {
            "type": "object",
            "properties": {"age": {"type": "integer"}, "city": {"type": "string"}},
            "required": ["age", "city"],
        }})
    );
}

#[test]
fn a_key_that_is_personal_is_not_learned() {
    let answer = json!({"anna": 1, "total": 2}).to_string();
    let shape = observe(&answer, &Marked).expect("JSON");
    assert!(!serde_json::to_string(&shape).unwrap().contains("anna"));
    assert!(conforms(&shape.to_schema(), &json!({"anna": 1, "total": 2})));
}

/// Answers whose field has these words in turn.
fn answers_with(field: &str, words: &[&str], count: usize) -> Vec<Value> {
    (0..count).map(|number| json!({(field): words[number % words.len()]})).collect()
}

fn words_of(schema: &Value, field: &str) -> Option<Vec<String>> {
    let words = schema["properties"][field]["enum"].as_array()?;
    Some(words.iter().map(|word| word.as_str().unwrap().to_owned()).collect())
}

#[test]
fn few_words_that_many_answers_repeat_become_an_enum() {
    let words = ["open", "closed", "in_progress"];
    let few = learned(&answers_with("status", &words, 20));
    assert_eq!(words_of(&few.schema(), "status"), None);
    assert!(words.iter().all(|word| !few.to_json().contains(word)), "{}", few.to_json());
    let many = learned(&answers_with("status", &words, 40));
    assert_eq!(
        words_of(&many.schema(), "status"),
        Some(["closed", "in_progress", "open"].map(str::to_owned).to_vec())
    );
    // A further word opens it until that is settled, too.
    let mut more = many.clone();
    let shape = |word: &str| observe(&json!({"status": word}).to_string(), &NothingPersonal).unwrap();
    assert_eq!(more.learn(shape("merged")), Change::Widened);
    assert_eq!(words_of(&more.schema(), "status"), None);
    assert!(!more.to_json().contains("merged"));
    for _ in 0..3 {
        more.learn(shape("merged"));
    }
    for word in words {
        more.learn(shape(word));
    }
    assert_eq!(words_of(&more.schema(), "status").map(|words| words.len()), Some(4));
}

#[test]
fn what_may_be_somebodys_is_no_enum() {
    for (field, words) in [
        ("assignee", ["anna", "bob"].as_slice()),
        ("status", &["anna@example.com", "open"]),
        ("status", &["it is open", "it is closed"]),
        ("status", &["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
        ("status", &["open"]),
    ] {
        let made = learned(&answers_with(field, words, 180));
        assert_eq!(words_of(&made.schema(), field), None, "{field} {words:?}");
    }
    let mut personal = LearnedType::default();
    for answer in answers_with("status", &["anna", "open"], 60) {
        personal.learn(observe(&answer.to_string(), &Marked).unwrap());
    }
    assert_eq!(words_of(&personal.schema(), "status"), None);
    assert!(!personal.to_json().contains("anna"));
}

#[test]
fn what_no_answer_has_had_for_long_is_forgotten() {
    let mut made = learned(&[json!({"id": 1, "old": 1})]);
    let new = observe(r#"{"id": 1}"#, &NothingPersonal).unwrap();
    let mut narrowed = 0;
    for _ in 0..450 {
        narrowed += usize::from(made.learn(new.clone()) == Change::Narrowed);
    }
    assert_eq!(
        made.schema(),
        json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})
    );
    assert_eq!(narrowed, 1);
}

#[test]
fn drift_is_told_by_the_names_of_fields() {
    let old = schema(&[json!({"items": [{"price": 1, "sku": "a"}], "total": 1})]);
    let new = schema(&[
        json!({"items": [{"price": 1, "sku": "a"}], "total": 1}),
        json!({"items": [{"price": 1.5}], "total": null, "next": "2024-05-01"}),
    ]);
    assert_eq!(
        drift(&old, &new),
        [
            "items[].price: integer -> number",
            "items[].sku: missing in some answers now",
            "next: new",
            "total: integer -> integer | null",
        ]
    );
    assert_eq!(drift(&new, &new), Vec::<String>::new());
}

#[test]
fn what_is_written_down_is_read_again_and_another_format_is_not() {
    let made =
        learned(&[json!({"status": "open", "items": [{"id": 1, "x": null}]}), json!({"status": "shut"})]);
    assert_eq!(LearnedType::from_json(&made.to_json()), Ok(made));
    for text in ["", "{}", r#"{"format":2,"type":{}}"#, "[]"] {
        assert_eq!(LearnedType::from_json(text), Err(TypeTextError), "{text}");
    }
}

#[test]
fn the_number_of_calls_is_shown_in_steps() {
    let shown: Vec<u64> = [0, 1, 2, 3, 9, 10, 14, 29, 30, 99, 100, 70_000].map(shown_calls).to_vec();
    assert_eq!(shown, [0, 1, 1, 3, 3, 10, 10, 10, 30, 30, 100, 10_000]);
    let seen = |calls| Learned { schema: json!({}), calls }.seen();
    assert_eq!((seen(1), seen(10)), ("seen in 1 call".to_owned(), "seen in 10+ calls".to_owned()));
}

/// A catalogue with one tool, of which this was learned.
fn catalogue(definition: &Value, answers: &[Value]) -> Catalogue {
    let definition = ToolDefinition::from_text(&definition.to_string()).expect("a definition");
    let offer =
        ServerOffer { name: "shop".to_owned(), tools: vec![Arc::new(definition)], ..ServerOffer::default() };
    let learned = Arc::new(Learned { schema: schema(answers), calls: 10 });
    Catalogue::new(vec![offer]).with_learned(|_, _| Some(Arc::clone(&learned)))
}

#[test]
fn stubs_and_signatures_show_what_was_learned_and_declarations_do_not() {
    let order = json!({"id": "o-1", "total": 1.5, "items": [{"sku": "a", "count": 1}], "paid": true});
    let made = catalogue(&json!({"name": "list_orders"}), &[json!({"orders": [order], "next": null})]);
    let (server, tool) = made.tool("shop", "list_orders").expect("the tool");
    let python = stubs::python(server, tool);
    for part in
        ["class ListOrdersResult(TypedDict):", "total: float", "seen in 10+ calls", "-> ListOrdersResult"]
    {
        assert!(python.contains(part), "{part} is not in\n{python}");
    }
    let typescript = stubs::typescript(server, tool);
    for part in ["export interface ListOrdersResult", "total: number;", "seen in 10+ calls"] {
        assert!(typescript.contains(part), "{part} is not in\n{typescript}");
    }
    assert_eq!(
        stubs::signature(Language::Python, server, tool),
        "shop.list_orders() -> {next, orders: [{id, items: [{count, sku}], paid, total}]}  # seen in 10+ calls"
    );
    let declared = stubs::declarations(&made);
    assert!(declared.contains("list_orders(args?: ") && !declared.contains("total"), "{declared}");
}

#[test]
fn a_tool_that_declares_its_result_keeps_it() {
    let definition = json!({"name": "total", "outputSchema": {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}});
    let made = catalogue(&definition, &[json!({"other": 1})]);
    let (server, tool) = made.tool("shop", "total").expect("the tool");
    assert_eq!(stubs::signature(Language::Python, server, tool), "shop.total() -> {sum: int}");
}

#[test]
fn a_long_result_is_outlined_within_its_place() {
    let fields: serde_json::Map<String, Value> = (0..40)
        .map(|number| {
            (
                format!("field_of_some_length_{}", (b'a' + number % 26) as char)
                    .repeat(1 + usize::from(number / 26)),
                json!(1),
            )
        })
        .collect();
    let made = catalogue(&json!({"name": "wide"}), &[Value::Object(fields)]);
    let (server, tool) = made.tool("shop", "wide").expect("the tool");
    let signature = stubs::signature(Language::Python, server, tool);
    assert!(signature.chars().count() <= 300 && signature.contains("…}"), "{signature}");
}

/// Values that no shape may hold any part of: every text has the mark in it.
fn any_answer() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        (-1e6..1e6f64).prop_map(|number| json!(number)),
        "[a-z]{0,6}".prop_map(|text| json!(format!("zq{text}zq"))),
        Just(json!("2024-05-01")),
    ];
    let key = prop_oneof![
        4 => "[a-e]|status|type|items|createdAt|kind",
        1 => "[0-9]{4}|[a-z]{1,3}@x\\.de|[0-9a-f]{12}|[A-Z][a-z]{2} [A-Z][a-z]{2}",
    ];
    scalar.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Answers as one tool gives them.
fn record() -> impl Strategy<Value = Value> {
    (any::<i16>(), any::<bool>(), prop::option::of("[a-z]{3}"), prop::collection::vec(any::<u8>(), 0..3)).prop_map(
        |(id, paid, note, counts)| {
            let mut made = json!({"id": id, "paid": paid, "counts": counts, "status": if paid { "done" } else { "open" }});
            if let Some(note) = note {
                made["note"] = json!(note);
            }
            made
        },
    )
}

proptest! {
    #[test]
    fn merging_is_the_same_either_way(one in any_answer(), other in any_answer()) {
        let shape = |answer: &Value| observe(&answer.to_string(), &NothingPersonal).unwrap();
        prop_assert_eq!(shape(&one).merge(shape(&other)), shape(&other).merge(shape(&one)));
    }

    #[test]
    fn every_answer_conforms_to_what_was_learned_and_leaves_no_value_in_it(
        answers in prop::collection::vec(any_answer(), 1..8)
    ) {
        let made = learned(&answers);
        let schema = made.schema();
        for answer in &answers {
            prop_assert!(conforms(&schema, answer), "{} does not conform to {}", answer, schema);
        }
        prop_assert!(!made.to_json().contains("zq"), "{}", made.to_json());
        prop_assert!(!schema.to_string().contains("@"), "{}", schema);
        prop_assert_eq!(LearnedType::from_json(&made.to_json()), Ok(made));
    }

    #[test]
    fn the_order_of_answers_makes_no_difference(answers in prop::collection::vec(record(), 1..20), seed in any::<usize>()) {
        let mut turned = answers.clone();
        turned.rotate_left(seed % answers.len());
        turned.reverse();
        prop_assert_eq!(learned(&turned).schema(), schema(&answers));
    }

    #[test]
    fn a_shape_stays_small(width in 1..60usize, depth in 1..12usize) {
        let mut answer = json!(1);
        for level in 0..depth {
            let members = (0..width.min(8)).map(|number| (format!("{}{}", (b'a' + number as u8) as char, (b'a' + level as u8) as char), answer.clone()));
            answer = if level < 4 { Value::Object(members.collect()) } else { json!([answer]) };
        }
        let made = learned(std::slice::from_ref(&answer));
        prop_assert!(made.to_json().len() < 64 << 10, "{}", made.to_json().len());
        prop_assert!(conforms(&made.schema(), &answer));
    }
}
