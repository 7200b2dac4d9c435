//! Shaping with the counter that answers are counted with: whatever the value and the budget, it fits.

use gristmill_gateway::domain::shape::{self, Shaped, shape_json, shape_value};
use gristmill_gateway::tokens;
use proptest::prelude::*;
use serde_json::{Value, json};

fn check(shaped: &Shaped, tokens_max: usize) {
    let value = shaped.value.to_string();
    let is_nothing = shaped.text.is_empty() && shaped.value.is_null();
    let in_value = if is_nothing { 0 } else { tokens::count(&value) };
    assert_eq!(shaped.tokens, in_value.max(tokens::count(&shaped.text)), "{}", shaped.text);
    assert!(shaped.tokens <= tokens_max, "{} > {tokens_max}: {}", shaped.tokens, shaped.text);
    assert!(serde_json::from_str::<Value>(&value).is_ok(), "{value}");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,40}".prop_map(Value::from),
        "([a-z]{1,9} ){0,300}".prop_map(Value::from),
        "[ \n=-]{0,2000}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 150, 20, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..20).prop_map(Value::from),
            (inner.clone(), 2..60usize).prop_map(|(item, times)| Value::from(vec![item; times])),
            proptest::collection::vec((".{0,12}", inner), 0..20)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_value_fits_any_budget(
        value in any_json(),
        tokens_max in prop_oneof![0..12usize, 12..800usize],
        strategy in proptest::sample::select(shape::Strategy::ALL.to_vec()),
    ) {
        let shaped = shape_value(&value, strategy, tokens_max, &tokens::count);
        check(&shaped, tokens_max);
        if shaped.is_whole {
            prop_assert_eq!(shaped.value, value);
        }
    }
}

#[test]
fn a_budget_is_used_well() {
    let rows: Vec<Value> = (0..10_000)
        .map(|id| json!({ "id": id, "name": format!("Customer {id}"), "city": "Lisbon", "orders": [id, id + 1] }))
        .collect();
    let text = json!({ "total": rows.len(), "rows": rows }).to_string();
    for tokens_max in [100, 1_000, 10_000] {
        let shaped = shape_json(&text, shape::Strategy::Auto, tokens_max, &tokens::count);
        check(&shaped, tokens_max);
        assert!(shaped.tokens * 10 >= tokens_max * 7, "{} of {tokens_max}", shaped.tokens);
        assert_eq!(shaped.value["total"], json!(10_000));
    }
}
