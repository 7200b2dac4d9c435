//! What counts and watches a gateway, and who is told of what is found: as `[watch]` and `[alerts]` say.

use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use chrono::{Local, Offset};
use gristmill_config::alerts_table::AlertsConfig;
use gristmill_config::env_file::Variables;
use gristmill_gateway::ports::{AlertNotice, AlertWay, BoxFuture};
use gristmill_gateway::store::Store;
use gristmill_gateway::telemetry::{Telemetry, WatchSettings};
use gristmill_gateway::watch::Settings;
use gristmill_gateway::watch::alerts::AlertSettings;
use gristmill_mcp::AlertWebhook;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, Command};

use crate::failure::Failure;
use crate::terminal::eprint_lines;
use crate::upstreams::{Configured, secret_context_of};

/// For a command that is told of an alert.
const COMMAND_MAX: Duration = Duration::from_secs(10);

/// Counts what a gateway does, and watches it unless the user does not want that.
pub async fn telemetry(configured: Option<&Configured>, store: Option<Store>) -> Result<Telemetry, Failure> {
    let default = AlertsConfig::default();
    let (is_watched, watch) = configured.map_or((true, Settings::default()), |configured| {
        (configured.config.watch.enabled, configured.config.watch.settings.clone())
    });
    let Some(store) = store.filter(|_| is_watched) else { return Ok(Telemetry::counting()) };
    let config = configured.map_or(&default, |configured| &configured.config.alerts);
    let ways = ways(config, Tries::Several).await?;
    let alerts = AlertSettings { notices: u32::from(config.notices), ..AlertSettings::default() };
    let utc_offset_minutes = Local::now().offset().fix().local_minus_utc() / 60;
    let watch = Settings { utc_offset_minutes, ..watch };
    let told = Arc::new(|said: String| eprint_lines(&said));
    Ok(Telemetry::watching(store, WatchSettings { watch, alerts, ways, told }))
}

/// How hard it is tried to reach somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tries {
    Once,
    Several,
}

/// Every way that is configured.
pub async fn ways(config: &AlertsConfig, tries: Tries) -> Result<Vec<Arc<dyn AlertWay>>, Failure> {
    let mut ways: Vec<Arc<dyn AlertWay>> = Vec::new();
    if config.log {
        ways.push(Arc::new(Log));
    }
    if !config.command.is_empty() {
        ways.push(Arc::new(AlertCommand { words: config.command.clone(), time_max: COMMAND_MAX }));
    }
    if let Some(webhook) = &config.webhook {
        let context = secret_context_of(&config.webhook_origin, &config.variables, &Variables::default());
        let made = AlertWebhook::new(&webhook.url, &webhook.secret, &context).await;
        let made = made.map_err(|error| Failure::Configuration(error.into()))?;
        ways.push(Arc::new(if tries == Tries::Once { made.trying_once() } else { made }));
    }
    Ok(ways)
}

/// Standard error.
struct Log;

impl AlertWay for Log {
    fn name(&self) -> &'static str {
        "log"
    }

    fn tell(&self, notice: Arc<AlertNotice>) -> BoxFuture<'static, Result<(), String>> {
        Box::pin(async move {
            eprint_lines(&notice.words);
            Ok(())
        })
    }
}

/// A program of the user's, with the alert on its standard input. No shell reads anything of it.
struct AlertCommand {
    words: Vec<String>,
    time_max: Duration,
}

impl AlertWay for AlertCommand {
    fn name(&self) -> &'static str {
        "command"
    }

    fn tell(&self, notice: Arc<AlertNotice>) -> BoxFuture<'static, Result<(), String>> {
        let (words, time_max) = (self.words.clone(), self.time_max);
        Box::pin(async move { run(&words, &notice.json, time_max).await })
    }
}

async fn run(words: &[String], json: &str, time_max: Duration) -> Result<(), String> {
    let [program, arguments @ ..] = words else { return Err("it is empty".to_owned()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // A group of its own: whatever it starts ends with it.
    let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| error.to_string())?;
    let group = Group::of(&child);
    let outcome = tokio::time::timeout(time_max, talk(&mut child, json)).await;
    drop(group);
    match outcome {
        Ok(outcome) => outcome,
        Err(_) => Err(format!("it didn't end within {} s and was killed", time_max.as_secs())),
    }
}

async fn talk(child: &mut Child, json: &str) -> Result<(), String> {
    if let Some(mut input) = child.stdin.take() {
        // One that does not read it may still be content.
        let _ = input.write_all(format!("{json}\n").as_bytes()).await;
    }
    let status = child.wait().await.map_err(|error| error.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("it ended with {status}")) }
}

/// A process and what it has started. Killed when this is dropped.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            // There is none left if all of it has ended.
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    fn words(script: &str, argument: &str) -> Vec<String> {
        ["/bin/sh", "-c", script, argument].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn a_command_gets_the_alert_on_its_standard_input() {
        let folder = TestFolder::new("alert-command");
        let file = folder.path().join("told");
        let script = "cat > \"$0\"";
        let told = run(&words(script, &file.display().to_string()), "{\"a\":1}", COMMAND_MAX).await;
        assert_eq!(told, Ok(()));
        assert_eq!(std::fs::read_to_string(file).unwrap(), "{\"a\":1}\n");
    }

    #[tokio::test]
    async fn a_command_that_fails_or_is_missing_is_told_of() {
        let failed = run(&words("exit 3", ""), "{}", COMMAND_MAX).await;
        assert_eq!(failed, Err("it ended with exit status: 3".to_owned()));
        assert!(run(&["/nowhere/at/all".to_owned()], "{}", COMMAND_MAX).await.is_err());
    }

    #[tokio::test]
    async fn a_command_that_does_not_end_is_killed_with_what_it_started() {
        let folder = TestFolder::new("alert-command-slow");
        let file = folder.path().join("child");
        let script = "sleep 600 & echo $! > \"$0\"; wait";
        let told = run(&words(script, &file.display().to_string()), "{}", Duration::from_millis(500)).await;
        assert_eq!(told, Err("it didn't end within 0 s and was killed".to_owned()));
        let child: i32 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
        let is_gone = || {
            let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        let deadline = std::time::Instant::now() + Duration::from_secs(5);
        while !is_gone() {
            assert!(std::time::Instant::now() < deadline, "the child lives");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
