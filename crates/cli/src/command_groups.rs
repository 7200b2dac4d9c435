//! The commands in the groups that `gristmill --help` shows them in.

use clap::Command;

use crate::color::{self, Paint};
use crate::terminal::{columns, wrapped};

/// Every command that is shown, once.
pub const GROUPS: [(&str, &[&str]); 6] = [
    ("Run", &["run", "ask", "check", "analyze", "history", "show", "rerun", "stats", "demo"]),
    ("Servers", &["add", "add-json", "list", "get", "remove", "tools", "login", "logout", "logs"]),
    (
        "Agents",
        &["init", "connect", "disconnect", "import", "serve", "token", "policy", "approvals", "dashboard"],
    ),
    ("Cluster", &["worker-node", "cluster"]),
    (
        "Data",
        &[
            "sessions",
            "workspace",
            "results",
            "skills",
            "python",
            "shape",
            "privacy",
            "backup",
            "restore",
            "db",
            "audit",
            "anomalies",
            "alerts",
        ],
    ),
    (
        "Maintenance",
        &[
            "doctor",
            "levels",
            "config",
            "explain",
            "help",
            "cache",
            "setup",
            "bench",
            "completions",
            "man",
            "example-server",
        ],
    ),
];

/// Wider lines are hard to read.
const COLUMNS_MAX: usize = 100;

/// The help of the whole, with its commands in groups.
pub fn with_groups(command: Command) -> Command {
    let template = template(&command, color::on_stdout());
    command.help_template(template)
}

fn template(command: &Command, is_colored: bool) -> String {
    let heading = |text: &str| color::painted(&format!("{text}:"), Paint::Heading, is_colored);
    let width = columns(std::io::stdout()).unwrap_or(COLUMNS_MAX).min(COLUMNS_MAX);
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (name, commands) in GROUPS {
        text.push_str(&format!("\n{}\n", heading(name)));
        let found = commands.iter().filter_map(|name| command.find_subcommand(name));
        found.for_each(|command| text.push_str(&line(command, width)));
    }
    text.push_str(&format!("\n{}\n{{options}}{{after-help}}", heading("Options")));
    text
}

/// A command and what it does, wrapped under its words.
fn line(command: &Command, width: usize) -> String {
    const NAMES: usize = 18;
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut lines = wrapped(&about, width.saturating_sub(NAMES).max(20)).into_iter();
    let first = lines.next().unwrap_or_default();
    // Braces would be read as parts of the template.
    let mut text = format!("  {:<16}{first}\n", command.get_name());
    lines.for_each(|line| text.push_str(&format!("{:NAMES$}{line}\n", "")));
    text.replace('{', "(").replace('}', ")")
}
