//! What `gristmill add`, `remove`, `get`, `config` and `cluster join` do, without a terminal: each is a function from
//! a request to a report.

pub mod add;
pub mod add_json;
pub mod approve;
pub mod check;
pub mod get;
pub mod join_cluster;
pub mod left_secrets;
pub mod path;
pub mod remove;
pub mod show;
