//! The language of computed columns.

use serde_json::{Value, json};

use super::{problem, run};

#[track_caller]
fn gives(expression: &str, expected: Value) {
    let data = json!([{"a": 7, "b": 2.5, "t": "Grist", "d": "2026-07-28T09:30:05Z", "n": null, "yes": true, "o.p": 1, "unit price": 4, "user": {"name": "Ada"}}]);
    let steps = json!([{"compute": {"x": expression}}, {"select": ["x"]}]);
    let (found, _) =
        run(steps, &data.to_string()).unwrap_or_else(|problem| panic!("{expression}: {problem:?}"));
    assert_eq!(found, json!([{"x": expected}]), "{expression}");
}

#[test]
fn operators_bind_as_usual() {
    gives("a + 2 * 3", json!(13));
    gives("(a + 2) * 3", json!(27));
    gives("-a ** 2", json!(-49));
    gives("2 ** 3 ** 2", json!(512));
    gives("a / 2", json!(3.5));
    gives("a % 4 + -a % 4", json!(4));
    gives("a * b", json!(17.5));
    gives("a > 5 and not b > 5 or n == 1", json!(true));
    gives("a = 7 && t <> 'x'", json!(true));
    gives("n is null and a is not null", json!(true));
    gives("`unit price` + o.p + len(user.name)", json!(8));
    gives("9223372036854775807 + 1", json!(9.223_372_036_854_776e18));
}

#[test]
fn a_value_may_be_one_of_a_list() {
    gives("t in ('Grist', 'Mill')", json!(true));
    gives("t not in ('Grist', 'Mill')", json!(false));
    gives("a in [1, b + 4.5]", json!(true));
    gives("not a in (1, 2) and b in (2.5)", json!(true));
    gives("a in ()", json!(false));
    gives("n in (1, 2)", json!(false));
    gives("n not in (1, 2)", json!(true));
    gives("d in ('2026-07-28T11:30:05+02:00')", json!(true));
}

#[test]
fn missing_values_and_zeros_do_not_surprise() {
    gives("n + 1", Value::Null);
    gives("n == null", json!(true));
    gives("n != 3", json!(true));
    gives("n < 3", json!(false));
    gives("a / 0", Value::Null);
    gives("coalesce(n, a)", json!(7));
    gives("if(n, 1, 2)", json!(2));
}

#[test]
fn functions_work_on_texts_numbers_and_dates() {
    gives("lower(t)", json!("grist"));
    gives("upper(t) + '!'", json!("GRIST!"));
    gives("substr(t, 1, 3)", json!("ris"));
    gives("replace(t, 'is', 'oa')", json!("Groat"));
    gives("contains(t, 'ri') and starts(t, 'G') and ends(t, 't')", json!(true));
    gives("trim('  x ')", json!("x"));
    gives("round(b)", json!(3.0));
    gives("round(2.345, 1)", json!(2.3));
    gives("abs(-a) + floor(2.7) + ceil(2.1)", json!(12.0));
    gives("sqrt(16) + exp(0) + ln(1)", json!(5.0));
    gives("least(a, b, 3) + greatest(a, 1)", json!(9.5));
    gives("concat(a, '/', b, '/', n)", json!("7/2.5/"));
    gives("text(a)", json!("7"));
    gives("number('1.5') + integer('3')", json!(4.5));
    gives("year(d) * 10000 + month(d) * 100 + day(d)", json!(20_260_728));
    gives("quarter(d) + weekday(d) + hour(d) + minute(d) + second(d)", json!(3 + 2 + 9 + 30 + 5));
    gives("date(d)", json!("2026-07-28"));
    gives("date(d) > '2026-01-01'", json!(true));
    gives("days_between('2026-07-01', d)", json!(27));
    gives("if(yes, 'ja', 'nein')", json!("ja"));
}

#[test]
fn mistakes_are_named() {
    let message = |expression: &str| {
        let problem = problem(json!([{"compute": {"x": expression}}]), json!([{"price": 1, "t": "a"}]));
        assert_eq!(problem.step, Some(1));
        format!("{} | {}", problem.message, problem.hint.unwrap_or_default())
    };
    assert!(message("pirce * 2").starts_with("in \"x\": unknown field \"pirce\" | did you mean \"price\"?"));
    assert!(message("rnd(price)").contains("unknown function \"rnd\""));
    assert!(message("price * ").contains("the expression ends where a value is expected"));
    assert!(message("price price").contains("unexpected \"price\" in the expression"));
    assert!(message("(price").contains("unclosed bracket"));
    assert!(message("price in 3").contains("expected a list in brackets after \"in\""));
    assert!(message("price in (1, 2").contains("unclosed list after \"in\""));
    assert!(message("price not 3").contains("unexpected \"not\" in the expression"));
    assert!(message(&format!("price{}", " in (1)".repeat(1_000))).contains("too many operators"));
    assert!(message("'a").contains("unclosed '"));
    assert!(message("price @ 2").contains("unexpected '@'"));
    assert!(
        message("t * 2")
            .contains("row 1: the expression calculates with a text and an integer | use number(field)")
    );
    assert!(message("round()").contains("round(...) takes 1 to 2 values, not 0"));
    assert!(message("year(t)").contains("year(...) takes a date, not \"a\""));
    assert!(message(&"(".repeat(5_000)).contains("nested too deeply"));
    assert!(message(&format!("1{}", " + 1".repeat(2_000))).contains("too many operators"));
}
