//! What is traced, as names and values.

use std::fmt;

use serde_json::Value;
use tracing::field::{Field, Visit};

/// The name of what an event says in words.
pub(crate) const MESSAGE: &str = "message";

/// In the order in which they came; a name that comes again has its new value in the old place.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fields(pub Vec<(&'static str, Value)>);

impl Fields {
    pub fn set(&mut self, name: &'static str, value: Value) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, place)) => *place = value,
            None => self.0.push((name, value)),
        }
    }

    /// Unless there is one by that name.
    pub fn add(&mut self, name: &'static str, value: &Value) {
        if !self.0.iter().any(|(known, _)| *known == name) {
            self.0.push((name, value.clone()));
        }
    }

    pub fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.0.iter().position(|(known, _)| *known == name)?;
        Some(self.0.remove(at).1)
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field.name(), value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field.name(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field.name(), value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field.name(), value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field.name(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field.name(), format!("{value:?}").into());
    }
}
