//! Plans: what a dry run would have written, kept until a person approves it, and carried out once.
//!
//! Walls: a plan is found by its owner alone. It runs only after a person said yes, by the client, on a
//! terminal or with `gristmill approvals`; a model has no way to. It is taken before it runs, so it runs once,
//! whichever gateway is asked. Programs, variables and arguments are kept for a day at most.

mod limits_text;
mod question;

use std::sync::Arc;
use std::time::Duration;

use gristmill_domain::{Code, Limits, utc_text};
use gristmill_protocol::EngineId;

use crate::context_text::ContextText;
use crate::ids::{Caller, unguessable};
use crate::ports::{Asker, PlannedWrites, Write, Writes};
use crate::report::Refusal;
use crate::request::ExecuteRequest;
use crate::store::{PLAN_KEPT_MS, PlanRecord, PlanState, Store, StoreError};

/// Of an id, for people: there are never many.
const ID_CHARS: usize = 8;

/// What a plan's program and variables may be, together.
const TEXT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// How often what has expired is removed.
const SWEEP_EVERY: Duration = Duration::from_secs(60 * 60);

/// For an agent, which has an argument for it, and for a person, who has a flag.
const NEW_PLAN: &str =
    "make a new plan with a dry run of the program: `dry_run`, or `gristmill run --dry-run` in a terminal";

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Plans {
    store: Arc<Store>,
}

/// What runs in a dry run: the same again is its plan.
#[derive(Clone)]
pub(crate) struct PlanProgram {
    engine: EngineId,
    code: String,
    filename: Option<String>,
    context: ContextText,
    limits: Limits,
}

impl PlanProgram {
    pub fn of(request: &ExecuteRequest, default: &Limits) -> Self {
        Self {
            engine: request.engine,
            code: request.code.clone(),
            filename: request.filename.clone(),
            context: request.context.clone(),
            limits: request.limits.clone().unwrap_or_else(|| default.clone()),
        }
    }
}

/// A plan that is kept.
pub(crate) struct KeptPlan {
    pub id: String,
    /// As UTC.
    pub expires: String,
}

/// Why no plan is kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotKept {
    #[error("its program and variables are too large for a plan")]
    TooLarge,
    #[error("the system random source failed")]
    NoRandomness,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Plans {
    pub fn new(store: Store) -> Self {
        Self { store: Arc::new(store) }
    }

    /// Removes what has expired, now and every hour, as long as anyone else uses this.
    pub fn tidy_in_background(&self) {
        let store = Arc::downgrade(&self.store);
        tokio::spawn(async move {
            while let Some(store) = store.upgrade() {
                // What fails now may work the next time.
                let _ = store.sweep_plans().await;
                drop(store);
                tokio::time::sleep(SWEEP_EVERY).await;
            }
        });
    }

    /// Removes what has expired.
    pub async fn sweep(&self) -> Result<(), StoreError> {
        self.store.sweep_plans().await
    }

    /// Keeps what a dry run would have written.
    pub async fn keep(
        &self,
        caller: &Caller,
        program: PlanProgram,
        writes: Vec<Write>,
    ) -> Result<KeptPlan, NotKept> {
        let PlanProgram { engine, code, filename, context, limits } = program;
        if code.len() + context.as_str().len() > TEXT_BYTES_MAX {
            return Err(NotKept::TooLarge);
        }
        let mut id = unguessable::new().map_err(|_| NotKept::NoRandomness)?;
        id.truncate(ID_CHARS);
        let created_ms = self.store.now_ms();
        let expires = utc_text(self.store.now() + Duration::from_millis(PLAN_KEPT_MS.unsigned_abs()));
        let record = PlanRecord {
            id: id.clone(),
            owner: caller.owner.0.clone(),
            caller: caller.in_words(),
            language: engine.name().to_owned(),
            program: code,
            filename,
            context: context.as_str().to_owned(),
            limits: limits_text::write(&limits),
            writes,
            created_ms,
            expires_ms: created_ms + PLAN_KEPT_MS,
            state: PlanState::Waiting,
        };
        self.store.add_plan(record).await?;
        Ok(KeptPlan { id, expires })
    }

    /// Makes a request the plan's, once a person has said yes: its program, its variables, its limits and
    /// its writes. From here on nobody else can run it.
    pub async fn take(
        &self,
        caller: &Caller,
        id: &str,
        asker: &Asker,
        request: ExecuteRequest,
        ours: &Limits,
    ) -> Result<ExecuteRequest, Refusal> {
        let plan = self.find(caller, id).await?;
        if !request.code.trim().is_empty() && request.code != plan.program {
            return Err(other_program(&plan, &request.code));
        }
        let Some(engine) = EngineId::ALL.iter().find(|engine| engine.name() == plan.language) else {
            return Err(unknown(id));
        };
        let limits = limits_text::read(&plan.limits, ours);
        let context = ContextText::of_object(&plan.context);
        let state = self.approved(caller, &plan, asker).await?;
        if !self.store.take_plan(&plan.id, state).await.map_err(|error| unreadable(&error))? {
            return Err(unknown(id));
        }
        let mut capabilities = request.capabilities;
        capabilities.writes = Writes::Planned(Arc::new(PlannedWrites::new(plan.id, plan.writes)));
        Ok(ExecuteRequest {
            engine: *engine,
            code: plan.program,
            filename: plan.filename,
            context,
            limits: Some(limits),
            capabilities,
            ..request
        })
    }

    /// One that can still run.
    async fn find(&self, caller: &Caller, id: &str) -> Result<PlanRecord, Refusal> {
        let found = self.store.plan_of(&caller.owner.0, id).await.map_err(|error| unreadable(&error))?;
        let plan = found.ok_or_else(|| unknown(id))?;
        match plan.state {
            PlanState::Waiting | PlanState::Approved => Ok(plan),
            PlanState::Used => Err(Refusal::new(
                Code::BadRequest,
                format!("the plan `{}` has run already; a plan runs once", plan.id),
                NEW_PLAN,
            )),
            PlanState::Denied => Err(question::denied(&plan)),
        }
    }
}

fn unknown(id: &str) -> Refusal {
    let id = gristmill_domain::one_line(id, 40);
    Refusal::new(
        Code::BadRequest,
        format!("there is no plan `{id}`, or it has expired; nothing ran"),
        NEW_PLAN,
    )
}

fn unreadable(error: &StoreError) -> Refusal {
    let message = format!("can't read the plan: {error}; nothing ran");
    Refusal::new(Code::Busy, message, "try again; `gristmill doctor` checks the database")
}

fn other_program(plan: &PlanRecord, code: &str) -> Refusal {
    let same = plan.program.lines().zip(code.lines()).take_while(|(planned, now)| planned == now).count();
    Refusal::new(
        Code::PlanDiffers,
        format!("this isn't the program of the plan `{}`: line {} differs; nothing ran", plan.id, same + 1),
        "run the plan without a program of your own: it has its own; or make a new plan with a dry run of this one",
    )
}

#[cfg(test)]
mod tests;
