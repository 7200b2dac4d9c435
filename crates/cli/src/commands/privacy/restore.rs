//! `gristmill privacy restore`: what tokens stand for, for whoever owns this machine.

use std::io::Read;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::ids::Caller;
use gristmill_gateway::ports::AuditLog;

use crate::arguments::ConfigFile;
use crate::commands::{Failure, Outcome};
use crate::privacy::privacy as privacy_of;
use crate::terminal::eprint_lines;
use crate::{audit_log, upstreams};

/// More text is nothing that anybody pastes.
const TEXT_BYTES_MAX: u64 = 64 << 20;

#[derive(Args)]
pub struct RestoreArguments {
    /// Text with tokens in it, or `-` for standard input
    text: String,

    #[command(flatten)]
    config: ConfigFile,
}

pub async fn restore(arguments: RestoreArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let (store, audit) = audit_log::open(&configured)?;
    let mut text = arguments.text;
    if text == "-" {
        text.clear();
        let read = std::io::stdin().take(TEXT_BYTES_MAX).read_to_string(&mut text);
        read.map_err(|error| Failure::Usage(anyhow!("can't read standard input: {error}")))?;
    }
    let privacy = privacy_of(Some(&configured), configured.config.level, Some(store))?;
    let wrong = |error| Failure::Usage(anyhow!("{error}"));
    let (restored, count) = privacy.restore_for_owner(&text).await.map_err(wrong)?;
    // First the record, then the values.
    if let Some(audit) = audit {
        audit.note(AuditEvent::restored(&Caller::local(), count));
        audit.close().await;
    }
    println!("{}", restored.trim_end_matches('\n'));
    if count == 0 {
        eprint_lines("note: no token in it stands for anything that is still kept");
    }
    Ok(ExitCode::SUCCESS)
}
