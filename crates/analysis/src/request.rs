//! What a caller asks for, in both styles: a list of steps, or one analysis with its parameters.

use serde_json::{Map, Value};

use crate::bounds::{REQUEST_BYTES_MAX, STEPS_MAX};
use crate::outcome::Problem;
use crate::steps::StepName;

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
/// Keys that name a step which has its settings beside them.
const NAMING: [&str; 4] = ["type", "operation", "step", "analysis_type"];

impl Request {
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        if text.len() > REQUEST_BYTES_MAX {
            let message = format!("the request has {} bytes; {REQUEST_BYTES_MAX} are the most", text.len());
            return Err(Problem::new(message).hint("give the data as an input, not inside the request"));
        }
        let value: Value = serde_json::from_str(text)
            .map_err(|error| Problem::new(format!("the request is not valid JSON: {error}")).hint(EXAMPLE))?;
        let object = match value {
            Value::Object(object) => object,
            Value::Array(steps) => Map::from_iter([("steps".to_owned(), Value::Array(steps))]),
            // One step alone, by its name.
            name @ Value::String(_) => Map::from_iter([("steps".to_owned(), name)]),
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                return Err(Problem::new("the request has to be an object").hint(EXAMPLE));
            }
        };
        for key in object.keys() {
            if !KNOWN.contains(&key.as_str()) {
                return Err(Problem::unknown("setting of the request", key, KNOWN)
                    .hint(format!("known: {}; {EXAMPLE}", KNOWN.join(", "))));
            }
        }
        Self::of_object(object)
    }

    fn of_object(mut object: Map<String, Value>) -> Result<Self, Problem> {
        let mut data_field = path_of(object.remove("data_field"))?;
        let analysis_type = object.remove("analysis_type");
        let parameters = object.remove("parameters");
        let steps = match (object.remove("steps"), analysis_type) {
            (Some(Value::Array(steps)), None) if parameters.is_none() => steps_of(steps)?,
            (Some(step @ (Value::Object(_) | Value::String(_))), None) if parameters.is_none() => {
                steps_of(vec![step])?
            }
            (None, Some(Value::String(name))) => {
                let mut body = match parameters {
                    Some(Value::Object(body)) => body,
                    None | Some(Value::Null) => Map::new(),
                    Some(_) => return Err(Problem::new("\"parameters\" has to be an object")),
                };
                data_field = path_of(body.shift_remove("data_field"))?.or(data_field);
                vec![StepCall { name: StepName::parse(&name)?, body: Value::Object(body) }]
            }
            (Some(_), None) => {
                return Err(
                    Problem::new("\"steps\" has to be a list of steps, without \"parameters\"").hint(EXAMPLE)
                );
            }
            (Some(_), Some(_)) => {
                return Err(Problem::new("give \"steps\" or \"analysis_type\", not both").hint(EXAMPLE));
            }
            (None, Some(_)) => {
                return Err(Problem::new("\"analysis_type\" has to be a text").hint(StepName::all_listed()));
            }
            (None, None) => {
                return Err(
                    Problem::new("the request has neither \"steps\" nor \"analysis_type\"").hint(EXAMPLE)
                );
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
            Err(Problem::new("\"data_field\" has to be a text: the dotted path to the list inside the data"))
        }
    }
}

fn steps_of(steps: Vec<Value>) -> Result<Vec<StepCall>, Problem> {
    if steps.len() > STEPS_MAX {
        return Err(Problem::new(format!("the request has {} steps; {STEPS_MAX} are the most", steps.len())));
    }
    steps
        .into_iter()
        .enumerate()
        .map(|(index, step)| step_of(step).map_err(|problem| problem.in_step(index + 1)))
        .collect()
}

/// `{"filter": {…}}`, or `{"type": "filter", …}`, or the bare name of a step that needs no settings.
fn step_of(step: Value) -> Result<StepCall, Problem> {
    let mut object = match step {
        Value::String(name) => {
            return Ok(StepCall { name: StepName::parse(&name)?, body: Value::Object(Map::new()) });
        }
        Value::Object(object) => object,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
            return Err(
                Problem::new("a step has to be an object with the step's name as its key").hint(EXAMPLE)
            );
        }
    };
    if object.len() == 1
        && let Some((name, _)) = object.iter().next()
        && StepName::parse(name).is_ok()
    {
        let name = StepName::parse(name)?;
        let body = object.into_iter().next().map_or(Value::Null, |(_, body)| body);
        return Ok(StepCall { name, body });
    }
    let naming = NAMING.iter().find(|key| {
        object.get(**key).and_then(Value::as_str).is_some_and(|name| StepName::parse(name).is_ok())
    });
    let Some(naming) = naming else { return Err(nameless(&object)) };
    let name = object.shift_remove(*naming);
    let name = StepName::parse(name.as_ref().and_then(Value::as_str).unwrap_or_default())?;
    if object.len() == 1
        && let Some(parameters) = object.get("parameters")
        && parameters.is_object()
    {
        return Ok(StepCall { name, body: parameters.clone() });
    }
    Ok(StepCall { name, body: Value::Object(object) })
}

fn nameless(object: &Map<String, Value>) -> Problem {
    let named = NAMING.iter().find_map(|key| object.get(*key).and_then(Value::as_str));
    match (named, object.len(), object.keys().next()) {
        (Some(name), _, _) => StepName::unknown(name),
        (None, 1, Some(key)) => StepName::unknown(key),
        (None, _, _) => Problem::new("a step has to be an object with one key, the step's name")
            .hint(format!("write each step as an object of its own; {}; {EXAMPLE}", StepName::all_listed())),
    }
}
