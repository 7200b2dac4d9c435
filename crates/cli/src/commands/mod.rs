//! The commands, one file each.

pub mod analyze;
pub mod bench;
pub mod client_arguments;
pub mod config;
pub mod connect;
pub mod db;
pub mod demo;
pub mod disconnect;
pub mod doctor;
pub mod doctor_clients;
pub mod doctor_database;
pub mod doctor_servers;
pub mod example_server;
pub mod history;
pub mod import;
pub mod import_answer;
pub mod list;
mod list_screen;
pub mod login;
mod print_file;
pub mod rerun;
pub mod results;
mod row_format;
pub mod run;
mod run_error;
pub mod serve;
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
pub mod tools;
pub mod workspace;

use gristmill_config::commands::{
    add, add_json, approve as config_approve, check as config_check, get, path as config_path, remove,
    show as config_show,
};

use crate::failure::{Failure, Outcome};
