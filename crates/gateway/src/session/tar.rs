//! The part of the tar format (POSIX ustar and pax) that exported sessions and backups are written in. Files and
//! folders only: an archive with anything else in it is refused, since it may come from anywhere.

use std::io::{self, Read, Write};

const BLOCK: usize = 512;
/// The longest name that fits the old header.
const NAME_MAX: usize = 100;
/// The largest size that fits the old header.
const SIZE_MAX: u64 = 0o77_777_777_777;
/// No file is larger: file systems count in these.
const FILE_BYTES_MAX: u64 = i64::MAX as u64;
/// Names of files, and nothing else that we read.
const PAX_BYTES_MAX: u64 = 64 * 1024;

/// An archive that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    #[error("it is not a tar archive, or damaged: {0}")]
    Damaged(&'static str),
    #[error("it holds `{0}`, which is neither a plain file nor a folder")]
    Kind(String),
    #[error("can't read it: {0}")]
    Read(#[from] io::Error),
}

pub struct TarWriter<W> {
    out: W,
}

impl<W: Write> TarWriter<W> {
    pub fn new(out: W) -> Self {
        Self { out }
    }

    /// A file with this content, of which there must be `size` bytes.
    pub fn file(&mut self, path: &str, size: u64, changed: u64, content: &mut dyn Read) -> io::Result<()> {
        self.head(path, b'0', size, changed)?;
        let copied = io::copy(&mut content.take(size), &mut self.out)?;
        if copied != size {
            return Err(io::Error::other(format!("{path} ends after {copied} of {size} bytes")));
        }
        self.pad(size)
    }

    pub fn folder(&mut self, path: &str) -> io::Result<()> {
        self.head(&format!("{path}/"), b'5', 0, 0)
    }

    /// The end of the archive.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.write_all(&[0; 2 * BLOCK])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn head(&mut self, path: &str, kind: u8, size: u64, changed: u64) -> io::Result<()> {
        let mut pax = Vec::new();
        if path.len() > NAME_MAX || !path.is_ascii() {
            pax.extend(pax_record("path", path));
        }
        if size > SIZE_MAX {
            pax.extend(pax_record("size", &size.to_string()));
        }
        if !pax.is_empty() {
            let length = pax.len() as u64;
            self.out.write_all(&header("pax", b'x', length, changed))?;
            self.out.write_all(&pax)?;
            self.pad(length)?;
        }
        self.out.write_all(&header(path, kind, size.min(SIZE_MAX), changed))
    }

    fn pad(&mut self, size: u64) -> io::Result<()> {
        self.out.write_all(&[0; BLOCK][..padding(size) as usize])
    }
}

/// What fills up the last block. A size may be anything here, so nothing is added to it.
fn padding(size: u64) -> u64 {
    let block = BLOCK as u64;
    (block - size % block) % block
}

/// `length key=value\n`, where the length counts itself.
fn pax_record(key: &str, value: &str) -> Vec<u8> {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len();
    while length != rest.len() + length.to_string().len() {
        length = rest.len() + length.to_string().len();
    }
    format!("{length}{rest}").into_bytes()
}

fn header(path: &str, kind: u8, size: u64, changed: u64) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
    let ascii: String = path.chars().map(|c| if c.is_ascii() { c } else { '_' }).take(NAME_MAX).collect();
    put(0, ascii.as_bytes());
    put(100, if kind == b'5' { b"0000700" } else { b"0000600" });
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{size:011o}").as_bytes());
    put(136, format!("{:011o}", changed.min(SIZE_MAX)).as_bytes());
    put(148, b"        ");
    put(156, &[kind]);
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}

/// Reads an archive, entry by entry.
pub struct TarReader<R> {
    input: R,
    /// Of the present entry: content that nobody has taken, and what fills up its last block.
    left: u64,
    padding: u64,
}

/// One entry of an archive, as it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TarEntry {
    pub path: String,
    pub size: u64,
    pub is_folder: bool,
}

impl<R: Read> TarReader<R> {
    pub fn new(input: R) -> Self {
        Self { input, left: 0, padding: 0 }
    }

