//! Where each client keeps its servers. Linux and macOS; Windows is not known here.

use std::path::{Path, PathBuf};

use gristmill_config::Platform;
use gristmill_config::Surroundings;
use gristmill_config::format::Format;
use gristmill_config::locations;
pub use gristmill_config::needs::on_path;

use super::known::Client;

/// Whose file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileScope {
    User,
    /// The project's: someone else may have written it.
    Project,
}

/// Where in a file the servers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// In a table at the top.
    Top(&'static str),
    /// In a table of a table: older settings, which we only read.
    Inside(&'static str, &'static str),
    /// At the top, and for each project in `projects`.
    TopAndProjects(&'static str),
}

/// A file of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub client: Client,
    pub file_scope: FileScope,
    pub path: PathBuf,
    pub format: Format,
    pub block: Block,
}

/// There is no such file.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error("no home folder; set HOME")]
    NoHome,
    /// The client has none for projects.
    #[error("{0} has no project file; leave out --project")]
    NoProjectFile(Client),
}

/// Every file of a client that may hold servers, the one that we write first.
pub fn all(client: Client, surroundings: &Surroundings) -> Vec<Place> {
    let user =
        user_files(client, surroundings).into_iter().map(|(path, block)| (FileScope::User, path, block));
    let project = project_file(client, surroundings);
    let project = project.map(|path| (FileScope::Project, path, Block::Top(client.block())));
    let mut places: Vec<Place> = Vec::new();
    for (file_scope, path, block) in user.chain(project) {
        // In the home itself the project's file may be the user's.
        if places.iter().all(|place| place.path != path) {
            places.push(Place { client, file_scope, path, format: format(client), block });
        }
    }
    places
}

/// The file that gets our entry.
pub fn to_write(
    client: Client,
    file_scope: FileScope,
    surroundings: &Surroundings,
) -> Result<Place, PlaceError> {
    let block = Block::Top(client.block());
    let path = match file_scope {
        FileScope::User => {
            let first = user_files(client, surroundings).into_iter().next();
            first.map(|(path, _)| path).ok_or(PlaceError::NoHome)?
        }
        FileScope::Project => project_file(client, surroundings).ok_or(PlaceError::NoProjectFile(client))?,
    };
    Ok(Place { client, file_scope, path, format: format(client), block })
}

/// Whether it is a file, or a folder with something in it. An empty folder may be left of a client, or of us.
fn holds_something(path: &Path) -> bool {
    match std::fs::read_dir(path) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => path.exists(),
    }
}

/// Whether there are signs of the client on this machine.
pub fn seems_installed(client: Client, surroundings: &Surroundings) -> bool {
    let home = surroundings.home();
    let in_home = |path: &str| home.as_ref().is_some_and(|home| holds_something(&home.join(path)));
    let has_folder = match client {
        Client::ClaudeCode => in_home(".claude"),
        Client::Cursor => in_home(".cursor"),
        Client::Gemini => in_home(".gemini"),
        Client::Windsurf => in_home(".codeium/windsurf"),
        Client::ClaudeDesktop | Client::Vscode | Client::Codex => false,
    };
    let has_file = user_files(client, surroundings).into_iter().any(|(path, _)| {
        // The home is always there, and says nothing.
        path.exists()
            || path.parent().is_some_and(|folder| holds_something(folder) && Some(folder) != home.as_deref())
    });
    let programs: &[&str] = match client {
        Client::ClaudeCode => &["claude"],
        Client::ClaudeDesktop => &["claude-desktop"],
        Client::Cursor => &["cursor"],
        Client::Vscode => &["code"],
        Client::Codex => &["codex"],
        Client::Gemini => &["gemini"],
        Client::Windsurf => &["windsurf"],
    };
    has_folder || has_file || programs.iter().any(|name| on_path(name, surroundings).is_some())
}

/// The folder that a project's files are in.
pub fn project_folder(surroundings: &Surroundings) -> PathBuf {
    let file = locations::project_file(surroundings);
    file.parent().map_or_else(|| surroundings.current_folder.clone(), PathBuf::from)
}

fn format(client: Client) -> Format {
    match client {
        Client::Codex => Format::Toml,
        Client::ClaudeCode
        | Client::ClaudeDesktop
        | Client::Cursor
        | Client::Vscode
        | Client::Gemini
        | Client::Windsurf => Format::Json,
    }
}

fn user_files(client: Client, surroundings: &Surroundings) -> Vec<(PathBuf, Block)> {
    let Some(home) = surroundings.home() else { return Vec::new() };
    let top = Block::Top(client.block());
    match client {
        Client::ClaudeCode => {
            let folder = surroundings.folder("CLAUDE_CONFIG_DIR").unwrap_or(home);
            vec![(folder.join(".claude.json"), Block::TopAndProjects(client.block()))]
        }
        Client::ClaudeDesktop => {
            vec![(applications(surroundings, home).join("Claude/claude_desktop_config.json"), top)]
        }
        Client::Cursor => vec![(home.join(".cursor/mcp.json"), top)],
        Client::Vscode => {
            let folder = applications(surroundings, home).join("Code/User");
            vec![
                (folder.join("mcp.json"), top),
                (folder.join("settings.json"), Block::Inside("mcp", "servers")),
            ]
        }
        Client::Codex => {
            let folder = surroundings.folder("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
            vec![(folder.join("config.toml"), top)]
        }
        Client::Gemini => vec![(home.join(".gemini/settings.json"), top)],
        Client::Windsurf => vec![(home.join(".codeium/windsurf/mcp_config.json"), top)],
    }
}

/// Where desktop applications keep their settings.
fn applications(surroundings: &Surroundings, home: PathBuf) -> PathBuf {
    match surroundings.platform {
        Platform::Unix => surroundings.folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")),
        Platform::MacOs => home.join("Library/Application Support"),
    }
}

fn project_file(client: Client, surroundings: &Surroundings) -> Option<PathBuf> {
    let below = match client {
        Client::ClaudeCode => ".mcp.json",
        Client::Cursor => ".cursor/mcp.json",
        Client::Vscode => ".vscode/mcp.json",
        Client::Codex => ".codex/config.toml",
        Client::Gemini => ".gemini/settings.json",
        Client::ClaudeDesktop | Client::Windsurf => return None,
    };
    Some(project_folder(surroundings).join(below))
}
