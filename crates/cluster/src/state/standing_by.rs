//! A gateway that stands by: its copy of the state is brought up to date, and it takes the lead when nobody has it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gristmill_replica::database::{self, PageSource, Pages};
use gristmill_replica::entry::{Entry, LogPlace};
use gristmill_replica::manifest::Changes;
use gristmill_replica::seal::Seal;
use gristmill_replica::tree::{self, Scanner};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::contents::blocking;
use super::error::StateError;
use super::folder::SharedFolder;
use super::leading::{Lead, awake_or_not_ms};
use super::log::{AppendError, Follow, LogError, StateLog};
use super::log_entries::LogEntries;
use super::restoring::{self, Begun};
use super::snapshots::Latest;
use super::timing::{APART, APPLIED_WITHIN, ASKED_EVERY, LOST_AFTER, SAID_EVERY, TRIED_FOR};
use crate::bus::{Bus, LOG_AREA};
use crate::names::{NodeName, new_incarnation};
use crate::presence::{self, GatewayPresence, StateRole};
use crate::wire::WIRE_VERSION;

/// After the bus has failed, it's tried again so much later.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

/// How long the log may be shorter than it was.
const SHORTER_MAX: Duration = Duration::from_secs(5);

/// How long joining is tried, while the bus can't say what there is.
const JOINED_WITHIN: Duration = Duration::from_secs(20);

/// What a gateway shares its state with.
pub struct StateSettings {
    /// Its data folder.
    pub data: PathBuf,
    pub seal: Seal,
    /// What it's called.
    pub gateway: NodeName,
    /// Of the log, on as many servers.
    pub replicas: usize,
    /// Of the build, for people.
    pub version: String,
}

/// See the module.
pub struct StandBy {
    bus: Bus,
    pub(super) folder: Arc<SharedFolder>,
    pub(super) entries: LogEntries,
    pub(super) gateway: NodeName,
    version: String,
    pub(super) latest: Latest,
    /// The last entry that the copy has.
    pub(super) position: LogPlace,
    /// Knows its files.
    pub(super) scanner: Scanner,
    /// Who leads, by what was read of the log so far; told from this entry on. What comes before has been.
    led_by: Option<NodeName>,
    known_from: u64,
    leader: watch::Sender<Option<NodeName>>,
    /// Since when the log has been shorter than this copy.
    shorter_since: Option<Instant>,
    /// How often somebody took the lead, as far as is known.
    incarnation: u64,
}

/// What became of waiting.
pub enum Waited {
    /// This gateway leads.
    Leads(Box<Lead>),
    Stopped,
}

impl StandBy {
    /// Brings the copy in the data folder up to the latest snapshot. The first gateway of all begins the state with
    /// what it has.
    pub async fn join(bus: &Bus, settings: StateSettings) -> Result<Self, StateError> {
        let StateSettings { data, seal, gateway, replicas, version } = settings;
        let folder = Arc::new(SharedFolder::open(&data)?);
        let seal = Arc::new(seal);
        let until = Instant::now() + JOINED_WITHIN;
        let (entries, begun, last) = loop {
            match begin(bus, (&folder, &seal), replicas).await {
                // Servers that have just started, or have lost one of them, take a while to agree.
                Err(error) if error.may_pass() && Instant::now() < until => {
                    tracing::warn!(target: LOG_AREA, %error, "the shared state can't be had yet; trying again");
                    tokio::time::sleep(AGAIN_AFTER).await;
                }
                begun => break begun?,
            }
        };
        let Begun { latest, as_of, scanner } = begun;
        let (leader, _) = watch::channel(None);
        Ok(Self {
            bus: bus.clone(),
            folder,
            entries,
            gateway,
            version,
            latest,
            position: as_of,
            scanner,
            led_by: None,
            known_from: last,
            leader,
            shorter_since: None,
            incarnation: 0,
        })
    }

    /// What is passed on to whoever leads is sealed with it, too.
    pub fn seal(&self) -> Arc<Seal> {
        Arc::clone(self.entries.seal())
    }

