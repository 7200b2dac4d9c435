//! JSON documents, settings and allow-lists.

use gristmill_privacy::{Allow, AllowField, Detector, Kind, Origin, Settings, SettingsError};
use serde_json::{Value, json};

fn found_with(settings: &Settings, value: &Value, origin: &Origin<'_>) -> Vec<(String, String)> {
    let detector = Detector::new(settings).expect("these settings work");
    let findings = detector.scan_json(value, origin);
    findings.into_iter().map(|found| (found.pointer, found.finding.kind.to_string())).collect()
}

fn check(value: &Value, expected: &[(&str, &str)]) {
    let found = found_with(&Settings::default(), value, &Origin::default());
    let expected: Vec<_> = expected.iter().map(|(at, kind)| ((*at).to_owned(), (*kind).to_owned())).collect();
    assert_eq!(found, expected, "{value}");
}

#[test]
fn names_of_fields_are_context() {
    check(
        &json!({"customer_name": "Jane Doe", "product_name": "Blue Chair"}),
        &[("/customer_name", "person_name")],
    );
    check(
        &json!({"assignee": {"displayName": "Jane Doe", "id": 7}}),
        &[("/assignee/displayName", "person_name")],
    );
    check(&json!({"firstName": "jane", "file_name": "Main Report"}), &[("/firstName", "person_name")]);
    check(&json!({"author": "Jane Doe", "owner": "platform"}), &[("/author", "person_name")]);
    check(
        &json!({"dateOfBirth": "1985-07-30", "created": "2024-07-30"}),
        &[("/dateOfBirth", "date_of_birth")],
    );
    check(&json!({"passport_number": "c01x00t47"}), &[("/passport_number", "passport")]);
    check(
        &json!({"billing_address": "Rue de la Paix 12, 75002 Paris"}),
        &[("/billing_address", "postal_address")],
    );
    check(&json!({"password": "tr0ub4dor", "api": {"token": "none"}}), &[("/password", "secret")]);
}

#[test]
fn numbers_count_as_well_as_text() {
    check(&json!({"ssn": 536_221_234, "id": 536_221_234}), &[("/ssn", "ssn")]);
    check(&json!({"phone": 12_125_550_123_u64, "count": 12_125_550_123_u64}), &[("/phone", "phone")]);
    check(&json!({"phones": ["2125550123"], "ids": ["2125550123"]}), &[("/phones/0", "phone")]);
    check(&json!([1, 2.5, null, true, 1_700_000_000]), &[]);
    let floats: Value = serde_json::from_str(
        r#"{"card": 5555555555554444.0, "cards": [5555555555554444.00], "n": 5555555555554444.5}"#,
    )
    .expect("JSON");
    check(&floats, &[("/card", "credit_card"), ("/cards/0", "credit_card")]);
}

#[test]
fn keys_neighbors_and_schema_titles_are_looked_at() {
    check(&json!({"ann@example.com": 1}), &[("/ann@example.com", "email")]);
    check(&json!({"a/b": {"x~y": "ann@example.com"}}), &[("/a~1b/x~0y", "email")]);
    check(&json!([{"name": "SSN", "value": "536221234"}]), &[("/0/value", "ssn")]);
    let schema = json!({"properties": {"f7": {"title": "Social security number"}}});
    let origin = Origin { schema: Some(&schema), ..Origin::default() };
    let found = found_with(&Settings::default(), &json!({"f7": "536221234", "f8": "536221234"}), &origin);
    assert_eq!(found, [("/f7".to_owned(), "ssn".to_owned())]);
}

