//! Sessions on a disk: who finds them, who waits, what a death leaves.

use std::path::Path;

use gristmill_domain::Level;
use gristmill_testkit::TestFolder;

use super::*;
use crate::clock::Clock;

fn open_store(store: Store, settings: SessionSettings) -> Sessions {
    Sessions::open(store, None, Limits::of(Level::Production), settings).unwrap()
}

fn open_with(data: &Path, settings: SessionSettings) -> Sessions {
    open_store(Store::open(data).unwrap(), settings)
}

fn open(data: &Path) -> Sessions {
    open_with(data, SessionSettings::default())
}

fn of(name: &str) -> Owner {
    Owner(name.to_owned())
}

fn whose(name: &str) -> Whose {
    Whose::Of(of(name))
}

async fn make(sessions: &Sessions, owner: &str, name: Option<&str>) -> SessionId {
    let new = NewSession { name: name.map(str::to_owned), ..NewSession::default() };
    let held = sessions.create(&of(owner), new).await.unwrap();
    let id = held.id().clone();
    held.leave().await;
    id
}

async fn write(sessions: &Sessions, session: &str, path: &str) {
    sessions.files(&Whose::Everyones, session).await.unwrap().write(path, b"kept").unwrap();
}

async fn listed(sessions: &Sessions, session: &str) -> Vec<String> {
    let files = sessions.files(&Whose::Everyones, session).await.unwrap();
    files.list(None, 100).unwrap().files.into_iter().map(|file| file.path).collect()
}

fn entries(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn files_and_state_are_there_when_it_is_opened_again() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let id = make(&sessions, "a", Some("notes")).await;
    write(&sessions, "notes", "a.txt").await;
    let held = sessions.enter(&whose("a"), "notes", Patience::Refuse).await.unwrap();
    held.state().set("k", "[1, 2]".to_owned()).await.unwrap();
    held.leave_after_program().await;
    drop(sessions);
    let sessions = open(folder.path());
    let info = sessions.info(&whose("a"), id.as_str()).await.unwrap();
    assert_eq!((info.id.clone(), info.name.as_deref()), (id.clone(), Some("notes")));
    assert_eq!((info.bytes, info.files, info.executions, info.is_busy), (4, 1, 1, false));
    assert_eq!(info.keys, ["k"]);
    let held = sessions.enter(&whose("a"), id.as_str(), Patience::Refuse).await.unwrap();
    assert_eq!(held.state().get("k").await.unwrap().as_deref(), Some("[1, 2]"));
    assert_eq!(std::fs::read(held.workspace().join("a.txt")).unwrap(), b"kept");
}

#[tokio::test]
async fn an_owner_finds_nothing_of_another_by_name_or_handle() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let theirs = make(&sessions, "a", Some("notes")).await;
    for session in ["notes", theirs.as_str(), "abcdefghijkmnpqrstuv", "never-was"] {
        let expected = format!("no session `{session}`");
        let entered = sessions.enter(&whose("b"), session, Patience::Refuse).await.err().unwrap();
        assert_eq!(entered.to_string(), expected);
        assert_eq!(sessions.info(&whose("b"), session).await.unwrap_err().to_string(), expected);
        assert_eq!(sessions.files(&whose("b"), session).await.unwrap_err().to_string(), expected);
        let ended = sessions.end(&whose("b"), session, Patience::Refuse).await;
        assert_eq!(ended.unwrap_err().to_string(), expected);
    }
    assert_eq!(sessions.list(&whose("b")).await.unwrap(), []);
    // The same name is another session.
    let own = sessions.enter_or_create(&of("b"), "notes", Patience::Refuse).await.unwrap();
    assert!(own.is_new() && *own.id() != theirs);
    // A handle that is nobody's does not become a name.
    let refused = sessions.enter_or_create(&of("b"), theirs.as_str(), Patience::Refuse).await;
    assert!(matches!(refused, Err(SessionError::Missing { .. })));
    drop(own);
    let both = sessions.info(&Whose::Everyones, "notes").await;
    assert!(matches!(both, Err(SessionError::Ambiguous { handles, .. }) if handles.len() == 2));
    let mine = make(&sessions, Owner::LOCAL, Some("notes")).await;
    assert_eq!(sessions.info(&Whose::Everyones, "notes").await.unwrap().id, mine);
}

