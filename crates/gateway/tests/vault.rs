//! The vault, as gateways of one data folder use it.

use std::time::{Duration, Instant, SystemTime};

use gristmill_domain::{Level, Limits};
use gristmill_gateway::Clock;
use gristmill_gateway::ids::{Owner, SessionId};
use gristmill_gateway::marks::Scope;
use gristmill_gateway::privacy::{Kept, Vault, VaultError, Wanted, Wipe};
use gristmill_gateway::session::{NewSession, Patience, SessionSettings, Sessions, Whose};
use gristmill_gateway::store::{FILE_NAME, Store};
use gristmill_privacy::{Form, Kind};
use gristmill_testkit::TestFolder;
use rusqlite::Connection;

const KEY_FILE: &str = "vault.key";

const ANN: &str = "ann.planted@example.com";

/// A data folder with a vault and sessions.
struct World {
    folder: TestFolder,
    store: Store,
    sessions: Sessions,
    vault: Vault,
}

impl World {
    fn new() -> Self {
        Self::at(Clock::system())
    }

    fn at(clock: Clock) -> Self {
        let folder = TestFolder::new("vault");
        let store = Store::open(folder.path()).unwrap().with_clock(clock);
        let limits = Limits::of(Level::Production);
        let sessions = Sessions::open(store.clone(), None, limits, SessionSettings::default()).unwrap();
        let vault = Vault::open(Some(store.clone()), None).unwrap();
        Self { folder, store, sessions, vault }
    }

    /// Another gateway of the same data folder.
    fn beside(&self) -> Vault {
        Vault::open(Some(Store::open(self.folder.path()).unwrap()), Some(self.folder.path())).unwrap()
    }

    async fn session(&self, owner: &str) -> Scope {
        self.new_session(owner, NewSession::default()).await
    }

    async fn new_session(&self, owner: &str, new: NewSession) -> Scope {
        let held = self.sessions.create(&Owner(owner.to_owned()), new).await.unwrap();
        let id = held.id().clone();
        held.leave().await;
        Scope::Session(id)
    }

    async fn end(&self, scope: &Scope) {
        self.sessions.end(&Whose::Everyones, id(scope).as_str(), Patience::Refuse).await.unwrap();
    }

    /// The database, as somebody else has it open.
    fn database(&self) -> Connection {
        Connection::open(self.folder.path().join(FILE_NAME)).unwrap()
    }

    /// How many scopes and values there are.
    fn rows(&self) -> (i64, i64) {
        let sql = "SELECT (SELECT count(*) FROM vault_scopes), (SELECT count(*) FROM vault_values)";
        self.database().query_row(sql, (), |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    }

    /// Every byte of the data folder's own files.
    fn bytes(&self) -> Vec<u8> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.is_file()).flat_map(|path| std::fs::read(path).unwrap()).collect()
    }
}

fn id(scope: &Scope) -> &SessionId {
    match scope {
        Scope::Session(id) => id,
        Scope::Client { .. } => panic!("a session"),
    }
}

fn client(owner: &str, client: &str) -> Scope {
    Scope::Client { owner: Owner(owner.to_owned()), client: client.to_owned() }
}

fn email(value: &str) -> Wanted<'_> {
    Wanted { kind: &Kind::Email, value, form: Form::Plain, is_number: false, server: Some("crm") }
}

async fn token(vault: &Vault, scope: &Scope, value: &str) -> String {
    vault.tokens(scope, &[email(value)]).await.unwrap().remove(0)
}

async fn value(vault: &Vault, scope: &Scope, token: &str) -> Option<String> {
    let found = vault.values(std::slice::from_ref(scope), &[token]).await.unwrap().remove(0);
    found.map(|kept| kept.value.to_string())
}

