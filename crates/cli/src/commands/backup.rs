//! `gristmill backup`: configuration and data as one file, while everything goes on.
//!
//! The archive has `config/` (your own file and the `.env` beside it) and `data/` (the data folder). The
//! database in it is a copy made by the database itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::anyhow;
use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use gristmill_config::{Surroundings, locations};
use gristmill_gateway::audit::MARK_FILE;
use gristmill_gateway::domain::{counted_grouped, format_bytes, utc_text};
use gristmill_gateway::session::TarWriter;
use gristmill_gateway::store::{FILE_NAME, check_leads};

use super::{Failure, Outcome};
use crate::arguments::ConfigFile;
use crate::data_store::{self, DataPlace};
use crate::spinner::Spinner;
use crate::terminal::eprint_lines;

/// Where the configuration is in an archive, and where the data.
pub const CONFIG: &str = "config";
pub const DATA: &str = "data";

#[derive(Args)]
pub struct Backup {
    /// The file to create [default: gristmill-TIME.tar.gz]
    pub file: Option<PathBuf>,

    #[command(flatten)]
    pub config: ConfigFile,
}

type Archive = TarWriter<GzEncoder<BufWriter<File>>>;

/// What went into an archive.
#[derive(Default)]
struct Packed {
    files: usize,
    bytes: u64,
    /// Folders that are nested deeper than any program can make them.
    too_deep: usize,
}

/// Folders inside each other, those of ours included. What lies deeper is left out.
const DEPTH_MAX: usize = 128;

