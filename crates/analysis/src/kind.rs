//! What a column can hold.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
    Date,
    Datetime,
    /// Nothing but missing values.
    Null,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Kind::Boolean => "boolean",
            Kind::Integer => "integer",
            Kind::Number => "number",
            Kind::Text => "text",
            Kind::Date => "date",
            Kind::Datetime => "datetime",
            Kind::Null => "empty",
        }
    }

    pub(crate) fn is_numeric(self) -> bool {
        matches!(self, Kind::Integer | Kind::Number | Kind::Null)
    }
}
