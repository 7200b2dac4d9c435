//! `weather`: made-up weather for real cities, from a yearly curve and noise. Today is always the
//! same day, so that answers are too.

mod chart;
mod cities;
mod climate;
mod definitions;
mod png;

use serde_json::{Map, Value, json};

use super::calendar::{TODAY, date_of, day_number, today};
use super::definition::check_call;
use super::{Answer, ExampleServer, arguments};
use cities::City;
use climate::Day;

const FORECAST_DAYS_MAX: u64 = 14;
const HISTORY_BEGINS: &str = "2015-01-01";
/// Five years and their leap days.
const HISTORY_DAYS_MAX: i64 = 1_827;

pub struct Weather {
    tools: Vec<Value>,
}

impl Weather {
    pub fn new() -> Self {
        Self { tools: definitions::definitions() }
    }
}

impl ExampleServer for Weather {
    fn name(&self) -> &'static str {
        "weather"
    }

    fn title(&self) -> &'static str {
        "Weather"
    }

    fn instructions(&self) -> &'static str {
        "Synthetic weather for 60 real cities: not for planning a picnic. Today is always 2026-06-15; history goes \
         back to 2015-01-01."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        match tool {
            "list_cities" => list_cities(arguments::optional_text(arguments, "country")?),
            "current" => Ok(current(city(arguments)?)),
            "forecast" => {
                let days = arguments::whole(arguments, "days", 7, [1, FORECAST_DAYS_MAX])?;
                let city = city(arguments)?;
                Ok(json!({ "city": city.name, "country": city.country, "days": rows(&forecast(city, days)) }))
            }
            "history" => history(arguments),
            _ => return forecast_chart(arguments),
        }
        .map(Answer::Structured)
    }
}

fn city(arguments: &Map<String, Value>) -> Result<&'static City, String> {
    cities::find(arguments::text(arguments, "city")?)
}

fn list_cities(country: Option<&str>) -> Result<Value, String> {
    let wanted = country.map(str::to_uppercase);
    let cities: Vec<Value> = cities::CITIES
        .iter()
        .filter(|city| wanted.as_deref().is_none_or(|country| city.country == country))
        .map(|city| {
            json!({
                "city": city.name, "country": city.country, "latitude": city.latitude, "longitude": city.longitude,
            })
        })
        .collect();
    if cities.is_empty() {
        let mut known: Vec<&str> = cities::CITIES.iter().map(|city| city.country).collect();
        known.sort_unstable();
        known.dedup();
        return Err(super::unknown_name::unknown("city in country", country.unwrap_or_default(), known));
    }
    Ok(json!({ "total": cities.len(), "cities": cities }))
}

fn current(city: &City) -> Value {
    let day = climate::day(city, today());
    let temp = climate::tenths(day.temp_min_c * 0.3 + day.temp_max_c * 0.7);
    let chill = if temp < 10.0 { day.wind_kmh * 0.12 } else { 0.0 };
    let mugginess = if temp > 24.0 { (day.humidity_percent as f64 - 50.0).max(0.0) * 0.08 } else { 0.0 };
    json!({
        "city": city.name,
        "country": city.country,
        "observed_at": format!("{TODAY}T12:00:00Z"),
        "temp_c": temp,
        "feels_like_c": climate::tenths(temp - chill + mugginess),
        "wind_kmh": day.wind_kmh,
        "humidity_percent": day.humidity_percent,
        "condition": day.condition,
    })
}

fn forecast(city: &City, days: u64) -> Vec<Day> {
    (1..=days.cast_signed()).map(|ahead| climate::day(city, today() + ahead)).collect()
}

fn history(arguments: &Map<String, Value>) -> Result<Value, String> {
    let city = city(arguments)?;
    let from = date(arguments, "from")?;
    let to = date(arguments, "to")?;
    if from > to {
        return Err(format!("`from` ({}) is after `to` ({}); swap them", date_of(from), date_of(to)));
    }
    if to - from >= HISTORY_DAYS_MAX {
        return Err(format!(
            "{} days were asked for; at most {HISTORY_DAYS_MAX} in one call, so ask in parts",
            to - from + 1
        ));
    }
    let days: Vec<Day> = (from..=to).map(|number| climate::day(city, number)).collect();
    Ok(json!({ "city": city.name, "country": city.country, "rows": rows(&days) }))
}

