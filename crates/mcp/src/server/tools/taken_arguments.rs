//! Arguments as models also write them: under a name that another product uses, or as text where the
//! schema has a number, a boolean, a list or an object. They are understood where there is no doubt about
//! what is meant, and not advertised. Everything else is left for the check, which names the nearest.

use gristmill_gateway::domain::catalogue::fold;
use serde_json::{Map, Number, Value};

use crate::message::json_shape;

/// What one tool takes, as its check has it.
pub(super) struct TakenArguments {
    tool: &'static str,
    properties: Map<String, Value>,
}

impl TakenArguments {
    pub fn new(tool: &'static str, schema: &Value) -> Self {
        Self { tool, properties: schema["properties"].as_object().cloned().unwrap_or_default() }
    }

    /// Gives arguments under another name the name that the tool knows.
    pub fn rename(&self, arguments: &mut Map<String, Value>) {
        let unknown: Vec<String> =
            arguments.keys().filter(|name| !self.properties.contains_key(*name)).cloned().collect();
        for given in unknown {
            let name = other_name(self.tool, &fold(&given));
            let name = name.filter(|name| self.properties.contains_key(*name));
            match name {
                // Both were given: no telling which is meant.
                Some(name) if !arguments.contains_key(name) => {
                    if let Some(value) = arguments.shift_remove(&given) {
                        arguments.insert(name.to_owned(), value);
                    }
                }
                Some(_) => {}
                None => self.move_into_parameters(arguments, &given),
            }
        }
        // A plan has its own program.
        if self.properties.contains_key(PLAN) && arguments.contains_key(PLAN) {
            arguments.entry(CODE).or_insert_with(|| Value::String(String::new()));
        }
    }

    /// Settings of an analysis that stand beside its `analysis_type` belong into its `parameters`.
    fn move_into_parameters(&self, arguments: &mut Map<String, Value>, given: &str) {
        let is_setting = self.properties.contains_key(PARAMETERS)
            && arguments.contains_key("analysis_type")
            && ANALYSIS_SETTINGS.contains(&given);
        if !is_setting {
            return;
        }
        let parameters = arguments.entry(PARAMETERS).or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(parameters) = parameters else { return };
        if parameters.contains_key(given) {
            return;
        }
        let mut parameters = std::mem::take(parameters);
        parameters.extend(arguments.shift_remove(given).map(|value| (given.to_owned(), value)));
        arguments.insert(PARAMETERS.to_owned(), Value::Object(parameters));
    }

    /// Reads texts that stand for something else. Names have been set right before.
    pub fn read_texts(&self, arguments: &mut Map<String, Value>) {
        for (name, value) in arguments.iter_mut() {
            let (Some(schema), Value::String(text)) = (self.properties.get(name), &*value) else { continue };
            if let Some(meant) = meant_by(text.trim(), &types_of(schema)) {
                *value = meant;
            }
        }
    }
}

const PARAMETERS: &str = "parameters";
const CODE: &str = "code";
const PLAN: &str = "plan";

/// What an argument is called here, by what other products call it.
fn other_name(tool: &str, folded: &str) -> Option<&'static str> {
    match (tool, folded) {
        (_, "sessiontoken" | "sessionid") => Some("session"),
        ("execute_code" | "execute_python", "timeoutseconds" | "timeoutsec") => Some("timeout_s"),
        ("get_execution", "timeoutseconds" | "timeoutsec") => Some("wait_s"),
        ("get_execution", "executionid") => Some("id"),
        ("get_tool_definition", "toolname") => Some("name"),
        ("save_skill" | "load_skill" | "delete_skill", "skillname") => Some("name"),
        ("read_workspace_file" | "write_workspace_file", "filename" | "filepath") => Some("path"),
        ("execute_analysis", "filename" | "filepath") => Some("file"),
        _ => None,
    }
}

/// Settings of single steps, as far as a name alone tells that it is one.
const ANALYSIS_SETTINGS: [&str; 30] = [
    "aggregate_field",
    "aggregations",
    "by",
    "conditions",
    "descending",
    "every",
    "expression",
    "field",
    "fields",
    "frequency",
    "function",
    "functions",
    "group",
    "group_by",
    "how",
    "logic",
    "mappings",
    "metrics",
    "on",
    "operation",
    "operator",
    "percentile",
    "percentiles",
    "required_fields",
    "rules",
    "threshold",
    "time_field",
    "value",
    "values",
    "window",
];