#[tokio::test(start_paused = true)]
async fn a_second_program_waits_or_is_refused_in_every_gateway() {
    let folder = TestFolder::new("sessions");
    let (one, other) = (open(folder.path()), open(folder.path()));
    let held = one.enter_or_create(&of("a"), "busy", Patience::Refuse).await.unwrap();
    for sessions in [&one, &other] {
        let refused = sessions.enter(&whose("a"), "busy", Patience::Refuse).await.err().unwrap();
        assert_eq!(refused.to_string(), "session `busy` is already running a program");
        let long = Patience::Wait(Duration::from_millis(1_050));
        let waited = sessions.enter(&whose("a"), "busy", long).await.err().unwrap();
        assert_eq!(
            waited.to_string(),
            "session `busy` is already running a program; it didn't finish within 1 s"
        );
        assert!(sessions.info(&whose("a"), "busy").await.unwrap().is_busy);
    }
    let waiting = tokio::spawn(async move {
        // The paused clock runs ahead while the disk is written.
        let long = Patience::Wait(Duration::from_secs(365 * 24 * 60 * 60));
        other.enter(&whose("a"), "busy", long).await.map(|held| held.id().clone())
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    let id = held.id().clone();
    held.leave().await;
    assert_eq!(waiting.await.unwrap().unwrap(), id);
}

#[tokio::test]
async fn whoever_asks_first_for_a_new_name_is_in_it_first() {
    let folder = TestFolder::new("session-turns");
    let sessions = open(folder.path());
    let order = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let mut asking = Vec::new();
    for number in 0..6 {
        let (sessions, order) = (sessions.clone(), std::sync::Arc::clone(&order));
        asking.push(tokio::spawn(async move {
            let held = sessions.enter_or_create(&of("a"), "new", Patience::default()).await.unwrap();
            order.lock().push(number);
            held.leave().await;
        }));
    }
    for one in asking {
        one.await.unwrap();
    }
    assert_eq!(*order.lock(), [0, 1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_session_that_ends_while_somebody_waits_stays_ended() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let id = make(&sessions, "a", None).await;
    let record = sessions.find(&whose("a"), id.as_str()).await.unwrap();
    sessions.end(&whose("a"), id.as_str(), Patience::Refuse).await.unwrap();
    // As one that found it before, and gets the lock after.
    let late = sessions.hold(record, Patience::Refuse).await;
    assert!(matches!(late, Err(SessionError::Missing { .. })));
    assert_eq!(entries(&folder.path().join("sessions")), [""; 0]);
}

#[tokio::test]
async fn whoever_found_a_session_before_it_ended_makes_no_folder_of_it_again() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let id = make(&sessions, "a", Some("notes")).await;
    let record = sessions.find(&whose("a"), "notes").await.unwrap();
    let early = sessions.files_of_found(&record).await.unwrap();
    sessions.end(&whose("a"), id.as_str(), Patience::Refuse).await.unwrap();
    let late = sessions.files_of_found(&record).await.unwrap_err();
    assert_eq!(late.to_string(), "no session `notes`");
    assert!(early.write("a.txt", b"late").is_err(), "its folder is gone");
    assert_eq!(entries(&folder.path().join("sessions")), [""; 0]);
}

#[tokio::test]
async fn end_takes_everything_and_reset_leaves_the_session() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    for name in ["ended", "emptied"] {
        make(&sessions, "a", Some(name)).await;
        write(&sessions, name, "deep/a.txt").await;
        let held = sessions.enter(&whose("a"), name, Patience::Refuse).await.unwrap();
        held.state().set("k", "1".to_owned()).await.unwrap();
    }
    let key = |held: &HeldSession| held.variables_key();
    let before = key(&sessions.enter(&whose("a"), "emptied", Patience::Refuse).await.unwrap());
    let ended = sessions.end(&whose("a"), "ended", Patience::Refuse).await.unwrap();
    assert_eq!((ended.files, ended.keys.len()), (2, 1), "what it had is told");
    assert!(matches!(sessions.info(&whose("a"), "ended").await, Err(SessionError::Missing { .. })));
    let reset = sessions.reset(&whose("a"), "emptied", Patience::Refuse).await.unwrap();
    assert_eq!((reset.files, reset.keys.len(), reset.is_busy), (0, 0, false));
    assert_eq!(listed(&sessions, "emptied").await, [""; 0]);
    let after = key(&sessions.enter(&whose("a"), "emptied", Patience::Refuse).await.unwrap());
    assert_ne!(before, after, "no interpreter is gone on with");
    assert_eq!(entries(&folder.path().join("sessions")), [reset.id.as_str()], "nothing is left behind");
    let held = sessions.enter(&whose("a"), "emptied", Patience::Refuse).await.unwrap();
    let busy = sessions.end(&whose("a"), "emptied", Patience::Refuse).await;
    assert!(matches!(busy, Err(SessionError::Busy { .. })), "a program is in it");
    drop(held);
}

#[tokio::test]
async fn every_gateway_knows_whose_variables_are_the_latest() {
    use crate::request::LatestVariables;
    let folder = TestFolder::new("sessions");
    let (one, other) = (open(folder.path()), open(folder.path()));
    make(&one, "a", Some("kept")).await;
    let enter = |sessions: Sessions| async move {
        sessions.enter(&whose("a"), "kept", Patience::Refuse).await.unwrap()
    };
    let held = enter(one.clone()).await;
    assert_eq!(held.latest_variables(), LatestVariables::Nowhere);
    held.note_variables(true).await.unwrap();
    held.leave_after_program().await;
    assert_eq!(enter(one.clone()).await.latest_variables(), LatestVariables::Here);
    let held = enter(other.clone()).await;
    assert_eq!(held.latest_variables(), LatestVariables::Elsewhere);
    held.note_variables(false).await.unwrap();
    drop(held);
    assert_eq!(enter(one.clone()).await.latest_variables(), LatestVariables::Nowhere);
    // A reset is told only where there was something to lose.
    one.reset(&whose("a"), "kept", Patience::Refuse).await.unwrap();
    let held = enter(one.clone()).await;
    assert_eq!(held.latest_variables(), LatestVariables::Nowhere);
    held.note_variables(true).await.unwrap();
    drop(held);
    other.reset(&whose("a"), "kept", Patience::Refuse).await.unwrap();
    assert_eq!(enter(one.clone()).await.latest_variables(), LatestVariables::Reset);
}

#[tokio::test]
async fn idle_sessions_end_and_those_in_use_do_not() {
    let folder = TestFolder::new("sessions");
    let clock = Clock::held_at(SystemTime::now());
    let store = Store::open(folder.path()).unwrap().with_clock(clock.clone());
    let settings = SessionSettings::default();
    let sessions = open_store(store, settings);
    let unnamed = make(&sessions, "a", None).await;
    let held = sessions.create(&of("a"), NewSession::default()).await.unwrap();
    make(&sessions, "a", Some("named")).await;
    clock.advance(settings.idle);
    assert_eq!(sessions.tidy().await.unwrap(), Tidied::default(), "not yet");
    clock.advance(Duration::from_millis(1));
    assert_eq!(sessions.tidy().await.unwrap(), Tidied { ended: vec![unnamed], folders_removed: 0 });
    let left: Vec<SessionId> =
        sessions.list(&whose("a")).await.unwrap().into_iter().map(|info| info.id).collect();
    assert_eq!(left.len(), 2);
    assert!(left.contains(held.id()));
    drop(held);
    clock.advance(settings.named_idle);
    assert_eq!(sessions.tidy().await.unwrap().ended.len(), 2);
    assert_eq!(entries(&folder.path().join("sessions")), [""; 0]);
}

fn make_old(path: &Path) {
    let file = std::fs::File::open(path).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3_600);
    file.set_modified(long_ago).unwrap();
}

#[tokio::test]
async fn what_a_killed_gateway_left_half_done_is_finished() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let all = folder.path().join("sessions");
    let whole = make(&sessions, "a", None).await;
    write(&sessions, whole.as_str(), "a.txt").await;
    // Removed in part; made, but never known; the same, a moment ago; somebody else's.
    let (old, new) = ("abcdefghijkmnpqrstuv", "bcdefghijkmnpqrstuvw");
    for name in [".gone-abc/workspace/deep", &format!("{old}/workspace"), new, "not-ours"] {
        std::fs::create_dir_all(all.join(name)).unwrap();
    }
    for name in [old, "not-ours"] {
        make_old(&all.join(name));
    }
    // A file that was being written.
    let unfinished = all.join(whole.as_str()).join("incoming/half");
    std::fs::write(&unfinished, "ha").unwrap();
    make_old(&unfinished);
    assert_eq!(sessions.tidy().await.unwrap(), Tidied { ended: Vec::new(), folders_removed: 2 });
    let mut left = [whole.as_str(), new, "not-ours"];
    left.sort_unstable();
    assert_eq!(entries(&all), left);
    assert!(!unfinished.exists());
    assert_eq!(listed(&sessions, whole.as_str()).await, ["a.txt"]);
}

