//! Gateways that share a state. Each runs on one thread of its own, which can be held up or ended at any moment.

use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use gristmill_cluster::state::{Lead, StandBy, StateError, StateSettings, Waited};
use gristmill_cluster::{BusSettings, Insist, NodeName, connect};
use gristmill_gateway::ports::{NotShared, SharedState};
use gristmill_replica::seal::Seal;
use gristmill_testkit::TestFolder;
use rusqlite::Connection;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::picture::Picture;
use crate::server::{Server, settings_at};

/// Longer than anything takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(60);

const LOOKED_EVERY: Duration = Duration::from_millis(5);
const KILLED_WITHIN: Duration = Duration::from_secs(10);

const KEY: [u8; 32] = [7; 32];

/// A gateway with its data folder, whether it runs or not. Cheap to clone.
#[derive(Clone)]
pub struct Place {
    port: u16,
    cluster: String,
    name: String,
    key: [u8; 32],
    folder: Arc<TestFolder>,
}

pub struct StandingBy {
    // Ended before its folder is gone.
    runtime: Runtime,
    place: Place,
    pub leader: watch::Receiver<Option<NodeName>>,
    became: mpsc::Receiver<Result<Waited, StateError>>,
}

pub struct Leader {
    runtime: Runtime,
    lead: Box<Lead>,
    pub place: Place,
    pub state: Arc<dyn SharedState>,
}

/// A gateway whose thread is held up for as long as this lives.
pub struct Frozen {
    _thaws: mpsc::Sender<()>,
}

impl Place {
    pub fn new(server: &Server, cluster: &str, name: &str) -> Self {
        let folder = Arc::new(TestFolder::new(&format!("shared-state-{cluster}-{name}")));
        Self { port: server.port, cluster: cluster.to_owned(), name: name.to_owned(), key: KEY, folder }
    }

    pub fn with_key(self, key: [u8; 32]) -> Self {
        Self { key, ..self }
    }

    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// The gateway works on it while it leads; what nobody settles is nobody's.
    pub fn database(&self) -> Connection {
        let connection = Connection::open(self.data().join("gristmill.db")).expect("a database");
        connection.busy_timeout(PATIENCE).expect("a timeout");
        connection.query_row("PRAGMA journal_mode = WAL", (), |_| Ok(())).expect("a log");
        connection
    }

    pub fn start(&self) -> Result<StandingBy, StateError> {
        Ok(self.join()?.wait())
    }

    /// Has a copy as of the latest snapshot, and doesn't follow the log yet.
    pub fn join(&self) -> Result<Joined, StateError> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let bus = BusSettings { cluster: self.cluster.parse().expect("a name"), ..settings_at(&[self.port]) };
        let stand_by = runtime.block_on(async {
            let bus = connect(&bus, &self.name, Insist::No).await.expect("a connection");
            let settings = StateSettings {
                data: self.data().to_owned(),
                seal: Seal::of(&self.key),
                gateway: self.name.parse().expect("a name"),
                replicas: 1,
                version: "0.0.0".to_owned(),
            };
            StandBy::join(&bus, settings).await
        })?;
        Ok(Joined { place: self.clone(), runtime, stand_by })
    }
}

pub struct Joined {
    stand_by: StandBy,
    runtime: Runtime,
    place: Place,
}

impl Joined {
    pub fn wait(self) -> StandingBy {
        let Self { place, runtime, stand_by } = self;
        let (said, became) = mpsc::channel();
        let leader = stand_by.leader();
        runtime.spawn(async move {
            let _ = said.send(stand_by.until_it_leads(&CancellationToken::new()).await);
        });
        StandingBy { place, runtime, leader, became }
    }
}

impl StandingBy {
    pub fn data(&self) -> &Path {
        self.place.data()
    }

    pub fn until_it_leads(self) -> Leader {
        let waited = self.became.recv_timeout(PATIENCE).expect("it leads in the end");
        let Self { place, runtime, .. } = self;
        match waited {
            Ok(Waited::Leads(lead)) => Leader { place, runtime, state: lead.state(), lead },
            Ok(Waited::Stopped) => panic!("{} was stopped", place.name),
            Err(error) => panic!("{}: {error}", place.name),
        }
    }

    /// Nothing has come of it so far.
    pub fn stands_by(&self) -> bool {
        match self.became.try_recv() {
            Ok(Err(error)) => panic!("{}: {error}", self.place.name),
            Ok(Ok(_)) => false,
            Err(_) => true,
        }
    }

    pub fn until_it_has(&self, picture: &Picture) {
        let until = Instant::now() + PATIENCE;
        while Picture::of_copy(self.place.data()).as_ref() != Some(picture) {
            assert!(self.stands_by(), "it leads");
            if Instant::now() > until {
                Picture::of_copy(self.place.data()).expect("a whole copy").assert_is(picture);
            }
            std::thread::sleep(LOOKED_EVERY);
        }
    }

    pub fn freeze(&self) -> Frozen {
        freeze(self.runtime.handle())
    }

    pub fn kill(self) -> Place {
        self.runtime.shutdown_timeout(KILLED_WITHIN);
        self.place
    }
}

impl Leader {
    pub fn data(&self) -> &Path {
        self.place.data()
    }

    pub fn database(&self) -> Connection {
        self.place.database()
    }

    /// `None` if it was killed meanwhile.
    pub fn settle(&self) -> Option<Result<(), NotShared>> {
        self.settler().settle()
    }

    pub fn settler(&self) -> Settler {
        Settler { runtime: self.runtime.handle().clone(), state: Arc::clone(&self.state) }
    }

    /// What is settled now.
    pub fn settled(&self) -> Picture {
        assert_eq!(self.settle(), Some(Ok(())));
        Picture::of_leader(self.data())
    }

    pub fn is_overtaken(&self) -> bool {
        self.lead.overtaken().is_cancelled()
    }

    pub fn freeze(&self) -> Frozen {
        freeze(self.runtime.handle())
    }

    /// Ends it without a word.
    pub fn kill(self) -> Place {
        self.runtime.shutdown_timeout(KILLED_WITHIN);
        self.place
    }

    pub fn leave(self) -> Place {
        self.runtime.block_on(self.lead.leave());
        self.runtime.shutdown_timeout(KILLED_WITHIN);
        self.place
    }
}

/// Somebody who changes something and waits until that is safe. Cheap to clone.
#[derive(Clone)]
pub struct Settler {
    runtime: Handle,
    pub state: Arc<dyn SharedState>,
}

impl Settler {
    /// It's waited for as of now.
    pub fn begin(&self) -> mpsc::Receiver<Result<(), NotShared>> {
        let (done, settled) = mpsc::channel();
        let state = Arc::clone(&self.state);
        self.runtime.spawn(async move {
            let _ = done.send(state.settle().await);
        });
        settled
    }

    pub fn settle(&self) -> Option<Result<(), NotShared>> {
        self.begin().recv().ok()
    }
}

fn freeze(runtime: &Handle) -> Frozen {
    let (thaws, thawed) = mpsc::channel::<()>();
    let (began, has_begun) = mpsc::channel();
    runtime.spawn(async move {
        let _ = began.send(());
        // Held up on purpose, with everything else that the runtime's only thread would do.
        let _ = thawed.recv();
    });
    has_begun.recv().expect("held up");
    Frozen { _thaws: thaws }
}

pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(LOOKED_EVERY);
    }
}
