//! Reading a text file that has a size limit.

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

/// A file that was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it's too large")]
    TooLarge { bytes_max: u64 },
    #[error(transparent)]
    System(#[from] io::Error),
}

/// The text of a file, `None` if there is no file. At most `bytes_max + 1` bytes are read. What is no
/// file, such as a pipe that nobody writes to, is refused at once.
pub fn read_bounded(path: &Path, bytes_max: u64) -> Result<Option<String>, ReadError> {
    let file = match OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it isn't a regular file").into());
    }
    let mut bytes = Vec::new();
    file.take(bytes_max + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bytes_max {
        return Err(ReadError::TooLarge { bytes_max });
    }
    let text = String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        assert!(matches!(read_bounded(&path, 3), Ok(None)));
        std::fs::write(&path, "añ").expect("a file");
        assert_eq!(read_bounded(&path, 3).expect("it fits").as_deref(), Some("añ"));
        assert!(matches!(read_bounded(&path, 2), Err(ReadError::TooLarge { bytes_max: 2 })));
        std::fs::write(&path, b"\xff").expect("a file");
        assert!(matches!(read_bounded(&path, 3), Err(ReadError::System(_))));
        assert!(matches!(read_bounded(folder.path(), 3), Err(ReadError::System(_))));
    }

    #[test]
    fn a_pipe_that_nobody_writes_to_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .expect("a pipe");
        assert!(matches!(read_bounded(&path, 3), Err(ReadError::System(_))));
    }
}
