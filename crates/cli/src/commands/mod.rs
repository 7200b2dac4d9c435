//! The commands, one file each.

pub mod analyze;
mod approval_webhook;
pub mod approvals;
mod approvals_plans;
pub mod audit;
pub mod backup;
pub mod bench;
pub mod cache;
pub mod check;
pub mod client_arguments;
pub mod completions;
pub mod config;
mod config_edit;
mod config_schema;
pub mod connect;
mod connect_token;
pub mod dashboard;
pub mod db;
pub mod demo;
pub mod disconnect;
pub mod doctor;
mod doctor_attack;
pub mod doctor_audit;
pub mod doctor_clients;
pub mod doctor_database;
pub mod doctor_servers;
pub mod example_server;
pub mod explain;
pub mod history;
pub mod import;
pub mod import_answer;
pub mod levels;
pub mod list;
mod list_screen;
pub mod listen;
pub mod login;
pub mod logs;
pub mod man;
pub mod policy;
mod policy_rule;
mod print_file;
pub mod privacy;
pub mod rerun;
pub mod restore;
pub mod results;
mod row_format;
pub mod run;
mod run_error;
mod run_input;
mod run_questions;
mod run_screen;
mod run_watch;
pub mod serve;
mod serve_dashboard;
mod server_trouble;
pub mod servers;
pub mod session_archive;
pub mod sessions;
pub mod setup;
pub mod shape;
pub mod show;
pub mod skills;
pub mod stats;
pub mod table_text;
pub mod token;
mod tool_answer;
pub mod tools;
mod tools_review;
pub mod workspace;

use gristmill_config::commands::{
    add, add_json, approve as config_approve, check as config_check, get, path as config_path, remove,
    show as config_show,
};

use crate::failure::{Failure, Outcome};
