//! The dashboard: pages as pure functions from plain values to HTML, and the assets that they link to.
//!
//! Walls: no I/O, no clock, no gateway. Whoever serves the pages fills the values, checks the login and the
//! `csrf` field of every POST, and sends [`CONTENT_SECURITY_POLICY`] with each answer. [`routes`] has the
//! address of every page, form and stream; pages link to nothing else.
//!
//! What comes from outside (names, code, output, arguments) is a [`Text`]: escaped, and with control and
//! invisible characters made visible. Pages have no inline script or style, ask no third party for anything, and
//! can be read without JavaScript.

mod number;
mod text;
mod time;

pub mod assets;
pub mod routes;

mod frame;
pub mod parts;
pub mod plots;

pub mod pages;

pub use frame::{Frame, Notice, OtherGateway};
pub use maud::Markup;
pub use text::Text;
pub use time::Moment;

/// Sent with every page: only our own files and addresses, no inline script or style, no frames.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
     img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
