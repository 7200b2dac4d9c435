//! `gristmill man`: manual pages, one for each command.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use clap_mangen::Man;

use super::{Failure, Outcome};

#[derive(Args)]
#[command(after_help = "Read one page: gristmill man | man -l -
Install all:   gristmill man --output-dir ~/.local/share/man/man1")]
pub struct ManArguments {
    /// Write a page for every command into this folder, instead of printing the main page
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
}

pub fn man(arguments: ManArguments, command: clap::Command) -> Outcome {
    match arguments.output_dir {
        Some(folder) => {
            let failed = |error: io::Error| {
                Failure::Usage(anyhow!("can't write manual pages to {}: {error}", folder.display()))
            };
            std::fs::create_dir_all(&folder).map_err(failed)?;
            clap_mangen::generate_to(command, &folder).map_err(failed)?;
            println!("{}", folder.display());
        }
        None => {
            let mut page = Vec::new();
            let rendered = Man::new(command).render(&mut page).and_then(|()| io::stdout().write_all(&page));
            match rendered {
                // Whoever read our output has seen enough.
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    return Err(Failure::Internal(anyhow!("can't write to standard output: {error}")));
                }
                Ok(()) | Err(_) => {}
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
