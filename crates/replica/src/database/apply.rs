//! Writing pages into the copy of a database file.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::error::DatabaseError;
use super::pages::Pages;

/// Writes pages into a database file that nobody has open and that has no log beside it; makes the file, readable by
/// its owner only, if it isn't there.
///
/// The file is a database again when this has returned `Ok`. If it was interrupted, apply the same pages again, or
/// those and all later ones in order: applying pages twice changes nothing. Nothing is synced to the disk.
pub fn apply(database: &Path, pages: &Pages) -> Result<(), DatabaseError> {
    pages.check()?;
    let failed = |what: &'static str| {
        move |source: io::Error| DatabaseError::File { file: database.display().to_string(), what, source }
    };
    let file = open(database).map_err(failed("opened"))?;
    for page in &pages.pages {
        let offset = u64::from(page.number - 1) * u64::from(pages.page_bytes);
        file.write_all_at(&page.bytes, offset).map_err(failed("written"))?;
    }
    file.set_len(pages.file_bytes()).map_err(failed("resized"))
}

fn open(database: &Path) -> io::Result<File> {
    // Neither a link leads elsewhere, nor does a pipe in its place hold us up.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let mut options = OpenOptions::new();
    let file =
        options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags).open(database)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(file)
}
