//! Records with their activities, kept in bounds.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::fields::Kind;
use crate::{arguments, calendar, unknown_name};

/// Records of one type.
const RECORDS_MAX: usize = 20_000;
/// Activities of one record.
const ACTIVITIES_MAX: usize = 1_000;
const NOTE_BYTES_MAX: usize = 100_000;
const TOTAL_BYTES_MAX: usize = 64 << 20;

/// All records. Time moves one minute with each change, so that it is the same on each run.
#[derive(Default)]
pub struct Records {
    kept: BTreeMap<Kind, BTreeMap<String, Map<String, Value>>>,
    activities: BTreeMap<String, Vec<Value>>,
    activity_count: u64,
    changes: i64,
    bytes: usize,
}

impl Records {
    /// Puts a record there without checks: for the start only.
    pub fn seed(&mut self, kind: Kind, n: u64, fields: Value) {
        if let Value::Object(fields) = fields {
            self.kept.entry(kind).or_default().insert(id_of(kind, n), fields);
        }
    }

    /// All of one type, in order of ids.
    pub fn all(&self, kind: Kind) -> impl Iterator<Item = (&String, &Map<String, Value>)> {
        self.kept.get(&kind).into_iter().flatten()
    }

    pub fn find(&self, kind: Kind, id: &str) -> Result<&Map<String, Value>, String> {
        self.kept.get(&kind).and_then(|all| all.get(id)).ok_or_else(|| {
            let last = self.all(kind).last().map_or("", |(id, _)| id.as_str());
            format!("no {} `{}`; ids go from {} to {last}", kind.word(), arguments::shown(id), id_of(kind, 1))
        })
    }

    /// Adds a record and gives its id.
    pub fn create(&mut self, kind: Kind, given: &Map<String, Value>) -> Result<String, String> {
        given.iter().try_for_each(|(name, value)| kind.check(name, value))?;
        if given.get("name").and_then(Value::as_str).is_none_or(|name| name.trim().is_empty()) {
            return Err(format!("a new {} needs a `name`", kind.word()));
        }
        let count = self.kept.get(&kind).map_or(0, BTreeMap::len);
        if count >= RECORDS_MAX {
            return Err(format!(
                "there are {RECORDS_MAX} records of type {} already, which is the limit",
                kind.word()
            ));
        }
        self.take_room(0, text_bytes(given.values()))?;
        let mut fields = Map::new();
        for (name, holds, _) in kind.fields() {
            let value = given.get(*name).cloned().unwrap_or_else(|| kind.unsaid(*holds));
            fields.insert((*name).to_owned(), value);
        }
        let id = id_of(kind, count as u64 + 1);
        self.kept.entry(kind).or_default().insert(id.clone(), fields);
        self.note_activity(&id, "created", &format!("{} created", kind.word()));
        Ok(id)
    }

    /// Sets fields, and gives the names of those that are different now.
    pub fn update(
        &mut self,
        kind: Kind,
        id: &str,
        given: &Map<String, Value>,
    ) -> Result<Vec<String>, String> {
        given.iter().try_for_each(|(name, value)| kind.check(name, value))?;
        let before = self.find(kind, id)?;
        let freed = text_bytes(given.keys().filter_map(|name| before.get(name)));
        self.take_room(freed, text_bytes(given.values()))?;
        let mut changed = Vec::new();
        if let Some(fields) = self.kept.get_mut(&kind).and_then(|all| all.get_mut(id)) {
            for (name, value) in given {
                if fields.insert(name.clone(), value.clone()).as_ref() != Some(value) {
                    changed.push(name.clone());
                }
            }
        }
        if !changed.is_empty() {
            self.note_activity(id, "updated", &format!("changed: {}", changed.join(", ")));
        }
        Ok(changed)
    }

    /// Adds a note to any record.
    pub fn add_note(&mut self, id: &str, text: &str) -> Result<Value, String> {
        self.check_exists(id)?;
        if text.trim().is_empty() || text.len() > NOTE_BYTES_MAX {
            return Err(format!("a note must have 1 to {NOTE_BYTES_MAX} bytes, not {}", text.len()));
        }
        if self.activities.get(id).map_or(0, Vec::len) >= ACTIVITIES_MAX {
            return Err(format!("{id} has {ACTIVITIES_MAX} activities already, which is the limit"));
        }
        self.take_room(0, text.len())?;
        Ok(self.note_activity(id, "note", text))
    }

    /// Everything that happened to a record, the first first.
    pub fn activities(&self, id: &str) -> Result<Vec<Value>, String> {
        self.check_exists(id)?;
        Ok(self.activities.get(id).cloned().unwrap_or_default())
    }

    /// Notes down what happened.
    pub fn note_activity(&mut self, id: &str, kind: &str, text: &str) -> Value {
        self.changes += 1;
        let at = calendar::time_of(calendar::this_morning() + self.changes * 60);
        self.seed_activity(id, kind, &at, text)
    }

    /// Notes down what happened at a given time.
    pub fn seed_activity(&mut self, id: &str, kind: &str, at: &str, text: &str) -> Value {
        self.activity_count += 1;
        let activity = json!({
            "id": format!("ACT-{:06}", self.activity_count), "record_id": id, "kind": kind, "at": at, "text": text,
        });
        let all = self.activities.entry(id.to_owned()).or_default();
        // What was said is refused when full; what happened only pushes out the oldest.
        if all.len() >= ACTIVITIES_MAX {
            all.remove(0);
        }
        all.push(activity.clone());
        activity
    }

    fn take_room(&mut self, freed: usize, taken: usize) -> Result<(), String> {
        let bytes = self.bytes.saturating_sub(freed).saturating_add(taken);
        if bytes > TOTAL_BYTES_MAX {
            return Err(format!(
                "all changes together are limited to {TOTAL_BYTES_MAX} bytes; restart the server"
            ));
        }
        self.bytes = bytes;
        Ok(())
    }

    fn check_exists(&self, id: &str) -> Result<(), String> {
        let prefix = id.split('-').next().unwrap_or_default();
        match Kind::ALL.into_iter().find(|kind| kind.prefix() == prefix) {
            Some(kind) => self.find(kind, id).map(|_| ()),
            None => Err(unknown_name::unknown(
                "record with an id such as",
                id,
                ["ACC-0001", "CON-0001", "LEAD-0001", "MTG-0001"],
            )),
        }
    }
}

/// A record as it is answered: id and type, then its fields.
pub fn shown_record(kind: Kind, id: &str, fields: &Map<String, Value>) -> Value {
    let mut shown = Map::new();
    shown.insert("id".to_owned(), Value::from(id));
    shown.insert("type".to_owned(), Value::from(kind.word()));
    shown.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    Value::Object(shown)
}

fn text_bytes<'a>(values: impl Iterator<Item = &'a Value>) -> usize {
    values.filter_map(Value::as_str).map(str::len).sum()
}

fn id_of(kind: Kind, n: u64) -> String {
    format!("{}-{n:04}", kind.prefix())
}