#[test]
fn an_allow_list_lets_values_and_fields_pass() {
    let allow = Allow {
        values: vec!["Support@Example.com".to_owned()],
        globs: vec!["*@noreply.example.com".to_owned()],
        fields: vec![AllowField { field: "crm.*.fields.notes".to_owned(), kinds: vec![Kind::Email] }],
    };
    let settings = Settings { allow, ..Settings::default() };
    let value = json!({
        "to": ["support@example.com", "a@noreply.example.com", "ann@example.com"],
        "fields": {"notes": "bob@example.com, 536-22-1234"},
    });
    let crm = Origin { server: Some("crm"), tool: Some("get"), ..Origin::default() };
    let pointers = |origin: &Origin<'_>| -> Vec<String> {
        found_with(&settings, &value, origin).into_iter().map(|(at, kind)| format!("{at} {kind}")).collect()
    };
    assert_eq!(pointers(&crm), ["/to/2 email", "/fields/notes ssn"]);
    let mail = Origin { server: Some("mail"), ..crm };
    assert_eq!(pointers(&mail), ["/to/2 email", "/fields/notes email", "/fields/notes ssn"]);
}

#[test]
fn settings_turn_kinds_off_and_add_patterns_and_regions() {
    let text = "ann@example.com EMP-12345 0664 1234567";
    let kinds = |settings: &Settings| -> Vec<String> {
        let detector = Detector::new(settings).expect("these settings work");
        detector.scan(text).into_iter().map(|found| found.kind.to_string()).collect()
    };
    let settings = Settings { phone_regions: vec!["US".to_owned()], ..Settings::default() };
    assert_eq!(kinds(&settings), ["email"]);
    let patterns = [("employee".to_owned(), r"\bEMP-\d{5}\b".to_owned())].into();
    let settings = Settings {
        off: vec![Kind::Email],
        patterns,
        phone_regions: vec!["AT".to_owned()],
        ..Settings::default()
    };
    assert_eq!(kinds(&settings), ["employee", "phone"]);
    let settings = Settings { confidence_min: 97, ..Settings::default() };
    assert_eq!(kinds(&settings), [] as [&str; 0]);
}

#[test]
fn settings_that_cannot_work_are_refused_by_name() {
    let with = |name: &str, pattern: &str| Settings {
        patterns: [(name.to_owned(), pattern.to_owned())].into(),
        ..Settings::default()
    };
    let check = |settings: &Settings, named: &str| {
        let error = Detector::new(settings).expect_err("these settings don't work");
        assert!(error.to_string().contains(named), "{error}");
        error
    };
    check(&with("broken", "("), "broken");
    check(&with("large", r"(\w{1000}){1000}"), "large");
    assert!(matches!(check(&with("email", "x"), "email"), SettingsError::PatternName { .. }));
    check(&Settings { phone_regions: vec!["XX".to_owned()], ..Settings::default() }, "XX");
}

#[test]
fn patterns_are_found_across_the_windows_that_a_text_is_searched_in() {
    let settings =
        Settings { patterns: [("p".to_owned(), "<[a-z]+>".to_owned())].into(), ..Settings::default() };
    let detector = Detector::new(&settings).expect("these settings work");
    let text = "x<abc>é".repeat(5_000);
    assert_eq!(detector.scan(&text).len(), 5_000);
}

#[test]
fn a_document_of_any_depth_is_walked() {
    let mut value = json!("ann@example.com");
    for _ in 0..10_000 {
        value = Value::Array(vec![value]);
    }
    let found = found_with(&Settings::default(), &value, &Origin::default());
    assert_eq!(found.len(), 1);
    // Dropping it takes a stack frame for each level, which is serde_json's business.
    std::mem::forget(value);
}

