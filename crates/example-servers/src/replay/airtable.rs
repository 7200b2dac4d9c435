//! Answers as Airtable's server gives them: the records of three large tables of one base. Nothing adds
//! them up: whoever wants a figure reads the records.

use serde_json::{Map, Value, json};

use super::words;
use crate::{arguments, calendar, companies, noise};

const BASE: &str = "appShopRecords001";
const SEED: u64 = 727;

/// A table: its id, its name, how many records it has, and what is in one.
struct Table {
    id: &'static str,
    name: &'static str,
    records: u64,
    fields: fn(u64) -> Value,
}

static TABLES: [Table; 3] = [
    Table { id: "tblTickets0000001", name: "Tickets", records: 10_000, fields: ticket },
    Table { id: "tblOrders00000001", name: "Orders", records: 40_000, fields: order },
    Table { id: "tblOrderLines0001", name: "Order lines", records: 50_000, fields: order_line },
];

/// Answers a call; `None` if this tool has no answer here.
pub fn call(tool: &str, given: &Map<String, Value>) -> Result<Option<Value>, String> {
    match tool {
        "list_records" => list(table(given)?, given).map(Some),
        _ => Ok(None),
    }
}

fn table(given: &Map<String, Value>) -> Result<&'static Table, String> {
    let (base, wanted) = (arguments::text(given, "baseId")?, arguments::text(given, "tableId")?);
    let found = TABLES.iter().find(|table| base == BASE && (table.id == wanted || table.name == wanted));
    found.ok_or_else(|| format!("Airtable API Error: no table {} in this base", arguments::shown(wanted)))
}

fn list(table: &Table, given: &Map<String, Value>) -> Result<Value, String> {
    if let Some(other) = ["view", "filterByFormula", "sort"].iter().find(|name| given.contains_key(**name)) {
        return Err(format!("no answer is scripted for `{other}`"));
    }
    let most = arguments::whole(given, "maxRecords", table.records, [1, 1_000_000])?.min(table.records);
    let wanted: Option<Vec<&str>> = given
        .get("fields")
        .and_then(Value::as_array)
        .map(|fields| fields.iter().filter_map(Value::as_str).collect());
    let record = |number: u64| {
        let mut fields = (table.fields)(number);
        if let (Some(wanted), Some(fields)) = (&wanted, fields.as_object_mut()) {
            fields.retain(|name, _| wanted.contains(&name.as_str()));
        }
        let id = noise::at(SEED, number, table.records) >> 8;
        json!({"id": format!("rec{id:014x}"), "fields": fields})
    };
    Ok(json!({"records": (0..most).map(record).collect::<Vec<_>>()}))
}

fn day(number: u64, place: u64) -> String {
    calendar::date_of(calendar::today() - noise::below(SEED, number, place, 365).cast_signed())
}

fn company(number: u64, place: u64) -> String {
    companies::company_name(1 + noise::below(SEED, number, place, companies::COMPANIES))
}

fn ticket(number: u64) -> Value {
    json!({
        "Ticket": format!("T-{:05}", number + 1),
        "Account": company(number, 1),
        "Subject": words::title(SEED, number),
        "Priority": noise::pick(["low", "normal", "high", "urgent"], SEED, number, 2),
        "Opened": day(number, 3),
        "Hours": 1 + noise::below(SEED, number, 4, 70),
    })
}

fn order(number: u64) -> Value {
    json!({
        "Order": format!("O-{:05}", number + 1),
        "Customer": company(number, 11),
        "Date": day(number, 12),
        "Status": noise::pick(["paid", "shipped", "delivered", "refunded"], SEED, number, 13),
        "Currency": noise::pick(["EUR", "GBP", "SEK", "USD"], SEED, number, 14),
        "Cents": 500 + noise::below(SEED, number, 15, 90_000),
    })
}

fn order_line(number: u64) -> Value {
    json!({
        "Line": number + 1,
        "Order": format!("O-{:05}", 1 + noise::below(SEED, number, 21, 40_000)),
        "Product": format!("P-{:03}", 1 + noise::below(SEED, number, 22, 400)),
        "Quantity": 1 + noise::below(SEED, number, 23, 12),
        "Cents": 250 + noise::below(SEED, number, 24, 9_000),
    })
}
