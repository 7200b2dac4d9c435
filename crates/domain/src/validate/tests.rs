use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::*;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is not an object"),
    }
}

/// What the check says; nothing if the arguments pass.
fn told(schema: &Value, arguments: Value) -> String {
    let check = ArgumentCheck::new("github.list_issues", schema);
    assert_eq!(check.problem(), None, "{schema}");
    check.check(&object(arguments)).map_or_else(|bad| bad.to_string(), |()| String::new())
}

fn issues() -> Value {
    json!({
        "type": "object",
        "properties": {
            "owner": {"type": "string", "description": "Account owner. Not the organisation's title."},
            "repo": {"type": "string"},
            "state": {"type": "string", "enum": ["open", "closed", "all"]},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            "page": {"type": "integer", "minimum": 1},
            "items": {"type": "array", "items": {"$ref": "#/$defs/item"}},
        },
        "required": ["owner", "repo"],
        "$defs": {"item": {
            "type": "object",
            "properties": {"price": {"type": "number"}, "status": {"type": "string"}},
            "required": ["price"],
            "additionalProperties": false,
        }},
    })
}

fn call(more: Value) -> Value {
    let mut arguments = object(json!({"owner": "a", "repo": "b"}));
    arguments.extend(object(more));
    Value::Object(arguments)
}

#[test]
fn arguments_that_fit_pass() {
    let schema = issues();
    assert_eq!(told(&schema, call(json!({}))), "");
    let full = json!({"state": "all", "labels": ["x"], "page": 3, "items": [{"price": 1.5}]});
    assert_eq!(told(&schema, call(full)), "");
    assert_eq!(told(&json!({}), json!({"whatever": [1]})), "");
    assert_eq!(told(&schema, call(json!({"page": 123456789012345678901234567890u128}))), "");
}

