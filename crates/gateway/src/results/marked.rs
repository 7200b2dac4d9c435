//! Results that were made from marked data: whoever reads one has read that data.
//!
//! Programs open files without asking us, so the file system is asked when each was read last. It notes
//! that for every read of a file that claims to have changed later, which is what these files do. Where it
//! notes nothing at all, every marked result counts as read.

use std::fs::{File, FileTimes};
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_domain::policy::Seen;

use super::place::Place;
use super::{Origin, Results, ResultsError, StoredResult, blocking};
use crate::ids::{Caller, ExecutionId, Owner};
use crate::marks::{MarkLedger, MarkedReads, Reading};
use crate::ports::BoxFuture;
use crate::store::MarkedResult;

/// When a marked file says that it was changed: the last moment but a few that every file system can write.
const CHANGED_S: u64 = 2_145_830_400;

/// Now, by the clock that reads of files are noted with. It advances some hundred times per second, so a
/// read just before counts as one after.
#[cfg(target_os = "linux")]
fn now_of_files() -> SystemTime {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
    let (Ok(seconds), Ok(rest)) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec)) else {
        return UNIX_EPOCH;
    };
    UNIX_EPOCH + Duration::new(seconds, rest)
}

/// Now, or a moment before where the clock of files lags behind ours.
#[cfg(not(target_os = "linux"))]
fn now_of_files() -> SystemTime {
    SystemTime::now().checked_sub(Duration::from_millis(50)).unwrap_or(UNIX_EPOCH)
}

/// From now on the time of every read is noted.
pub(super) fn note_reads_of(file: &File) -> io::Result<()> {
    file.set_times(FileTimes::new().set_accessed(UNIX_EPOCH).set_modified(changed()))
}

/// Whether the file system notes reads; blocks.
fn reads_are_noted(place: &Place) -> bool {
    let look = || -> io::Result<bool> {
        let probe = place.new_file(&Owner::local()).map_err(io::Error::other)?;
        probe.fill(b"?")?;
        note_reads_of(probe.file())?;
        let mut again = File::open(probe.path().ok_or(io::ErrorKind::NotFound)?)?;
        again.read_exact(&mut [0])?;
        Ok(again.metadata()?.accessed()? > UNIX_EPOCH)
    };
    look().unwrap_or(false)
}

/// Whether a file was read since. One that cannot be looked at may have been; so may one that somebody
/// copied, of which not every read is noted.
fn was_read_since(place: &Place, owner: &Owner, file_name: &str, since: SystemTime) -> bool {
    let look = || -> io::Result<bool> {
        let Some(found) = place.metadata(owner, file_name)? else { return Ok(false) };
        Ok(found.modified()? != changed() || found.accessed()? >= since)
    };
    look().unwrap_or(true)
}

fn changed() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(CHANGED_S)
}

impl Results {
    /// The same results, in a gateway with marked servers.
    pub fn with_marks(self, ledger: MarkLedger) -> Self {
        Self { marks: Some(ledger), ..self }
    }

    /// What a program reads of its owner's results from now on counts as read by its caller.
    pub(crate) fn follow_reads(&self, execution: &ExecutionId, owner: &Owner) -> Option<Reading> {
        let ledger = self.marks.as_ref()?;
        let reads = ReadsSince { results: self.clone(), owner: owner.clone(), since: now_of_files() };
        Some(ledger.reading(execution, Arc::new(reads)))
    }

    /// Notes that a caller reads a result.
    pub async fn note_read(&self, caller: &Caller, stored: &StoredResult) {
        if let Some(ledger) = self.marks.as_ref().filter(|_| !stored.seen.is_empty()) {
            ledger.note(caller, &stored.seen).await;
        }
    }

    /// With what a caller has read until now.
    pub(super) async fn with_seen(&self, caller: &Caller, origin: Origin) -> Origin {
        match &self.marks {
            // Noted as well: what is stored next may hide that something was read.
            Some(ledger) => Origin { seen: ledger.settle(caller).await, ..origin },
            None => origin,
        }
    }

    /// A result that is there already came once more, perhaps from marked data this time.
    pub(super) async fn add_marks(
        &self,
        stored: &mut StoredResult,
        file: &File,
        new: &Seen,
    ) -> Result<(), ResultsError> {
        if !stored.seen.add(new) {
            return Ok(());
        }
        // Those that are noted already stay as they are: a running program may have read it.
        let are_noted = file.metadata().and_then(|found| found.modified()).is_ok_and(|at| at == changed());
        if !are_noted {
            note_reads_of(file).map_err(|error| self.inner.place.failed(&error))?;
        }
        let (owner, handle) = (stored.owner.0.clone(), stored.handle.clone());
        Ok(self.inner.store.add_result_seen(owner, handle, new.clone()).await?)
    }
}

/// What one program has read of its owner's results.
struct ReadsSince {
    results: Results,
    owner: Owner,
    since: SystemTime,
}

impl MarkedReads for ReadsSince {
    fn seen(&self) -> BoxFuture<'_, Seen> {
        Box::pin(async {
            let inner = &self.results.inner;
            let marked = match inner.store.marked_results(self.owner.0.clone()).await {
                Ok(marked) if marked.is_empty() => return Seen::default(),
                Ok(marked) => marked,
                Err(_) => return Seen::unknown(),
            };
            let (inner, owner, since) = (Arc::clone(inner), self.owner.clone(), self.since);
            let read = blocking(move || {
                let are_noted = *inner.reads_are_noted.get_or_init(|| reads_are_noted(&inner.place));
                let was_read =
                    |file_name: &str| !are_noted || was_read_since(&inner.place, &owner, file_name, since);
                let mut seen = Seen::default();
                for MarkedResult { file_name, seen: of_file } in marked {
                    if !seen.covers(&of_file) && was_read(&file_name) {
                        seen.add(&of_file);
                    }
                }
                Ok(seen)
            });
            read.await.unwrap_or_else(|_| Seen::unknown())
        })
    }
}