#[tokio::test]
async fn a_session_whose_folder_was_removed_goes_on_with_an_empty_one() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let id = make(&sessions, "a", None).await;
    let held = sessions.enter(&whose("a"), id.as_str(), Patience::Refuse).await.unwrap();
    held.state().set("k", "1".to_owned()).await.unwrap();
    drop(held);
    std::fs::remove_dir_all(folder.path().join("sessions").join(id.as_str())).unwrap();
    assert_eq!(listed(&sessions, id.as_str()).await, [""; 0]);
    let held = sessions.enter(&whose("a"), id.as_str(), Patience::Refuse).await.unwrap();
    assert!(held.workspace().is_dir());
    assert_eq!(held.state().get("k").await.unwrap().as_deref(), Some("1"));
}

#[tokio::test]
async fn there_are_no_more_sessions_than_may_be() {
    let folder = TestFolder::new("sessions");
    let sessions = open_with(folder.path(), SessionSettings { max: 4, ..SessionSettings::default() });
    for owner in ["a", "a", "b"] {
        make(&sessions, owner, None).await;
    }
    let third = sessions.create(&of("a"), NewSession::default()).await.err().unwrap();
    assert_eq!(third.to_string(), "no room for another session (the most is 2)");
    make(&sessions, "c", Some("one")).await;
    let fifth = sessions.enter_or_create(&of("c"), "two", Patience::Refuse).await.err().unwrap();
    assert_eq!(fifth.to_string(), "no room for another session (the most is 4)");
    assert!(sessions.enter_or_create(&of("c"), "one", Patience::Refuse).await.is_ok());
    assert_eq!(entries(&folder.path().join("sessions")).len(), 4, "nothing is left of what was refused");
}