#[test]
fn each_problem_names_the_field_and_what_is_allowed() {
    let schema = issues();
    let check = |more: Value, expected: &str| assert_eq!(told(&schema, call(more)), expected);
    check(
        json!({"stat": "open"}),
        "`stat` is not an argument of github.list_issues; did you mean `state`? \
         It takes: owner (required), repo (required), state, labels, page, items",
    );
    check(
        json!({"state": "opne"}),
        r#"`state` must be one of "open", "closed", "all", not "opne" (did you mean "open"?)"#,
    );
    check(json!({"state": 3}), r#"`state` must be one of "open", "closed", "all", not 3"#);
    check(json!({"page": "two"}), r#"`page` must be a whole number of at least 1, not "two""#);
    check(json!({"page": 0}), "`page` must be a whole number of at least 1, not 0");
    check(json!({"page": 1.5}), "`page` must be a whole number of at least 1, not 1.5");
    check(
        json!({"items": [{"price": 1}, {"price": 2}, {"price": 3}, {"price": null}]}),
        "`items[3].price` must be a number, not null",
    );
    check(
        json!({"labels": ["a", "b", "c", "d"]}),
        "`labels` must be a list of at most 3 items, not a list of 4",
    );
    check(json!({"items": [{}]}), "`items[0].price` is missing: a number");
    check(
        json!({"items": [{"price": 1, "statu": "x"}]}),
        "`items[0].statu` is not a field of `items[0]`; did you mean `status`? \
         It takes: price (required), status",
    );
    assert_eq!(told(&schema, json!({"repo": "b"})), "`owner` is missing: text (Account owner)");
    assert_eq!(
        told(&schema, json!({"ownr": "a", "repo": "b"})),
        "`ownr` is not an argument of github.list_issues; did you mean `owner`? \
         It takes: owner (required), repo (required), state, labels, page, items"
    );
}

#[test]
fn unknown_names_pass_only_where_nothing_speaks_against_them() {
    let takes = "It takes: path (required), depth";
    let schema = |more: Value| {
        let mut schema = object(json!({
            "properties": {"path": {"type": "string"}, "depth": {"type": "integer"}},
            "required": ["path"],
        }));
        schema.extend(object(more));
        Value::Object(schema)
    };
    let unknown = |name: &str| format!("`{name}` is not an argument of github.list_issues");
    let plain = schema(json!({}));
    assert_eq!(told(&plain, json!({"path": "a", "colour": 1})), "");
    assert_eq!(
        told(&plain, json!({"path": "a", "dept": 1})),
        format!("{}; did you mean `depth`? {takes}", unknown("dept"))
    );
    assert_eq!(
        told(&plain, json!({"colour": 1})),
        format!("{}. {takes}\n`path` is missing: text", unknown("colour"))
    );
    let closed = schema(json!({"additionalProperties": false}));
    assert_eq!(told(&closed, json!({"path": "a", "colour": 1})), format!("{}. {takes}", unknown("colour")));
    for open in [json!({"additionalProperties": true}), json!({"patternProperties": {"^x-": {}}})] {
        assert_eq!(told(&schema(open), json!({"path": "a", "dept": 1})), "");
    }
}

#[test]
fn of_several_forms_the_closest_is_named() {
    let shape = json!({"properties": {"shape": {"anyOf": [
        {"$ref": "#/$defs/Circle"},
        {"$ref": "#/$defs/Square"},
        {"type": "null"},
    ]}}, "$defs": {
        "Circle": {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
            "required": ["kind", "radius"]},
        "Square": {"type": "object", "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
            "required": ["kind", "side"]},
    }});
    let check = |value: Value, expected: &str| assert_eq!(told(&shape, json!({"shape": value})), expected);
    check(json!(null), "");
    check(
        json!({"kind": "square", "side": "2"}),
        "`shape` must match one of 3 forms; the closest is the one with `kind` \"square\": \
         `shape.side` must be a number, not \"2\"",
    );
    check(json!(7), "`shape` must be an object or null, not 7");

    let optional =
        json!({"properties": {"size": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}}});
    assert_eq!(told(&optional, json!({"size": 0})), "`size` must be a whole number of at least 1, not 0");
    assert_eq!(
        told(&optional, json!({"size": "x"})),
        "`size` must be a whole number of at least 1 or null, not \"x\""
    );

    let tagged = json!({"properties": {"job": {"oneOf": [
        {"properties": {"do": {"const": "get"}, "key": {"type": "string"}}},
        {"properties": {"do": {"const": "put"}, "key": {"type": "string"}}},
    ]}}});
    assert_eq!(told(&tagged, json!({"job": {"key": "a"}})), "`job.do` is missing: one of \"get\", \"put\"");
}

#[test]
fn forms_of_the_whole_call_are_explained_too() {
    let schema = json!({
        "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "note": {}},
        "oneOf": [{"required": ["id"], "additionalProperties": false, "properties": {"id": {}, "note": {}}},
            {"required": ["name"]}],
    });
    assert_eq!(told(&schema, json!({"name": "a", "other": 1})), "");
    assert_eq!(
        told(&schema, json!({"note": 1})),
        "all arguments together must match one of 2 forms; the closest is form 1: `id` is missing"
    );
    assert_eq!(told(&schema, json!({"id": "a", "name": 3, "note": 1})), "`name` must be text, not 3");
    let either = json!({"oneOf": [{"required": ["id"]}, {"required": ["name"]}]});
    assert_eq!(
        told(&either, json!({"id": "a", "name": "b"})),
        "all arguments together must match exactly one form, not several"
    );
    let many: Map<String, Value> = (0..3_000).map(|n| (format!("p{n}"), json!({}))).collect();
    let closed = json!({"properties": many, "additionalProperties": false});
    assert_eq!(told(&closed, json!({"p2999": 1})), "");
}

#[test]
fn the_remaining_rules_have_words_too() {
    let check = |rule: Value, value: Value, expected: &str| {
        let schema = json!({"properties": {"x": rule}});
        assert_eq!(told(&schema, json!({"x": value})), expected);
    };
    check(json!({"const": "a"}), json!("b"), "`x` must be \"a\", not \"b\"");
    check(json!({"type": "array", "uniqueItems": true}), json!([1, 1]), "`x` must not contain duplicates");
    check(json!({"not": {"type": "string"}}), json!("b"), "`x` has a value that isn't allowed: \"b\"");
    check(json!(false), json!(1), "`x` is not allowed here");
    check(json!({"minProperties": 1}), json!({}), "`x` must have at least 1 field, not 0");
    check(json!({"contains": {"type": "string"}}), json!([1]), "`x` is missing a required item");
    check(
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"ab": 1}),
        "`x` has a field \"ab\", a name that is not allowed",
    );
    check(
        json!({"type": "string", "pattern": "^a+$"}),
        json!("b"),
        "`x` must be text that matches /^a+$/, not \"b\"",
    );
    check(json!({"pattern": "^a+$"}), json!("b"), "`x`: value does not match \"^a+$\"");
    check(
        json!({"type": "number", "multipleOf": 0.5}),
        json!(0.7),
        "`x` must be a number in steps of 0.5, not 0.7",
    );
    check(
        json!({"additionalProperties": {"type": "integer"}}),
        json!({"two words": "b"}),
        "`x[\"two words\"]` must be a whole number, not \"b\"",
    );
    check(json!({"format": "date"}), json!("no date at all"), "");
}

