//! Arguments of `gristmill setup`.

use clap::Args;

#[derive(Args)]
pub struct Setup {
    /// Unpack even if it's already there
    #[arg(long)]
    pub force: bool,

    /// Also install the type checker for TypeScript programs, with npm
    #[arg(long)]
    pub typescript: bool,
}