#[tokio::test]
async fn a_program_runs_without_a_session_for_which_there_is_no_place() {
    let folder = TestFolder::new("sessions");
    let sessions = open_with(folder.path(), SessionSettings { max: 2, ..SessionSettings::default() });
    make(&sessions, "a", Some("one")).await;
    let place = async |name: &str, keep_variables: bool| {
        let choice = SessionChoice::Named(name.to_owned());
        let wishes = SessionWishes::default();
        sessions.place(&of("a"), &choice, Patience::Refuse, keep_variables, wishes).await
    };
    assert!(matches!(place("one", false).await, Ok(Place::Held(_))));
    match place("two", false).await {
        Ok(Place::Alone { note: Some(note), is_kept: false, .. }) => {
            assert!(note.contains("nothing is kept") && note.contains("gristmill sessions remove"), "{note}");
        }
        Ok(_) | Err(_) => panic!("it runs on its own, and a note says so"),
    }
    // Variables cannot be kept without a session: that is refused, not passed over.
    assert!(matches!(place("two", true).await, Err(SessionError::TooMany { count: 1 })));
}

#[tokio::test]
async fn a_session_keeps_to_limits_of_its_own() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let new = NewSession {
        name: Some("small".to_owned()),
        max_bytes: Some(10),
        max_files: Some(2),
        ..NewSession::default()
    };
    let held = sessions.create(&of("a"), new).await.unwrap();
    let limits = held.limits(&Limits::of(Level::Production));
    use gristmill_domain::LimitName;
    assert_eq!((limits.get(LimitName::WorkspaceBytes), limits.get(LimitName::WorkspaceFiles)), (10, 2));
    drop(held);
    let files = sessions.files(&whose("a"), "small").await.unwrap();
    assert!(matches!(files.write("a", &[0; 11]), Err(FileError::Limit(_))));
    assert!(files.write("a", &[0; 10]).is_ok());
}

