//! `crm`: accounts, contacts, leads and meetings, in memory. Changes last as long as the server;
//! each start begins with the same records.

mod definitions;
mod fields;
mod records;
mod seed;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use super::definition::check_call;
use super::{Answer, ExampleServer, arguments, unknown_name};
use fields::Kind;
use records::{Records, shown_record};

/// Records on one page.
const PAGE_SIZE_MAX: u64 = 300;

pub struct Crm {
    tools: Vec<Value>,
    records: Mutex<Records>,
}

impl Crm {
    /// The records as they are at the start.
    pub fn new() -> Self {
        Self { tools: definitions::definitions(), records: Mutex::new(seed::records()) }
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ExampleServer for Crm {
    fn name(&self) -> &'static str {
        "crm"
    }

    fn title(&self) -> &'static str {
        "Customer records"
    }

    fn instructions(&self) -> &'static str {
        "Accounts (ACC-), contacts (CON-), leads (LEAD-) and meetings (MTG-) with notes and activities. All people \
         are made up. Changes are lost when the server ends."
    }

    fn tools(&self) -> Vec<Value> {
        self.tools.clone()
    }

    fn call(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Answer, String> {
        check_call(&self.tools, tool, arguments)?;
        match tool {
            "list_leads" => self.list_leads(arguments),
            "search_records" => {
                let kind = kind(arguments)?;
                let query = arguments::optional_text(arguments, "query")?.unwrap_or_default().to_lowercase();
                let words: Vec<&str> = query.split_whitespace().take(20).collect();
                self.page(arguments, kind, &|fields| {
                    let text = searched(fields);
                    words.iter().all(|word| text.contains(word))
                })
            }
            "get_record" => {
                let (kind, id) = (kind(arguments)?, arguments::text(arguments, "id")?);
                let records = self.records();
                records.find(kind, id).map(|fields| shown_record(kind, id, fields))
            }
            "create_record" => {
                let kind = kind(arguments)?;
                let mut records = self.records();
                let id = records.create(kind, given_fields(arguments)?)?;
                records.find(kind, &id).map(|fields| shown_record(kind, &id, fields))
            }
            "update_record" => {
                let (kind, id) = (kind(arguments)?, arguments::text(arguments, "id")?);
                let mut records = self.records();
                let changed = records.update(kind, id, given_fields(arguments)?)?;
                Ok(json!({ "id": id, "type": kind.word(), "updated_fields": changed }))
            }
            "add_note" => {
                let (id, text) =
                    (arguments::text(arguments, "record_id")?, arguments::text(arguments, "text")?);
                self.records().add_note(id, text)
            }
            _ => {
                let id = arguments::text(arguments, "record_id")?;
                let activities = self.records().activities(id)?;
                Ok(json!({ "record_id": id, "total": activities.len(), "activities": activities }))
            }
        }
        .map(Answer::Structured)
    }
}

impl Crm {
    fn list_leads(&self, arguments: &Map<String, Value>) -> Result<Value, String> {
        let status = arguments::optional_text(arguments, "status")?;
        let owner = arguments::optional_text(arguments, "owner")?;
        if let Some(status) = status.filter(|status| !fields::LEAD_STATUSES.contains(status)) {
            return Err(unknown_name::unknown("lead status", status, fields::LEAD_STATUSES));
        }
        self.page(arguments, Kind::Lead, &|fields| {
            status.is_none_or(|status| fields["status"] == status)
                && owner.is_none_or(|owner| {
                    fields["owner"].as_str().is_some_and(|it| it.eq_ignore_ascii_case(owner))
                })
        })
    }

    fn page(
        &self,
        arguments: &Map<String, Value>,
        kind: Kind,
        wanted: &dyn Fn(&Map<String, Value>) -> bool,
    ) -> Result<Value, String> {
        let page = arguments::whole(arguments, "page", 1, [1, 1_000_000])? as usize;
        let size = arguments::whole(arguments, "page_size", 50, [1, PAGE_SIZE_MAX])? as usize;
        let records = self.records();
        let found: Vec<(&String, &Map<String, Value>)> =
            records.all(kind).filter(|(_, fields)| wanted(fields)).collect();
        let first = (page - 1) * size;
        let shown: Vec<Value> = found
            .iter()
            .skip(first)
            .take(size)
            .map(|(id, fields)| short(shown_record(kind, id, fields)))
            .collect();
        let next_page = (first + size < found.len()).then_some(page + 1);
        Ok(json!({ "records": shown, "page": page, "next_page": next_page, "total": found.len() }))
    }
}

/// Lists leave long texts out: a page must not become a book.
fn short(mut record: Value) -> Value {
    for value in record.as_object_mut().into_iter().flatten().map(|(_, value)| value) {
        if let Some(text) = value.as_str().filter(|text| text.len() > 400) {
            *value = Value::from(text.chars().take(200).chain(['…']).collect::<String>());
        }
    }
    record
}

fn searched(fields: &Map<String, Value>) -> String {
    let texts: Vec<&str> = fields.values().filter_map(Value::as_str).collect();
    texts.join("\n").to_lowercase()
}

fn kind(arguments: &Map<String, Value>) -> Result<Kind, String> {
    let given = arguments::text(arguments, "type")?;
    let known = Kind::ALL.into_iter().find(|kind| kind.word() == given);
    known.ok_or_else(|| unknown_name::unknown("record type", given, Kind::ALL.map(Kind::word)))
}

fn given_fields(arguments: &Map<String, Value>) -> Result<&Map<String, Value>, String> {
    match arguments.get("fields") {
        Some(Value::Object(fields)) if !fields.is_empty() => Ok(fields),
        Some(_) | None => {
            Err("`fields` must be an object with at least one field, such as {\"name\": \"…\"}".to_owned())
        }
    }
}

#[cfg(test)]
mod tests;