#[test]
fn a_pattern_that_only_adds_neither_renames_nor_breaks_up_what_is_found() {
    let text = "phone 030 901820, ticket T-7";
    let found = |patterns: &[(&str, &str)]| {
        let named = |(name, pattern): &(&str, &str)| ((*name).to_owned(), (*pattern).to_owned());
        let settings = Settings {
            patterns: patterns.iter().map(named).collect(),
            added: patterns.iter().map(|(name, _)| (*name).to_owned()).collect(),
            ..Settings::default()
        };
        let detector = Detector::new(&settings).expect("these settings work");
        let found = detector.scan(text).into_iter();
        found.map(|found| format!("{} {}", found.kind, &text[found.span])).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), ["phone 030 901820"]);
    for pattern in ["0", "[0-9 ]+[0-9]", "901820"] {
        assert_eq!(
            found(&[("mine", pattern)]).last().map(String::as_str),
            Some("phone 030 901820"),
            "{pattern}"
        );
    }
    assert_eq!(found(&[("ticket", "T-[0-9]+")]), ["phone 030 901820", "ticket T-7"]);
    assert_eq!(found(&[("all", "030.*")]), ["phone 030 901820", "all , ticket T-7"]);
    let detector = Detector::new(&Settings::default()).expect("these settings work");
    assert_eq!(detector.built_in_kinds("to <ann@example.com>"), [gristmill_privacy::Kind::Email]);
}

#[test]
fn a_bare_name_beside_an_address_or_a_number_is_a_persons() {
    for person in [
        json!({"name": "Ada Lovelace", "email": null}),
        json!({"Name": "Ada Lovelace", "mobilePhone": ""}),
        json!({"id": 7, "home_address": {}, "display_name": "Ada Lovelace"}),
        json!({"name": "Ada Lovelace", "address": ""}),
    ] {
        let found = found_with(&Settings::default(), &json!({"rows": [person]}), &Origin::default());
        assert_eq!(found.len(), 1, "{person}: {found:?}");
        assert_eq!(found[0].1, "person_name", "{person}");
    }
    for thing in [
        json!({"name": "Blue Suede Shoes", "price": 20, "support_email": ""}),
        json!({"name": "Blue Suede Shoes", "color": "blue"}),
        json!({"name": "Corner Bakery Cafe", "address": "", "cuisine": "bread"}),
        json!({"name": "left-pad", "email": ""}),
        json!({"name": "Sales", "email": ""}),
        json!({"title": "Blue Suede Shoes", "email": ""}),
    ] {
        let found = found_with(&Settings::default(), &json!({"rows": [thing]}), &Origin::default());
        assert_eq!(found, [], "{thing}");
    }
}

#[test]
fn a_part_of_a_document_is_known_by_where_it_was() {
    let (above, name) = (["rows".to_owned(), "customer_name".to_owned()], json!("Ada Lovelace"));
    let place = Origin { above: &above, ..Origin::default() };
    assert_eq!(found_with(&Settings::default(), &name, &place).len(), 1);
    assert_eq!(found_with(&Settings::default(), &name, &Origin::default()), []);
    let (above, person) = (["name".to_owned()], json!({"name": "Ada Lovelace", "email": ""}));
    let place = Origin { above: &above, beside: person.as_object(), ..Origin::default() };
    assert_eq!(found_with(&Settings::default(), &name, &place).len(), 1);
}

#[test]
fn a_record_that_a_program_prints_is_read_by_its_keys() {
    let found = |text: &str| -> Vec<String> {
        let findings = Detector::new(&Settings::default()).unwrap().scan(text);
        findings.iter().map(|found| text[found.span.clone()].to_owned()).collect()
    };
    let printed = "got [{'id': 'CON-1', 'email': 'ada@example.com', 'name': 'Ada Lovelace', 'n': 3}, {'id': 'CON-2', \
                   'name': 'Grace Hopper', 'phone': None, 'job_title': 'Admiral'}]";
    assert_eq!(found(printed), ["ada@example.com", "Ada Lovelace", "Grace Hopper"]);
    assert_eq!(found(r#"saved {"customer_name": "Ada Lovelace", "total": 12}"#), ["Ada Lovelace"]);
    let things = "[{'name': 'Blue Kettle', 'price': 12}, {'name': 'Oak Table', 'sku': 'T-1', 'email': ''}]";
    assert_eq!(found(things), Vec::<String>::new());
    assert_eq!(found("{'name': 'Blue Kettle'} and {'email': 'a@example.com'}"), ["a@example.com"]);
    assert_eq!(found("'key': 'no end"), Vec::<String>::new());
}