#[tokio::test]
async fn a_session_keeps_the_level_that_it_was_made_with() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let place = async |sessions: &Sessions, name: &str, level: Option<Level>| {
        let choice = SessionChoice::Named(name.to_owned());
        let wishes = SessionWishes { level, ..SessionWishes::default() };
        sessions.place(&of("a"), &choice, Patience::Refuse, false, wishes).await.unwrap()
    };
    drop(place(&sessions, "strict", Some(Level::Hardened)).await);
    drop(place(&sessions, "plain", None).await);
    drop(sessions);
    let sessions = open(folder.path());
    let production = Limits::of(Level::Production);
    for (name, asked, expected) in [
        ("strict", None, Ok(Level::Hardened)),
        ("strict", Some(Level::Hardened), Ok(Level::Hardened)),
        (
            "strict",
            Some(Level::Production),
            Err("session `strict` is for level hardened and stricter; production is looser"),
        ),
        ("plain", None, Ok(Level::Production)),
        // For this program only: the session was there before.
        ("plain", Some(Level::Hardened), Ok(Level::Production)),
    ] {
        let place = place(&sessions, name, asked).await;
        let Place::Held(held) = &place else { panic!("{name}") };
        let found = place.takes(asked).map(|()| held.limits(&production).level());
        assert_eq!(found.map_err(|error| error.to_string()), expected.map_err(str::to_owned), "{name}");
    }
    let (archive, _) = sessions.export(&whose("a"), "strict", Patience::Refuse, Vec::new()).await.unwrap();
    let imported = sessions.import(&of("b"), None, std::io::Cursor::new(archive)).await.unwrap().session;
    assert_eq!(imported.level, Some(Level::Hardened));
    assert_eq!(sessions.level(&whose("b"), "strict").await.unwrap(), Some(Level::Hardened));
    assert_eq!(sessions.level(&whose("b"), "nothing").await.unwrap(), None);
}

#[tokio::test]
async fn a_session_keeps_the_engine_that_it_was_made_with_and_an_archive_brings_none() {
    let folder = TestFolder::new("sessions");
    let native = Some(EngineChoice::Native);
    let place = async |sessions: &Sessions, name: &str, engine: Option<EngineChoice>| {
        let choice = SessionChoice::Named(name.to_owned());
        let wishes = SessionWishes { engine, ..SessionWishes::default() };
        sessions.place(&of("a"), &choice, Patience::Refuse, false, wishes).await.unwrap().engine()
    };
    let sessions = open(folder.path());
    assert_eq!(place(&sessions, "tables", native).await, native);
    assert_eq!(place(&sessions, "plain", None).await, None);
    drop(sessions);
    let sessions = open(folder.path());
    assert_eq!(place(&sessions, "tables", Some(EngineChoice::Wasm)).await, native);
    assert_eq!(place(&sessions, "plain", native).await, None);
    assert_eq!(sessions.info(&whose("a"), "tables").await.unwrap().engine, native);
    let (archive, _) = sessions.export(&whose("a"), "tables", Patience::Refuse, Vec::new()).await.unwrap();
    let imported = sessions.import(&of("b"), None, std::io::Cursor::new(archive)).await.unwrap();
    assert_eq!(imported.session.engine, None);
}

