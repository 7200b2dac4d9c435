//! How much a program may use.

use clap::Args;
use gristmill_gateway::domain::{Level, LimitName, Limits, PrivacyMode};

#[derive(Args)]
pub struct LimitArguments {
    /// Isolation level: development, production or hardened [default: production]
    #[arg(long)]
    pub level: Option<Level>,

    /// How far personal data may go: off, output or boundary [default: output in production]
    #[arg(long, value_name = "MODE")]
    pub privacy: Option<PrivacyMode>,

    /// Time limit, such as 2.5s [default: 5s in production]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub timeout: Option<String>,

    /// Memory limit, such as 256M [default: 512M in production]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub memory: Option<String>,

    /// Set any limit by name; see docs/limits.md
    #[arg(long = "limit", value_name = "NAME=VALUE")]
    pub limit: Vec<String>,
}

impl LimitArguments {
    /// The configured limits with everything that was asked for.
    pub fn resolve(&self, configured: Option<Limits>) -> anyhow::Result<Limits> {
        let mut limits = configured.unwrap_or_else(|| Limits::of(self.level.unwrap_or_default()));
        if let Some(timeout) = &self.timeout {
            limits.set_text("wall_time", timeout)?;
            // Who asks for more time means computing, too.
            let wall = limits.get(LimitName::WallTime);
            let cpu = LimitName::CpuTime;
            if wall > limits.get(cpu) {
                limits.set(cpu, wall)?;
            }
        }
        if let Some(memory) = &self.memory {
            limits.set_text("memory", memory)?;
        }
        for setting in &self.limit {
            let (name, value) = setting.split_once('=').ok_or_else(|| {
                anyhow::anyhow!("`--limit {setting}` must be NAME=VALUE, such as --limit tool_calls=50")
            })?;
            limits.set_text(name.trim(), value)?;
        }
        Ok(limits)
    }
}