    /// The next entry; what is left of the present one is passed over.
    pub fn next_entry(&mut self) -> Result<Option<TarEntry>, TarError> {
        let (mut path, mut size) = (None, None);
        loop {
            self.skip()?;
            let Some(block) = self.block()? else { return Ok(None) };
            let head = Head::read(&block)?;
            (self.left, self.padding) = (head.size, padding(head.size));
            match head.kind {
                // For the entry that follows.
                b'x' => (path, size) = self.pax()?,
                // For all that follow: nothing that we look at.
                b'g' if head.size <= PAX_BYTES_MAX => {}
                b'0' | 0 | b'5' => {
                    let size = size.unwrap_or(head.size);
                    (self.left, self.padding) = (size, padding(size));
                    let mut path = path.unwrap_or(head.path);
                    let is_folder = head.kind == b'5' || path.ends_with('/');
                    if is_folder && size > 0 {
                        return Err(TarError::Damaged("a folder has a content"));
                    }
                    path.truncate(path.trim_end_matches('/').len());
                    return Ok(Some(TarEntry { path, size, is_folder }));
                }
                _ => return Err(TarError::Kind(gristmill_domain::one_line(&path.unwrap_or(head.path), 80))),
            }
        }
    }

    /// The content of the present entry.
    pub fn content(&mut self) -> impl Read + '_ {
        Content(self)
    }

    fn block(&mut self) -> Result<Option<[u8; BLOCK]>, TarError> {
        let mut block = [0; BLOCK];
        match self.input.read_exact(&mut block) {
            Ok(()) => Ok((block != [0; BLOCK]).then_some(block)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(TarError::Damaged("it ends too early"))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn skip(&mut self) -> Result<(), TarError> {
        let rest = self.left.saturating_add(self.padding);
        let skipped = io::copy(&mut (&mut self.input).take(rest), &mut io::sink())?;
        (self.left, self.padding) = (0, 0);
        if skipped == rest { Ok(()) } else { Err(TarError::Damaged("it ends too early")) }
    }

    fn pax(&mut self) -> Result<(Option<String>, Option<u64>), TarError> {
        if self.left > PAX_BYTES_MAX {
            return Err(TarError::Damaged("a header in it is too large"));
        }
        let mut bytes = Vec::new();
        self.content().read_to_end(&mut bytes)?;
        let wrong = || TarError::Damaged("a header in it cannot be read");
        let (mut path, mut size) = (None, None);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let space = rest.iter().position(|byte| *byte == b' ').ok_or_else(wrong)?;
            let length = std::str::from_utf8(&rest[..space]).ok().and_then(|text| text.parse::<usize>().ok());
            let length =
                length.filter(|length| (space + 2..=rest.len()).contains(length)).ok_or_else(wrong)?;
            let record = std::str::from_utf8(&rest[space + 1..length - 1]).map_err(|_| wrong())?;
            let (key, value) = record.split_once('=').ok_or_else(wrong)?;
            match key {
                "path" => path = Some(value.to_owned()),
                "size" => {
                    let bytes = value.parse::<u64>().ok().filter(|bytes| *bytes <= FILE_BYTES_MAX);
                    size = Some(bytes.ok_or(TarError::Damaged("a size in it is larger than any file"))?);
                }
                _ => {}
            }
            rest = &rest[length..];
        }
        Ok((path, size))
    }
}

struct Content<'a, R>(&'a mut TarReader<R>);

impl<R: Read> Read for Content<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(usize::try_from(self.0.left).unwrap_or(usize::MAX));
        let count = self.0.input.read(&mut buffer[..most])?;
        self.0.left -= count as u64;
        Ok(count)
    }
}

struct Head {
    path: String,
    size: u64,
    kind: u8,
}

impl Head {
    fn read(block: &[u8; BLOCK]) -> Result<Self, TarError> {
        let wrong = || TarError::Damaged("a header in it cannot be read");
        let sum: u32 = block
            .iter()
            .enumerate()
            .map(|(at, byte)| match at {
                148..156 => u32::from(b' '),
                _ => u32::from(*byte),
            })
            .sum();
        if octal(&block[148..156]) != Some(u64::from(sum)) {
            return Err(wrong());
        }
        let text = |from: usize, to: usize| {
            let bytes = block[from..to].split(|byte| *byte == 0).next().unwrap_or_default();
            std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| wrong())
        };
        let (name, prefix) = (text(0, 100)?, text(345, 500)?);
        let is_ustar = block[257..262] == *b"ustar";
        let path = if is_ustar && !prefix.is_empty() { format!("{prefix}/{name}") } else { name };
        Ok(Self { path, size: octal(&block[124..136]).ok_or_else(wrong)?, kind: block[156] })
    }
}

