//! Arguments of `gristmill setup`.

use clap::Args;

#[derive(Args)]
pub struct Setup {
    /// Unpack even if it's already there
    #[arg(long)]
    pub force: bool,
}
