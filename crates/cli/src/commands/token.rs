//! `gristmill token new`, `list` and `remove`: who can use `gristmill serve --http`.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::Flags;
use gristmill_gateway::access::{AccessTokens, Caller, IssuedToken, Scope, TokenError, TokenRecord};
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::policy::{TokenLimits, wildcard_fits};
use gristmill_gateway::domain::{Level, PrivacyMode, unix_of_date, utc_text};
use serde_json::{Value, json};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::audit_log;
use crate::hints::hint;
use crate::local_time::TimeArguments;
use crate::table::{Column, Table};
use crate::terminal::{eprint_lines, one_line};
use crate::upstreams::{self, Configured};

#[derive(Args)]
pub struct TokenArguments {
    #[command(subcommand)]
    pub command: TokenCommand,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Create a token and show it once
    New {
        /// Token name, such as `laptop`
        name: String,
        /// What the token allows: execute (includes search), search, admin (everyone's statistics), or metrics
        /// (only to read `/metrics`)
        /// [default: execute and search]
        #[arg(long)]
        scope: Vec<Scope>,
        #[command(flatten)]
        limits: LimitFlags,
        /// How long it's valid: 30d, 12h, 8w, `never`, or until the end of a day in UTC, such as 2027-01-31
        #[arg(long, default_value = "90d", value_name = "LIFETIME")]
        expires: Lifetime,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// List tokens by name, without their values
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token; running servers refuse it at once
    #[command(alias = "revoke")]
    Remove {
        /// Token name
        name: String,
    },
}

/// What a token is limited to.
#[derive(Args)]
pub struct LimitFlags {
    /// Only these servers, such as `crm,mail`; `*` is anything
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    servers: Vec<String>,
    /// Only these tools, such as `crm.get_*`, and no resources or prompts unless `--servers` names their server;
    /// repeatable
    #[arg(long, value_name = "SERVER.TOOL", value_delimiter = ',')]
    tools: Vec<String>,
    /// Only calls at this isolation level or a stricter one: the gateway's, or what a program asks for with `level`
    #[arg(long)]
    level: Option<Level>,
    /// At most this many tool calls per minute
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    calls_per_minute: Option<u32>,
    /// Only tools that their servers mark read-only
    #[arg(long)]
    read_only: bool,
    /// Never the native engine: its programs run in WebAssembly
    #[arg(long)]
    wasm_only: bool,
    /// How far personal data may go at most: off, output or boundary
    #[arg(long, value_name = "MODE")]
    privacy: Option<PrivacyMode>,
}

impl From<LimitFlags> for TokenLimits {
    fn from(flags: LimitFlags) -> Self {
        let LimitFlags { servers, tools, level, calls_per_minute, read_only, wasm_only, privacy } = flags;
        Self { servers, tools, level, calls_per_minute, read_only, wasm_only, privacy }
    }
}

/// How long a token is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    For(Duration),
    /// Until this moment.
    Until(SystemTime),
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
        match (hours, unix_of_date(text)) {
            (Some(hours @ 1..=HOURS_MAX), _) => Ok(Self::For(Duration::from_secs(hours * 3600))),
            // With its last second, so that the date that's shown is the one that was given.
            (_, Some(day)) => Ok(Self::Until(UNIX_EPOCH + Duration::from_secs(day + 24 * 3600 - 1))),
            (_, None) => Err(format!(
                "`{text}` isn't a lifetime; use 30d, 12h, 8w, a date such as 2027-01-31, or never"
            )),
        }
    }
}

impl Lifetime {
    /// When a token ends that is made now; `None` if never.
    fn end(self, now: SystemTime) -> Result<Option<SystemTime>, Failure> {
        match self {
            Lifetime::For(time) => Ok(Some(now + time)),
            Lifetime::Until(end) if end > now => Ok(Some(end)),
            Lifetime::Until(end) => {
                let text = utc_text(end);
                let day = text.split('T').next().unwrap_or(&text);
                Err(Failure::Usage(anyhow!("{day} is over in UTC; pick today or a later day for --expires")))
            }
            Lifetime::Never => Ok(None),
        }
    }
}