    /// Who leads, as far as is known.
    pub fn leader(&self) -> watch::Receiver<Option<NodeName>> {
        self.leader.subscribe()
    }

    /// Keeps the copy up to date until this gateway leads, or is to stop.
    pub async fn until_it_leads(mut self, stop: &CancellationToken) -> Result<Waited, StateError> {
        // Said as long as this is waited for.
        let mut saying = JoinSet::new();
        saying.spawn(say_presence(self.bus.clone(), self.gateway.clone(), self.version.clone()));
        let mut follow = self.follow().await?;
        let mut silence = Silence::begin();
        let mut torn_after = None;
        if self.known_from == 0 {
            // Nobody has ever led it.
            silence.is_over();
        }
        loop {
            let next = tokio::select! {
                () = stop.cancelled() => return Ok(Waited::Stopped),
                next = follow.next() => Some(next),
                () = tokio::time::sleep_until(silence.asked_at.into()) => None,
            };
            match next {
                Some(Ok((sequence, sealed))) => {
                    silence.is_broken();
                    match self.take_in(sequence, &sealed).await {
                        Ok(Lasts::Yes) => {}
                        Ok(Lasts::No) => silence.is_over(),
                        // Servers have lost the end of the log, and it goes on without what this copy has. Once: the
                        // log itself may be torn.
                        Err(StateError::Torn { after, .. }) if torn_after != Some(after) => {
                            torn_after = Some(after);
                            follow = self.follow_again(LogError::Gap { first: sequence }).await?;
                        }
                        Err(error) => return Err(error),
                    }
                }
                Some(Err(error)) => {
                    silence.is_broken();
                    follow = self.follow_again(error).await?;
                }
                None => match self.ask(&mut silence).await {
                    Asked::Silent => {}
                    Asked::Lost => match self.take_the_lead().await? {
                        Ok(lead) => return Ok(Waited::Leads(Box::new(lead))),
                        Err(still_stands_by) => {
                            self = still_stands_by;
                            silence.is_broken();
                        }
                    },
                },
            }
        }
    }

    /// Whether the log says nothing, or nobody can tell.
    async fn ask(&self, silence: &mut Silence) -> Asked {
        silence.was_asked();
        match tokio::time::timeout(ASKED_EVERY, self.entries.log.last()).await {
            Ok(Ok(last)) if last <= self.position.sequence => match silence.is_long() {
                true => Asked::Lost,
                false => Asked::Silent,
            },
            // More is on its way here, or the leader couldn't write either.
            Ok(Ok(_) | Err(_)) | Err(_) => {
                silence.is_broken();
                Asked::Silent
            }
        }
    }

    async fn follow(&mut self) -> Result<Follow, StateError> {
        loop {
            match self.entries.log.follow(self.position.sequence).await {
                Ok(follow) => {
                    self.shorter_since = None;
                    return Ok(follow);
                }
                Err(error) => self.follow_on(error).await?,
            }
        }
    }

    async fn follow_again(&mut self, error: LogError) -> Result<Follow, StateError> {
        self.follow_on(error).await?;
        self.follow().await
    }