#[test]
fn both_drafts_are_understood_named_or_not() {
    let tuple = json!([{"type": "string"}, {"type": "integer"}]);
    let old =
        json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"x": {"items": tuple}}});
    let new = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"x": {"prefixItems": tuple}}});
    let unnamed_old = json!({"properties": {"x": {"items": tuple}}});
    let unnamed_new = json!({"properties": {"x": {"prefixItems": tuple}}});
    for schema in [old, new, unnamed_old, unnamed_new] {
        assert_eq!(told(&schema, json!({"x": ["a", 1]})), "");
        assert_eq!(told(&schema, json!({"x": ["a", "b"]})), "`x[1]` must be a whole number, not \"b\"");
    }
}

#[test]
fn five_problems_are_shown_and_the_rest_counted() {
    let schema = json!({"properties": {"x": {"items": {"type": "string"}}}});
    let lines: Vec<String> = (0..5).map(|n| format!("`x[{n}]` must be text, not {n}")).collect();
    let expected = format!("{}\nand 3 more problems", lines.join("\n"));
    assert_eq!(told(&schema, json!({"x": [0, 1, 2, 3, 4, 5, 6, 7]})), expected);
}

#[test]
fn of_a_very_large_call_only_the_first_problem_is_told() {
    let schema = json!({"properties": {"x": {"items": {"type": "string"}}}});
    let numbers: Vec<u32> = (0..150_000).collect();
    assert_eq!(told(&schema, json!({"x": numbers})), "`x[0]` must be text, not 0");
}

#[test]
fn foreign_text_is_cut_and_stays_on_its_line() {
    let schema = json!({
        "properties": {"x": {"type": "integer"}, "y": {"description": "Ignore\u{202e} this\nand that"}},
        "required": ["x", "y"],
    });
    let long = format!("a\nb{}", "c".repeat(500));
    let expected = format!(
        "`y` is missing: Ignore\\u{{202e}} this\n`x` must be a whole number, not \"a b{}…\"",
        "c".repeat(57)
    );
    assert_eq!(told(&schema, json!({"x": long})), expected);
}

#[test]
fn fitting_corrects_spellings_and_drops_needless_nulls_and_nothing_else() {
    let check = ArgumentCheck::new(
        "t",
        &json!({
            "properties": {
                "from": {"type": "string"},
                "user-id": {"type": "string"},
                "maxResults": {"type": "integer"},
                "max_results": {"type": "integer"},
                "note": {"type": ["string", "null"]},
                "limit": {"type": "integer"},
                "must": {"type": "string"},
                "any": {},
            },
            "required": ["must"],
        }),
    );
    let fitted = |arguments: Value| {
        let mut arguments = object(arguments);
        check.fit(&mut arguments);
        Value::Object(arguments)
    };
    assert_eq!(fitted(json!({"from_": "a", "userId": "b"})), json!({"from": "a", "user-id": "b"}));
    assert_eq!(fitted(json!({"user_id": "b", "USER_ID": "c"})), json!({"user_id": "b", "USER_ID": "c"}));
    assert_eq!(fitted(json!({"user-id": "a", "user_id": "b"})), json!({"user-id": "a", "user_id": "b"}));
    assert_eq!(fitted(json!({"MaxResults": 3})), json!({"MaxResults": 3}));
    assert_eq!(
        fitted(json!({"limit": null, "note": null, "must": null, "any": null, "other": null})),
        json!({"note": null, "must": null, "any": null, "other": null})
    );
    assert_eq!(fitted(json!({"limit": "3", "Limit_": 4})), json!({"limit": "3", "Limit_": 4}));
}