pub fn token(arguments: TokenArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let tokens = AccessTokens::open(&configured.data_folder()?);
    match arguments.command {
        TokenCommand::New { name, scope, limits, expires, json } => {
            let scopes = if scope.is_empty() { Scope::USUAL.to_vec() } else { scope };
            let now = SystemTime::now();
            let end = expires.end(now)?;
            let issued = tokens.issue_limited(&name, scopes, limits.into(), end, now).map_err(failure)?;
            let names: Vec<&str> = issued.record.scopes.iter().map(|scope| scope.as_str()).collect();
            let until = issued.record.expires.map(utc_text);
            let limits = &issued.record.limits;
            audit_log::note(&configured, AuditEvent::token_issued(&name, &names, limits, until.as_deref()));
            for warning in fitting_nothing(limits, &configured) {
                eprint_lines(&format!("warning: {warning}"));
            }
            show_new(&issued, arguments.times, json);
        }
        TokenCommand::List { json } => show_all(&all(&tokens)?, arguments.times, json),
        TokenCommand::Remove { name } => {
            let name = remove(&tokens, &name)?;
            audit_log::note(&configured, AuditEvent::token_revoked(&name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What a token is limited to that no server has. One may be added later.
fn fitting_nothing(limits: &TokenLimits, configured: &Configured) -> Vec<String> {
    let is_pattern = |name: &str| name.contains(['*', '?']);
    let is_known = |name: &str| {
        configured.config.servers.iter().any(|server| wildcard_fits(name, &server.settings.name))
    };
    let mut warnings = Vec::new();
    for server in limits.servers.iter().filter(|server| !is_known(server)) {
        warnings.push(match is_pattern(server) {
            true => format!("no server's name fits `{}`", one_line(server)),
            false => configured.no_such_server(server),
        });
    }
    for tool in &limits.tools {
        match tool.split_once('.') {
            Some((server, _)) if is_pattern(server) || is_known(server) => {}
            Some((server, _)) => warnings.push(configured.no_such_server(server)),
            // A star may stand for the dot, too.
            None if is_pattern(tool) => {}
            None => {
                warnings.push(format!("`{}` must be SERVER.TOOL, such as crm.get_record", one_line(tool)));
            }
        }
    }
    warnings.dedup();
    warnings
}

/// The named ones, after the local owner's.
fn all(tokens: &AccessTokens) -> Result<Vec<TokenRecord>, Failure> {
    // One that can't be used is worth telling of here.
    tokens.local().read().map_err(failure)?;
    let local = tokens.local().created().map(|created| TokenRecord {
        name: Caller::local().name,
        scopes: Caller::local().scopes,
        created,
        expires: None,
        limits: Arc::default(),
    });
    Ok(local.into_iter().chain(tokens.list().map_err(failure)?).collect())
}

/// Gives the name of what was revoked.
fn remove(tokens: &AccessTokens, name: &str) -> Result<String, Failure> {
    if name == Caller::local().name && tokens.local().remove().map_err(failure)? {
        println!("revoked {name}");
        hint(
            "the next `gristmill serve --http` makes a new one; run `gristmill connect` for its clients again",
        );
        return Ok(name.to_owned());
    }
    let revoked = tokens.revoke(name).map_err(failure)?;
    println!("revoked {}", revoked.name);
    Ok(revoked.name)
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
        | TokenError::File { .. }
        | TokenError::LocalFile(_) => Failure::Usage(anyhow!(error)),
    }
}

/// The token alone on stdout, so that it can be piped to where it belongs.
fn show_new(issued: &IssuedToken, times: TimeArguments, as_json: bool) {
    let IssuedToken { text, record } = issued;
    if as_json {
        let mut shown = as_value(record);
        shown["token"] = json!(text.reveal());
        println!("{shown:#}");
    } else {
        println!("{}", text.reveal());
    }
    let name = &record.name;
    eprintln!("Token `{name}` allows {}, {}.", scopes(&record.scopes), until(record.expires, times));
    if !record.limits.is_empty() {
        eprintln!("It's limited to {}.", record.limits.words());
    }
    eprintln!("It won't be shown again. Your client sends it as a header:");
    eprintln!("  Authorization: Bearer {}…", &text.reveal()[..8]);
    hint(&format!("`gristmill token remove {name}` revokes it"));
}

fn show_all(records: &[TokenRecord], times: TimeArguments, as_json: bool) {
    if as_json {
        println!("{:#}", Value::from_iter(records.iter().map(as_value)));
        return;
    }
    if records.is_empty() {
        eprintln!("No access tokens.");
        hint("`gristmill token new NAME` creates one");
        return;
    }
    let has_limits = records.iter().any(|record| !record.limits.is_empty());
    let columns =
        [Column::left("NAME"), Column::left("ALLOWS"), Column::left("CREATED"), Column::left("EXPIRES")];
    let limits = has_limits.then_some(Column::wrapping("LIMITED TO"));
    let mut table = Table::new(columns.into_iter().chain(limits));
    for record in records {
        let expires = match record.expires {
            Some(at) if at <= SystemTime::now() => "expired".to_owned(),
            // To the minute: a token may last for hours.
            Some(at) => times.minute(at),
            None => "never".to_owned(),
        };
        let names: Vec<&str> = record.scopes.iter().map(|scope| scope.as_str()).collect();
        let cells = [record.name.clone(), names.join(", "), times.day(record.created), expires];
        table.row(cells.into_iter().chain(has_limits.then(|| record.limits.words())));
    }
    table.print();
}

fn as_value(record: &TokenRecord) -> Value {
    let mut shown = json!({
        "name": record.name,
        "scopes": record.scopes,
        "created": utc_text(record.created),
        "expires": record.expires.map(utc_text),
    });
    if !record.limits.is_empty() {
        shown["limits"] = json!(*record.limits);
    }
    shown
}

/// `execute`, `execute and search`, or `execute, search and admin`.
fn scopes(scopes: &BTreeSet<Scope>) -> String {
    let names: Vec<&str> = scopes.iter().map(|scope| scope.as_str()).collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        Some(_) | None => names.concat(),
    }
}

fn until(expires: Option<SystemTime>, times: TimeArguments) -> String {
    match expires {
        Some(at) => format!("until {}", times.minute(at)),
        None => "and doesn't expire".to_owned(),
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
            check(wrong, Err(not_one(wrong)));
        }
    }

    fn not_one(text: &str) -> String {
        format!("`{text}` isn't a lifetime; use 30d, 12h, 8w, a date such as 2027-01-31, or never")
    }

    #[test]
    fn a_date_is_good_until_its_day_is_over_in_utc_and_never_in_the_past() {
        let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds);
        let lifetime: Lifetime = "2027-01-31".parse().unwrap();
        let last = at(1_801_439_999);
        assert_eq!((lifetime, utc_text(last).as_str()), (Lifetime::Until(last), "2027-01-31T23:59:59Z"));
        assert!(matches!(lifetime.end(at(1_801_439_998)), Ok(Some(end)) if end == last));
        let Err(Failure::Usage(error)) = lifetime.end(at(1_801_440_000)) else { panic!("it is over") };
        assert_eq!(error.to_string(), "2027-01-31 is over in UTC; pick today or a later day for --expires");
        for wrong in ["2027-02-29", "2027-1-1", "27-01-01", "2027-01-01T00:00:00Z"] {
            assert_eq!(wrong.parse::<Lifetime>(), Err(not_one(wrong)));
        }
    }
}