#[tokio::test]
async fn a_value_has_one_token_in_a_scope_and_another_in_the_next() {
    let world = World::new();
    let (one, two) = (world.session("a").await, world.session("a").await);
    let scopes = [one, two, client("a", "x"), client("a", "y"), client("b", "x")];
    let mut tokens = Vec::new();
    for scope in &scopes {
        let first = token(&world.vault, scope, ANN).await;
        assert_eq!(token(&world.vault, scope, ANN).await, first);
        assert_eq!(value(&world.vault, scope, &first).await.as_deref(), Some(ANN));
        tokens.push(first);
    }
    for (place, token) in tokens.iter().enumerate() {
        for (other, scope) in scopes.iter().enumerate().filter(|(other, _)| *other != place) {
            assert_ne!(*token, tokens[other]);
            assert_eq!(value(&world.vault, scope, token).await, None, "{token} in {scope:?}");
        }
        assert!(value(&world.vault, &scopes[place], token).await.is_some());
    }
    let found = world.vault.values(&scopes, &[&tokens[4], "[EMAIL_aaaaaaaa]", &tokens[0]]).await.unwrap();
    let found: Vec<Option<&str>> =
        found.iter().map(|kept| kept.as_ref().map(|kept| kept.value.as_str())).collect();
    assert_eq!(found, [Some(ANN), None, Some(ANN)]);
}

#[tokio::test]
async fn kinds_are_told_apart_and_all_forms_mean_the_same_value() {
    let world = World::new();
    let scope = world.session("a").await;
    let custom = Kind::named("staff number");
    let phone = "+49 30 901820";
    let wanted = [
        email(ANN),
        Wanted { form: Form::Email, ..email(ANN) },
        Wanted { form: Form::Phone, ..email(ANN) },
        Wanted { kind: &custom, ..email(ANN) },
        Wanted { kind: &Kind::Phone, value: phone, is_number: true, server: None, form: Form::Phone },
    ];
    let tokens = world.vault.tokens(&scope, &wanted).await.unwrap();
    assert!(tokens[0].starts_with("[EMAIL_") && tokens[1].ends_with("@token.invalid"), "{tokens:?}");
    assert!(tokens[2].starts_with("+999") && tokens[3].starts_with("[STAFF_NUMBER_"), "{tokens:?}");
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    for vault in [&world.vault, &world.beside()] {
        let found = vault.values(std::slice::from_ref(&scope), &tokens).await.unwrap();
        let found: Vec<Kept> = found.into_iter().flatten().collect();
        let kept = |kind: &Kind, value: &str, is_number: bool, servers: &[&str]| Kept {
            kind: kind.clone(),
            value: value.to_owned().into(),
            is_number,
            servers: servers.iter().map(|server| (*server).to_owned()).collect(),
        };
        let ann = kept(&Kind::Email, ANN, false, &["crm"]);
        assert_eq!(found.len(), 5);
        assert!(found[..3].iter().all(|found| *found == ann));
        assert!(found[3] == kept(&custom, ANN, false, &["crm"]));
        assert!(found[4] == kept(&Kind::Phone, phone, true, &[]));
        assert_eq!(format!("{:?}", found[0]), "Kept(email)");
    }
}

#[tokio::test]
async fn a_forged_or_changed_token_stands_for_nothing() {
    let world = World::new();
    let scope = world.session("a").await;
    let whole = token(&world.vault, &scope, ANN).await;
    let mut wrong = vec![
        String::new(),
        "[EMAIL]".to_owned(),
        "[EMAIL_aaaaaaaa]".to_owned(),
        "email-aaaaaaaa@token.invalid".to_owned(),
        "+999000000000000".to_owned(),
        whole.replace("EMAIL", "PHONE"),
        whole.to_uppercase(),
        format!(" {whole}"),
    ];
    for place in 0..whole.len() {
        for letter in ["a", "b", "9", "X", "]"].into_iter().filter(|letter| whole[place..=place] != **letter)
        {
            let mut changed = whole.clone();
            changed.replace_range(place..=place, letter);
            wrong.push(changed);
        }
    }
    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
    for vault in [&world.vault, &world.beside()] {
        let found = vault.values(std::slice::from_ref(&scope), &wrong).await.unwrap();
        for (wrong, found) in wrong.iter().zip(found) {
            assert!(found.is_none(), "{wrong} for {whole}");
        }
        assert!(value(vault, &scope, &whole).await.is_some());
    }
}

