//! The fenced blocks of a document, and what is to be done with each.
//!
//! A comment on the line before a block says what differs from the rule:
//!
//! - `<!-- not run: needs a browser -->`: it is left alone, for this reason.
//! - `<!-- compiled only: the server is made up -->`: a program that is compiled and not run.
//! - `<!-- first: COMMAND -->`: what a shell does before; there may be several.
//!
//! A fence such as `python NAME.py` is the content of a file, which later commands use. In a `console` block, a `cat` of a
//! file that isn't there makes it, from what is shown below it.

/// What is to be done with a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plan {
    /// Commands.
    Shell,
    /// Commands after `$ `, each with its output.
    Console,
    /// A program that is run.
    Program,
    /// A program that is compiled.
    Compiled,
    /// A configuration, by the ending of its file.
    Config(&'static str),
    /// JSON: a configuration if it has such keys, and otherwise only read.
    Json,
    /// The content of a file.
    File(String),
    NotRun(String),
}

/// One block.
#[derive(Debug)]
pub struct Block {
    /// Of its fence, counted from 1.
    pub line: usize,
    pub text: String,
    /// What a shell does before.
    pub first: Vec<String>,
    pub plan: Plan,
}

/// The blocks of a document that something is to be done with.
pub fn find(document: &str) -> Result<Vec<Block>, String> {
    let lines: Vec<&str> = document.lines().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some((fence, language, name)) = fence_of(lines[at]) else {
            at += 1;
            continue;
        };
        let length = lines[at + 1..].iter().position(|line| line.trim() == fence);
        let length = length.ok_or_else(|| format!("line {}: this block has no end", at + 1))?;
        let text = lines[at + 1..at + 1 + length].join("\n") + "\n";
        let comments = comments_before(&lines[..at]);
        let first = comments.iter().filter_map(|(_, said)| said.strip_prefix("first:"));
        let first = first.map(|command| command.trim().to_owned()).collect();
        if let Some(plan) = said_plan(&comments)?.or_else(|| usual_plan(language, name, &text)) {
            found.push(Block { line: at + 1, text, first, plan });
        }
        at += length + 2;
    }
    Ok(found)
}

/// Of a line that begins a block: its fence, its language, and the word behind that.
fn fence_of(line: &str) -> Option<(&str, &str, Option<&str>)> {
    let line = line.trim();
    let length = line.bytes().take_while(|byte| *byte == b'`').count();
    let mut words = line[length..].split_whitespace();
    (length >= 3).then(|| (&line[..length], words.next().unwrap_or_default(), words.next()))
}

/// The comments that stand directly before a block, with their line numbers, in order.
fn comments_before<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate().rev() {
        let comment = line.trim().strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->"));
        let Some(comment) = comment else { break };
        found.push((number + 1, comment.trim()));
    }
    found.reverse();
    found
}

fn said_plan(comments: &[(usize, &str)]) -> Result<Option<Plan>, String> {
    for (line, said) in comments {
        if let Some(reason) = said.strip_prefix("not run:") {
            return match reason.trim() {
                "" => Err(format!("line {line}: say why it isn't run")),
                reason => Ok(Some(Plan::NotRun(reason.to_owned()))),
            };
        }
        if let Some(reason) = said.strip_prefix("compiled only:") {
            return match reason.trim() {
                "" => Err(format!("line {line}: say why it is only compiled")),
                _ => Ok(Some(Plan::Compiled)),
            };
        }
    }
    Ok(None)
}

/// What is done with a block about which nothing is said.
fn usual_plan(language: &str, name: Option<&str>, text: &str) -> Option<Plan> {
    if let Some(name) = name.filter(|name| name.contains('.')) {
        return Some(Plan::File(name.to_owned()));
    }
    let plan = match language {
        "sh" | "bash" | "shell" => Plan::Shell,
        "console" => Plan::Console,
        "python" => Plan::Program,
        "toml" => Plan::Config("toml"),
        "yaml" => Plan::Config("yaml"),
        "json" => Plan::Json,
        "" if text.starts_with("$ ") => Plan::Console,
        "" if text.lines().all(is_command) => Plan::Shell,
        _ => return None,
    };
    let builds = matches!(plan, Plan::Shell | Plan::Console)
        && text.lines().any(|line| line.trim_start_matches("$ ").starts_with("cargo "));
    Some(if builds { Plan::NotRun("builds Gristmill".to_owned()) } else { plan })
}

/// Whether a line of a block without a language is a command, and not one with words in a column beside it.
fn is_command(line: &str) -> bool {
    let begins = ["gristmill ", "cargo ", "curl "].iter().any(|name| line.starts_with(name));
    begins && line.match_indices("   ").all(|(at, _)| line[at..].trim_start().starts_with('#'))
}
