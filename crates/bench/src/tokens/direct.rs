//! The direct way: a scripted model that calls tools turn by turn, with the servers in this process.

use anyhow::{anyhow, bail};
use serde_json::{Value, json};

use super::stand_ins::StandIns;
use super::transcript::{Part, Turn};

/// Calls that a good model makes in one turn; more of them take more turns.
pub const PARALLEL_MAX: usize = 20;

/// One call: server, tool, arguments.
pub type Call<'a> = (&'a str, &'a str, Value);

/// How a job went by direct calls.
pub struct DoneDirectly {
    pub turns: Vec<Turn>,
    /// The names of the tools that were called, each once.
    pub called: Vec<String>,
    /// Every call with its arguments, by its full name.
    pub made: Vec<(String, Value)>,
}

pub struct Direct<'a> {
    servers: &'a StandIns,
    turns: Vec<Turn>,
    called: Vec<String>,
    /// Every call, by its full name.
    made: Vec<(String, Value)>,
}

impl<'a> Direct<'a> {
    pub fn new(servers: &'a StandIns) -> Self {
        Self { servers, turns: Vec::new(), called: Vec::new(), made: Vec::new() }
    }

    /// One call in a turn of its own.
    pub fn call(&mut self, server: &str, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let answers = self.calls(vec![(server, tool, arguments)])?;
        answers.into_iter().next().ok_or_else(|| anyhow!("{server}.{tool} gave no answer"))
    }

    /// Calls that do not wait for each other: as many in one turn as a model makes.
    pub fn calls(&mut self, calls: Vec<Call<'_>>) -> anyhow::Result<Vec<Value>> {
        let mut values = Vec::with_capacity(calls.len());
        for together in calls.chunks(PARALLEL_MAX) {
            let mut turn = Turn::default();
            for (server, tool, arguments) in together {
                let name = format!("{server}.{tool}");
                let written = json!({"name": tool, "arguments": arguments}).to_string();
                turn.written.push(Part::new(format!("call {name}"), &written));
                let Value::Object(arguments) = arguments else { bail!("{name} was given no object") };
                self.made.push((name.clone(), Value::Object(arguments.clone())));
                let text = self.servers.call(server, tool, arguments)?;
                turn.answers.push(Part::new(format!("answer of {name}"), &text));
                values.push(value_of(text));
                if !self.called.contains(&name) {
                    self.called.push(name);
                }
            }
            self.turns.push(turn);
        }
        Ok(values)
    }

    /// The turns, and what was called in them.
    pub fn finish(self) -> DoneDirectly {
        DoneDirectly { turns: self.turns, called: self.called, made: self.made }
    }
}

/// As a program gets it: text that is an object or a list in JSON becomes that.
fn value_of(text: String) -> Value {
    match serde_json::from_str::<Value>(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value,
        Ok(_) | Err(_) => Value::String(text),
    }
}

/// The items of a list; none if it is no list.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text; empty if it is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A whole number; 0 if it is none.
pub fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// A number; 0 if it is none.
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}

/// The keys with the most, the most first; of equal ones in order of their keys.
pub fn most<K: Ord + Clone, N: PartialOrd + Copy>(
    counts: &std::collections::BTreeMap<K, N>,
    how_many: usize,
) -> Vec<(K, N)> {
    let mut sorted: Vec<(K, N)> = counts.iter().map(|(key, count)| (key.clone(), *count)).collect();
    sorted.sort_by(|one, other| other.1.partial_cmp(&one.1).unwrap_or(std::cmp::Ordering::Equal));
    sorted.truncate(how_many);
    sorted
}

/// Whether two results say the same, however their numbers are written.
pub fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(_), Value::Number(_)) => (number(one) - number(other)).abs() < 1e-6,
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same =
                |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_the_same_if_they_say_the_same() {
        let check =
            |one: Value, other: Value, same: bool| assert_eq!(is_same(&one, &other), same, "{one} {other}");
        check(json!({"a": 1, "b": [1.0, "x"]}), json!({"b": [1, "x"], "a": 1.0}), true);
        check(json!({"a": 1}), json!({"a": 1, "b": null}), false);
        check(json!([1, 2]), json!([2, 1]), false);
        check(json!("1"), json!(1), false);
    }

    #[test]
    fn calls_that_do_not_wait_share_turns_of_twenty() {
        let servers = StandIns::start(&["calculator"], std::path::Path::new("nowhere")).expect("servers");
        let mut direct = Direct::new(&servers);
        let calls =
            (0..45).map(|number| ("calculator", "evaluate", json!({"expression": format!("{number}*2")})));
        let values = direct.calls(calls.collect()).expect("values");
        assert_eq!(whole(&values[44]["value"]), 88);
        let DoneDirectly { turns, called, made } = direct.finish();
        assert_eq!(made.len(), 45);
        assert_eq!(turns.iter().map(|turn| turn.written.len()).collect::<Vec<_>>(), [20, 20, 5]);
        assert_eq!(called, ["calculator.evaluate"]);
    }
}
