//! `gristmill approvals`: calls that wait for your answer, those that were refused for want of one, and plans.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use gristmill_config::Flags;
use gristmill_gateway::audit::AuditEvent;
use gristmill_gateway::domain::policy::Answered;
use gristmill_gateway::domain::utc_text;
use gristmill_gateway::ports::{AnswerWay, AuditLog};
use gristmill_gateway::store::{ApprovalRecord, ApprovalState, PlanState, Store};
use gristmill_gateway::upstream::{AlwaysApproval, AlwaysApprovals, note_answer};
use serde_json::{Value, json};

use super::run_questions::{CHOICES, PLAN_CHOICES, answered};
use super::{Failure, Outcome, approvals_plans};
use crate::arguments::ConfigFile;
use crate::hints::hint;
use crate::id_prefix::Kind;
use crate::local_time::{TimeArguments, from_unix_ms};
use crate::table::{Column, Table};
use crate::terminal::{ask, eprint_lines, one_line};
use crate::upstreams::{self, Configured};
use crate::{audit_log, data_store};

/// How often `--watch` looks.
const LOOK_EVERY: Duration = Duration::from_millis(300);

/// Some times within what it counts for.
const LOOKING_SAID_EVERY: Duration = Duration::from_secs(5);

#[derive(Args)]
pub struct ApprovalsArguments {
    #[command(subcommand)]
    pub command: Option<ApprovalsCommand>,

    /// Wait for calls and plans, and answer them one by one
    #[arg(long)]
    pub watch: bool,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub times: TimeArguments,

    #[command(flatten)]
    pub config: ConfigFile,
}

#[derive(Subcommand)]
pub enum ApprovalsCommand {
    /// Allow calls once, for their session, or always; or plans, once
    Allow {
        /// Their ids; the first characters are enough
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// This tool for the rest of the session
        #[arg(long, conflicts_with = "always")]
        session: bool,
        /// This tool from now on
        #[arg(long)]
        always: bool,
    },
    /// Refuse calls that wait, or plans
    Deny {
        /// Their ids; the first characters are enough
        #[arg(required = true, value_name = "ID")]
        ids: Vec<String>,
        /// Why, in a few words: the program is told, and the audit has it
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Ask about a tool again that you've always allowed
    Forget {
        /// The tool, as `server.tool`
        tool: String,
    },
}

/// What is answered here, and where it is kept.
struct Desk {
    store: Store,
    always: AlwaysApprovals,
}

pub async fn approvals(arguments: ApprovalsArguments) -> Outcome {
    let configured = upstreams::read(&Flags { config: arguments.config.config, ..Flags::default() })?;
    let data = configured.data_folder()?;
    let store = Store::open(&data).map_err(data_store::failure)?;
    let (store, audit) = audit_log::attach(store, configured.config.audit.wanted());
    let desk = Desk { store, always: AlwaysApprovals::open(&data) };
    let outcome = match arguments.command {
        // At its questions, too: what is typed after Ctrl-C answers none of them.
        None if arguments.watch => tokio::select! {
            outcome = desk.watch(&configured, arguments.times) => outcome,
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::SUCCESS),
        },
        None => desk.list(arguments.times, arguments.json).await,
        Some(ApprovalsCommand::Allow { ids, session, always }) => {
            let answered = match (session, always) {
                (_, true) => Answered::Always,
                (true, false) => Answered::Session,
                (false, false) => Answered::Once,
            };
            desk.answer_all(&configured, &ids, answered, None).await
        }
        Some(ApprovalsCommand::Deny { ids, reason }) => {
            desk.answer_all(&configured, &ids, Answered::No, reason.as_deref()).await
        }
        Some(ApprovalsCommand::Forget { tool }) => {
            let forgotten = desk.forget(&tool);
            if let (Ok(_), Some(audit), Some((server, name))) = (&forgotten, &audit, tool.split_once('.')) {
                audit.note(AuditEvent::approval_forgotten(server, name, AnswerWay::Approvals.as_str()));
            }
            forgotten
        }
    };
    if let Some(audit) = audit {
        audit_log::finish(&audit).await;
    }
    desk.store.close().await;
    outcome
}

async fn say_that_somebody_looks(store: Store) {
    let watcher = format!("approvals-{}", std::process::id());
    loop {
        store.watch_approvals(&watcher);
        tokio::time::sleep(LOOKING_SAID_EVERY).await;
    }
}

