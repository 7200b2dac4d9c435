//! A small world to configure: a home, a project, an environment.

mod approvals_table;
mod approving;
mod audit;
mod cluster;
mod commands;
mod documented;
mod editing;
mod editing_privacy;
mod editing_settings;
mod engines;
mod guardrails;
mod history;
mod hostile;
mod joining;
mod learning;
mod llm;
mod network;
mod other_systems;
mod policy;
mod privacy;
mod reading;
mod resolving;
mod results;
mod sandboxes;
mod search;
mod serve;
mod servers;
mod sessions;
mod showing;
mod watching;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use gristmill_gateway::domain::{SecretText, ServerSettings, Transport};

use super::document::Document;
use super::load::{Flags, load};
use super::read_file::FileText;
use super::resolved::Loaded;
use super::{Platform, Surroundings};

pub struct World {
    folder: tempfile::TempDir,
    pub surroundings: Surroundings,
}

impl World {
    /// A home with a repository in it, and we are in the repository.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("home/project/.git")).unwrap();
        let environment = BTreeMap::from([(OsString::from("HOME"), root.join("home").into_os_string())]);
        let current_folder = root.join("home/project");
        Self { folder, surroundings: Surroundings { environment, current_folder, platform: Platform::Unix } }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// A file below the world's root.
    pub fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// The user's own file.
    pub fn user(self, text: &str) -> Self {
        self.file("home/.config/gristmill/gristmill.toml", text)
    }

    pub fn project(self, text: &str) -> Self {
        self.file("home/project/gristmill.toml", text)
    }

    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.surroundings.environment.insert(name.into(), value.into());
        self
    }

    pub fn within(mut self, folder: &str) -> Self {
        let path = self.path(folder);
        fs::create_dir_all(&path).unwrap();
        self.surroundings.current_folder = path;
        self
    }

    pub fn approve(&self, name: &str) {
        let store = super::load::approvals_path(&self.surroundings).unwrap();
        let path = self.path(name);
        let content = fs::read(&path).unwrap();
        super::Approvals::load(&store).unwrap().approve(&path, &content).unwrap();
    }

    pub fn load(&self) -> Loaded {
        self.load_with(&Flags::default())
    }

    pub fn load_with(&self, flags: &Flags) -> Loaded {
        load(&self.surroundings, flags)
    }

    /// What is said, without the world's folder.
    pub fn said(&self, loaded: &Loaded) -> Vec<String> {
        let root = format!("{}/", self.path("").display()).replace("//", "/");
        let say = |p: &super::Problem| format!("{:?} {}", p.severity, p.to_string().replace(&root, ""));
        loaded.problems.iter().map(say).collect()
    }
}

pub fn stdio(name: &str, command: &str) -> ServerSettings {
    let command = SecretText::parse(command).unwrap();
    let transport = Transport::Stdio { command, args: Vec::new(), env: BTreeMap::new(), cwd: None };
    ServerSettings::new(name, transport)
}

pub fn http(name: &str, url: &str) -> ServerSettings {
    let transport = Transport::Http {
        url: SecretText::parse(url).unwrap(),
        headers: BTreeMap::new(),
        oauth: Default::default(),
    };
    ServerSettings::new(name, transport)
}

/// Reads a text as the file of this name in `/etc/p`.
pub fn document(name: &str, text: &str) -> Document {
    let path = Path::new("/etc/p").join(name);
    let file = FileText { path, bytes: text.as_bytes().to_vec(), writable_by_others: false };
    Document::read(&file, Some(Path::new("/home/u")))
}

/// What is said about it, without the folder.
pub fn said(document: &Document) -> Vec<String> {
    let say = |p: &super::Problem| format!("{:?} {}", p.severity, p.to_string().replace("/etc/p/", ""));
    document.problems.iter().map(say).collect()
}

/// The servers of a text that nothing is said about.
pub fn servers(name: &str, text: &str) -> Vec<ServerSettings> {
    let document = document(name, text);
    assert_eq!(said(&document), Vec::<String>::new(), "{text}");
    document.servers.into_iter().map(|(server, _)| server).collect()
}