#[test]
fn a_schema_that_cannot_be_compiled_still_checks_names() {
    let check = |schema: Value, expected: &str| {
        let check = ArgumentCheck::new("t", &schema);
        assert_eq!(check.problem(), Some(expected));
        let names = json!({"path": 1});
        let bad = check.check(&object(names)).expect_err("a name is missing");
        assert_eq!(bad.to_string(), "`to` is missing");
    };
    let with = |more: Value| {
        let mut schema = object(json!({"properties": {"path": {}, "to": {}}, "required": ["to"]}));
        schema.extend(object(more));
        Value::Object(schema)
    };
    check(
        with(json!({"allOf": [{"$ref": "https://example.com/x.json"}]})),
        "the input schema isn't checked, only its names: \
         it refers to `https://example.com/x.json`, which it doesn't contain",
    );
    check(
        with(json!({"items": {"minLength": "three"}})),
        "the input schema isn't checked, only its names: \"three\" is not of type \"integer\" (at /items/minLength)",
    );
    check(
        with(json!({"items": {"pattern": "^(?!x)"}})),
        "patterns in the input schema aren't checked: \"^(?!x)\" is not a \"regex\" (at /items/pattern)",
    );
}

/// Compiles and checks within the time that a caller would wait, on a test's small stack.
fn quickly(schema: &Value, arguments: Value) -> (bool, bool) {
    let begun = Instant::now();
    let check = ArgumentCheck::new("t", schema);
    let passed = check.check(&object(arguments)).is_ok();
    let taken = begun.elapsed();
    assert!(taken < Duration::from_secs(20), "{taken:?}");
    (check.problem().is_none(), passed)
}

fn nested(depth: usize, wrap: impl Fn(Value) -> Value, inner: Value) -> Value {
    (0..depth).fold(inner, |value, _| wrap(value))
}

#[test]
fn attack_patterns_that_explode() {
    let text = format!("{}!", "a".repeat(100_000));
    let schema = json!({"properties": {"x": {"pattern": "^(a+)+$"}}});
    assert_eq!(quickly(&schema, json!({"x": text[90_000..]})), (true, false));
    assert_eq!(quickly(&schema, json!({"x": text})), (true, true));
    let schema = json!({"properties": {"x": {"pattern": "^.{1,255}$"}}});
    assert_eq!(quickly(&schema, json!({"x": text[90_000..]})), (true, false));
    let schema = json!({"properties": {"x": {"pattern": "^(a|a?){1000}{1000}$"}}});
    assert_eq!(quickly(&schema, json!({"x": text})), (false, true));
    let many: Vec<Value> =
        (0..45).map(|n| json!({"pattern": format!("(\\w{{1,{}}}){{1,20}}x", n % 9 + 1)})).collect();
    let schema = json!({"properties": {"x": {"allOf": many}}});
    assert_eq!(quickly(&schema, json!({"x": text})), (true, true));
    assert_eq!(quickly(&schema, json!({"x": "a".repeat(400)})), (true, false));
}

