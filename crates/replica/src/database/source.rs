//! Taking what is committed to a database out of its log, before the log is overwritten.
//!
//! Three connections of its own, none of which changes the database:
//!
//! - The *holder* has a read transaction open. As long as it was begun before what is taken, SQLite doesn't begin the
//!   log anew: either the holder still reads from the log, which stops writers from overwriting it, or the log had
//!   been copied wholly when it began, which stops all further copying into the file. In the second case one new
//!   beginning is still possible, until the first frame is written: nothing that has to be taken is lost by that.
//! - The *asker* asks how many frames are committed. The log alone doesn't tell: a writer may die, or fail to sync,
//!   when its frames are written but not committed yet, and the next one writes others in their place.
//! - The *writer* takes the write lock when the log is to begin anew, so that nobody writes while the holder moves on.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::error::DatabaseError;
use super::gathered::{GATHERED_BYTES_MAX, Gathered};
use super::log::{LogFile, LogHeader, Place};
use super::pages::Pages;

/// How long others may hold a lock. Their transactions take milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// A writer that moves the end of the log is done within microseconds.
const BUSY_PAUSE: Duration = Duration::from_micros(100);

/// The log can begin anew while it is read, but hardly twice.
const TRIES_MAX: u32 = 4;

/// What is committed to a database, by this process or others, taken out of its log.
///
/// Nothing in the log is overwritten before it was taken: the log grows until [`Self::begin_anew`]. A checkpoint of
/// another connection copies nothing meanwhile, and one in mode `FULL`, `RESTART` or `TRUNCATE` waits in vain for as
/// long as its connection's busy timeout is, with the write lock held: let nobody run one.
///
/// In the process that has this open nobody may open and close the database file but SQLite: that drops the locks that
/// keep other processes from removing the log.
#[derive(Debug)]
pub struct PageSource {
    log: LogFile,
    /// Up to where it was taken; `None` if nothing was ever written to the log.
    place: Option<Place>,
    /// Nothing was taken since the holder's transaction began: the log can still begin anew.
    may_begin_anew: bool,
    /// Where the log stood then.
    held_from: u64,
    is_lost: bool,
    pub(super) bytes_max: u64,
    holder: Connection,
    asker: Connection,
    writer: Connection,
}

impl PageSource {
    /// Begins from what the database file is, which the caller has just copied; what a log beside it has already is
    /// the first that is taken.
    ///
    /// A file that isn't there is made, readable by its owner only. If the database is new, or not in WAL mode yet, it
    /// is brought into it, and what that changes in the file is taken, too: who begins with an empty copy lacks
    /// nothing.
    pub fn open(database: &Path) -> Result<Self, DatabaseError> {
        let database = find(database).map_err(|source| DatabaseError::File {
            file: database.display().to_string(),
            what: "opened",
            source,
        })?;
        let writer = connect(&database)?;
        let has_new_header = has_begun_log(&writer)?;
        let asker = connect(&database)?;
        // The log's length is asked for in vain on a connection that hasn't read yet.
        read(&asker)?;
        let holder = connect(&database)?;
        hold(&holder)?;
        if has_new_header {
            write_first_page(&writer)?;
        }
        let log = LogFile::open(&beside(&database, "-wal"))?;
        Ok(Self {
            log,
            place: None,
            may_begin_anew: true,
            held_from: 0,
            is_lost: false,
            bytes_max: GATHERED_BYTES_MAX,
            holder,
            asker,
            writer,
        })
    }

    /// What was committed since the last time; `None` if nothing was. Whatever was committed before the call is in it.
    ///
    /// Costs a look at the log if nothing was written.
    pub fn take(&mut self) -> Result<Option<Pages>, DatabaseError> {
        if self.is_lost {
            return Err(DatabaseError::LogLost);
        }
        let taken = self.take_committed();
        self.is_lost = matches!(taken, Err(DatabaseError::LogLost));
        taken
    }

    /// Whether the log has grown by more than this since it began, or since it was last tried to have it begin anew.
    /// Goes by what was taken, and looks at nothing.
    pub fn is_long(&self, bytes: u64) -> bool {
        self.place.is_some_and(|place| place.offset().saturating_sub(self.held_from) > bytes)
    }

    /// Has the log begin anew: takes what is left, as [`Self::take`] does, and copies the log into the file, so that
    /// the next transaction is written to its beginning.
    ///
    /// Waits up to 1 s for whoever writes, and nobody writes meanwhile. If somebody still reads what was before, the
    /// log isn't copied wholly and just goes on. After [`DatabaseError::Busy`] nothing has changed.
    pub fn begin_anew(&mut self) -> Result<Option<Pages>, DatabaseError> {
        if self.is_lost {
            return Err(DatabaseError::LogLost);
        }
        self.writer.execute_batch("BEGIN IMMEDIATE")?;
        let taken = self.take();
        if taken.is_ok() {
            // Whoever gets these pages hears of a failure the next time.
            self.is_lost = self.move_on().is_err();
        }
        if self.writer.execute_batch("ROLLBACK").is_err() {
            self.is_lost = true;
        }
        taken
    }

