//! What a caller asks for, in both styles: a list of steps, or one analysis with its parameters.

use serde_json::{Map, Value};

use crate::bounds::{REQUEST_BYTES_MAX, STEPS_MAX};
use crate::outcome::Problem;
use crate::spellings::plain;
use crate::steps::{AskedStep, StepName};

/// A request that names known steps. What is inside each is checked by the step itself.
#[derive(Debug)]
pub(crate) struct Request {
    /// Leads to the list inside the data.
    pub(crate) data_field: Option<String>,
    pub(crate) steps: Vec<StepCall>,
}

/// One step and its arguments.
#[derive(Debug)]
pub(crate) struct StepCall {
    pub(crate) name: StepName,
    pub(crate) body: Value,
}

const EXAMPLE: &str = r#"for example {"steps": [{"filter": {"field": "price", "operator": ">", "value": 10}}, {"aggregate": {"group_by": "kind", "aggregations": {"price": "mean"}}}]}"#;

/// Keys of a request in the list style, in the other style, and of both.
const KNOWN: [&str; 4] = ["steps", "data_field", "analysis_type", "parameters"];
/// What else is understood for them.
const OTHERS: [(&str, &str); 6] = [
    ("operations", "steps"),
    ("pipeline", "steps"),
    ("step", "steps"),
    ("params", "parameters"),
    ("analysis", "analysis_type"),
    ("data_path", "data_field"),
];
/// Keys that name a step which has its settings beside them.
const NAMING: [&str; 6] = ["type", "operation", "step", "analysis_type", "name", "op"];

impl Request {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        if text.len() > REQUEST_BYTES_MAX {
            let message =
                format!("the request is {} bytes; the limit is {REQUEST_BYTES_MAX} bytes", text.len());
            return Err(Problem::new(message).hint("pass the data as an input, not inside the request"));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Problem::new(format!("the request isn't valid JSON: {error}")).hint(EXAMPLE))?;
        let object = match from_text(value) {
            Value::Object(object) => object,
            Value::Array(steps) => Map::from_iter([("steps".to_owned(), Value::Array(steps))]),
            // One step alone, by its name.
            name @ Value::String(_) => Map::from_iter([("steps".to_owned(), name)]),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                return Err(Problem::new("the request must be an object").hint(EXAMPLE));
            }
        };
        let mut known = Map::new();
        for (key, value) in object {
            let plain = plain(&key);
            let own = OTHERS.iter().find(|(other, _)| *other == plain).map_or(plain.as_str(), |(_, own)| own);
            if !KNOWN.contains(&own) || known.contains_key(own) {
                return Err(Problem::unknown("setting of the request", &key, KNOWN)
                    .hint(format!("available: {}; {EXAMPLE}", KNOWN.join(", "))));
            }
            known.insert(own.to_owned(), value);
        }
        Self::of_object(known)
    }

    fn of_object(mut object: Map<String, Value>) -> Result<Self, Problem> {
        let mut data_field = path_of(object.remove("data_field"))?;
        let analysis_type = object.remove("analysis_type");
        let parameters = object.remove("parameters").map(from_text);
        let steps = match (object.remove("steps").map(from_text), analysis_type) {
            (Some(Value::Array(steps)), None) if parameters.is_none() => steps_of(steps)?,
            (Some(step @ (Value::Object(_) | Value::String(_))), None) if parameters.is_none() => {
                steps_of(vec![step])?
            }
            (None, Some(Value::String(name))) => {
                let mut body = match parameters {
                    Some(Value::Object(body)) => body,
                    None | Some(Value::Null) => Map::new(),
                    Some(_) => return Err(Problem::new("\"parameters\" must be an object")),
                };
                data_field = path_of(body.shift_remove("data_field"))?.or(data_field);
                vec![StepCall::new(&name, Value::Object(body))?]
            }
            (Some(_), None) => {
                return Err(
                    Problem::new("\"steps\" must be a list of steps, without \"parameters\"").hint(EXAMPLE)
                );
            }
            (Some(_), Some(_)) => {
                return Err(Problem::new("pass \"steps\" or \"analysis_type\", not both").hint(EXAMPLE));
            }
            (None, Some(_)) => {
                return Err(Problem::new("\"analysis_type\" must be text").hint(StepName::all_listed()));
            }
            (None, None) => {
                return Err(Problem::new("the request needs \"steps\" or \"analysis_type\"").hint(EXAMPLE));
            }
        };
        Ok(Self { data_field, steps })
    }
}

