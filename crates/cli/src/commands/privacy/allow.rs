//! `gristmill privacy allow` and `let`: what isn't hidden, and where values may go, in your own configuration file.

use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_config::Flags;
use gristmill_config::commands::add::{Scope, file_of};
use gristmill_config::edit_policy::Writing;
use gristmill_config::edit_privacy::{PrivacyDone, allow_values, put_restore_rule};
use gristmill_gateway::audit::{AuditEvent, ConfigChange};
use gristmill_gateway::domain::{counted, nearest};
use gristmill_gateway::privacy::{Kind, RestoreRule, Vault};

use crate::arguments::ConfigFile;
use crate::commands::{Failure, Outcome};
use crate::hints::hint;
use crate::terminal::one_line;
use crate::upstreams::Configured;
use crate::{audit_log, upstreams};

#[derive(Args)]
pub struct AllowArguments {
    /// What isn't personal: the value itself, or a token that stands for it
    #[arg(required = true)]
    values: Vec<String>,

    #[command(flatten)]
    config: ConfigFile,
}

#[derive(Args)]
pub struct LetArguments {
    /// Kind of value, such as `email`
    kind: String,
    /// The tool, as `server.tool`; `*` is anything, as in `mail.send_*`
    tool: String,
    /// Only into this argument, such as `to`
    #[arg(long = "field", value_name = "FIELD")]
    fields: Vec<String>,

    #[command(flatten)]
    config: ConfigFile,
}

pub async fn allow(arguments: AllowArguments) -> Outcome {
    let configured = read(&arguments.config)?;
    let values = values(&configured, &arguments.values).await?;
    let path = file(&configured, &arguments.config)?;
    let texts: Vec<&str> = values.iter().map(String::as_str).collect();
    let done =
        allow_values(&path, &texts, Writing::Now).map_err(|error| Failure::Usage(anyhow!("{error}")))?;
    match done {
        PrivacyDone::Added => {
            note(&configured, &path, "privacy.allow");
            println!("added {} to {}", counted(values.len(), "value"), path.display());
            hint("a gateway that's running uses it after a restart");
        }
        PrivacyDone::AsItWas => println!("{} says so already", path.display()),
    }
    Ok(ExitCode::SUCCESS)
}

pub fn let_go(arguments: &LetArguments) -> Outcome {
    let configured = read(&arguments.config)?;
    let kind = Kind::named(&arguments.kind);
    let patterns = &configured.config.privacy.settings.detector.patterns;
    if matches!(&kind, Kind::Custom(name) if !patterns.contains_key(&**name)) {
        let known: Vec<String> = Kind::ALL.iter().map(|kind| kind.name().to_owned()).collect();
        let near = nearest(&arguments.kind, known.iter().map(|name| (name.as_str(), name.as_str())), 1);
        let hint = match near.first() {
            Some(near) => format!("did you mean {near}?"),
            None => format!("kinds: {}", known.join(", ")),
        };
        return Err(Failure::Usage(anyhow!(
            "no kind is named `{}`\nhint: {hint}",
            one_line(&arguments.kind)
        )));
    }
    if !arguments.tool.contains('.') {
        return Err(Failure::Usage(anyhow!(
            "`{}` must be SERVER.TOOL, such as mail.send",
            one_line(&arguments.tool)
        )));
    }
    let (to, fields) = (arguments.tool.clone(), arguments.fields.clone());
    let rule = RestoreRule { kinds: vec![kind], to, fields, allow: true };
    let path = file(&configured, &arguments.config)?;
    let done =
        put_restore_rule(&path, &rule, Writing::Now).map_err(|error| Failure::Usage(anyhow!("{error}")))?;
    match done {
        PrivacyDone::Added => {
            note(&configured, &path, "privacy.restore");
            println!("added to {}: {} may go to {}", path.display(), arguments.kind, one_line(&rule.to));
            hint("a gateway that's running uses it after a restart");
        }
        PrivacyDone::AsItWas => println!("the first rule in {} says so already", path.display()),
    }
    Ok(ExitCode::SUCCESS)
}

/// Which setting was changed, and none of its values.
fn note(configured: &Configured, file: &std::path::Path, setting: &str) {
    let event = AuditEvent::config_changed(ConfigChange::SettingsChanged, &file.display().to_string());
    audit_log::note(configured, event.of_settings(&[setting.to_owned()]));
}

/// What these stand for, as far as they are tokens.
async fn values(configured: &Configured, given: &[String]) -> Result<Vec<String>, Failure> {
    let (store, _audit) = audit_log::open(configured)?;
    let vault = Vault::open(Some(store), None).map_err(|error| Failure::Usage(anyhow!(error)))?;
    let wrong = |error| Failure::Usage(anyhow!("{error}"));
    let scopes = vault.scopes(None).await.map_err(wrong)?;
    let texts: Vec<&str> = given.iter().map(String::as_str).collect();
    let kept = vault.values(&scopes, &texts).await.map_err(wrong)?;
    let pairs = given.iter().zip(kept);
    pairs
        .map(|(given, kept)| match kept {
            Some(kept) => Ok(kept.value.to_string()),
            None if gristmill_gateway::privacy::is_token(given) => Err(Failure::Usage(anyhow!(
                "{} stands for nothing that is still kept\nhint: give the value itself",
                one_line(given)
            ))),
            None => Ok(given.clone()),
        })
        .collect()
}

fn read(config: &ConfigFile) -> Result<Configured, Failure> {
    upstreams::read(&Flags { config: config.config.clone(), ..Flags::default() })
}

fn file(configured: &Configured, config: &ConfigFile) -> Result<std::path::PathBuf, Failure> {
    let scope = config.config.clone().map_or(Scope::User, Scope::File);
    file_of(&configured.surroundings, &scope).map_err(|error| Failure::Usage(error.into()))
}
