//! What was found in the items of an array, remembered: a shape is made several times until it fits.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::document::Document;
use super::fields::Records;
use super::parts::{NotJson, Parts};
use super::table::Table;

/// The arrays of one document, by where they end.
#[derive(Default)]
pub(super) struct Measured {
    tables: RefCell<HashMap<usize, Rc<Table>>>,
    records: RefCell<HashMap<usize, Option<Rc<Records>>>>,
}

impl Measured {
    /// Which fields the items of an array have, in one line; none if most of them are no objects.
    pub fn fields_line(
        &self,
        document: &Document,
        parts: &Parts,
        room: usize,
    ) -> Result<Option<String>, NotJson> {
        Ok(self.records(document, parts)?.and_then(|records| records.line(parts.count, room)))
    }

    /// An array in about `room` bytes, and what is missing in it; none if it does not hold records.
    pub fn table_of_records(
        &self,
        document: &Document,
        parts: &Parts,
        room: usize,
    ) -> Result<Option<(Value, Option<String>)>, NotJson> {
        if parts.count < 2 || self.records(document, parts)?.is_none() {
            return Ok(None);
        }
        Ok(Some(self.table(document, parts)?.value(room)))
    }

    /// The columns of an array of records.
    fn table(&self, document: &Document, parts: &Parts) -> Result<Rc<Table>, NotJson> {
        if let Some(known) = self.tables.borrow().get(&parts.end) {
            return Ok(Rc::clone(known));
        }
        let table = Rc::new(Table::of(document, parts)?);
        self.tables.borrow_mut().insert(parts.end, Rc::clone(&table));
        Ok(table)
    }

    /// What some items of an array have in common; none if most of them are no objects.
    fn records(&self, document: &Document, parts: &Parts) -> Result<Option<Rc<Records>>, NotJson> {
        if let Some(known) = self.records.borrow().get(&parts.end) {
            return Ok(known.clone());
        }
        let records = Records::of(document, parts)?.map(Rc::new);
        self.records.borrow_mut().insert(parts.end, records.clone());
        Ok(records)
    }
}