#[tokio::test]
async fn another_gateway_and_the_next_one_after_a_kill_give_the_same_tokens() {
    let world = World::new();
    let (session, client) = (world.session("a").await, client("a", "x"));
    let beside = world.beside();
    let bob = "bob@example.com";
    let tokens = [token(&world.vault, &session, ANN).await, token(&beside, &session, bob).await];
    assert_eq!(token(&beside, &session, ANN).await, tokens[0]);
    assert_eq!(token(&world.vault, &session, bob).await, tokens[1]);
    let outside = token(&beside, &client, ANN).await;
    // Nothing is closed: whoever comes next finds what a killed process has written.
    let next = world.beside();
    assert_eq!(value(&next, &session, &tokens[1]).await.as_deref(), Some(bob));
    assert_eq!(value(&next, &client, &outside).await.as_deref(), Some(ANN));
    assert_eq!(token(&next, &session, ANN).await, tokens[0]);
    // Two that begin at the same moment with the same new values.
    let values: Vec<String> = (0..50).map(|number| format!("{number}@example.com")).collect();
    let wanted: Vec<Wanted<'_>> = values.iter().map(|value| email(value)).collect();
    let (one, other) = tokio::join!(world.vault.tokens(&session, &wanted), beside.tokens(&session, &wanted));
    assert_eq!(one.unwrap(), other.unwrap());
}

#[tokio::test]
async fn two_gateways_make_one_key_and_only_its_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let file = world.folder.path().join(KEY_FILE);
    assert!(!file.exists(), "it is made when it is needed");
    let beside = world.beside();
    let scope = client("a", "x");
    let (one, other) = tokio::join!(token(&world.vault, &scope, ANN), token(&beside, &scope, ANN));
    assert_eq!(one, other);
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&file, "no key").unwrap();
    let refused = world.vault.tokens(&scope, &[email(ANN)]).await.unwrap_err().to_string();
    assert!(refused.contains("vault.key isn't a vault key; restore it from a backup"), "{refused}");
    assert!(Vault::open(Some(world.store.clone()), None).is_err());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = Vault::open(Some(world.store.clone()), None).unwrap_err().to_string();
    assert!(refused.contains("other users can read it (mode 644); run: chmod 600"), "{refused}");
}

#[tokio::test]
async fn with_a_lost_key_new_tokens_are_made_and_the_old_ones_come_back_with_it() {
    let world = World::new();
    let scope = world.session("a").await;
    let first = token(&world.vault, &scope, ANN).await;
    let (file, away) = (world.folder.path().join(KEY_FILE), world.folder.path().join("away"));
    std::fs::rename(&file, &away).unwrap();
    assert_eq!(value(&world.vault, &scope, &first).await, None);
    let second = token(&world.vault, &scope, ANN).await;
    assert_ne!(first, second);
    for vault in [&world.vault, &world.beside()] {
        assert_eq!(value(vault, &scope, &first).await, None);
        assert_eq!(value(vault, &scope, &second).await.as_deref(), Some(ANN));
    }
    let lines = world.vault.list(None).await.unwrap();
    let mut readable: Vec<bool> = lines.iter().map(|line| line.is_readable).collect();
    readable.sort_unstable();
    assert_eq!(readable, [false, true]);
    std::fs::rename(&away, &file).unwrap();
    assert_eq!(value(&world.vault, &scope, &first).await.as_deref(), Some(ANN));
    assert_eq!(token(&world.vault, &scope, ANN).await, first);
}

