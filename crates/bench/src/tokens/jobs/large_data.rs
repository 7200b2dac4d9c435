//! Answers of thousands of rows, samples or lines, of which a few figures are wanted.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::EXAMPLES;
use crate::tokens::direct::{Direct, items, most, number, text, whole};
use crate::tokens::job::{Group, Job, find_in, look_at_item, look_at_one, look_at_shape};

/// The base of the three jobs with the most rows. Nothing that is connected adds records up.
const BASE: &str = "appShopRecords001";

pub fn jobs() -> Vec<Job> {
    vec![
        support_hours_job(),
        order_totals_job(),
        best_sellers_job(),
        latency_peaks_job(),
        pod_log_job(),
        hottest_days_job(),
        double_contacts_job(),
        currency_reports_job(),
    ]
}

fn support_hours_job() -> Job {
    Job {
        name: "support-hours",
        group: Group::LargeData,
        task: "Our 10,000 support tickets are in Airtable, base appShopRecords001, table tblTickets0000001. How many are there of each Priority, how many Hours did they take together, and which three of the field Account have the most?",
        servers: &["airtable"],
        queries: vec![find_in("airtable", "list records of a table")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/support-hours.py"),
        direct: support_hours,
        closing: |done| {
            format!(
                "Number and hours by priority: {}. The most of the {} tickets are of {}.",
                done["priorities"], done["tickets"], done["most"]
            )
        },
    }
}

fn order_totals_job() -> Job {
    Job {
        name: "order-totals",
        group: Group::LargeData,
        task: "What do the 40,000 orders in Airtable, base appShopRecords001, table tblOrders00000001, come to in each Currency? Give their number and the sum of Cents.",
        servers: &["airtable"],
        queries: vec![find_in("airtable", "list records of a table")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/order-totals.py"),
        direct: order_totals,
        closing: |done| format!("Orders by currency, number and cents: {done}."),
    }
}

fn best_sellers_job() -> Job {
    Job {
        name: "best-sellers",
        group: Group::LargeData,
        task: "Which three of the field Product have the highest sum of Quantity in the 50,000 order lines in Airtable, base appShopRecords001, table tblOrderLines0001?",
        servers: &["airtable"],
        queries: vec![find_in("airtable", "list records of a table")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/best-sellers.py"),
        direct: best_sellers,
        closing: |done| {
            format!("In {} lines the products with the most units are {}.", done["lines"], done["most"])
        },
    }
}

fn latency_peaks_job() -> Job {
    Job {
        name: "latency-peaks",
        group: Group::LargeData,
        task: "Where and when were the three highest peaks of shop:latency:p99 in the last 25 hours, in steps of 90 seconds? Use Grafana.",
        servers: &["grafana"],
        queries: vec![
            find_in("grafana", "list datasources"),
            find_in("grafana", "query a prometheus expression"),
        ],
        definitions: &[],
        first_look: look_at_one(include_str!("../programs/latency-peaks.look.py")),
        program: include_str!("../programs/latency-peaks.py"),
        direct: latency_peaks,
        closing: |done| format!("Of {} samples the highest are {}.", done["samples"], done["peaks"]),
    }
}

fn pod_log_job() -> Job {
    Job {
        name: "pod-log",
        group: Group::LargeData,
        task: "How many lines of each level are in the log of the pod checkout-7d9f8b6c5-x2x4q in the namespace shop, and which request was the slowest?",
        servers: &["kubernetes"],
        queries: vec![find_in("kubernetes", "logs of a pod")],
        definitions: &[],
        first_look: look_at_one(include_str!("../programs/pod-log.look.py")),
        program: include_str!("../programs/pod-log.py"),
        direct: pod_log,
        closing: |done| {
            format!("{} lines: {}. The slowest: {}", done["lines"], done["levels"], text(&done["slowest"]))
        },
    }
}

fn hottest_days_job() -> Job {
    Job {
        name: "hottest-days",
        group: Group::LargeData,
        task: "What was the hottest day since 2023 in Athens, Berlin, Lisbon, Madrid, Oslo, Paris, Rome and Vienna?",
        servers: EXAMPLES,
        queries: vec![find_in("weather", "past weather")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/hottest-days.py"),
        direct: hottest_days,
        closing: |done| format!("Of {} days the hottest were {}.", done["days"], done["hottest"]),
    }
}

fn double_contacts_job() -> Job {
    Job {
        name: "double-contacts",
        group: Group::LargeData,
        task: "How many mail addresses are on more than one contact in HubSpot? Name three.",
        servers: &["hubspot"],
        queries: vec![find_in("hubspot", "paginated list of objects")],
        definitions: &[],
        first_look: look_at_item(include_str!("../programs/double-contacts.look.py")),
        program: include_str!("../programs/double-contacts.py"),
        direct: double_contacts,
        closing: |done| {
            format!(
                "{} addresses are double among {} contacts, such as {}.",
                done["double"], done["contacts"], done["first"]
            )
        },
    }
}

fn currency_reports_job() -> Job {
    Job {
        name: "currency-reports",
        group: Group::LargeData,
        task: "How many issues of acme/storefront, open or closed, mention the currency in their text, by label?",
        servers: &["github"],
        queries: vec![find_in("github", "list issues")],
        definitions: &[],
        first_look: look_at_shape(include_str!("../programs/currency-reports.look.py")),
        program: include_str!("../programs/currency-reports.py"),
        direct: currency_reports,
        closing: |done| format!("In {} issues, by label: {}.", done["read"], done["labels"]),
    }
}

/// The wanted fields of all records of a table; the task names them.
fn records(direct: &mut Direct<'_>, table: &str, fields: &[&str]) -> anyhow::Result<Vec<Value>> {
    let arguments = json!({"baseId": BASE, "tableId": table, "fields": fields});
    let answer = direct.call("airtable", "list_records", arguments)?;
    Ok(items(&answer["records"]).iter().map(|record| record["fields"].clone()).collect())
}

fn support_hours(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let rows = records(direct, "tblTickets0000001", &["Account", "Priority", "Hours"])?;
    let mut priorities: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    let mut accounts: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows {
        let of_priority = priorities.entry(text(&row["Priority"])).or_default();
        of_priority.0 += 1;
        of_priority.1 += whole(&row["Hours"]);
        *accounts.entry(text(&row["Account"]).to_owned()).or_default() += 1;
    }
    Ok(json!({"tickets": rows.len(), "priorities": priorities, "most": most(&accounts, 3)}))
}

fn order_totals(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let rows = records(direct, "tblOrders00000001", &["Currency", "Cents"])?;
    let mut totals: BTreeMap<&str, (u64, i64)> = BTreeMap::new();
    for row in &rows {
        let of_currency = totals.entry(text(&row["Currency"])).or_default();
        of_currency.0 += 1;
        of_currency.1 += whole(&row["Cents"]);
    }
    Ok(json!(totals))
}

fn best_sellers(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let rows = records(direct, "tblOrderLines0001", &["Product", "Quantity"])?;
    let mut units: BTreeMap<String, i64> = BTreeMap::new();
    for row in &rows {
        *units.entry(text(&row["Product"]).to_owned()).or_default() += whole(&row["Quantity"]);
    }
    Ok(json!({"lines": rows.len(), "most": most(&units, 3)}))
}

fn latency_peaks(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let sources = direct.call("grafana", "list_datasources", json!({"type": "prometheus"}))?;
    let arguments = json!({
        "datasourceUid": sources["datasources"][0]["uid"], "queryType": "range", "expr": "shop:latency:p99",
        "startTime": "now-25h", "endTime": "now", "stepSeconds": 90,
    });
    let answer = direct.call("grafana", "query_prometheus", arguments)?;
    let height = |point: &Value| text(&point[1]).parse::<f64>().unwrap_or_default();
    let (mut samples, mut peaks) = (0, Vec::new());
    for series in items(&answer["data"]) {
        let points = items(&series["values"]);
        samples += points.len();
        // Of equal ones the first, as Python's max does it.
        if let Some(peak) = points.iter().rev().max_by(|one, other| height(one).total_cmp(&height(other))) {
            peaks.push((
                height(peak),
                series["metric"]["service"].clone(),
                series["metric"]["region"].clone(),
                peak[0].clone(),
            ));
        }
    }
    peaks.sort_by(|one, other| other.0.total_cmp(&one.0));
    let peaks = peaks
        .into_iter()
        .take(3)
        .map(|(height, service, region, time)| json!([service, region, time, height]));
    Ok(json!({"samples": samples, "peaks": peaks.collect::<Vec<_>>()}))
}

fn pod_log(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let arguments = json!({"resourceType": "pod", "name": "checkout-7d9f8b6c5-x2x4q", "namespace": "shop"});
    let log = direct.call("kubernetes", "kubectl_logs", arguments)?;
    let mut levels: BTreeMap<&str, u64> = BTreeMap::new();
    for line in text(&log).lines() {
        *levels.entry(line.split(' ').nth(1).unwrap_or_default()).or_default() += 1;
    }
    let took = |line: &&str| {
        let after = line.split_once("ms=").map_or("", |(_, after)| after);
        after.split(' ').next().and_then(|ms| ms.parse::<u64>().ok()).unwrap_or_default()
    };
    let slowest = text(&log).lines().rev().max_by_key(took);
    Ok(json!({"lines": text(&log).lines().count(), "levels": levels, "slowest": slowest}))
}

fn hottest_days(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let cities = ["Athens", "Berlin", "Lisbon", "Madrid", "Oslo", "Paris", "Rome", "Vienna"];
    let call =
        |city: &str| ("weather", "history", json!({"city": city, "from": "2023-01-01", "to": "2026-06-15"}));
    let answers = direct.calls(cities.into_iter().map(call).collect())?;
    let heat = |row: &Value| number(&row["temp_max_c"]);
    let hottest = answers.iter().filter_map(|answer| {
        let rows = items(&answer["rows"]);
        let row = rows.iter().rev().max_by(|one, other| heat(one).total_cmp(&heat(other)))?;
        Some(json!([answer["city"], row["date"], row["temp_max_c"]]))
    });
    let hottest: Vec<Value> = hottest.collect();
    let days: usize = answers.iter().map(|answer| items(&answer["rows"]).len()).sum();
    Ok(json!({"days": days, "hottest": hottest}))
}

fn double_contacts(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let (mut counts, mut contacts, mut after) = (BTreeMap::<String, u64>::new(), 0, None);
    loop {
        let mut arguments = json!({"objectType": "contacts", "limit": 500, "properties": ["email"]});
        if let Some(after) = after {
            arguments["after"] = after;
        }
        let page = direct.call("hubspot", "hubspot-list-objects", arguments)?;
        for contact in items(&page["results"]) {
            contacts += 1;
            *counts.entry(text(&contact["properties"]["email"]).to_lowercase()).or_default() += 1;
        }
        match &page["paging"]["next"]["after"] {
            Value::Null => break,
            next => after = Some(next.clone()),
        }
    }
    let double: Vec<&String> =
        counts.iter().filter(|(_, count)| **count > 1).map(|(email, _)| email).collect();
    let first: Vec<&&String> = double.iter().take(3).collect();
    Ok(json!({"contacts": contacts, "double": double.len(), "first": first}))
}

fn currency_reports(direct: &mut Direct<'_>) -> anyhow::Result<Value> {
    let (mut labels, mut read, mut after) = (BTreeMap::<String, u64>::new(), 0, None);
    loop {
        let mut arguments =
            json!({"owner": "acme", "repo": "storefront", "perPage": 100, "fields": ["body", "labels"]});
        if let Some(after) = after {
            arguments["after"] = after;
        }
        let page = direct.call("github", "list_issues", arguments)?;
        for issue in items(&page["issues"]) {
            read += 1;
            for label in items(&issue["labels"]).iter().filter(|_| text(&issue["body"]).contains("currency"))
            {
                *labels.entry(text(label).to_owned()).or_default() += 1;
            }
        }
        if page["pageInfo"]["hasNextPage"] != true {
            return Ok(json!({"read": read, "labels": labels}));
        }
        after = Some(page["pageInfo"]["endCursor"].clone());
    }
}
