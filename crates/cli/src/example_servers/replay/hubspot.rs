//! Answers as HubSpot's server gives them: contacts and deals, page by page.

use serde_json::{Map, Value, json};

use super::{Answered, number_of};
use crate::example_servers::{arguments, calendar, companies, noise};

const CONTACTS: u64 = 2_000;
const DEALS: u64 = 180;
const SEED: u64 = 311;
const STAGES: [&str; 5] =
    ["appointmentscheduled", "qualifiedtobuy", "presentationscheduled", "closedwon", "closedlost"];

/// Answers a call.
pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    let answer = match tool {
        "hubspot-list-objects" => list(given)?,
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
    let results: Vec<Value> = (start..end).map(object).collect();
    let mut page = json!({"results": results});
    if end < count {
        let link = format!("https://api.hubapi.com/crm/v3/objects/{kind}?after={end}");
        page["paging"] = json!({"next": {"after": end.to_string(), "link": link}});
    }
    Ok(page)
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
