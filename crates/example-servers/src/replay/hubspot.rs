//! Answers as HubSpot's server gives them: contacts and deals, page by page.

use serde_json::{Map, Value, json};

use super::{Answered, number_of};
use crate::{arguments, calendar, companies, noise};

const CONTACTS: u64 = 2_000;
const DEALS: u64 = 180;
const SEED: u64 = 311;
const STAGES: [&str; 5] =
    ["appointmentscheduled", "qualifiedtobuy", "presentationscheduled", "closedwon", "closedlost"];

pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    let answer = match tool {
        "hubspot-list-objects" => list(given)?,
        "hubspot-search-objects" => search(given)?,
        "hubspot-batch-update-objects" => update(given)?,
        "hubspot-create-engagement" => engagement(given)?,
        _ => return Ok(None),
    };
    // This server writes its JSON over several lines.
    Ok(Some(format!("{answer:#}")))
}

fn list(given: &Map<String, Value>) -> Result<Value, String> {
    let kind = arguments::text(given, "objectType")?;
    let count = match kind {
        "contacts" => CONTACTS,
        "deals" => DEALS,
        other => return Err(format!("no {} are scripted", arguments::shown(other))),
    };
    let limit = arguments::whole(given, "limit", 100, [1, 500])?;
    let start = arguments::optional_text(given, "after")?
        .and_then(|after| after.parse().ok())
        .unwrap_or(0_u64)
        .min(count);
    let end = (start + limit).min(count);
    let object = |number| if kind == "contacts" { contact(number) } else { deal(number) };
    let results: Vec<Value> = (start..end).map(|number| only(object(number), given)).collect();
    let mut page = json!({"results": results});
    if end < count {
        let link = format!("https://api.hubapi.com/crm/v3/objects/{kind}?after={end}");
        page["paging"] = json!({"next": {"after": end.to_string(), "link": link}});
    }
    Ok(page)
}

/// The properties that were asked for. Without a word, those that HubSpot gives of itself; the last three
/// are always there.
fn only(mut object: Value, given: &Map<String, Value>) -> Value {
    const OF_ITSELF: [&str; 8] =
        ["email", "firstname", "lastname", "amount", "closedate", "dealname", "dealstage", "pipeline"];
    const ALWAYS: [&str; 3] = ["createdate", "hs_lastmodifieddate", "hs_object_id"];
    let asked: Option<Vec<&str>> = given
        .get("properties")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect());
    if let Some(properties) = object["properties"].as_object_mut() {
        properties.retain(|name, _| {
            let name = name.as_str();
            ALWAYS.contains(&name)
                || asked.as_ref().map_or(OF_ITSELF.contains(&name), |asked| asked.contains(&name))
        });
    }
    object
}

/// Deals for which every filter of the one group holds, sorted by one property, page by page.
fn search(given: &Map<String, Value>) -> Result<Value, String> {
    if arguments::text(given, "objectType")? != "deals" {
        return Err("only searches for deals are scripted".to_owned());
    }
    let limit = arguments::whole(given, "limit", 10, [1, 100])? as usize;
    let filters = given.get("filterGroups").map_or(&Value::Null, |groups| &groups[0]["filters"]);
    let mut found = Vec::new();
    for deal in (0..DEALS).map(deal) {
        let mut holds = true;
        for filter in filters.as_array().into_iter().flatten() {
            holds &= is_met(&deal["properties"], filter)?;
        }
        if holds {
            found.push(deal);
        }
    }
    if let Some(sort) = given.get("sorts").map(|sorts| &sorts[0]).filter(|sort| sort.is_object()) {
        let property = sort["propertyName"].as_str().unwrap_or_default();
        let value =
            |deal: &Value| deal["properties"][property].as_str().and_then(|text| text.parse::<i64>().ok());
        found.sort_by_key(value);
        if sort["direction"] == "DESCENDING" {
            found.sort_by_key(|deal| std::cmp::Reverse(value(deal)));
        }
    }
    let start =
        arguments::optional_text(given, "after")?.and_then(|after| after.parse().ok()).unwrap_or(0_usize);
    let results: Vec<Value> =
        found.iter().skip(start).take(limit).map(|deal| only(deal.clone(), given)).collect();
    let end = start + results.len();
    let mut page = json!({"total": found.len(), "results": results});
    if end < found.len() {
        page["paging"] = json!({"next": {"after": end.to_string()}});
    }
    Ok(page)
}