pub async fn backup(arguments: Backup) -> Outcome {
    let surroundings = Surroundings::of_this_process().map_err(|error| Failure::Internal(error.into()))?;
    let place = DataPlace::of(None, &arguments.config)?;
    let data = place.folder()?.to_owned();
    let to = arguments.file.unwrap_or_else(default_name);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&to);
    let made = made.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::Usage(anyhow!("{} already exists; choose another file", to.display()))
        }
        _ => Failure::Usage(anyhow!("can't create {}: {error}", to.display())),
    })?;
    let spinner = Spinner::start(format!("backing up to {} …", to.display()));
    let config = locations::user_file(&surroundings).filter(|file| file.exists());
    // Before the database: one that is ahead of it would say that the audit was cut.
    let mark = fs::read(data.join(MARK_FILE)).ok();
    let packed = match database_copy(&place, &data, &to).await {
        Ok(database) => {
            let database = Database { copy: database, audit_mark: mark };
            let packed = pack(made, config.as_deref(), &data, &database, &to);
            let database = database.copy;
            if let Some(database) = database {
                let _ = fs::remove_file(database);
            }
            packed.map_err(|error| Failure::Internal(anyhow!("can't back up: {error}")))
        }
        Err(failure) => Err(failure),
    };
    drop(spinner);
    if packed.is_err() {
        // Half an archive is of no use, and stands in the way of the next attempt.
        let _ = fs::remove_file(&to);
    }
    let Packed { files, bytes, too_deep } = packed?;
    println!("{}", to.display());
    eprint_lines(&format!(
        "backed up {}, {}\nnote: it contains your logins and secrets; keep it private\nhint: gristmill restore {}",
        counted_grouped(files, "file"),
        format_bytes(bytes),
        to.display()
    ));
    if too_deep > 0 {
        eprint_lines(&format!(
            "note: left out {}, nested more than {DEPTH_MAX} levels deep",
            counted_grouped(too_deep, "folder")
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A copy of the database beside the archive; none if there is no database.
async fn database_copy(place: &DataPlace, data: &Path, to: &Path) -> Result<Option<PathBuf>, Failure> {
    // A copy isn't all that there is.
    check_leads(data).map_err(data_store::failure)?;
    if !data.join(FILE_NAME).exists() {
        return Ok(None);
    }
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".db.unfinished");
    let copy = to.with_file_name(name);
    let store = place.open_store()?;
    let copied = store.backup(&copy).await;
    copied.map_err(|error| Failure::Internal(anyhow!("can't copy the database: {error}")))?;
    Ok(Some(copy))
}

/// What is in the archive as it was at one moment.
struct Database {
    copy: Option<PathBuf>,
    /// How far its audit was signed then.
    audit_mark: Option<Vec<u8>>,
}

fn pack(out: File, config: Option<&Path>, data: &Path, database: &Database, to: &Path) -> io::Result<Packed> {
    let mut archive = TarWriter::new(GzEncoder::new(BufWriter::new(out), Compression::default()));
    let mut packed = Packed::default();
    if let Some(config) = config {
        let name = config.file_name().unwrap_or_default().to_string_lossy();
        packed.add(&mut archive, &format!("{CONFIG}/{name}"), config)?;
        let env = config.with_file_name(".env");
        if env.is_file() {
            packed.add(&mut archive, &format!("{CONFIG}/.env"), &env)?;
        }
    }
    if let Some(copy) = &database.copy {
        packed.add(&mut archive, &format!("{DATA}/{FILE_NAME}"), copy)?;
    }
    if let Some(mark) = &database.audit_mark {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        archive.file(&format!("{DATA}/{MARK_FILE}"), mark.len() as u64, now, &mut mark.as_slice())?;
        packed.files += 1;
        packed.bytes += mark.len() as u64;
    }
    if data.is_dir() {
        let own = fs::canonicalize(to).ok();
        packed.add_folder(&mut archive, DATA, data, own.as_deref())?;
    }
    let zipped = archive.finish()?.finish()?;
    let file = zipped.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(packed)
}

impl Packed {
    /// All plain files below a folder, but for what only matters while a gateway runs. `own` is the
    /// archive itself, which may lie there.
    fn add_folder(
        &mut self,
        archive: &mut Archive,
        name: &str,
        folder: &Path,
        own: Option<&Path>,
    ) -> io::Result<()> {
        if name.split('/').count() > DEPTH_MAX {
            self.too_deep += 1;
            return Ok(());
        }
        archive.folder(name)?;
        let mut entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let file_name = entry.file_name();
            // No name of ours; a program's may be anything, and tar has no words for it.
            let Some(text) = file_name.to_str() else { continue };
            let (path, below) = (entry.path(), format!("{name}/{text}"));
            let kind = entry.file_type()?;
            if kind.is_dir() {
                self.add_folder(archive, &below, &path, own)?;
            } else if kind.is_file() && !is_passing(name, text) && own != Some(path.as_path()) {
                self.add(archive, &below, &path)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, archive: &mut Archive, name: &str, path: &Path) -> io::Result<()> {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let mut file = match File::open(path) {
            Ok(file) => file,
            // Gone since the folder was read: its owner removed it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(named(error)),
        };
        let metadata = file.metadata().map_err(named)?;
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let changed = changed.map_or(0, |since| since.as_secs());
        archive.file(name, metadata.len(), changed, &mut file).map_err(named)?;
        self.files += 1;
        self.bytes += metadata.len();
        Ok(())
    }
}

/// Whether a file of the data folder means something only as long as a process runs: locks, the
/// database's own files (its copy is in the archive), and what is being written.
fn is_passing(folder: &str, name: &str) -> bool {
    // What gateways that run have in their journals is in the database a moment later.
    let is_journal = folder.strip_prefix(DATA).is_some_and(|below| below == "/journal");
    // A gateway that goes on from a backup has a state of its own, or joins the others anew.
    let is_copy = folder.strip_prefix(DATA).is_some_and(|below| below == "/replica");
    let is_database =
        is_journal || is_copy || (folder == DATA && (name.starts_with(FILE_NAME) || name == MARK_FILE));
    let is_lock = name == "lock" || name.ends_with(".lock");
    let is_unfinished = name.ends_with(".unfinished");
    // In a workspace every name is the program's own.
    is_database || ((is_lock || is_unfinished) && !folder.contains("/workspace"))
}

/// `gristmill-2026-07-28T09-30-00Z.tar.gz`.
fn default_name() -> PathBuf {
    PathBuf::from(format!("gristmill-{}.tar.gz", utc_text(SystemTime::now()).replace(':', "-")))
}
