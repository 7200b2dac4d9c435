//! Where this user's skills are, and those of the project.

use std::path::Path;

use anyhow::anyhow;
use gristmill_config::{Surroundings, project_root};
use gristmill_gateway::skills::{PROJECT_FOLDER, Skills, SkillsSettings, USER_FOLDER};
use gristmill_gateway::store::Store;
use gristmill_gateway::{Folders, SkillFolders};

use crate::failure::Failure;

/// The skills of a data folder and of the project that we are in.
pub fn open(data: &Path, surroundings: &Surroundings) -> Result<Skills, Failure> {
    let store = Store::open(data).map_err(|error| Failure::Usage(anyhow!(error)))?;
    with_store(store, surroundings)
}

/// The same, with what remembers them.
pub fn with_store(store: Store, surroundings: &Surroundings) -> Result<Skills, Failure> {
    let cache = Folders::from_environment().map_err(|error| Failure::Usage(anyhow!(error)))?.cache;
    let SkillFolders { user, project, .. } = folders(&store, surroundings);
    Ok(Skills::new(SkillsSettings { store, user, project, cache, marks: None }))
}

/// Where they lie, for a gateway.
pub fn folders(store: &Store, surroundings: &Surroundings) -> SkillFolders {
    let project = project_root(surroundings, Path::new(PROJECT_FOLDER)).join(PROJECT_FOLDER);
    let user = store.folder().map(|folder| folder.join(USER_FOLDER));
    SkillFolders { user, project: Some(project), trees: None }
}
