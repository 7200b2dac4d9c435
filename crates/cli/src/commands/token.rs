//! `gristmill token new`, `list` and `revoke`: who may call `gristmill serve --http`.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::Flags;
use gristmill_gateway::access::{AccessTokens, IssuedToken, Scope, TokenError, TokenRecord};
use gristmill_gateway::domain::utc_text;
use serde_json::{Value, json};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::upstreams;

#[derive(Args)]
pub struct TokenArguments {
    #[command(subcommand)]
    pub command: TokenCommand,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Make a token, and show it once
    New {
        /// What it is for, such as `laptop`
        name: String,
        /// What it permits: execute (which includes search), search, or admin (everyone's statistics)
        /// [default: execute and search]
        #[arg(long)]
        scope: Vec<Scope>,
        /// When it expires: such as 30d, 12h or 8w, or `never`
        #[arg(long, default_value = "90d")]
        expires: Lifetime,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show all tokens, but not the tokens themselves
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Take one back: it is refused at once, also by servers that are running
    Revoke {
        /// Its name
        name: String,
    },
}

/// How long a token is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    For(Duration),
    /// Until it is revoked.
    Never,
}

/// A hundred years: who means more means `never`.
const HOURS_MAX: u64 = 100 * 366 * 24;

impl FromStr for Lifetime {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "never" {
            return Ok(Self::Never);
        }
        let hours = [("h", 1), ("d", 24), ("w", 7 * 24)]
            .into_iter()
            .find_map(|(unit, hours)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(hours));
        match hours {
            Some(hours @ 1..=HOURS_MAX) => Ok(Self::For(Duration::from_secs(hours * 3600))),
            Some(_) | None => Err(format!("`{text}` is not a lifetime; write 30d, 12h, 8w or never")),
        }
    }
}

pub fn token(arguments: TokenArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let tokens = AccessTokens::open(&configured.data_folder()?);
    match arguments.command {
        TokenCommand::New { name, scope, expires, json } => {
            let scopes = if scope.is_empty() { Scope::USUAL.to_vec() } else { scope };
            let now = SystemTime::now();
            let expires = match expires {
                Lifetime::For(time) => Some(now + time),
                Lifetime::Never => None,
            };
            show_new(&tokens.issue(&name, scopes, expires, now).map_err(failure)?, json);
        }
        TokenCommand::List { json } => show_all(&tokens.list().map_err(failure)?, json),
        TokenCommand::Revoke { name } => {
            let revoked = tokens.revoke(&name).map_err(failure)?;
            println!("revoked {}", revoked.name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(error: TokenError) -> Failure {
    match error {
        TokenError::Randomness { .. } => Failure::Internal(error.into()),
        TokenError::Name { .. }
        | TokenError::Taken { .. }
        | TokenError::NoScope
        | TokenError::Past
        | TokenError::TooMany
        | TokenError::Missing { .. }
        | TokenError::File { .. } => Failure::Usage(anyhow!(error)),
    }
}

/// The token alone on stdout, so that it can be piped to where it belongs.
fn show_new(issued: &IssuedToken, as_json: bool) {
    let IssuedToken { text, record } = issued;
    if as_json {
        let mut shown = as_value(record);
        shown["token"] = json!(text.reveal());
        println!("{shown:#}");
    } else {
        println!("{}", text.reveal());
    }
    let name = &record.name;
    eprintln!("this is the token `{name}`, for {}, {}", scopes(&record.scopes), until(record.expires));
    eprintln!("it cannot be shown again: put it where your client keeps its secrets, as the header");
    eprintln!("  Authorization: Bearer {}…", &text.reveal()[..8]);
    eprintln!("hint: `gristmill token revoke {name}` takes it back");
}

fn show_all(records: &[TokenRecord], as_json: bool) {
    if as_json {
        println!("{:#}", Value::from_iter(records.iter().map(as_value)));
        return;
    }
    if records.is_empty() {
        eprintln!("there are no access tokens");
        eprintln!("hint: `gristmill token new NAME` makes one");
        return;
    }
    let width = records.iter().map(|record| record.name.len()).max().unwrap_or_default();
    for record in records {
        let is_over = record.expires.is_some_and(|at| at <= SystemTime::now());
        let until = if is_over { "expired".to_owned() } else { until(record.expires) };
        let since = utc_text(record.created)[..10].to_owned();
        println!("{:<width$}  {:<18}  since {since}  {until}", record.name, scopes(&record.scopes));
    }
}

fn as_value(record: &TokenRecord) -> Value {
    json!({
        "name": record.name,
        "scopes": record.scopes,
        "created": utc_text(record.created),
        "expires": record.expires.map(utc_text),
    })
}

fn scopes(scopes: &BTreeSet<Scope>) -> String {
    let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    names.join(" and ")
}

fn until(expires: Option<SystemTime>) -> String {
    match expires {
        // To the minute: a token may last for hours.
        Some(at) => format!("until {} UTC", utc_text(at)[..16].replace('T', " ")),
        None => "until it is revoked".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lifetimes_are_hours_days_weeks_or_never() {
        let hours = |count: u64| Ok(Lifetime::For(Duration::from_secs(count * 3600)));
        let check =
            |text: &str, expected: Result<Lifetime, String>| assert_eq!(text.parse(), expected, "{text}");
        check("12h", hours(12));
        check("90d", hours(90 * 24));
        check("8w", hours(8 * 7 * 24));
        check("never", Ok(Lifetime::Never));
        for wrong in ["", "0d", "-1d", "30", "d", "1.5d", "99999999d", "18446744073709551615w"] {
            check(wrong, Err(format!("`{wrong}` is not a lifetime; write 30d, 12h, 8w or never")));
        }
    }
}
