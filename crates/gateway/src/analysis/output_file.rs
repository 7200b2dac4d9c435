//! A file that nobody can find: for an output that is read once.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::ids::unguessable;

/// Makes an empty file in `folder` that has no name any more; it goes with its last descriptor.
pub(crate) fn unlinked_file_in(folder: &Path) -> io::Result<File> {
    let name = unguessable::new().map_err(|error| io::Error::other(error.to_string()))?;
    let path = folder.join(format!("analysis-{name}"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;

    #[test]
    fn the_file_has_no_name_and_holds_what_is_written() {
        let folder = gristmill_testkit::TestFolder::new("unlinked");
        let mut file = unlinked_file_in(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        file.write_all(b"[]").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "[]");
    }
}
