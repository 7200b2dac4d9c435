//! What `gristmill doctor` finds out about the database.

use std::path::{Path, PathBuf};

use gristmill_gateway::domain::{counted_grouped, format_bytes};
use gristmill_gateway::store::{FILE_NAME, Store};
use serde::Serialize;

use crate::arguments::ConfigFile;
use crate::data_store::DataPlace;
use crate::terminal::print_lines;

use super::doctor_servers::words;

/// How the database is.
#[derive(Default, Serialize)]
pub struct Database {
    file: Option<PathBuf>,
    /// `ok`, `none` before anything ran, or `wrong`.
    state: &'static str,
    version: Option<i64>,
    bytes: Option<u64>,
    /// Results that are kept, whose files lie beside it.
    results: Option<u64>,
    results_bytes: Option<u64>,
    /// What is wrong, and what to do.
    problems: Vec<String>,
}

impl Database {
    /// Opens it, reads all of it and tries whether it can be written.
    pub async fn look(config: &ConfigFile) -> Self {
        let place = DataPlace::of(None, config);
        let folder = match place
            .as_ref()
            .map_err(words)
            .and_then(|place| place.folder().map_err(|failure| words(&failure)))
        {
            Ok(folder) => folder,
            Err(problem) => return Self::wrong(None, problem),
        };
        let file = folder.join(FILE_NAME);
        if !file.exists() {
            return match cannot_be_made(folder) {
                None => Self { file: Some(file), state: "none", ..Self::default() },
                Some(why) => Self::wrong(Some(file), why),
            };
        }
        let store = match Store::open(folder) {
            Ok(store) => store,
            Err(error) => return Self::wrong(Some(file), error.to_string()),
        };
        let health = match store.health().await {
            Ok(health) => health,
            Err(error) => return Self::wrong(Some(file), error.to_string()),
        };
        let mut problems = health.faults;
        if !problems.is_empty() {
            problems.push("stop every gristmill, keep the damaged file, and restore a backup".to_owned());
        }
        problems.extend(store.check_writable().await.err().map(|error| error.to_string()));
        let held = store.results_held().await.ok();
        Self {
            file: Some(file),
            state: if problems.is_empty() { "ok" } else { "wrong" },
            version: Some(health.version),
            bytes: Some(health.bytes),
            results: held.map(|held| held.count),
            results_bytes: held.map(|held| held.bytes),
            problems,
        }
    }

    fn wrong(file: Option<PathBuf>, problem: String) -> Self {
        Self { file, state: "wrong", problems: vec![problem], ..Self::default() }
    }

    /// In a few words, what to look at.
    pub fn trouble(&self) -> Option<&'static str> {
        (!self.problems.is_empty()).then_some("the database can't be used")
    }

    /// As a person reads it.
    pub fn print(&self) {
        println!("\ndatabase:");
        let file = self.file.as_ref().map_or("-".to_owned(), |file| file.display().to_string());
        let detail = match (self.version, self.bytes) {
            (Some(version), Some(bytes)) => format!(" (version {version}, {})", format_bytes(bytes)),
            (Some(_) | None, _) if self.problems.is_empty() => {
                " (created when the first program runs)".to_owned()
            }
            (Some(_) | None, _) => String::new(),
        };
        println!("  {:<7} {file}{detail}", self.state);
        if let (Some(count), Some(bytes)) = (self.results, self.results_bytes) {
            let count = counted_grouped(usize::try_from(count).unwrap_or(usize::MAX), "stored result");
            println!("          {count} ({})", format_bytes(bytes));
        }
        self.problems.iter().for_each(|problem| print_lines(&format!("          {problem}")));
    }
}

/// Why no database can be made in a folder that may not be there yet.
fn cannot_be_made(folder: &Path) -> Option<String> {
    let nearest = folder.ancestors().find(|folder| folder.exists())?;
    let refused = match nearest.is_dir() {
        true => rustix::fs::access(nearest, rustix::fs::Access::WRITE_OK).err()?.to_string(),
        false => "not a folder".to_owned(),
    };
    let nearest = nearest.display();
    Some(format!("can't write to {nearest} ({refused}); set GRISTMILL_DATA_DIR to a folder you can write to"))
}
