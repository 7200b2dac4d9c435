//! What a query or a form says.

use axum::body::Body;

use crate::connection::request_body::{self, BodyError};

/// Names and values, in their order. Fields that nobody asks about don't matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) pairs: Vec<(String, String)>,
}

impl Form {
    pub(super) fn of(text: &str) -> Self {
        Self::of_bytes(text.as_bytes())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let pairs = url::form_urlencoded::parse(bytes);
        Self { pairs: pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect() }
    }

    /// The body of a POST, within the bounds of every body.
    pub(super) async fn read(body: Body) -> Result<Self, BodyError> {
        Ok(Self::of_bytes(&request_body::read(body).await?))
    }

    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The same, if something is in it.
    pub(super) fn filled(&self, name: &str) -> Option<&str> {
        self.value(name).map(str::trim).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_browsers_write_them() {
        let form = Form::of("code=print%28%22a+b%22%29%0A&empty=&code=second");
        assert_eq!(form.value("code"), Some("print(\"a b\")\n"));
        assert_eq!((form.filled("empty"), form.value("empty"), form.value("none")), (None, Some(""), None));
    }
}