#[test]
fn attack_references_in_chains_and_circles() {
    let chain = |length: usize, link: &dyn Fn(String) -> Value| {
        let defs: Map<String, Value> =
            (0..length).map(|n| (format!("d{n}"), link(format!("#/$defs/d{}", (n + 1) % length)))).collect();
        json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    };
    let deep = nested(90, |inner| json!({"x": inner}), json!(1));
    let below = chain(900, &|next| json!({"properties": {"x": {"$ref": next}}}));
    assert_eq!(quickly(&below, json!({"x": deep})), (true, true));
    let wide =
        chain(400, &|next| json!({"properties": {"x": {"$ref": next}, "y": {"items": {"$ref": next}}}}));
    assert_eq!(quickly(&wide, json!({"x": deep})), (true, true));
    let same = chain(900, &|next| json!({"allOf": [{"$ref": next}]}));
    assert_eq!(quickly(&same, json!({"x": 1})), (false, true));
    let itself = json!({"properties": {"x": {"$ref": "#/properties/x"}}});
    assert_eq!(quickly(&itself, json!({"x": 1})), (false, true));
}

#[test]
fn attack_alternatives_that_multiply_with_depth() {
    let part = json!({"properties": {"x": {"$ref": "#/$defs/t"}, "end": {"type": "string"}}});
    let schema =
        json!({"properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"anyOf": [part, part, part]}}});
    let wrong = nested(80, |inner| json!({"x": inner}), json!({"end": 1}));
    assert_eq!(quickly(&schema, wrong), (true, false));
    let all =
        json!({"properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"allOf": [part, part, part]}}});
    let right = nested(80, |inner| json!({"x": inner}), json!({"end": "a"}));
    assert_eq!(quickly(&all, right), (true, true));
}

#[test]
fn attack_depth_on_a_small_stack() {
    let alternatives = nested(20, |inner| json!({"anyOf": [inner]}), json!({"type": "string"}));
    let schema = json!({"properties": {"x": alternatives}});
    assert_eq!(quickly(&schema, json!({"x": 1})), (true, false));
    let tree = json!({"properties": {"x": {"$ref": "#"}}});
    let deep = nested(95, |inner| json!({"x": inner}), json!({}));
    assert_eq!(quickly(&tree, deep), (true, true));
    let deeper = nested(120, |inner| json!({"x": inner}), json!({}));
    assert_eq!(quickly(&tree, deeper), (true, true));
    let chained =
        nested(15, |inner| json!({"allOf": [inner]}), json!({"properties": {"x": {"$ref": "#/$defs/t"}}}));
    let schema = json!({"properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": chained}});
    let wrong = nested(58, |inner| json!({"x": inner}), json!({"x": 1}));
    assert_eq!(quickly(&schema, wrong), (true, true));
}

#[test]
fn attack_numbers_and_lists_of_absurd_size() {
    let huge: Value = serde_json::from_str("1e999999999").expect("a number");
    let tiny: Value = serde_json::from_str("1e-999999999").expect("a number");
    for (rule, value) in [(&huge, &tiny), (&tiny, &huge), (&tiny, &tiny)] {
        let schema = json!({"properties": {"x": {"type": "number", "multipleOf": rule, "minimum": rule}}});
        quickly(&schema, json!({"x": value}));
        quickly(&json!({"properties": {"x": {"type": "integer", "enum": [rule]}}}), json!({"x": value}));
    }
    let digits: Value = serde_json::from_str(&"7".repeat(1_000_000)).expect("a number");
    quickly(
        &json!({"properties": {"x": {"type": "integer", "multipleOf": 7, "maximum": 3}}}),
        json!({"x": digits}),
    );
    let items: Vec<Value> = (0..50_000).map(|n| json!({"n": n})).collect();
    let unique = json!({"properties": {"x": {"uniqueItems": true}}});
    assert_eq!(quickly(&unique, json!({"x": items})), (true, true));
    let choices: Vec<String> = (0..40_000).map(|n| format!("choice-{n}")).collect();
    let schema = json!({"properties": {"x": {"items": {"enum": choices}}}});
    assert_eq!(quickly(&schema, json!({"x": ["choice-39999", "nothing"]})), (true, false));
    let names: Map<String, Value> = (0..40_000).map(|n| (format!("name-{n}"), json!({}))).collect();
    quickly(&json!({"properties": names, "additionalProperties": false}), json!({"nam": 1, "nme-3": 2}));
}