    fn take_committed(&mut self) -> Result<Option<Pages>, DatabaseError> {
        if self.log.is_removed()? {
            return Err(DatabaseError::LogLost);
        }
        for _ in 0..TRIES_MAX {
            let Some(header) = self.log.header()? else {
                // It is being written, or was cut off with the rest: nothing is committed yet, or all of it was taken.
                return if self.may_begin_anew { Ok(None) } else { Err(DatabaseError::LogLost) };
            };
            let place = self.place_in(header)?;
            if !self.log.has_frame_at(&place)? {
                return Ok(None);
            }
            // First the number, then the frames: those that are committed don't change any more.
            let committed = self.committed_frames()?;
            if committed < place.frames && !self.may_begin_anew {
                return Err(DatabaseError::LogLost);
            }
            if committed <= place.frames {
                return Ok(None);
            }
            if let Some(pages) = self.take_frames(&place, committed)? {
                return Ok(Some(pages));
            }
            // The log began anew between the two, and the number belongs to the new one.
        }
        Err(DatabaseError::LogLost)
    }

    /// Where to go on in a log with this header: at its first frame if it began anew.
    fn place_in(&mut self, header: LogHeader) -> Result<Place, DatabaseError> {
        match self.place {
            Some(place) if place.header == header => Ok(place),
            Some(_) | None if self.may_begin_anew => {
                let place = Place::first(header);
                self.place = Some(place);
                self.held_from = 0;
                Ok(place)
            }
            Some(_) | None => Err(DatabaseError::LogLost),
        }
    }

    /// How many frames the log has up to the end of its last transaction.
    fn committed_frames(&self) -> Result<u32, DatabaseError> {
        let until = Instant::now() + BUSY_TIMEOUT;
        loop {
            let mut ask = self.asker.prepare_cached("PRAGMA main.wal_checkpoint(NOOP)")?;
            let (is_busy, frames): (bool, i64) = ask.query_row((), |row| Ok((row.get(0)?, row.get(1)?)))?;
            match u32::try_from(frames) {
                Ok(frames) if !is_busy => return Ok(frames),
                Ok(_) | Err(_) if Instant::now() >= until => return Err(DatabaseError::Busy),
                Ok(_) | Err(_) => std::thread::sleep(BUSY_PAUSE),
            }
        }
    }

    /// Takes the frames up to a number; `None` if they aren't there.
    fn take_frames(&mut self, from: &Place, committed: u32) -> Result<Option<Pages>, DatabaseError> {
        let mut gathered = Gathered::new(from.header.page_bytes, self.bytes_max);
        let Some(place) = self.log.frames(from, committed, |frame| gathered.add(frame))? else {
            return Ok(None);
        };
        // SQLite counts up to the end of a transaction.
        let pages = gathered.finish().ok_or(DatabaseError::LogLost)?;
        self.place = Some(place);
        self.may_begin_anew = false;
        Ok(Some(pages))
    }

    /// Copies the log, of which everything was taken, and holds what comes after it. Nobody writes meanwhile.
    fn move_on(&mut self) -> Result<(), DatabaseError> {
        self.holder.execute_batch("COMMIT")?;
        let copied = self.asker.query_row("PRAGMA main.wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        // What can't be copied now, because somebody reads it or the disk is full, is copied the next time.
        drop(copied);
        hold(&self.holder)?;
        self.may_begin_anew = true;
        self.held_from = self.place.map_or(0, |place| place.offset());
        Ok(())
    }
}

/// The file by its real name; makes it if it isn't there.
fn find(database: &Path) -> io::Result<PathBuf> {
    let name = database.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = match database.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    };
    // A link to the folder is fine, one in place of the file is not.
    let file = folder.canonicalize()?.join(name);
    // Only a new file: to close one that SQLite has open drops its locks.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
        Ok(_) => Ok(file),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(file),
        Err(error) => Err(error),
    }
}

/// The name of what SQLite puts beside a database.
pub(super) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(database);
    name.push(ending);
    PathBuf::from(name)
}

fn connect(database: &Path) -> Result<Connection, DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(database, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA trusted_schema = OFF;")?;
    Ok(connection)
}

/// Brings the database into WAL mode; whether it wasn't in it.
fn has_begun_log(connection: &Connection) -> Result<bool, DatabaseError> {
    let before: String = connection.query_row("PRAGMA journal_mode", (), |row| row.get(0))?;
    if before == "wal" {
        return Ok(false);
    }
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0))?;
    if mode == "wal" { Ok(true) } else { Err(DatabaseError::NoLog { mode }) }
}

/// The database's header tells its mode, and that change goes past the log: has the first page written to it.
fn write_first_page(connection: &Connection) -> Result<(), DatabaseError> {
    let version: i64 = connection.query_row("PRAGMA user_version", (), |row| row.get(0))?;
    Ok(connection.pragma_update(None, "user_version", version)?)
}

/// Begins a read transaction, and reads, since it begins no earlier.
fn hold(connection: &Connection) -> Result<(), DatabaseError> {
    connection.execute_batch("BEGIN")?;
    read(connection)
}

fn read(connection: &Connection) -> Result<(), DatabaseError> {
    Ok(connection.query_row("SELECT count(*) FROM sqlite_schema", (), |_| Ok(()))?)
}
