//! A file without a name: whoever holds it open has it, and it is gone with the last of them.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;

use crate::unguessable;

/// An empty one to write and read, in the system's temporary folder.
pub fn unlinked_file() -> io::Result<File> {
    let name = unguessable::new().map_err(|error| io::Error::other(error.to_string()))?;
    let path = std::env::temp_dir().join(format!("gristmill-{name}"));
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn it_is_written_and_read_and_has_no_name() {
        let mut file = unlinked_file().unwrap();
        file.write_all(b"rows").unwrap();
        file.rewind().unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), file.metadata().unwrap().nlink()), ("rows", 0));
    }
}