impl Desk {
    /// Those that nobody has answered, the newest first. Of a program that is gone they can't be any more.
    async fn open_questions(&self) -> Result<Vec<ApprovalRecord>, Failure> {
        let mut all = self.store.list_approvals().await.map_err(data_store::failure)?;
        all.retain(|record| match record.state {
            ApprovalState::Waiting | ApprovalState::Refused | ApprovalState::Gone => true,
            ApprovalState::Answered(_) | ApprovalState::Used | ApprovalState::Over => false,
        });
        Ok(all)
    }

    async fn list(&self, times: TimeArguments, as_json: bool) -> Outcome {
        let open = self.open_questions().await?;
        let plans = approvals_plans::open_plans(&self.store).await?;
        if as_json {
            let plans = plans.iter().map(approvals_plans::as_value);
            println!("{:#}", Value::from_iter(open.iter().map(as_value).chain(plans)));
            return Ok(ExitCode::SUCCESS);
        }
        if open.is_empty() && plans.is_empty() {
            eprint_lines("No calls need your approval.");
        }
        self.print_questions(&open, times);
        approvals_plans::print(&plans, times);
        Ok(ExitCode::SUCCESS)
    }

    fn print_questions(&self, open: &[ApprovalRecord], times: TimeArguments) {
        if open.is_empty() {
            return;
        }
        let mut table = Table::new([
            Column::left("ID"),
            Column::left("STATUS"),
            Column::left("ASKED"),
            Column::wrapping("TOOL"),
            Column::wrapping("BY"),
            Column::wrapping("WHY"),
        ]);
        for record in open {
            table.row([
                record.id.clone(),
                record.state.as_str().to_owned(),
                times.second(from_unix_ms(record.asked_ms)),
                one_line(&format!("{}.{}", record.server, record.tool)),
                one_line(&record.caller),
                one_line(&record.why),
            ]);
            table.note(format!("  {}", one_line(&record.arguments)));
            if record.state == ApprovalState::Gone {
                table.note("  its program is gone, so there's nothing to answer".to_owned());
            }
        }
        table.print();
        if open.iter().any(|record| record.state != ApprovalState::Gone) {
            hint("`gristmill approvals allow ID` allows a call once; --session and --always allow the tool");
        }
    }

    /// Each by itself: one that can't be answered keeps no other from its answer.
    async fn answer_all(
        &self,
        configured: &Configured,
        ids: &[String],
        answered: Answered,
        reason: Option<&str>,
    ) -> Outcome {
        let mut code = ExitCode::SUCCESS;
        for id in ids {
            if let Err(failure) = self.answer_to(configured, id, answered, reason).await {
                code = failure.report();
            }
        }
        Ok(code)
    }