    /// Before the log can be followed again.
    async fn follow_on(&mut self, error: LogError) -> Result<(), StateError> {
        match error {
            LogError::Gap { .. } => {
                tracing::info!(target: LOG_AREA, "the copy of the state begins anew from a snapshot");
                let begun = restoring::begin(&self.folder, &self.entries).await;
                match begun {
                    Ok(begun) => {
                        (self.latest, self.position, self.scanner) =
                            (begun.latest, begun.as_of, begun.scanner);
                    }
                    Err(error) if error.may_pass() => tokio::time::sleep(AGAIN_AFTER).await,
                    Err(error) => return Err(error),
                }
            }
            LogError::Shorter { last, .. } => {
                // Servers that start may know less than they kept. If they have lost it, nobody has it but copies.
                let since = *self.shorter_since.get_or_insert_with(Instant::now);
                if since.elapsed() > SHORTER_MAX {
                    self.shorter_since = None;
                    tracing::warn!(target: LOG_AREA, %error, "servers of the bus have lost what was in the log");
                    return Box::pin(self.follow_on(LogError::Gap { first: last })).await;
                }
                tokio::time::sleep(AGAIN_AFTER).await;
            }
            LogError::Unavailable(_) | LogError::Ended => {
                tracing::warn!(target: LOG_AREA, %error, "the shared state isn't heard");
                tokio::time::sleep(AGAIN_AFTER).await;
            }
            LogError::NoJetStream
            | LogError::NotPermitted { .. }
            | LogError::TooFewServers { .. }
            | LogError::OtherSettings { .. }
            | LogError::NoStream(_)
            | LogError::Foreign { .. } => return Err(error.into()),
        }
        Ok(())
    }

    /// Tried for a while: a content may have to be fetched, and the bus may be away.
    async fn take_in(&mut self, sequence: u64, sealed: &[u8]) -> Result<Lasts, StateError> {
        let until = Instant::now() + APPLIED_WITHIN;
        loop {
            let entry = self.entries.opened(self.position, sealed).await;
            let taken = match entry {
                Ok(entry) => self.take_entry(LogPlace::of(sequence, sealed), entry).await,
                Err(error) => Err(error),
            };
            match taken {
                Err(error) if error.may_pass() && Instant::now() < until => {
                    tracing::warn!(target: LOG_AREA, %error, "the copy can't be brought up to date; trying again");
                    tokio::time::sleep(AGAIN_AFTER).await;
                }
                taken => return taken,
            }
        }
    }

    async fn take_entry(&mut self, place: LogPlace, entry: Entry) -> Result<Lasts, StateError> {
        let mut lasts = Lasts::Yes;
        match entry {
            Entry::Changes { files, pages } => {
                self.apply(files.clone(), pages).await?;
                self.scanner.commit(&files);
            }
            Entry::Leads { gateway, incarnation, .. } => {
                tracing::info!(target: LOG_AREA, gateway, "leads");
                self.incarnation = self.incarnation.max(incarnation);
                // One of our own is from before this process: nobody of that name answers.
                self.led_by = gateway.parse().ok().filter(|leader| *leader != self.gateway);
            }
            Entry::Leaves => {
                self.led_by = None;
                lasts = Lasts::No;
            }
            Entry::Alive { .. } => {}
        }
        self.position = place;
        if self.position.sequence >= self.known_from {
            self.leader.send_if_modified(|told| {
                let is_new = *told != self.led_by;
                told.clone_from(&self.led_by);
                is_new
            });
        }
        Ok(lasts)
    }

    async fn apply(&self, files: Changes, pages: Option<Pages>) -> Result<(), StateError> {
        let (folder, entries, runtime) = (Arc::clone(&self.folder), self.entries.clone(), Handle::current());
        let applied = blocking(move || {
            if !files.is_empty() {
                let mut fetch = |state: &_| Ok(entries.contents.fetch(&runtime, state));
                tree::apply(folder.data(), &files, entries.seal(), &mut fetch).map_err(io::Error::other)?;
            }
            if let Some(pages) = pages {
                database::apply(&folder.copy(), &pages).map_err(io::Error::other)?;
            }
            Ok(())
        });
        applied.await.map_err(|error| StateError::Files(error.to_string()))
    }

