//! What `gristmill add`, `remove`, `get` and `config` do, without a terminal: each is a function from
//! a request to a report.

pub mod add;
pub mod add_json;
pub mod approve;
pub mod check;
pub mod get;
pub mod left_secrets;
pub mod path;
pub mod remove;
pub mod show;
