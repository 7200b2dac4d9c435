//! Archives of sessions, which may come from anywhere.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use gristmill_domain::{Level, LimitName, Limits};
use gristmill_gateway::ids::Owner;
use gristmill_gateway::session::{
    Patience, SessionSettings, Sessions, TarEntry, TarError, TarReader, TarWriter, Whose,
};
use gristmill_gateway::store::Store;
use gristmill_testkit::TestFolder;
use tokio::runtime::Runtime;

use crate::target::{Reached, Target, about, words};

pub const TARGET: Target = Target {
    name: "tar",
    promise: "an archive is refused, or its entries read back as they are; nothing is written outside the session's workspace, and nothing in it but files and folders",
    run,
    dictionary: &[
        b"workspace/",
        b"../../outside.txt",
        b"/etc/x",
        b"manifest.json",
        b"state.json",
        b"ustar\x0000",
        b"30 path=workspace/../../../abc\n",
        b"20 size=99999999999\n",
        b"{\"format\":\"gristmill session\",\"version\":1,\"name\":null,\"exported\":\"\",\"max_bytes\":null,\"max_files\":null}",
        b"77777777777",
        b"\x80\0\0\0\0\0\0\0\0\0\0\x01",
    ],
    bytes_max: 16 * 1024,
};

const BLOCK: usize = 512;

/// A machine's folders around the one that sessions are in, made once.
struct World {
    folder: TestFolder,
    sessions: Sessions,
    runtime: Runtime,
    limits: Limits,
}

static WORLD: LazyLock<World> = LazyLock::new(|| {
    let folder = TestFolder::new("fuzz-tar");
    let scratch = folder.path().join("deep/data");
    std::fs::create_dir_all(&scratch).expect("a folder");
    std::fs::write(folder.path().join("canary"), "as it was").expect("a canary");
    let limits = Limits::of(Level::Production);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let store = Store::in_memory().expect("a store");
    let opened = Sessions::open(store, Some(&scratch), limits.clone(), SessionSettings::default());
    World { folder, sessions: opened.expect("sessions"), runtime, limits }
});

fn run(bytes: &[u8]) -> Reached {
    let mended = mended(bytes);
    let raw = read_all(bytes).map(|entries| entries.len()).map_err(|error| words(&error.to_string()));
    let entries = read_all(&mended);
    if let Ok(entries) = &entries {
        reads_back(entries);
    }
    let imported = import(mended);
    let count = |entries: Vec<_>| about(entries.len());
    Reached::of((raw.map(about), entries.map(count).map_err(|error| words(&error.to_string())), imported))
}

/// The sums of all headers as they must be: chance doesn't find them, and whoever means harm computes them.
fn mended(bytes: &[u8]) -> Vec<u8> {
    let mut mended = bytes.to_vec();
    for block in mended.chunks_exact_mut(BLOCK).filter(|block| block[257..262] == *b"ustar") {
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    }
    mended
}

fn read_all(bytes: &[u8]) -> Result<Vec<(TarEntry, Vec<u8>)>, TarError> {
    let mut tar = TarReader::new(bytes);
    let mut entries = Vec::new();
    while let Some(entry) = tar.next_entry()? {
        let mut content = Vec::new();
        tar.content().read_to_end(&mut content)?;
        assert!(content.len() as u64 <= entry.size, "more content than the entry says");
        assert!(content.len() <= bytes.len(), "more content than there are bytes");
        entries.push((entry, content));
    }
    Ok(entries)
}

/// Written by us and read again, the entries are the same.
fn reads_back(entries: &[(TarEntry, Vec<u8>)]) {
    let mut tar = TarWriter::new(Vec::new());
    for (entry, content) in entries {
        match entry.is_folder {
            true => tar.folder(&entry.path).expect("a folder"),
            false => tar.file(&entry.path, entry.size, 0, &mut content.as_slice()).expect("a file"),
        }
    }
    let written = tar.finish().expect("an archive");
    let again = read_all(&written).expect("what we write can be read");
    assert_eq!(again, entries, "the entries read back");
}

/// Whether it became a session, and otherwise why not.
fn import(archive: Vec<u8>) -> Result<u32, String> {
    let world = &*WORLD;
    let made = world.runtime.block_on(async {
        let name = Some("taken-in".to_owned());
        let imported =
            world.sessions.import(&Owner("fuzz".into()), name, std::io::Cursor::new(archive)).await;
        let outcome = match &imported {
            Ok(imported) => {
                assert!(imported.session.bytes <= world.limits.get(LimitName::WorkspaceBytes));
                Ok(about(imported.session.files as usize))
            }
            Err(error) => Err(words(&error.to_string())),
        };
        look_around(world);
        if imported.is_ok() {
            let ended = world.sessions.end(&Whose::Everyones, "taken-in", Patience::Refuse).await;
            ended.expect("an imported session can be ended");
        }
        outcome
    });
    assert_eq!(
        std::fs::read_to_string(world.folder.path().join("canary")).ok().as_deref(),
        Some("as it was")
    );
    made
}

fn look_around(world: &World) {
    let root = world.folder.path();
    let names = |path: &Path| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> =
            std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        found.sort();
        found
    };
    assert_eq!(names(root), [root.join("canary"), root.join("deep")], "something was written outside");
    assert_eq!(names(&root.join("deep")), [root.join("deep/data")], "something was written outside");
    let data = names(&root.join("deep/data"));
    assert_eq!(data, [root.join("deep/data/sessions")], "something was written beside the sessions");
    let mut folders = names(&root.join("deep/data/sessions"));
    while let Some(path) = folders.pop() {
        let kind = std::fs::symlink_metadata(&path).expect("it is there").file_type();
        assert!(kind.is_dir() || kind.is_file(), "{} is neither a file nor a folder", path.display());
        if kind.is_dir() {
            folders.extend(names(&path));
        }
    }
}