fn is_met(properties: &Value, filter: &Value) -> Result<bool, String> {
    let has = properties[filter["propertyName"].as_str().unwrap_or_default()].as_str().unwrap_or_default();
    let wanted = filter["value"].as_str().unwrap_or_default();
    let is_among = || filter["values"].as_array().into_iter().flatten().any(|value| value == has);
    match filter["operator"].as_str().unwrap_or_default() {
        "EQ" => Ok(has == wanted),
        "LT" => Ok(has < wanted),
        "IN" => Ok(is_among()),
        "NOT_IN" => Ok(!is_among()),
        other => Err(format!("no answer is scripted for the operator {}", arguments::shown(other))),
    }
}

fn object(id: u64, number: u64, mut properties: Value) -> Value {
    let created =
        calendar::time_of(calendar::this_morning() - noise::below(SEED, number, 1, 40_000_000).cast_signed());
    let updated =
        calendar::time_of(calendar::this_morning() - noise::below(SEED, number, 2, 9_000_000).cast_signed());
    properties["createdate"] = json!(created);
    properties["hs_lastmodifieddate"] = json!(updated);
    properties["hs_object_id"] = json!(id.to_string());
    json!({"id": id.to_string(), "properties": properties, "createdAt": created, "updatedAt": updated, "archived": false})
}

/// Every fortieth contact is there a second time, under the mail address of another one.
fn contact(number: u64) -> Value {
    let like = if number % 40 == 39 { number / 2 } else { number };
    let name = companies::person(SEED, like);
    let (first, last) = name.split_once(' ').unwrap_or((name.as_str(), ""));
    object(
        51_000_000 + number,
        number,
        json!({
            "email": companies::email(&name, like),
            "firstname": first,
            "lastname": last,
            "phone": companies::phone(SEED, like),
            "company": companies::company_name(1 + noise::below(SEED, like, 3, companies::COMPANIES)),
            "lifecyclestage": noise::pick(["subscriber", "lead", "opportunity", "customer"], SEED, number, 4),
        }),
    )
}

fn deal(number: u64) -> Value {
    let days = noise::below(SEED, number, 10, 240).cast_signed() - 120;
    object(
        83_000_000 + number,
        1_000_000 + number,
        json!({
            "amount": (500 + 50 * noise::below(SEED, number, 11, 900)).to_string(),
            "closedate": calendar::date_of(calendar::today() + days),
            "dealname": format!("{}: yearly order", companies::company_name(1 + noise::below(SEED, number, 12, companies::COMPANIES))),
            "dealstage": noise::pick(STAGES, SEED, number, 13),
            "pipeline": "default",
        }),
    )
}

fn update(given: &Map<String, Value>) -> Result<Value, String> {
    let inputs = given.get("inputs").and_then(Value::as_array).ok_or("`inputs` must be a list")?;
    let now = calendar::time_of(calendar::this_morning());
    let results: Vec<Value> = inputs
        .iter()
        .map(|input| {
            json!({
                "id": input["id"], "properties": input["properties"], "createdAt": now, "updatedAt": now, "archived": false,
            })
        })
        .collect();
    Ok(json!({"status": "COMPLETE", "results": results, "startedAt": now, "completedAt": now}))
}

fn engagement(given: &Map<String, Value>) -> Result<Value, String> {
    let kind = arguments::text(given, "type")?;
    let owner = arguments::whole(given, "ownerId", 1, [1, 9_000_000_000])?;
    let at = calendar::this_morning() * 1_000;
    let id = 40_000_000_000
        + number_of(&given.get("metadata").map(Value::to_string).unwrap_or_default()) % 1_000_000;
    Ok(json!({
        "engagement": {"id": id, "portalId": 144_000_000, "active": true, "createdAt": at, "lastUpdated": at, "ownerId": owner, "type": kind, "timestamp": at},
        "associations": given.get("associations"),
        "metadata": given.get("metadata"),
    }))
}
