//! Plots as SVG, drawn here. Shapes stretch with the page, words around them don't: they are HTML.

mod bars;
mod columns;
mod curve;
mod waterfall;

pub use bars::Bar;
pub use columns::ColumnPair;
pub use curve::CurvePoint;
pub use waterfall::{Span, SpanKind};

pub(crate) use bars::bars;
pub(crate) use columns::columns;
pub(crate) use curve::{curve, spark};
pub(crate) use waterfall::waterfall;
