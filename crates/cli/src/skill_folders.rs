//! Where this user's skills are, and those of the project.

use std::path::Path;

use anyhow::anyhow;
use gristmill_gateway::Folders;
use gristmill_gateway::skills::{PROJECT_FOLDER, Skills, SkillsSettings, USER_FOLDER};
use gristmill_gateway::store::Store;

use crate::commands::Failure;
use crate::config::{Surroundings, project_root};

/// The skills of a data folder and of the project that we are in.
pub fn open(data: &Path, surroundings: &Surroundings) -> Result<Skills, Failure> {
    let store = Store::open(data).map_err(|error| Failure::Usage(anyhow!(error)))?;
    with_store(store, surroundings)
}

/// The same, with what remembers them.
pub fn with_store(store: Store, surroundings: &Surroundings) -> Result<Skills, Failure> {
    let cache = Folders::from_environment().map_err(|error| Failure::Usage(anyhow!(error)))?.cache;
    let user = store.folder().map(|folder| folder.join(USER_FOLDER));
    let project = project_root(surroundings, Path::new(PROJECT_FOLDER)).join(PROJECT_FOLDER);
    Ok(Skills::new(SkillsSettings { store, user, project: Some(project), cache }))
}