    /// Itself if somebody else was quicker.
    async fn take_the_lead(mut self) -> Result<Result<Lead, Self>, StateError> {
        let at_ms = now_ms();
        let entry = Entry::Leads {
            gateway: self.gateway.to_string(),
            incarnation: self.incarnation + 1,
            address: None,
            version: self.version.clone(),
            at_ms,
        };
        // Before anybody counts on this gateway: a large database takes a while.
        let opening = Arc::clone(&self.folder);
        let pages = blocking(move || {
            opening.make_database().map_err(io::Error::other)?;
            PageSource::open(&opening.database()).map_err(io::Error::other)
        });
        let pages = pages.await.map_err(|error| StateError::Files(error.to_string()))?;
        let (sent, sent_ms) = (Instant::now(), awake_or_not_ms());
        let enveloped = self.entries.enveloped(&Arc::new(entry), sent + TRIED_FOR).await?;
        let sealed = self.entries.sealed(self.position, &enveloped)?;
        match self.entries.append(self.position, sealed, sent + LOST_AFTER).await {
            Ok(place) => {
                // From here on commands may use the database.
                let lock = self.folder.lead_lock()?;
                self.position = place;
                self.leader.send_replace(Some(self.gateway.clone()));
                Ok(Ok(Lead::begin(self, (lock, pages), (sent, sent_ms))))
            }
            Err(AppendError::Overtaken { .. } | AppendError::Unavailable(_)) => {
                drop(pages);
                self.folder.remove_database()?;
                Ok(Err(self))
            }
            Err(error @ AppendError::TooLarge { .. }) => Err(error.into()),
        }
    }
}

/// The log as it is now, with the copy as of its latest snapshot, and the last entry.
async fn begin(
    bus: &Bus,
    (folder, seal): (&Arc<SharedFolder>, &Arc<Seal>),
    replicas: usize,
) -> Result<(LogEntries, Begun, u64), StateError> {
    let log = StateLog::open(bus, replicas).await?;
    let entries = LogEntries::new(log, Arc::clone(seal), bus.cluster().clone());
    let begun = restoring::begin(folder, &entries).await?;
    let last = entries.log.last().await?;
    Ok((entries.of_state(&begun.latest.state), begun, last))
}

/// Whether whoever leads goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lasts {
    Yes,
    No,
}

enum Asked {
    Silent,
    /// Nobody leads.
    Lost,
}

/// How long nothing was heard of whoever leads.
struct Silence {
    since: Instant,
    /// When the log is asked whether there is really nothing.
    asked_at: Instant,
    /// Nobody leads, and everybody knows.
    is_over: bool,
    /// How long this gateway waits beyond the others.
    apart: Duration,
}

impl Silence {
    fn begin() -> Self {
        let now = Instant::now();
        Self { since: now, asked_at: now + ASKED_EVERY, is_over: false, apart: apart() }
    }

    fn is_broken(&mut self) {
        *self = Self::begin();
    }

    fn is_over(&mut self) {
        (self.is_over, self.asked_at) = (true, Instant::now() + self.apart);
    }

    fn was_asked(&mut self) {
        let now = Instant::now();
        // Not a moment later than it may be over.
        let over_at = self.since + LOST_AFTER + self.apart;
        self.asked_at = match over_at > now {
            true => (now + ASKED_EVERY).min(over_at),
            false => now + ASKED_EVERY,
        };
    }

    fn is_long(&self) -> bool {
        self.is_over || self.since.elapsed() >= LOST_AFTER + self.apart
    }
}

fn apart() -> Duration {
    // Without random numbers whoever is quicker comes first.
    let drawn = getrandom::u32().unwrap_or_default();
    APART.mul_f64(f64::from(drawn) / f64::from(u32::MAX))
}

/// For `cluster status`, twice a second.
async fn say_presence(bus: Bus, gateway: NodeName, version: String) {
    let Ok(incarnation) = new_incarnation() else { return };
    let (began, subject) = (Instant::now(), bus.subjects().gateway_presence(&gateway));
    loop {
        let presence = GatewayPresence {
            wire: WIRE_VERSION,
            version: version.clone(),
            incarnation,
            up_s: began.elapsed().as_secs(),
            on_nodes: 0,
            waiting: 0,
        };
        bus.publish(subject.clone(), presence::written_gateway(&presence, StateRole::StandsBy)).await;
        tokio::time::sleep(SAID_EVERY).await;
    }
}

/// For people who read the log.
pub(super) fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}