#[tokio::test]
async fn a_row_that_was_changed_or_moved_is_not_restored() {
    let world = World::new();
    let (scope, other) = (world.session("a").await, client("a", "x"));
    let (ann, bob) =
        (token(&world.vault, &scope, ANN).await, token(&world.vault, &scope, "bob@example.com").await);
    token(&world.vault, &other, ANN).await;
    // The sealed bytes of one under the code of another.
    let database = world.database();
    database
        .execute_batch(
            "UPDATE vault_values SET sealed = (SELECT sealed FROM vault_values x WHERE x.scope = vault_values.scope \
             AND x.code > vault_values.code) WHERE EXISTS (SELECT 1 FROM vault_values x \
             WHERE x.scope = vault_values.scope AND x.code > vault_values.code)",
        )
        .unwrap();
    let beside = world.beside();
    let found = [value(&beside, &scope, &ann).await, value(&beside, &scope, &bob).await];
    assert_eq!(found.iter().flatten().count(), 1, "{found:?}");
    // One bit of each row.
    let mut query = database.prepare("SELECT scope, code, sealed FROM vault_values").unwrap();
    let rows = query.query_map((), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let rows: Vec<(i64, i64, Vec<u8>)> = rows.map(Result::unwrap).collect();
    for (place, (scope, code, mut sealed)) in rows.into_iter().enumerate() {
        let at = [0, 20, sealed.len() - 1][place % 3];
        sealed[at] ^= 1;
        let sql = "UPDATE vault_values SET sealed = ?3 WHERE scope = ?1 AND code = ?2";
        database.execute(sql, (scope, code, sealed)).unwrap();
    }
    let beside = world.beside();
    for token in [&ann, &bob] {
        assert_eq!(value(&beside, &scope, token).await, None);
    }
    assert_eq!(token(&beside, &scope, ANN).await, ann, "its place is free");
    assert_eq!(value(&world.beside(), &scope, &ann).await.as_deref(), Some(ANN));
}

#[tokio::test]
async fn no_value_is_in_any_byte_of_the_data_folder() {
    let world = World::new();
    let scope = world.session("a").await;
    let values: Vec<String> = (0..200).map(|number| format!("planted-{number}@example.com")).collect();
    let wanted: Vec<Wanted<'_>> = values.iter().map(|value| email(value)).collect();
    world.vault.tokens(&scope, &wanted).await.unwrap();
    world.vault.tokens(&client("a", "x"), &wanted).await.unwrap();
    let has = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    let before = world.bytes();
    assert!(has(&before, "vault_values") && world.folder.path().join(format!("{FILE_NAME}-wal")).exists());
    world.store.close().await;
    for bytes in [before, world.bytes()] {
        assert!(!has(&bytes, "planted-") && !has(&bytes, "crm"));
        // Equal values look different in each scope, and equal lengths tell only a range.
        assert!(has(&bytes, "email"));
    }
}

#[tokio::test]
async fn a_vault_goes_with_its_session() {
    let world = World::new();
    let (one, two) = (world.session("a").await, world.session("a").await);
    let (first, second) = (token(&world.vault, &one, ANN).await, token(&world.vault, &two, ANN).await);
    assert_eq!(world.rows(), (2, 2));
    let sql = "SELECT salt FROM vault_scopes WHERE session = ?1";
    let salt: Vec<u8> = world.database().query_row(sql, [id(&one).as_str()], |row| row.get(0)).unwrap();
    world.end(&one).await;
    assert_eq!(world.rows(), (1, 1));
    assert_eq!(value(&world.beside(), &one, &first).await, None);
    assert!(matches!(world.beside().tokens(&one, &[email(ANN)]).await, Err(VaultError::NoSession)));
    assert_eq!(value(&world.vault, &two, &second).await.as_deref(), Some(ANN));
    world.store.close().await;
    drop(world.sessions);
    drop(world.vault);
    // Once the log is in the file, the salt is nowhere any more.
    let database = Connection::open(world.folder.path().join(FILE_NAME)).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(())).unwrap();
    let file = std::fs::read(world.folder.path().join(FILE_NAME)).unwrap();
    assert!(!file.windows(salt.len()).any(|window| window == salt));
}

#[tokio::test]
async fn a_client_without_a_session_is_kept_for_a_day_after_its_last_use() {
    let clock = Clock::held_at(SystemTime::now());
    let world = World::at(clock.clone());
    let (used, idle) = (client("a", "used"), client("a", "idle"));
    let named = NewSession { name: Some("kept".to_owned()), ..NewSession::default() };
    let session = world.new_session("a", named).await;
    let tokens = [
        token(&world.vault, &used, ANN).await,
        token(&world.vault, &idle, ANN).await,
        token(&world.vault, &session, ANN).await,
    ];
    for _ in 0..30 {
        clock.advance(Duration::from_secs(60 * 60));
        // From memory, too, a use counts.
        assert_eq!(token(&world.vault, &used, ANN).await, tokens[0]);
    }
    world.sessions.tidy().await.unwrap();
    assert_eq!(world.rows(), (2, 2));
    assert_eq!(value(&world.vault, &used, &tokens[0]).await.as_deref(), Some(ANN));
    assert_eq!(value(&world.vault, &session, &tokens[2]).await.as_deref(), Some(ANN));
    assert_eq!(value(&world.vault, &idle, &tokens[1]).await, None);
    assert_ne!(token(&world.vault, &idle, ANN).await, tokens[1]);
}

