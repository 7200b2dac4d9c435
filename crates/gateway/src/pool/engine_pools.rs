//! A pool for each engine. One that nobody uses has no process.

use std::path::PathBuf;
use std::sync::Arc;

use gristmill_domain::Level;
use gristmill_protocol::{EngineId, NativeStart};

use super::{CgroupLimits, Pool, PoolSettings, WorkerCommand, ZygoteChanges, ZygoteStatus};

/// What every pool of a gateway is started with.
#[derive(Clone)]
pub(crate) struct PoolStart {
    pub command: WorkerCommand,
    pub cache: PathBuf,
    pub scratch: PathBuf,
    /// Whose walls are required.
    pub level: Level,
    pub settings: PoolSettings,
    pub cgroup_limits: CgroupLimits,
    /// What the native engine is made of, where it may be used.
    pub native: Option<NativeStart>,
    /// Whether it may do without namespaces at level production.
    pub native_without_namespaces: bool,
}

pub(crate) struct EnginePools {
    python: Arc<Pool>,
    typescript: Arc<Pool>,
    native: Arc<Pool>,
}

impl EnginePools {
    /// Those of `warm` start at once, the others when they are first used. Needs a tokio runtime.
    pub fn start(start: &PoolStart, warm: &[EngineId]) -> Self {
        let pool = |engine| Arc::new(Pool::asleep(engine, start.clone()));
        let made = Self {
            python: pool(EngineId::Python),
            typescript: pool(EngineId::TypeScript),
            native: pool(EngineId::Native),
        };
        let is_usable = |engine: &&EngineId| **engine != EngineId::Native || start.native.is_some();
        warm.iter().filter(is_usable).for_each(|engine| made.of(*engine).wake());
        made
    }

    pub fn of(&self, engine: EngineId) -> &Arc<Pool> {
        match engine {
            EngineId::Python => &self.python,
            EngineId::TypeScript => &self.typescript,
            EngineId::Native => &self.native,
        }
    }

    /// The engines that have processes, or are about to.
    pub fn awake(&self) -> impl Iterator<Item = EngineId> {
        EngineId::ALL.iter().copied().filter(|engine| self.of(*engine).is_awake())
    }

    /// Whether workers of every engine that has processes can be had, and there is one. Starts none.
    pub fn are_ready(&self) -> bool {
        let is_ready = |engine| matches!(&*self.of(engine).status().borrow(), ZygoteStatus::Ready { .. });
        let mut awake = self.awake().peekable();
        awake.peek().is_some() && awake.all(is_ready)
    }

    /// How many children wait now, of all engines.
    pub fn waiting(&self) -> usize {
        EngineId::ALL.iter().map(|engine| self.of(*engine).waiting()).sum()
    }

    /// How often zygotes became others, of all engines.
    pub fn zygote_changes(&self) -> ZygoteChanges {
        EngineId::ALL.iter().map(|engine| self.of(*engine).zygote_changes()).fold(
            ZygoteChanges::default(),
            |all, one| ZygoteChanges { lost: all.lost + one.lost, renewed: all.renewed + one.renewed },
        )
    }

    pub async fn close(&self) {
        tokio::join!(self.python.close(), self.typescript.close(), self.native.close());
    }
}