fn date(arguments: &Map<String, Value>, name: &str) -> Result<i64, String> {
    let given = arguments::text(arguments, name)?;
    let number = day_number(given).ok_or_else(|| {
        format!("`{name}` must be a date such as 2024-03-31, not `{}`", arguments::shown(given))
    })?;
    if (day_number(HISTORY_BEGINS).unwrap_or_default()..=today()).contains(&number) {
        return Ok(number);
    }
    Err(format!("`{name}` is {given}; history goes from {HISTORY_BEGINS} to {TODAY}"))
}

fn rows(days: &[Day]) -> Vec<Value> {
    days.iter()
        .map(|day| {
            json!({
                "date": day.date,
                "temp_min_c": day.temp_min_c,
                "temp_max_c": day.temp_max_c,
                "precipitation_mm": day.precipitation_mm,
                "wind_kmh": day.wind_kmh,
                "humidity_percent": day.humidity_percent,
                "condition": day.condition,
            })
        })
        .collect()
}

fn forecast_chart(arguments: &Map<String, Value>) -> Result<Answer, String> {
    let city = city(arguments)?;
    let days = arguments::whole(arguments, "days", 7, [1, FORECAST_DAYS_MAX])?;
    let forecast = forecast(city, days);
    let text = format!(
        "Forecast for {}, {} to {}: highest in red, lowest in blue, rain as bars.",
        city.name,
        date_of(today() + 1),
        date_of(today() + days.cast_signed()),
    );
    Ok(Answer::Image { mime: "image/png", bytes: chart::draw(&forecast), text: Some(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, arguments: Value) -> Result<Value, String> {
        match Weather::new().call(tool, arguments.as_object().unwrap_or(&Map::new()))? {
            Answer::Structured(value) => Ok(value),
            Answer::Text(_) | Answer::Image { .. } => Err("not structured".to_owned()),
        }
    }

    #[test]
    fn five_years_of_history_come_in_one_answer() {
        let answer =
            call("history", json!({"city": "oslo", "from": "2020-01-01", "to": "2024-12-31"})).expect("rows");
        let rows = answer["rows"].as_array().expect("rows");
        assert_eq!(rows.len(), 1_827);
        assert_eq!((&rows[0]["date"], &rows[1_826]["date"]), (&json!("2020-01-01"), &json!("2024-12-31")));
    }

    #[test]
    fn what_cannot_be_answered_is_said_plainly() {
        let check = |tool: &str, arguments: Value, expected: &str| {
            let error = call(tool, arguments).expect_err(expected);
            assert!(error.starts_with(expected), "{error}");
        };
        check("current", json!({"city": "Lisbn"}), "no city `Lisbn`; did you mean `Lisbon`?");
        check(
            "forecast",
            json!({"city": "Oslo", "days": 15}),
            "`days` must be a whole number from 1 to 14, not 15",
        );
        check(
            "history",
            json!({"city": "Oslo", "from": "2024-02-30", "to": "2024-03-01"}),
            "`from` must be a date",
        );
        check(
            "history",
            json!({"city": "Oslo", "from": "2024-03-02", "to": "2024-03-01"}),
            "`from` (2024-03-02) is after",
        );
        check(
            "history",
            json!({"city": "Oslo", "from": "2015-01-01", "to": "2020-01-02"}),
            "1828 days were asked for",
        );
        check(
            "history",
            json!({"city": "Oslo", "from": "2014-12-31", "to": "2020-01-02"}),
            "`from` is 2014-12-31; history",
        );
        check("list_cities", json!({"country": "XX"}), "no city in country `XX`; ");
        check(
            "forecast",
            json!({"city": "Oslo", "dayz": 1}),
            "no argument of forecast `dayz`; did you mean `days`?",
        );
        check("forecast", json!({}), "forecast needs `city`");
    }

    #[test]
    fn summer_is_in_july_in_the_north_and_in_january_in_the_south() {
        let mean = |city: &str, from: &str, to: &str| {
            let answer = call("history", json!({"city": city, "from": from, "to": to})).expect("rows");
            let rows = answer["rows"].as_array().cloned().unwrap_or_default();
            rows.iter().filter_map(|row| row["temp_max_c"].as_f64()).sum::<f64>() / rows.len() as f64
        };
        let warmth =
            |city: &str| mean(city, "2025-07-01", "2025-07-31") - mean(city, "2025-01-01", "2025-01-31");
        assert!(warmth("Oslo") > 12.0);
        assert!(warmth("Sydney") < -6.0);
        assert!(warmth("Singapore").abs() < 4.0);
    }
}
