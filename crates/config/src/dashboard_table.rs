//! The table `dashboard`: at which price its pages put saved tokens into money.

use super::fields::Fields;
use super::origin::Origin;
use super::problem::{ProblemKind, Problems};
use super::tree::{Node, Value};

pub const TABLE: &str = "dashboard";
pub(super) const KEYS: [&str; 1] = ["price_per_million_tokens"];

/// Of a million tokens, in whichever currency. More is a mistake.
pub(super) const PRICE_MAX: f64 = 100_000.0;

/// What models in wide use take for a million input tokens.
const PRICE_DEFAULT: f64 = 3.0;

/// What one file says, with its line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DashboardTable {
    price: Option<(f64, usize)>,
}

/// What all of them come to, and who said so.
#[derive(Clone, Debug, PartialEq)]
pub struct DashboardConfig {
    /// 0: no money is shown.
    pub price_per_million: f64,
    pub price_origin: Origin,
}

impl Default for DashboardConfig {
    fn default() -> Self {
        Self { price_per_million: PRICE_DEFAULT, price_origin: Origin::Default }
    }
}

impl DashboardConfig {
    /// Lays what a file says over it.
    pub fn lay_over(&mut self, table: &DashboardTable, origin: impl Fn(usize) -> Origin) {
        if let Some((price, line)) = table.price {
            (self.price_per_million, self.price_origin) = (price, origin(line));
        }
    }

    /// Key, value and who said so, as a file would have them.
    pub fn shown(&self) -> [(&'static str, String, &Origin); 1] {
        [(KEYS[0], format!("{:?}", self.price_per_million), &self.price_origin)]
    }
}

pub fn read(node: &Node, problems: &mut Problems) -> DashboardTable {
    let Some(mut fields) = Fields::of(node, TABLE, problems) else { return DashboardTable::default() };
    let price = fields.take(KEYS[0]).and_then(|node| {
        let number = match &node.value {
            Value::Number(text) => text.parse::<f64>().ok(),
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        };
        let number = number.filter(|number| (0.0..=PRICE_MAX).contains(number));
        if number.is_none() {
            let kind = ProblemKind::OutOfRange { min: 0, max: PRICE_MAX as u64 };
            problems.error(&fields.path(KEYS[0]), node.line, kind);
        }
        Some((number?, node.line))
    });
    fields.finish(&KEYS, problems);
    DashboardTable { price }
}
