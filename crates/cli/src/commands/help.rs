//! `gristmill help`: the help of a command, or one of the guides of docs/.

use std::io;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;

use super::{Failure, Outcome};
use crate::guides::{self, Guide};
use crate::terminal::{self, wrapped};
use crate::{color, markdown, pager};

#[derive(Args)]
#[command(after_help = "Examples:
  gristmill help                  all commands and topics
  gristmill help token new        the help of a command
  gristmill help tutorial         a guide
  gristmill help --guide policy   the guide, where a command has the same name")]
pub struct HelpArguments {
    /// A command, such as `run` or `token new`, or a topic, such as `tutorial`
    #[arg(value_name = "NAME")]
    pub words: Vec<String>,

    /// Show the guide of this name, not the command
    #[arg(long)]
    pub guide: bool,
}

pub fn help(arguments: &HelpArguments, mut command: clap::Command) -> Outcome {
    let guides = guides::all();
    let Some(first) = arguments.words.first() else {
        if !arguments.guide {
            print_help(&mut command, &[])?;
            println!();
        }
        println!("{}", topics(&guides));
        return Ok(ExitCode::SUCCESS);
    };
    if !arguments.guide && is_command(&command, &arguments.words) {
        print_help(&mut command, &arguments.words)?;
        if arguments.words.len() == 1 && guides::find(&guides, first).is_some() {
            println!("\nThere's a guide, too: gristmill help --guide {first}");
        }
        return Ok(ExitCode::SUCCESS);
    }
    match guides::find(&guides, first).filter(|_| arguments.words.len() == 1) {
        Some(guide) => {
            let page = markdown::rendered(&guide.text, terminal::width(), color::on_stdout());
            printed(pager::print(&page))?;
            Ok(ExitCode::SUCCESS)
        }
        None if arguments.guide => Err(Failure::Usage(no_guide(&arguments.words, &guides, &command))),
        None => Err(Failure::Usage(unknown(&arguments.words, &guides, &command))),
    }
}

/// Whether these words lead to a command.
fn is_command(command: &clap::Command, words: &[String]) -> bool {
    words.iter().try_fold(command, |command, word| command.find_subcommand(word)).is_some()
}

/// What the command prints if it is given `--help`.
fn print_help(command: &mut clap::Command, words: &[String]) -> Result<(), Failure> {
    let words = words.iter().map(String::as_str);
    let asked: Vec<&str> = ["gristmill"].into_iter().chain(words).chain(["--help"]).collect();
    match command.try_get_matches_from_mut(asked) {
        Err(help) => printed(help.print()),
        Ok(_) => Ok(()),
    }
}

fn topics(guides: &[Guide]) -> String {
    const NAMES: usize = 26;
    let room = terminal::width().min(100).saturating_sub(NAMES).max(20);
    let mut text = color::painted("Topics:", color::Paint::Heading, color::on_stdout());
    for guide in guides {
        let title = guide.title().replace('`', "");
        for (number, line) in wrapped(&title, room).iter().enumerate() {
            let name = if number == 0 { guide.name.as_str() } else { "" };
            text.push_str(&format!("\n  {name:<24}{line}"));
        }
    }
    text.push_str("\n\n`gristmill help TOPIC` shows one; add --guide where a command has the same name.");
    text
}

fn no_guide(words: &[String], guides: &[Guide], command: &clap::Command) -> anyhow::Error {
    let asked = words.join(" ");
    let close = guides::close_to(&asked, guides, &[]);
    let close =
        if close.is_empty() { String::new() } else { format!("; the closest are: {}", close.join(", ")) };
    let hint = match is_command(command, words) {
        true => format!("`gristmill help {asked}` shows the command"),
        false => "`gristmill help --guide` lists all guides".to_owned(),
    };
    anyhow!("there's no guide `{asked}`{close}\nhint: {hint}")
}

fn unknown(words: &[String], guides: &[Guide], command: &clap::Command) -> anyhow::Error {
    let asked = words.join(" ");
    let commands: Vec<&str> =
        command.get_subcommands().filter(|known| !known.is_hide_set()).map(clap::Command::get_name).collect();
    let close = guides::close_to(&asked, guides, &commands);
    let hint = "hint: `gristmill help` lists all commands and topics";
    match close.is_empty() {
        true => anyhow!("there's no command or topic `{asked}`\n{hint}"),
        false => {
            anyhow!("there's no command or topic `{asked}`; the closest are: {}\n{hint}", close.join(", "))
        }
    }
}

fn printed(outcome: io::Result<()>) -> Result<(), Failure> {
    match outcome {
        // Whoever read our output has seen enough.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Internal(anyhow!("can't write to standard output: {error}")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}
