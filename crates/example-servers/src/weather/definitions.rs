//! What the tools of `weather` take and give.

use serde_json::{Value, json};

use super::{FORECAST_DAYS_MAX, climate};
use crate::definition::{Effect, full_object, object, tool};

pub fn definitions() -> Vec<Value> {
    vec![list_cities_tool(), current_tool(), forecast_tool(), history_tool(), chart_tool()]
}

fn list_cities_tool() -> Value {
    tool(
        ["list_cities", "List cities"],
        "Lists the cities that have weather, with country and position.",
        Effect::Reads,
        object(
            &[],
            json!({ "country": { "type": "string", "description": "Only this country, such as DE" } }),
        ),
        full_object(json!({
            "cities": { "type": "array", "description": "In order of their names", "items": full_object(json!({
                "city": name(), "country": country(),
                "latitude": { "type": "number", "description": "Degrees north; negative is south" },
                "longitude": { "type": "number", "description": "Degrees east; negative is west" },
            })) },
            "total": { "type": "integer", "description": "How many cities are listed" },
        })),
    )
}

fn current_tool() -> Value {
    tool(
        ["current", "Current weather"],
        "Gets the weather of a city right now.",
        Effect::Reads,
        object(&["city"], json!({ "city": city() })),
        full_object(json!({
            "city": name(), "country": country(),
            "observed_at": { "type": "string", "description": "Time of the observation, in UTC" },
            "temp_c": { "type": "number", "description": "Temperature in °C" },
            "feels_like_c": { "type": "number", "description": "What it feels like, with wind and humidity" },
            "wind_kmh": { "type": "number", "minimum": 0, "description": "Wind in km/h" },
            "humidity_percent": { "type": "integer", "minimum": 0, "maximum": 100, "description": "Relative humidity" },
            "condition": { "type": "string", "enum": climate::CONDITIONS, "description": "In a word or two" },
        })),
    )
}

fn forecast_tool() -> Value {
    tool(
        ["forecast", "Forecast"],
        "Gets the daily forecast of a city for up to 14 days, beginning tomorrow.",
        Effect::Reads,
        object(&["city"], json!({ "city": city(), "days": days() })),
        full_object(json!({ "city": name(), "country": country(), "days": list() })),
    )
}

fn history_tool() -> Value {
    tool(
        ["history", "Past weather"],
        "Gets the past weather of a city as daily rows. From 2015-01-01 to today; up to five years (1,827 rows) \
         in one call.",
        Effect::Reads,
        object(
            &["city", "from", "to"],
            json!({
                "city": city(),
                "from": { "type": "string", "format": "date", "description": "First day, YYYY-MM-DD" },
                "to": { "type": "string", "format": "date", "description": "Last day, YYYY-MM-DD; it is included" },
            }),
        ),
        full_object(json!({ "city": name(), "country": country(), "rows": list() })),
    )
}

fn chart_tool() -> Value {
    tool(
        ["chart", "Forecast chart"],
        "Draws the forecast of a city as a PNG picture: highest temperature in red, lowest in blue, rain as bars.",
        Effect::Reads,
        object(&["city"], json!({ "city": city(), "days": days() })),
        Value::Null,
    )
}

fn city() -> Value {
    json!({ "type": "string", "description": "City name in English, such as Lisbon; see list_cities" })
}

fn days() -> Value {
    json!({
        "type": "integer", "minimum": 1, "maximum": FORECAST_DAYS_MAX, "default": 7,
        "description": "How many days, beginning tomorrow",
    })
}

fn name() -> Value {
    json!({ "type": "string", "description": "The city's name" })
}

fn country() -> Value {
    json!({ "type": "string", "description": "Two-letter country code" })
}

fn date() -> Value {
    json!({ "type": "string", "description": "A day as YYYY-MM-DD" })
}

fn day() -> Value {
    full_object(json!({
        "date": date(),
        "temp_min_c": { "type": "number", "description": "Lowest temperature in °C" },
        "temp_max_c": { "type": "number", "description": "Highest temperature in °C" },
        "precipitation_mm": { "type": "number", "minimum": 0, "description": "Rain, or snow when melted, in mm" },
        "wind_kmh": { "type": "number", "minimum": 0, "description": "Mean wind in km/h" },
        "humidity_percent": { "type": "integer", "minimum": 0, "maximum": 100, "description": "Relative humidity" },
        "condition": { "type": "string", "enum": climate::CONDITIONS, "description": "The day in a word or two" },
    }))
}

fn list() -> Value {
    json!({ "type": "array", "items": day(), "description": "One row for each day, in order" })
}
