//! The configuration: which servers there are, how much programs are trusted, what they may use.
//!
//! Read from files, the environment and flags, resolved once into one [`Config`]. Files are
//! hostile until proven otherwise: capped in size, depth and number, and a project's file is used
//! only after the user approved it. Walls: nothing here starts a server, resolves a reference or
//! puts a variable into an environment.

pub mod locations;

mod bus_url;
pub mod cluster_names;
mod cluster_places;
mod cluster_schema;
pub mod cluster_table;
mod engines_schema;
pub mod engines_table;
pub mod format;
pub mod guardrails_table;
pub mod learning_table;
pub mod llm_table;
pub mod read_file;
pub mod read_json;
mod read_toml;
mod read_yaml;
pub mod search_table;
pub mod syntax_error;
pub mod tree;

pub mod alerts_table;
pub mod approvals_table;
pub mod audit_table;
pub mod dashboard_table;
pub mod document;
pub mod edit_env;
pub mod env_file;
mod environment;
mod fields;
pub mod history_table;
pub mod network_table;
mod policy_schema;
pub mod policy_table;
pub mod privacy_layers;
mod privacy_schema;
pub mod privacy_table;
pub mod problem;
mod quantities;
mod reach_schema;
pub mod references;
pub mod results_table;
pub mod serve_table;
pub mod server_entry;
mod server_limits;
mod server_sandbox;
mod server_tools;
mod server_transport;
pub mod sessions_table;
pub mod strictness;
pub mod watch_table;

pub mod approvals;
pub mod load;
pub mod needs;
pub mod origin;
pub mod other_system;
mod project_values;
pub mod resolved;
pub mod schema;

pub mod by_hand;
pub mod edit;
pub mod edit_json;
pub mod edit_policy;
pub mod edit_privacy;
pub mod edit_settings;
pub mod edit_toml;
pub mod layout;
pub mod server_place;
pub mod written;

pub mod commands;

pub use approvals::Approvals;
pub use bus_url::BusUrl;
pub use cluster_places::PlaceRule;
pub use cluster_table::{ClientCertificate, ClusterSettings};
pub use gristmill_files::{Platform, Surroundings};
pub use guardrails_table::TypesMode;
pub use load::{Flags, load};
pub use locations::project_root;
pub use origin::Origin;
pub use problem::{Problem, Severity};
pub use resolved::{Approval, Config, ConfigError, ConfiguredServer, Loaded};

#[cfg(test)]
mod tests;
