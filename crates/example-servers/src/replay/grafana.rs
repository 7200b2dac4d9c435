//! Answers as Grafana's server gives them: data sources, dashboards and series of Prometheus.

use serde_json::{Map, Value, json};

use super::{Answered, number_of};
use crate::{arguments, calendar, noise};

const SERVICES: [&str; 10] = [
    "checkout", "basket", "catalog", "search", "payments", "shipping", "mailer", "accounts", "media",
    "reports",
];
const REGIONS: [&str; 5] = ["eu-west-1", "eu-north-1", "us-east-1", "us-west-2", "ap-south-1"];
/// Prometheus gives 11,000 points of a series at most.
const POINTS_MAX: u64 = 11_000;

pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    let answer = match tool {
        "list_datasources" => sources(given)?,
        "search_dashboards" => dashboards(given)?,
        "query_prometheus" => query(given)?,
        _ => return Ok(None),
    };
    Ok(Some(answer.to_string()))
}

fn sources(given: &Map<String, Value>) -> Result<Value, String> {
    let wanted = arguments::optional_text(given, "type")?;
    let source = |(number, (name, kind)): (usize, (&str, &str))| json!({"id": number + 1, "uid": format!("{name}-uid"), "name": name, "type": kind, "isDefault": number == 0});
    let all = [
        ("prometheus-prod", "prometheus"),
        ("loki-prod", "loki"),
        ("tempo-prod", "tempo"),
        ("shop-db", "postgres"),
    ];
    let found: Vec<Value> = all
        .into_iter()
        .enumerate()
        .filter(|(_, (_, kind))| wanted.is_none_or(|wanted| wanted == *kind))
        .map(source)
        .collect();
    Ok(json!({"datasources": found, "total": found.len(), "hasMore": false}))
}

fn dashboards(given: &Map<String, Value>) -> Result<Value, String> {
    let query = arguments::optional_text(given, "query")?.unwrap_or_default().to_lowercase();
    let found = SERVICES.iter().filter(|service| service.contains(query.as_str())).map(|service| {
        let uid = format!("{:012x}", number_of(service) >> 16);
        json!({
            "uid": uid,
            "title": format!("{service}: service overview"),
            "type": "dash-db",
            "url": format!("/d/{uid}/{service}-service-overview"),
            "tags": ["service", "generated"],
            "folderUid": "services",
            "folderTitle": "Services",
        })
    });
    Ok(found.collect())
}

/// One series for each service for an instant, for each service and region for a range.
fn query(given: &Map<String, Value>) -> Result<Value, String> {
    let seed = number_of(arguments::text(given, "expr")?);
    let now = calendar::this_morning();
    if arguments::optional_text(given, "queryType")? == Some("instant") {
        let series = SERVICES.iter().enumerate().map(|(number, service)| {
            json!({"metric": {"service": service}, "value": [now, sample(seed, number as u64, 0)]})
        });
        return Ok(json!({"data": series.collect::<Vec<_>>()}));
    }
    let start = arguments::text(given, "startTime")?;
    let hours: u64 = start
        .strip_prefix("now-")
        .and_then(|span| span.strip_suffix('h')?.parse().ok())
        .ok_or("startTime is scripted as now-<hours>h only")?;
    let step = arguments::whole(given, "stepSeconds", 60, [1, 86_400])?;
    let points = (hours.min(10_000) * 3_600 / step).min(POINTS_MAX);
    let series = (0..SERVICES.len() as u64 * REGIONS.len() as u64).map(|number| {
        let service = SERVICES[(number / 5) as usize % SERVICES.len()];
        let region = REGIONS[number as usize % REGIONS.len()];
        let values: Vec<Value> = (0..points)
            .map(|point| json!([now - ((points - point) * step).cast_signed(), sample(seed, number, point + 1)]))
            .collect();
        json!({
            "metric": {"__name__": "http_request_duration_seconds", "cluster": "prod", "job": "shop", "region": region, "service": service},
            "values": values,
        })
    });
    Ok(json!({"data": series.collect::<Vec<_>>()}))
}

/// Values are texts, as Prometheus writes them.
fn sample(seed: u64, series: u64, point: u64) -> String {
    let usual = 0.02 + noise::unit(seed, series, 0) * 0.2;
    let peak = if noise::below(seed, series, point + 7, 400) == 0 { 12.0 } else { 1.0 };
    format!("{:.6}", usual * peak * (0.8 + 0.4 * noise::unit(seed, series, point + 1)))
}
