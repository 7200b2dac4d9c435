//! Which clients there are.

use std::fmt;

/// A client whose files we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    /// Anthropic's agent for the terminal.
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    Vscode,
    Codex,
    /// Google's agent for the terminal.
    Gemini,
    Windsurf,
}

impl Client {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Client; 7] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Cursor,
        Client::Vscode,
        Client::Codex,
        Client::Gemini,
        Client::Windsurf,
    ];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "claude-code",
            Client::ClaudeDesktop => "claude-desktop",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Windsurf => "windsurf",
        }
    }

    /// As its makers call it.
    pub fn title(self) -> &'static str {
        match self {
            Client::ClaudeCode => "Claude Code",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Cursor => "Cursor",
            Client::Vscode => "VS Code",
            Client::Codex => "Codex",
            Client::Gemini => "Gemini CLI",
            Client::Windsurf => "Windsurf",
        }
    }

    /// The table of its servers in the file that we write.
    pub fn block(self) -> &'static str {
        match self {
            Client::ClaudeCode
            | Client::ClaudeDesktop
            | Client::Cursor
            | Client::Gemini
            | Client::Windsurf => "mcpServers",
            Client::Vscode => "servers",
            Client::Codex => "mcp_servers",
        }
    }

    /// The client of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