#[tokio::test]
async fn values_are_kept_within_their_bounds() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let held = sessions.create(&of("a"), NewSession::default()).await.unwrap();
    let (state, other) = (held.state(), sessions.create(&of("a"), NewSession::default()).await.unwrap());
    state.set("b", "1".to_owned()).await.unwrap();
    state.set("a\0\u{202e}", "{\"x\": [1e400]}".to_owned()).await.unwrap();
    state.set("b", "2".to_owned()).await.unwrap();
    assert_eq!(state.keys().await.unwrap(), ["a\0\u{202e}", "b"]);
    assert_eq!(state.get("b").await.unwrap().as_deref(), Some("2"));
    assert_eq!(other.state().keys().await.unwrap(), [""; 0], "another session has its own");
    for (key, value) in [("", "1"), (&*"k".repeat(257), "1"), ("large", &*"1".repeat((1 << 20) + 1))] {
        assert!(state.set(key, value.to_owned()).await.is_err(), "{}", key.len());
    }
    let mut kept = 0;
    let full = loop {
        match state.set(&format!("large{kept}"), "1".repeat(1 << 20)).await {
            Ok(()) => kept += 1,
            Err(failure) => break failure.to_string(),
        }
    };
    assert!(kept == 15 && full.contains("16777216"), "{kept}: {full}");
    assert!(state.remove("large0").await.unwrap() && !state.remove("large0").await.unwrap());
    state.clear().await.unwrap();
    assert_eq!(state.keys().await.unwrap(), [""; 0]);
    for number in 0..1_000 {
        state.set(&number.to_string(), "0".to_owned()).await.unwrap();
    }
    assert!(state.set("one more", "0".to_owned()).await.is_err_and(|failure| failure.0.contains("1000")));
    state.set("999", "1".to_owned()).await.unwrap();
    let id = held.id().clone();
    drop(held);
    sessions.end(&whose("a"), id.as_str(), Patience::Refuse).await.unwrap();
    assert!(state.set("late", "0".to_owned()).await.is_err_and(|failure| failure.0.contains("ended")));
}

#[tokio::test]
async fn an_exported_session_is_imported_as_it_was() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let new = NewSession {
        name: Some("notes".to_owned()),
        max_bytes: Some(1_000_000),
        max_output_tokens: Some(300),
        ..NewSession::default()
    };
    let held = sessions.create(&of("a"), new).await.unwrap();
    held.state().set("k", "{\"n\": 1.0}".to_owned()).await.unwrap();
    std::fs::create_dir_all(held.workspace().join("empty")).unwrap();
    drop(held);
    let long = format!("{}/\u{17c}.txt", "folder".repeat(30));
    for path in ["a.txt", &long] {
        write(&sessions, "notes", path).await;
    }
    let (archive, left_out) =
        sessions.export(&whose("a"), "notes", Patience::Refuse, Vec::new()).await.unwrap();
    assert_eq!(left_out, 0);
    let again = sessions.import(&of("a"), None, std::io::Cursor::new(archive.clone())).await;
    assert_eq!(again.unwrap_err().to_string(), "a session named `notes` already exists");
    let imported = sessions.import(&of("b"), None, std::io::Cursor::new(archive)).await.unwrap().session;
    assert_eq!((imported.name.as_deref(), imported.max_bytes), (Some("notes"), Some(1_000_000)));
    assert_eq!(listed(&sessions, imported.id.as_str()).await, ["a.txt", "empty", &long]);
    let held = sessions.enter(&whose("b"), "notes", Patience::Refuse).await.unwrap();
    assert_eq!(held.state().get("k").await.unwrap().as_deref(), Some("{\"n\": 1.0}"));
    assert_eq!(std::fs::read(held.workspace().join("a.txt")).unwrap(), b"kept");
}