fn path_of(value: Option<Value>) -> Result<Option<String>, Problem> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(path)) => Ok(Some(path).filter(|path| !path.is_empty())),
        Some(_) => {
            Err(Problem::new("\"data_field\" must be text: the dotted path to the list inside the data"))
        }
    }
}

fn steps_of(steps: Vec<Value>) -> Result<Vec<StepCall>, Problem> {
    if steps.len() > STEPS_MAX {
        return Err(Problem::new(format!("the request has {} steps; the limit is {STEPS_MAX}", steps.len())));
    }
    steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| step_of(step).map_err(|problem| problem.in_step(index + 1)))
        .collect()
}

impl StepCall {
    /// A step by its name. A name that stands for a method, such as `covariance`, becomes the step's setting.
    fn new(name: &str, body: Value) -> Result<Self, Problem> {
        let AskedStep { name: step, implied } = StepName::asked(name)?;
        let body = from_text(body);
        let Some((setting, value)) = implied else {
            return Ok(Self { name: step, body: named_body(name, body) });
        };
        let mut body = match body {
            Value::Object(body) => body,
            Value::Null | Value::Bool(true) => Map::new(),
            fields @ (Value::String(_) | Value::Array(_)) => Map::from_iter([("fields".to_owned(), fields)]),
            other @ (Value::Bool(false) | Value::Number(_)) => return Ok(Self { name: step, body: other }),
        };
        match body.get(setting).and_then(Value::as_str) {
            Some(given) if StepName::asked(given).ok().and_then(|asked| asked.implied) != implied => {
                let message = format!("{name:?} means {setting:?}: {value:?}, but {setting:?} is {given:?}");
                return Err(Problem::new(message).hint(format!("leave out {setting:?}, or change the name")));
            }
            Some(_) | None => drop(body.insert(setting.to_owned(), value.into())),
        }
        Ok(Self { name: step, body: Value::Object(body) })
    }
}

/// `{"group_by": "kind"}` names the fields and nothing else.
fn named_body(name: &str, body: Value) -> Value {
    let is_group = matches!(plain(name).as_str(), "group_by" | "groupby" | "group");
    match body {
        Value::String(_) | Value::Array(_) if is_group => {
            Value::Object(Map::from_iter([("group_by".to_owned(), body)]))
        }
        other => other,
    }
}

/// JSON that came as text. Other texts stay as they are: no name and no expression begins with a bracket.
fn from_text(value: Value) -> Value {
    match &value {
        Value::String(text) if text.trim_start().starts_with(['[', '{']) => {
            serde_json::from_str(text).unwrap_or(value)
        }
        _ => value,
    }
}

/// `{"filter": {…}}`, or `{"type": "filter", …}`, or the bare name of a step that needs no settings.
fn step_of(step: Value) -> Result<StepCall, Problem> {
    let mut object = match from_text(step) {
        Value::String(name) => return StepCall::new(&name, Value::Object(Map::new())),
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(
                Problem::new("a step must be an object with the step's name as its key").hint(EXAMPLE)
            );
        }
    };
    if object.len() == 1
        && let Some((name, _)) = object.iter().next()
        && StepName::parse(name).is_ok()
    {
        let name = name.clone();
        return StepCall::new(&name, object.remove(&name).unwrap_or_default());
    }
    let naming = NAMING.iter().find(|key| {
        object.get(**key).and_then(Value::as_str).is_some_and(|name| StepName::parse(name).is_ok())
    });
    let Some(naming) = naming else { return Err(nameless(&object)) };
    let name = object.shift_remove(*naming);
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    if object.len() == 1 {
        let inside = ["parameters", "params", "settings", "args"].iter().find_map(|key| object.get(*key));
        if let Some(inside) = inside.cloned().map(from_text).filter(Value::is_object) {
            return StepCall::new(name, inside);
        }
    }
    StepCall::new(name, Value::Object(object))
}

fn nameless(object: &Map<String, Value>) -> Problem {
    let named = NAMING.iter().find_map(|key| object.get(*key).and_then(Value::as_str));
    match (named, object.len(), object.keys().next()) {
        (Some(name), _, _) => StepName::unknown(name),
        (None, 1, Some(key)) => StepName::unknown(key),
        (None, _, _) => Problem::new("a step must be an object with one key, the step's name")
            .hint(format!("write each step as its own object; {}; {EXAMPLE}", StepName::all_listed())),
    }
}