#[tokio::test]
async fn what_is_wiped_is_gone_in_every_gateway_at_once() {
    let world = World::new();
    let (one, two) = (world.session("a").await, world.session("b").await);
    let beside = world.beside();
    let (first, second) = (token(&world.vault, &one, ANN).await, token(&world.vault, &two, ANN).await);
    assert!(value(&beside, &one, &first).await.is_some() && value(&beside, &two, &second).await.is_some());
    let stranger = Owner("b".to_owned());
    assert_eq!(world.vault.wipe(Some(&stranger), Wipe::Session(id(&one).clone())).await.unwrap(), 0);
    assert_eq!(world.vault.wipe(None, Wipe::Session(id(&one).clone())).await.unwrap(), 1);
    for vault in [&world.vault, &beside] {
        assert_eq!(value(vault, &one, &first).await, None);
        assert_eq!(value(vault, &two, &second).await.as_deref(), Some(ANN));
    }
    assert_ne!(token(&beside, &one, ANN).await, first);
    assert_eq!(world.vault.wipe(Some(&stranger), Wipe::All).await.unwrap(), 1);
    assert_eq!(world.rows(), (1, 1));
    let key = || std::fs::read(world.folder.path().join(KEY_FILE)).unwrap();
    let before = key();
    assert_eq!(world.vault.wipe(None, Wipe::All).await.unwrap(), 1);
    assert_eq!(world.rows(), (0, 0));
    assert_ne!(key(), before, "copies of the database tell nothing either");
    assert!(world.vault.list(None).await.unwrap().is_empty());
    let third = token(&beside, &two, ANN).await;
    assert_eq!(value(&world.vault, &two, &third).await.as_deref(), Some(ANN));
}

#[tokio::test]
async fn a_list_has_kinds_and_counts_and_no_value() {
    let world = World::new();
    let (session, outside) = (world.session("a").await, client("b", "agent"));
    let phone = Wanted { kind: &Kind::Phone, ..email("+49 30 901820") };
    world.vault.tokens(&session, &[email(ANN), email("bob@example.com"), phone]).await.unwrap();
    world.vault.tokens(&outside, &[email(ANN)]).await.unwrap();
    let lines = world.vault.list(None).await.unwrap();
    let mut told: Vec<(String, &str, u64)> =
        lines.iter().map(|line| (line.scope_in_words(), line.kind.name(), line.values)).collect();
    told.sort();
    let name = format!("session {}", id(&session));
    assert_eq!(told, [("client agent".into(), "email", 1), (name.clone(), "email", 2), (name, "phone", 1)]);
    // Nonce, tag, and steps of 64 bytes.
    assert!(lines.iter().all(|line| line.is_readable && (line.bytes - 28 * line.values) % 64 == 0));
    assert_eq!(world.vault.list(Some(&Owner("b".to_owned()))).await.unwrap().len(), 1);
}

#[tokio::test]
async fn servers_add_up_and_the_first_of_a_values_types_counts() {
    let world = World::new();
    let scope = world.session("a").await;
    let beside = world.beside();
    for (vault, server) in [(&world.vault, "crm"), (&beside, "mail"), (&world.vault, "web"), (&beside, "crm")]
    {
        let wanted = Wanted { server: Some(server), is_number: server == "mail", ..email(ANN) };
        vault.tokens(&scope, &[wanted]).await.unwrap();
    }
    let token = token(&world.vault, &scope, ANN).await;
    let kept = world.beside().values(&[scope], &[&token]).await.unwrap().remove(0).unwrap();
    assert_eq!((kept.servers, kept.is_number), (["crm", "mail", "web"].map(str::to_owned).to_vec(), false));
}