#[tokio::test]
async fn an_imported_session_holds_no_more_than_its_limits_with_all_its_folders() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let archive = |max_bytes: u64, max_files: u64| {
        let manifest = format!(
            "{{\"format\": \"gristmill session\", \"version\": 1, \"exported\": \"\", \"max_bytes\": {max_bytes}, \"max_files\": {max_files}}}"
        );
        let mut tar = tar::TarWriter::new(Vec::new());
        for (path, text) in [("manifest.json", manifest.as_str()), ("state.json", "{}")] {
            tar.file(path, text.len() as u64, 0, &mut text.as_bytes()).unwrap();
        }
        // Seven entries: the folders a, a/b, c and d, two files, and the empty d/e.
        for path in ["workspace/a/b/one", "workspace/c/two"] {
            tar.file(path, 4, 0, &mut b"kept".as_slice()).unwrap();
        }
        for path in ["workspace/a", "workspace/d/e"] {
            tar.folder(path).unwrap();
        }
        std::io::Cursor::new(tar.finish().unwrap())
    };
    for (max_bytes, max_files) in [(8, 6), (7, 7)] {
        let refused = sessions.import(&of("a"), None, archive(max_bytes, max_files)).await;
        assert!(matches!(refused, Err(ArchiveError::File(FileError::Limit(_)))), "{refused:?}");
    }
    assert_eq!(entries(&folder.path().join("sessions")), [""; 0], "nothing is left of what was refused");
    let imported = sessions.import(&of("a"), None, archive(8, 7)).await.unwrap().session;
    assert_eq!((imported.bytes, imported.files), (8, 7));
}

#[tokio::test]
async fn a_session_whose_making_panics_leaves_no_folder() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let owner = of("a");
    let made = sessions.create_with(&owner, NewSession::default(), Vec::new(), |folder, _| {
        folder.make_workspace()?;
        panic!("on purpose")
    });
    assert!(matches!(made.await, Err(SessionError::NoFolder { .. })));
    assert_eq!(entries(&folder.path().join("sessions")), [""; 0]);
}

#[tokio::test]
async fn a_hostile_archive_is_refused_and_leaves_nothing() {
    let folder = TestFolder::new("sessions");
    let sessions = open(folder.path());
    let manifest = "{\"format\": \"gristmill session\", \"version\": 1, \"exported\": \"\"}";
    let archive = |members: &[(&str, &str)]| {
        let mut tar = tar::TarWriter::new(Vec::new());
        for (path, text) in members {
            tar.file(path, text.len() as u64, 0, &mut text.as_bytes()).unwrap();
        }
        tar.finish().unwrap()
    };
    let (manifest, state) = (("manifest.json", manifest), ("state.json", "{}"));
    let deep = format!("{{\"k\": \"{}1{}\"}}", "[".repeat(100_000), "]".repeat(100_000));
    let long = format!("{{\"k\": \"{}\"}}", "1".repeat(5_000));
    for (members, why) in [
        (vec![], "manifest.json is missing"),
        (vec![("a", "b")], "manifest.json is missing"),
        (vec![("manifest.json", "{}")], "manifest.json"),
        (vec![("manifest.json", "[[[")], "manifest.json"),
        (vec![manifest, ("workspace/a", "")], "state.json is missing"),
        (vec![manifest, ("state.json", "{\"k\": 1}")], "state.json"),
        (vec![manifest, ("state.json", "{\"k\": \"{\"}")], "is not JSON"),
        (vec![manifest, ("state.json", deep.as_str())], "nested deeper than 99 levels"),
        (vec![manifest, ("state.json", long.as_str())], "more than 4300 digits"),
        (vec![manifest, state, ("a", "")], "not in `workspace/`"),
        (vec![manifest, state, ("workspace/../../a", "")], "`..`"),
        (vec![manifest, state, ("workspace//etc/passwd", "")], "absolute"),
        (vec![manifest, state, ("workspace/a", "1"), ("workspace/a/b", "")], "not a folder"),
    ] {
        let error = sessions.import(&of("a"), None, std::io::Cursor::new(archive(&members))).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
    }
    let mut cut = archive(&[manifest, state, ("workspace/a", &"x".repeat(5_000))]);
    cut.truncate(4_000);
    assert!(sessions.import(&of("a"), None, std::io::Cursor::new(cut)).await.is_err());
    assert!(sessions.import(&of("a"), None, std::io::repeat(b'x')).await.is_err());
    assert_eq!(entries(&folder.path().join("sessions")), [""; 0]);
    assert_eq!(sessions.list(&Whose::Everyones).await.unwrap(), []);
}
