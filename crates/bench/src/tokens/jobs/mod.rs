//! The jobs, one file for each group.

pub mod control;
pub mod large_catalogue;
pub mod large_data;
pub mod many_calls;
pub mod small;

/// The six example servers, about thirty tools.
const EXAMPLES: &[&str] = &["calculator", "crm", "database", "documents", "filesystem", "weather"];

/// The example servers and thirteen of the world: more than five hundred tools.
const EVERYTHING: &[&str] = &[
    "airtable",
    "analytics",
    "atlassian",
    "aws",
    "calculator",
    "crm",
    "database",
    "documents",
    "filesystem",
    "git",
    "github",
    "grafana",
    "hubspot",
    "kubernetes",
    "maps",
    "mongodb",
    "playwright",
    "sentry",
    "weather",
];
