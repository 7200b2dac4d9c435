//! Random changes of a data folder, the same for the same seed.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use gristmill_gateway::ports::SharedState;
use rusqlite::Connection;

pub const SESSION: &str = "abcdefghijkmnpqrstuv";
pub const OTHER_SESSION: &str = "vutsrqpnmkjihgfedcba";
const OWNER: &str = "0123456789abcdef0123456789abcdef";

/// Around what stands in an entry itself, and around a part of what is stored beside it.
const SIZES: [usize; 9] = [0, 1, 100, 8_191, 8_192, 8_193, 70_000, 524_288, 524_289];

const LARGE_BYTES: usize = 3 << 20;

/// More than a message of the bus takes, and random: it can't be made smaller.
const ROW_BYTES_LARGE: usize = 1_500_000;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, value BLOB NOT NULL)";

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("it's below a usize")
    }

    pub fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        blake3::Hasher::new().update(&self.next().to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }
}

pub fn make_table(database: &Connection) {
    database.execute_batch(TABLE).expect("a table");
}

pub fn put_row(database: &Connection, id: i64, value: &[u8]) {
    database.execute("INSERT OR REPLACE INTO rows VALUES (?, ?)", (id, value)).expect("a row");
}

/// Writes a file with the folders that lead to it.
pub fn write(data: &Path, path: &str, content: &[u8]) {
    let file = data.join(path);
    fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
    fs::write(file, content).expect("written");
}

/// Changes a few things, and says where.
pub fn change(random: &mut Random, data: &Path, database: &Connection, state: &dyn SharedState) {
    for _ in 0..1 + random.below(12) {
        let path = somewhere(random);
        change_file(random, &data.join(&path));
        state.changed(&path);
    }
    for _ in 0..random.below(6) {
        change_rows(random, database);
    }
    // What is a machine's own doesn't matter.
    write(data, &format!("sessions/{SESSION}/incoming/x"), &random.bytes(10));
    write(data, "logs/gateway.log", &random.bytes(10));
    state.changed("logs/gateway.log");
}

fn somewhere(random: &mut Random) -> String {
    let name = random.of(&["a", "b", "a/a", "a/b", "a/b/c", "d/\u{e9} x\n", "e"]);
    match random.below(8) {
        0..4 => format!("sessions/{}/workspace/{name}", random.of(&[SESSION, OTHER_SESSION])),
        4..6 => format!("skills/{}/{name}", random.of(&["one", "two"])),
        6 => format!("results/{OWNER}/{}.json", random.below(4)),
        _ => random.of(&["pins.json", "tokens.json", "vault.key"]).to_owned(),
    }
}

/// What doesn't fit what is there is left undone.
fn change_file(random: &mut Random, path: &Path) {
    let is_single = path.extension().is_some();
    let _ = match random.below(14) {
        0..5 => {
            let _ = path.parent().map(fs::create_dir_all);
            let size = SIZES[random.below(SIZES.len())];
            fs::write(path, random.bytes(size))
        }
        5 => {
            let _ = path.parent().map(fs::create_dir_all);
            fs::write(path, random.bytes(LARGE_BYTES))
        }
        6 => rewrite_unseen(random, path),
        7 => fs::remove_file(path),
        8 => fs::remove_dir_all(path),
        9 if !is_single => fs::rename(path, beside(path)),
        10 => fs::set_permissions(path, Permissions::from_mode(mode(random, path))),
        11 if !is_single => fs::remove_file(path).and_then(|()| fs::create_dir(path)),
        12 if !is_single => fs::remove_dir_all(path).and_then(|()| fs::write(path, random.bytes(20))),
        _ if !is_single => fs::create_dir_all(path.with_file_name("empty")),
        _ => Ok(()),
    };
}

/// Another content of the same length, with the time of the one before.
fn rewrite_unseen(random: &mut Random, path: &Path) -> std::io::Result<()> {
    let about = fs::metadata(path)?;
    let length = usize::try_from(about.len()).unwrap_or_default();
    if !about.is_file() {
        return Ok(());
    }
    fs::write(path, random.bytes(length))?;
    File::options().write(true).open(path)?.set_modified(about.modified()?)
}

fn beside(path: &Path) -> PathBuf {
    path.with_file_name("renamed")
}

fn mode(random: &mut Random, path: &Path) -> u32 {
    match path.is_dir() {
        true => *random.of(&[&0o700, &0o750, &0o755]),
        false => *random.of(&[&0o600, &0o640, &0o755, &0o600]),
    }
}

fn change_rows(random: &mut Random, database: &Connection) {
    let id = i64::try_from(random.below(40)).expect("small");
    let changed = match random.below(12) {
        0..6 => {
            let size = 1 + random.below(9_000);
            put_row(database, id, &random.bytes(size));
            Ok(1)
        }
        6 => {
            put_row(database, id, &random.bytes(ROW_BYTES_LARGE));
            Ok(1)
        }
        7 | 8 => database.execute("DELETE FROM rows WHERE id = ?", (id,)),
        9 => database.execute("DELETE FROM rows WHERE id > ? AND id < 100", (id,)),
        10 => database.execute("VACUUM", ()),
        _ => database.execute("UPDATE rows SET value = CAST(value || x'00' AS BLOB) WHERE id < ?", (id,)),
    };
    changed.expect("rows are changed");
}
