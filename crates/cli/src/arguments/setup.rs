//! Arguments of `gristmill setup`.

use clap::Args;

#[derive(Args)]
pub struct Setup {
    /// Unpack again even if a good file is there
    #[arg(long)]
    pub force: bool,
}