fn octal(field: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(field).ok()?;
    let digits = text.trim_matches(['\0', ' ']);
    if digits.is_empty() { Some(0) } else { u64::from_str_radix(digits, 8).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_reads_back() {
        let long = format!("{}/file.txt", "folder-with-a-long-name".repeat(8));
        let mut tar = TarWriter::new(Vec::new());
        let content: Vec<u8> = (0..1000).map(|number| number as u8).collect();
        for path in ["a.txt", "empty", &long, "\u{17c}\u{f3}\u{142}\u{107}"] {
            let size = if path == "empty" { 0 } else { 1000 };
            tar.file(path, size, 7, &mut content.as_slice()).unwrap();
        }
        tar.folder("nothing in it").unwrap();
        let bytes = tar.finish().unwrap();
        let mut tar = TarReader::new(bytes.as_slice());
        let mut read = Vec::new();
        while let Some(entry) = tar.next_entry().unwrap() {
            let mut found = Vec::new();
            // Every other content is passed over.
            if read.len() % 2 == 0 {
                tar.content().read_to_end(&mut found).unwrap();
                assert_eq!(found, &content[..entry.size as usize]);
            }
            read.push((entry.path, entry.size, entry.is_folder));
        }
        let expected = [
            ("a.txt", 1000, false),
            ("empty", 0, false),
            (&long, 1000, false),
            ("\u{17c}\u{f3}\u{142}\u{107}", 1000, false),
            ("nothing in it", 0, true),
        ];
        assert_eq!(read, expected.map(|(path, size, is_folder)| (path.to_owned(), size, is_folder)));
    }

    #[test]
    fn what_is_damaged_is_refused_wherever_that_is() {
        let mut tar = TarWriter::new(Vec::new());
        tar.file(&"n".repeat(300), 700, 0, &mut [b'x'; 700].as_slice()).unwrap();
        let whole = tar.finish().unwrap();
        let read_all = |bytes: &[u8]| {
            let mut tar = TarReader::new(bytes);
            while let Some(entry) = tar.next_entry()? {
                assert!(entry.size <= 700);
            }
            Ok::<(), TarError>(())
        };
        assert!(read_all(&whole).is_ok());
        for length in (0..whole.len() - 2 * BLOCK).step_by(37) {
            assert!(read_all(&whole[..length]).is_err(), "cut at {length}");
        }
        for at in 0..BLOCK {
            let mut broken = whole.clone();
            broken[at] ^= 0x55;
            assert!(read_all(&broken).is_err(), "byte {at}");
        }
    }

    #[test]
    fn a_size_that_no_file_has_is_refused() {
        for size in ["18446744073709551615", "9223372036854775808", "99999999999999999999999"] {
            let record = pax_record("size", size);
            let mut bytes = header("pax", b'x', record.len() as u64, 0).to_vec();
            bytes.extend(&record);
            bytes.resize(2 * BLOCK, 0);
            bytes.extend(header("a", b'0', 0, 0));
            bytes.extend([0; 2 * BLOCK]);
            let refused = TarReader::new(bytes.as_slice()).next_entry().unwrap_err().to_string();
            assert!(refused.contains("larger than any file"), "{size}: {refused}");
        }
        assert_eq!([0, 1, 511, 512, u64::MAX].map(padding), [0, 511, 1, 0, 1]);
    }

    #[test]
    fn links_and_devices_are_refused() {
        for kind in [b'1', b'2', b'3', b'4', b'6', b'7', b'L', b'K'] {
            let mut bytes = header("a", kind, 0, 0).to_vec();
            bytes.extend([0; 2 * BLOCK]);
            assert!(
                matches!(TarReader::new(bytes.as_slice()).next_entry(), Err(TarError::Kind(_))),
                "{kind}"
            );
        }
    }
}
