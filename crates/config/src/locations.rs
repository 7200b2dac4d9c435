//! Which files are looked at, in which order, and which of them are there.

use std::path::{Path, PathBuf};

use gristmill_files::Surroundings;

/// The names of our own file, best first.
pub const NAMES: [&str; 4] = ["gristmill.toml", "gristmill.yaml", "gristmill.yml", "gristmill.json"];
/// The file that other clients share in a project.
pub const SHARED_NAME: &str = ".mcp.json";
/// More folders than any path has that a person works in.
const PARENTS_MAX: usize = 64;

/// What a file is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The user's own: it is trusted.
    User,
    /// A project's: it is used after the user approved it.
    Project,
    /// Named by a flag or a variable: it is trusted, and the only one.
    Named,
}

impl Role {
    pub fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Project => "project",
            Role::Named => "named",
        }
    }
}

/// A file that is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// What it is to us.
    pub role: Role,
    pub path: PathBuf,
}

/// All that was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Locations {
    /// Files to read, weakest first.
    pub found: Vec<Location>,
    /// Files that are there but not read, each with the one that is.
    pub left_out: Vec<(PathBuf, PathBuf)>,
    /// Every place that was tried, in order, with its role.
    pub tried: Vec<Location>,
}

/// Looks. A named file is taken as it is, even if it is not there: then reading it fails.
pub fn find(surroundings: &Surroundings, named: Option<&Path>) -> Locations {
    if let Some(path) = named {
        let location = Location { role: Role::Named, path: surroundings.absolute(path) };
        return Locations { found: vec![location.clone()], left_out: Vec::new(), tried: vec![location] };
    }
    let mut locations = Locations::default();
    for folder in surroundings.config_folders() {
        if locations.look_in(&folder, &NAMES, Role::User) {
            break;
        }
    }
    let names: Vec<&str> = NAMES.into_iter().chain([SHARED_NAME]).collect();
    for folder in project_folders(surroundings) {
        if locations.look_in(&folder, &names, Role::Project) {
            break;
        }
    }
    locations
}

/// Where `gristmill add` creates the user's file.
pub fn user_file(surroundings: &Surroundings) -> Option<PathBuf> {
    let user = find(surroundings, None).found.into_iter().find(|location| location.role == Role::User);
    user.map(|location| location.path)
        .or_else(|| surroundings.config_folders().first().map(|folder| folder.join(NAMES[0])))
}

/// Where `gristmill add --project` writes: the project's file, or a new one where the project is.
pub fn project_file(surroundings: &Surroundings) -> PathBuf {
    let found = find(surroundings, None).found.into_iter().find(|location| location.role == Role::Project);
    found.map(|location| location.path).unwrap_or_else(|| {
        let folders = project_folders(surroundings);
        let root = folders.iter().find(|folder| folder.join(".git").exists());
        root.unwrap_or(&surroundings.current_folder).join(NAMES[0])
    })
}

/// The folder of the project that holds this path, or where it would be made: the project's root.
pub fn project_root(surroundings: &Surroundings, path: &Path) -> PathBuf {
    let folders = project_folders(surroundings);
    let holding = folders.iter().find(|folder| folder.join(path).symlink_metadata().is_ok());
    let root = || folders.iter().find(|folder| folder.join(".git").exists());
    holding.or_else(root).unwrap_or(&surroundings.current_folder).clone()
}

impl Locations {
    /// Whether there was one.
    fn look_in(&mut self, folder: &Path, names: &[&str], role: Role) -> bool {
        let mut used: Option<PathBuf> = None;
        for name in names {
            let path = folder.join(name);
            // The user's own file is not a project's as well, when we are started in its folder.
            if self.found.iter().any(|location| location.path == path) {
                continue;
            }
            self.tried.push(Location { role, path: path.clone() });
            // A dangling link is there: reading it says what is wrong with it.
            if path.symlink_metadata().is_err() {
                continue;
            }
            match &used {
                None => {
                    self.found.push(Location { role, path: path.clone() });
                    used = Some(path);
                }
                Some(used) => self.left_out.push((path, used.clone())),
            }
        }
        used.is_some()
    }
}

/// The current folder, and those above it as far as the project may reach: up to the repository's
/// root, or below the home. Elsewhere, as in `/tmp`, a parent may belong to anybody.
fn project_folders(surroundings: &Surroundings) -> Vec<PathBuf> {
    let home = surroundings.home();
    let mut folders = Vec::new();
    for folder in surroundings.current_folder.ancestors().take(PARENTS_MAX) {
        if Some(folder) == home.as_deref() && !folders.is_empty() {
            return folders;
        }
        folders.push(folder.to_owned());
        if folder.join(".git").exists() {
            return folders;
        }
        if Some(folder) == home.as_deref() {
            return folders;
        }
    }
    folders.truncate(1);
    folders
}