#[tokio::test]
async fn what_is_too_large_gets_no_code_and_hurts_nothing_else() {
    let world = World::new();
    let scope = world.session("a").await;
    let (fits, large) = ("x".repeat(64 << 10), "x".repeat((64 << 10) + 1));
    let tokens = world.vault.tokens(&scope, &[email(&large), email(ANN), email(&fits)]).await.unwrap();
    assert_eq!(tokens[0], "[EMAIL]");
    assert_eq!(value(&world.vault, &scope, &tokens[1]).await.as_deref(), Some(ANN));
    assert_eq!(value(&world.beside(), &scope, &tokens[2]).await, Some(fits));
    // A scope that is full keeps what it has.
    world.database().execute("UPDATE vault_scopes SET count = 100000", ()).unwrap();
    let again = world.beside().tokens(&scope, &[email("new@example.com"), email(ANN)]).await.unwrap();
    assert_eq!(again, ["[EMAIL]".to_owned(), tokens[1].clone()]);
}

#[tokio::test]
async fn all_scopes_together_have_a_bound_and_what_is_wiped_makes_room() {
    let world = World::new();
    let (one, other) = (world.session("a").await, world.session("b").await);
    let kept = token(&world.vault, &one, ANN).await;
    token(&world.vault, &other, ANN).await;
    let sql = "UPDATE vault_scopes SET bytes = 512 << 20 WHERE session = ?1";
    world.database().execute(sql, [id(&other).as_str()]).unwrap();
    let new = [email("new@example.com"), email(ANN)];
    assert_eq!(world.beside().tokens(&one, &new).await.unwrap(), ["[EMAIL]".to_owned(), kept.clone()]);
    assert_eq!(value(&world.beside(), &one, &kept).await.as_deref(), Some(ANN));
    world.vault.wipe(None, Wipe::Session(id(&other).clone())).await.unwrap();
    assert_ne!(world.beside().tokens(&one, &new).await.unwrap()[0], "[EMAIL]");
}

#[tokio::test]
async fn what_is_known_of_a_value_is_told_without_keeping_anything() {
    let world = World::new();
    let (one, other) = (world.session("a").await, world.session("b").await);
    let asked = [email("new@example.com"), email(ANN)];
    assert_eq!(world.vault.known(&one, &asked).await.unwrap(), [None, None]);
    token(&world.vault, &one, ANN).await;
    for vault in [&world.vault, &world.beside()] {
        let known = vault.known(&one, &asked).await.unwrap();
        assert_eq!(known[1].as_ref().map(|kept| kept.value.as_str()), Some(ANN));
        assert_eq!(known[0], None);
    }
    assert_eq!(world.vault.known(&other, &asked).await.unwrap(), [None, None]);
    assert_eq!(world.vault.list(None).await.unwrap().len(), 1);
}

#[tokio::test]
async fn without_a_database_the_vault_is_in_memory() {
    let vault = Vault::open(None, None).unwrap();
    let scope = Scope::Session(SessionId::read("abcdefghijkmnpqrstuv").unwrap());
    let first = token(&vault, &scope, ANN).await;
    assert_eq!(token(&vault, &scope, ANN).await, first);
    assert_eq!(value(&vault, &scope, &first).await.as_deref(), Some(ANN));
    assert_eq!(vault.wipe(None, Wipe::All).await.unwrap(), 1);
    assert_eq!(value(&vault, &scope, &first).await, None);
}

#[tokio::test]
async fn values_that_come_again_are_cheap() {
    let world = World::new();
    let scope = world.session("a").await;
    let values: Vec<String> = (0..100).map(|number| format!("{number}@example.com")).collect();
    let wanted: Vec<Wanted<'_>> = values.iter().map(|value| email(value)).collect();
    world.vault.tokens(&scope, &[email(ANN)]).await.unwrap();
    let started = Instant::now();
    let tokens = world.vault.tokens(&scope, &wanted).await.unwrap();
    let new = started.elapsed();
    world.store.close().await;
    let started = Instant::now();
    for _ in 0..100 {
        // The database is closed: nothing is asked of it.
        assert_eq!(world.vault.tokens(&scope, &wanted).await.unwrap(), tokens);
    }
    let known = started.elapsed() / 100;
    println!("100 new values {new:?}, 100 known ones {known:?}");
    // Optimized it is a twentieth; this is for what would be quadratic or ask the disk.
    assert!(new < Duration::from_secs(2) && known < Duration::from_millis(20), "{new:?} {known:?}");
}
