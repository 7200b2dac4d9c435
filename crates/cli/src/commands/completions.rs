//! `gristmill completions`: a script that completes commands and flags in a shell.

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{Args, ValueEnum};
use clap_complete::{Shell, generate};

use super::{Failure, Outcome};

#[derive(Args)]
#[command(after_help = "Install:
  bash  gristmill completions bash > ~/.local/share/bash-completion/completions/gristmill
  zsh   gristmill completions zsh > ~/.zfunc/_gristmill   (with ~/.zfunc in fpath)
  fish  gristmill completions fish > ~/.config/fish/completions/gristmill.fish")]
pub struct Completions {
    /// Your shell
    #[arg(value_enum)]
    pub shell: CompletionShell,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    Bash,
    Zsh,
    Fish,
}

pub fn completions(arguments: &Completions, mut command: clap::Command) -> Outcome {
    let shell = match arguments.shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut command, "gristmill", &mut script);
    match io::stdout().write_all(&script) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::Internal(anyhow!("can't write to standard output: {error}"))),
    }
}