    async fn answer_to(
        &self,
        configured: &Configured,
        id: &str,
        answered: Answered,
        reason: Option<&str>,
    ) -> Outcome {
        const APPROVAL: Kind = Kind { noun: "call", list_command: "gristmill approvals" };
        let open = self.open_questions().await?;
        let plans = approvals_plans::open_plans(&self.store).await?;
        let ids = open.iter().map(|record| &record.id).chain(plans.iter().map(|plan| &plan.id));
        let id = APPROVAL.resolve(id, ids.map(String::as_str))?;
        if let Some(plan) = plans.iter().find(|plan| plan.id == id) {
            return approvals_plans::answer(configured, &self.store, plan, answered).await;
        }
        let record = open.into_iter().find(|record| record.id == id);
        let record = record.ok_or_else(|| Failure::Usage(anyhow!("no call has the id `{id}`")))?;
        let name = one_line(&format!("{}.{}", record.server, record.tool));
        if record.state == ApprovalState::Gone {
            return Err(Failure::Usage(anyhow!(
                "the program that asked about {name} (`{id}`) is gone, and nothing was answered\n\
                 hint: run it again, and you're asked again; `gristmill policy allow {name}` stops the questions"
            )));
        }
        let record = ApprovalRecord { reason: reason.map(ToOwned::to_owned), ..record };
        self.answer(&record, answered).await?;
        let (is_waiting, again) = match record.state {
            ApprovalState::Waiting => (true, ""),
            ApprovalState::Refused
            | ApprovalState::Answered(_)
            | ApprovalState::Used
            | ApprovalState::Over
            | ApprovalState::Gone => (false, "; ask your agent to try again"),
        };
        match answered {
            Answered::Once if is_waiting => println!("allowed {name} once"),
            Answered::Once => println!("allowed {name} once, with the same arguments{again}"),
            Answered::Session => println!("allowed {name} for this session{again}"),
            Answered::Always => println!("allowed {name} from now on{again}"),
            Answered::No | Answered::Timeout | Answered::Nobody => println!("refused {name}"),
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn answer(&self, record: &ApprovalRecord, answered: Answered) -> Result<(), Failure> {
        if answered == Answered::Always {
            let approval = AlwaysApproval {
                owner: record.owner.clone(),
                rule: record.rule.clone(),
                server: record.server.clone(),
                tool: record.tool.clone(),
            };
            self.always.allow(approval).map_err(|error| Failure::Usage(error.into()))?;
        }
        let is_answered = match (&record.reason, answered) {
            (Some(reason), Answered::No) => self.store.deny_approval(&record.id, reason).await,
            (_, _) => self.store.answer_approval(&record.id, answered).await,
        };
        let is_answered = is_answered.map_err(data_store::failure)?;
        match is_answered {
            true => {
                note_answer(&self.store, record, answered, AnswerWay::Approvals);
                Ok(())
            }
            false => {
                Err(Failure::Usage(anyhow!("the call `{}` was answered already, or has ended", record.id)))
            }
        }
    }

    fn forget(&self, tool: &str) -> Outcome {
        let (server, name) = tool
            .split_once('.')
            .ok_or_else(|| Failure::Usage(anyhow!("`{}` must be SERVER.TOOL", one_line(tool))))?;
        let forgotten = self.always.forget(server, name).map_err(|error| Failure::Usage(error.into()))?;
        match forgotten {
            0 => Err(Failure::Usage(anyhow!(
                "{} isn't always allowed\nhint: `gristmill policy show` lists what is",
                one_line(tool)
            ))),
            _ => {
                println!("{} is asked about again", one_line(tool));
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    /// Shows each call and each plan that waits as it comes; on a terminal, takes the answer. Ends with the
    /// terminal.
    async fn watch(&self, configured: &Configured, times: TimeArguments) -> Outcome {
        let is_interactive = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        let mut seen = HashSet::new();
        // Whoever answers here can be asked, also while they think.
        if is_interactive {
            tokio::spawn(say_that_somebody_looks(self.store.clone()));
        }
        eprint_lines("waiting for calls and plans that need your approval; Ctrl-C to stop");
        loop {
            for record in self.open_questions().await?.into_iter().rev() {
                if record.state != ApprovalState::Waiting || !seen.insert(record.id.clone()) {
                    continue;
                }
                self.show_one(&record, times);
                if is_interactive && let Some(answered) = asked(CHOICES).await {
                    match self.answer(&record, answered).await {
                        Ok(()) => eprint_lines(answered.as_str()),
                        Err(_) => eprint_lines("it was answered already, or has ended"),
                    }
                }
            }
            for plan in approvals_plans::open_plans(&self.store).await?.into_iter().rev() {
                if plan.state != PlanState::Waiting || !seen.insert(plan.id.clone()) {
                    continue;
                }
                approvals_plans::show_one(&plan, times);
                if is_interactive && let Some(answered) = asked(PLAN_CHOICES).await {
                    let answered = if answered.is_yes() { Answered::Once } else { Answered::No };
                    let told = approvals_plans::answer(configured, &self.store, &plan, answered).await;
                    if told.is_err() {
                        eprint_lines("it was answered already, or has run");
                    }
                }
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn show_one(&self, record: &ApprovalRecord, times: TimeArguments) {
        let name = one_line(&format!("{}.{}", record.server, record.tool));
        println!("{}  {}  {name}", record.id, times.second(from_unix_ms(record.asked_ms)));
        println!("  by {}, asked because {}", one_line(&record.caller), one_line(&record.why));
        println!("  {}", one_line(&record.arguments));
    }
}

/// On a thread of its own: a person takes a while.
async fn asked(choices: &'static str) -> Option<Answered> {
    let said = tokio::task::spawn_blocking(|| ask(choices)).await.ok()??;
    Some(answered(&said))
}

fn as_value(record: &ApprovalRecord) -> Value {
    json!({
        "id": record.id,
        "status": record.state.as_str(),
        "asked": utc_text(from_unix_ms(record.asked_ms)),
        "server": record.server,
        "tool": record.tool,
        "arguments": record.arguments,
        "by": record.caller,
        "rule": record.rule,
        "why": record.why,
    })
}