fn types_of(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

/// What a text stands for where one of these types is expected; `None` if it is no such thing.
fn meant_by(text: &str, types: &[&str]) -> Option<Value> {
    let has = |name: &str| types.contains(&name);
    // Text is text, but an example of a skill is an object.
    if has("string") && types != ["string", "object"] {
        return None;
    }
    // What stands in a text has passed no check of the message.
    json_shape::check(text.as_bytes()).ok()?;
    if has("number") || has("integer") {
        let number: Number = serde_json::from_str(text).ok()?;
        let is_whole = number.is_i64() || number.is_u64();
        return (is_whole || has("number")).then_some(Value::Number(number));
    }
    if has("boolean") {
        return match text.to_ascii_lowercase().as_str() {
            "true" => Some(Value::Bool(true)),
            "false" => Some(Value::Bool(false)),
            _ => None,
        };
    }
    match serde_json::from_str(text).ok()? {
        value @ Value::Object(_) if has("object") => Some(value),
        value @ Value::Array(_) if has("array") => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::ALL;
    use super::*;
    use crate::server::profile::Profile;
    use serde_json::json;

    /// What a tool is given, and what is made of it.
    fn check(tool: &str, given: Value, expected: Value) {
        let tool = ALL.into_iter().find(|known| known.name == tool).expect("a tool");
        let taken = TakenArguments::new(tool.name, &tool.input_schema(Profile::Full));
        let Value::Object(mut arguments) = given else { unreachable!("arguments are an object") };
        taken.rename(&mut arguments);
        taken.read_texts(&mut arguments);
        assert_eq!(Value::Object(arguments), expected);
    }

    #[test]
    fn a_text_cannot_smuggle_what_a_message_may_not_have() {
        let unchanged = |context: String| {
            let given = json!({"code": "1", "context": context});
            check("execute_code", given.clone(), given);
        };
        unchanged(r#"{"a": {"$serde_json::private::Number": "1e5"}}"#.to_owned());
        let escaped = |text: &str| text.replace('\\', "\\u005c").replace('"', "\\u0022");
        let (open, close) = ("[".repeat(120), "]".repeat(120));
        let mut nested = format!("{open}{close}");
        for _ in 0..40 {
            let inner = escaped(&nested);
            nested = format!("{open}{{\"$serde_json::private::RawValue\":\"{inner}\"}}{close}");
        }
        unchanged(format!("{{\"a\":{nested}}}"));
        unchanged(format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000)));
    }

    #[test]
    fn a_plan_comes_without_code() {
        check("execute_code", json!({"plan": "p"}), json!({"plan": "p", "code": ""}));
        check("save_skill", json!({"name": "a", "plan": "p"}), json!({"name": "a", "plan": "p"}));
    }

    #[test]
    fn names_that_other_products_use_are_understood() {
        check(
            "execute_code",
            json!({"code": "1", "timeout_seconds": 20, "session_token": "s"}),
            json!({"code": "1", "timeout_s": 20, "session": "s"}),
        );
        check("get_tool_definition", json!({"toolName": "crm.find"}), json!({"name": "crm.find"}));
        check("read_workspace_file", json!({"filename": "a.csv"}), json!({"path": "a.csv"}));
        check("execute_analysis", json!({"filename": "a.csv"}), json!({"file": "a.csv"}));
    }

    #[test]
    fn settings_beside_the_analysis_type_become_its_parameters() {
        check(
            "execute_analysis",
            json!({"analysis_type": "validate", "data": [], "required_fields": ["a"], "fields": ["a"]}),
            json!({"analysis_type": "validate", "data": [], "parameters": {"required_fields": ["a"], "fields": ["a"]}}),
        );
        check(
            "execute_analysis",
            json!({"analysis_type": "aggregate", "parameters": {"by": "a"}, "aggregate_field": "b", "percentile": 95}),
            json!({"analysis_type": "aggregate", "parameters": {"by": "a", "aggregate_field": "b", "percentile": 95}}),
        );
        check(
            "execute_analysis",
            json!({"analysis_type": "transform", "mappings": {"a": "b"}}),
            json!({"analysis_type": "transform", "parameters": {"mappings": {"a": "b"}}}),
        );
        // With steps, each has its own.
        let doubtful = json!({"steps": [], "fields": ["a"]});
        check("execute_analysis", doubtful.clone(), doubtful);
    }

    #[test]
    fn texts_stand_for_what_the_schema_asks_for() {
        check(
            "execute_code",
            json!({"code": "1", "timeout_s": "60", "max_output_tokens": " 500 ", "background": "True", "context": "{\"a\": 1}"}),
            json!({"code": "1", "timeout_s": 60, "max_output_tokens": 500, "background": true, "context": {"a": 1}}),
        );
        check(
            "execute_analysis",
            json!({"data": "[{\"a\": 1}]", "steps": "[{\"describe\": {}}]"}),
            json!({"data": "[{\"a\": 1}]", "steps": [{"describe": {}}]}),
        );
        check(
            "save_skill",
            json!({"name": "a", "code": "1", "test": "{\"call\": \"f()\", \"expect\": 1}"}),
            json!({"name": "a", "code": "1", "test": {"call": "f()", "expect": 1}}),
        );
    }

    #[test]
    fn what_is_in_doubt_is_left_for_the_check() {
        for (tool, arguments) in [
            ("execute_code", json!({"code": "1", "timeout_s": 5, "timeout_seconds": 20})),
            ("execute_code", json!({"code": "1", "timeout_s": "60 seconds"})),
            ("execute_code", json!({"code": "1", "max_output_tokens": "1.5"})),
            ("execute_code", json!({"code": "1", "background": "yes"})),
            ("execute_code", json!({"code": "1", "context": "[1]"})),
            ("execute_code", json!({"code": "1", "timeouts": 5})),
            ("execute_code", json!({"code": "1", "session": "60"})),
            ("read_result", json!({"handle": "h", "filename": "a"})),
            ("save_skill", json!({"name": "a", "code": "1", "test": "assert f() == 1"})),
        ] {
            check(tool, arguments.clone(), arguments);
        }
    }
}
