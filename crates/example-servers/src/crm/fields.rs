//! The types of records, their fields, and what each field may hold.

use serde_json::Value;

use crate::{arguments, calendar, unknown_name};

/// The longest text of a field: a long transcript, twice.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// What a lead can be.
pub const LEAD_STATUSES: [&str; 5] = ["new", "contacted", "qualified", "won", "lost"];

/// The types of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Account,
    /// A person at a company.
    Contact,
    /// Someone who may become a customer.
    Lead,
    /// A meeting, with its notes.
    Meeting,
}

/// What a field may hold.
#[derive(Debug, Clone, Copy)]
pub enum Holds {
    Text,
    /// A number from 0.
    Number,
    Date,
    Choice(&'static [&'static str]),
}

/// Name, what it holds, what it means.
pub type Field = (&'static str, Holds, &'static str);

impl Kind {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Account, Self::Contact, Self::Lead, Self::Meeting];

    /// Its name in a call.
    pub fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Contact => "contact",
            Self::Lead => "lead",
            Self::Meeting => "meeting",
        }
    }

    /// How its ids begin.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Account => "ACC",
            Self::Contact => "CON",
            Self::Lead => "LEAD",
            Self::Meeting => "MTG",
        }
    }

    /// What it has besides id and type, in order.
    pub fn fields(self) -> &'static [Field] {
        match self {
            Self::Account => &[
                ("name", Holds::Text, "The company's name"),
                ("industry", Holds::Text, "What it does"),
                ("city", Holds::Text, "Where it is"),
                ("tier", Holds::Choice(&["bronze", "silver", "gold"]), "How important it is"),
                ("employees", Holds::Number, "How many people work there"),
                ("owner", Holds::Text, "Who of us looks after it"),
            ],
            Self::Contact => &[
                ("name", Holds::Text, "The person's name"),
                ("email", Holds::Text, "Address"),
                ("phone", Holds::Text, "Number"),
                ("job_title", Holds::Text, "What the person does"),
                ("account_id", Holds::Text, "The company, such as ACC-0007"),
            ],
            Self::Lead => &[
                ("name", Holds::Text, "The person's name"),
                ("company", Holds::Text, "The company's name"),
                ("email", Holds::Text, "Address"),
                ("phone", Holds::Text, "Number"),
                ("status", Holds::Choice(&LEAD_STATUSES), "How far it is"),
                ("source", Holds::Text, "How we met"),
                ("value_cents", Holds::Number, "What it may bring, in cents"),
                ("owner", Holds::Text, "Who of us looks after it"),
                ("created_on", Holds::Date, "Since when we know it"),
            ],
            Self::Meeting => &[
                ("name", Holds::Text, "What it is about"),
                ("held_on", Holds::Date, "The day"),
                ("status", Holds::Choice(&["planned", "held", "cancelled"]), "Whether it took place"),
                ("attendees", Holds::Text, "Who was there, with commas"),
                ("account_id", Holds::Text, "The company, if it is about one"),
                ("document_id", Holds::Text, "Its document, if there is one"),
                ("notes", Holds::Text, "What was said"),
            ],
        }
    }

    /// Refuses a field that there is not, and a value that it cannot hold.
    pub fn check(self, name: &str, value: &Value) -> Result<(), String> {
        let Some((_, holds, _)) = self.fields().iter().find(|field| field.0 == name) else {
            let kind = format!("field of type {}", self.word());
            return Err(unknown_name::unknown(&kind, name, self.fields().iter().map(|field| field.0)));
        };
        match (holds, value) {
            (Holds::Text, Value::String(text)) if text.len() > TEXT_BYTES_MAX => {
                Err(format!("`{name}` has {} bytes; at most {TEXT_BYTES_MAX} are kept", text.len()))
            }
            (Holds::Text, Value::String(_)) => Ok(()),
            (Holds::Text, other) => Err(format!("`{name}` must be a text, not {}", arguments::kind(other))),
            (Holds::Number, value) if arguments::finite(value).is_some_and(|number| number >= 0.0) => Ok(()),
            (Holds::Number, _) => Err(format!("`{name}` must be a number from 0")),
            (Holds::Date, value) if value.as_str().and_then(calendar::day_number).is_some() => Ok(()),
            (Holds::Date, _) => Err(format!("`{name}` must be a date such as 2026-06-15")),
            (Holds::Choice(choices), value) if value.as_str().is_some_and(|text| choices.contains(&text)) => {
                Ok(())
            }
            (Holds::Choice(choices), _) => Err(format!("`{name}` must be one of: {}", choices.join(", "))),
        }
    }

    /// What a field is before anyone says.
    pub fn unsaid(self, holds: Holds) -> Value {
        match holds {
            Holds::Text => Value::from(""),
            Holds::Number => Value::from(0),
            Holds::Date => Value::from(calendar::TODAY),
            Holds::Choice(choices) => choices.first().copied().map_or(Value::Null, Value::from),
        }
    }
}
