//! The logins of this user, in one file: `tokens.json` in the data folder.
//!
//! Walls: mode 600 in a folder of mode 700, replaced as a whole under a lock, so that two gateways
//! do not lose each other's renewals. A login belongs to one server at one URL and to the login
//! server that issued it, whose endpoints are kept with it: a token never goes elsewhere because
//! metadata changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gristmill_files::{
    FileLock, FileStamp, LockAttempt, LockAttempts, PrivateFile, PrivateFileError, ensure_private_folder,
};
use gristmill_gateway::store::check_leads;
use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::clock::system_time;
use crate::secret::Secret;

/// The format that we write, and the only one that we read.
const VERSION: u64 = 1;

/// What the file holds, for messages about it.
const HOLDS: &str = "logins";

/// Real files have some kilobytes.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How long a change of the file may take in another process.
const FILE_PATIENCE: Duration = Duration::from_secs(10);

/// How long a renewal may take in another process: its request, and some air.
const RENEWAL_PATIENCE: Duration = Duration::from_secs(30);

/// The file with the logins cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    #[error(transparent)]
    File(PrivateFileError),
    /// Another machine has the logins.
    #[error("{0}")]
    StandsBy(String),
    #[error("{path} is larger than {bytes_max} bytes; delete it and log in again")]
    TooLarge { path: String, bytes_max: u64 },
    #[error("{path} is damaged; delete it and log in again")]
    Damaged { path: String },
    /// Written by another version of gristmill.
    #[error(
        "{path} has format {found}, and this gristmill reads {VERSION}; \
         use the newer one, or move the file away and log in again"
    )]
    Version { path: String, found: u64 },
    /// A bug of ours, or the program is ending.
    #[error("couldn't write {path}")]
    Interrupted { path: String },
}

impl From<PrivateFileError> for StoreError {
    fn from(error: PrivateFileError) -> Self {
        match error {
            PrivateFileError::TooLarge { path, bytes_max } => Self::TooLarge { path, bytes_max },
            error => Self::File(error),
        }
    }
}

/// How we prove to the login server who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientProof {
    /// In the `Authorization` header.
    Basic,
    Post,
}

/// One login, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    pub(super) server: String,
    pub(super) url: Url,
    pub(super) issuer: String,
    /// What the token is for, in the server's own words.
    pub(super) resource: String,
    pub(super) token_endpoint: Url,
    pub(super) revocation_endpoint: Option<Url>,
    pub(super) client_id: String,
    /// Only of a client that we registered: a configured one stays where it is configured.
    #[serde(with = "optional_secret", default)]
    pub(super) client_secret: Option<Secret>,
    pub(super) client_proof: ClientProof,
    #[serde(with = "plain_secret")]
    pub(super) access_token: Secret,
    #[serde(with = "optional_secret", default)]
    pub(super) refresh_token: Option<Secret>,
    pub(super) obtained_at: u64,
    pub(super) expires_at: Option<u64>,
    pub(super) scopes: Vec<String>,
    /// What the server has missed since; the next login asks for it too.
    #[serde(default)]
    pub(super) missing_scopes: Vec<String>,
    /// The login server's words when it refused to renew it.
    #[serde(default)]
    pub(super) not_renewed: Option<String>,
}

impl StoredLogin {
    fn is_for(&self, server: &str, url: &Url) -> bool {
        self.server == server && self.url == *url
    }
}

#[derive(Serialize, Deserialize)]
struct Content {
    version: u64,
    logins: Vec<StoredLogin>,
}

/// A login without its secrets, for lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLoginSummary {
    pub server: String,
    /// Its URL, without a query.
    pub url: Url,
    /// Who issued the login.
    pub issuer: String,
    pub scopes: Vec<String>,
    /// When the present token ends; None if nobody said.
    pub expires_at: Option<SystemTime>,
    /// Whether it is renewed by itself.
    pub is_renewed: bool,
}

/// See the module. Cheap to clone; nothing is read before it is asked.
#[derive(Clone, Debug)]
pub struct TokenStore {
    folder: PathBuf,
}

impl TokenStore {
    /// The logins in this folder, which is made when the first one is stored.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join("tokens.json")
    }

    pub fn list(&self) -> Result<Vec<StoredLoginSummary>, StoreError> {
        let summary = |login: StoredLogin| StoredLoginSummary {
            server: login.server,
            url: login.url,
            issuer: login.issuer,
            scopes: login.scopes,
            expires_at: login.expires_at.and_then(system_time),
            is_renewed: login.refresh_token.is_some(),
        };
        Ok(read(&self.file())?.0.into_iter().map(summary).collect())
    }

    fn file(&self) -> PrivateFile {
        PrivateFile::new(self.path(), HOLDS)
    }

    /// Tells one state of the file from the next, without reading it.
    pub(super) fn stamp(&self) -> Option<FileStamp> {
        self.file().stamp()
    }

    /// A server's login, and the state of the file that it is from.
    pub(super) fn find(
        &self,
        server: &str,
        url: &Url,
    ) -> Result<(Option<StoredLogin>, Option<FileStamp>), StoreError> {
        let (logins, stamp) = read(&self.file())?;
        Ok((logins.into_iter().find(|login| login.is_for(server, url)), stamp))
    }

    /// Puts a login in the place of the one before.
    pub(super) async fn put(&self, login: StoredLogin) -> Result<(), StoreError> {
        self.change(move |logins| {
            logins.retain(|other| !other.is_for(&login.server, &login.url));
            logins.push(login);
        })
        .await
    }

    /// Changes a login that is still the one with this access token.
    pub(super) async fn amend(
        &self,
        login: &StoredLogin,
        amend: impl FnOnce(&mut StoredLogin) + Send + 'static,
    ) -> Result<(), StoreError> {
        let expected = login.clone();
        self.change(move |logins| {
            let is_it = |login: &&mut StoredLogin| {
                login.is_for(&expected.server, &expected.url) && login.access_token == expected.access_token
            };
            if let Some(login) = logins.iter_mut().find(is_it) {
                amend(login);
            }
        })
        .await
    }

    /// Forgets all logins of a server, at whatever URL, and hands them over.
    pub(super) async fn remove(&self, server: &str) -> Result<Vec<StoredLogin>, StoreError> {
        if self.stamp().is_none() {
            return Ok(Vec::new());
        }
        let server = server.to_owned();
        self.change(move |logins| {
            let (removed, kept) = logins.drain(..).partition(|login| login.server == server);
            *logins = kept;
            removed
        })
        .await
    }

    /// Held while a login is renewed, by one process at a time. Each server has its own, so that a
    /// slow login server holds up nobody else.
    pub(super) async fn renewal_lock(&self, server: &str, url: &Url) -> Result<FileLock, StoreError> {
        let folder = self.folder.join("token-locks");
        ensure_private_folder(&folder, HOLDS)?;
        let name = blake3::hash(format!("{server}\n{url}").as_bytes()).to_hex();
        let path = folder.join(format!("{}.lock", &name[..16]));
        lock(&path, RENEWAL_PATIENCE).await
    }

    /// Whether logins may be changed here: where the data folder is shared, only while this machine's gateway leads.
    pub(super) fn check_leads(&self) -> Result<(), StoreError> {
        check_leads(&self.folder).map_err(|error| StoreError::StandsBy(error.to_string()))
    }

    /// One change, made whole even if nobody waits for it any more.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<StoredLogin>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        self.check_leads()?;
        ensure_private_folder(&self.folder, HOLDS)?;
        let lock = lock(&self.folder.join("tokens.lock"), FILE_PATIENCE).await?;
        let file = self.file();
        let interrupted = StoreError::Interrupted { path: shown(file.path()) };
        let task = tokio::task::spawn_blocking(move || {
            let (mut logins, _) = read(&file)?;
            let outcome = change(&mut logins);
            write(&file, logins)?;
            drop(lock);
            Ok(outcome)
        });
        task.await.unwrap_or(Err(interrupted))
    }
}

/// Waits for a lock without blocking the thread.
async fn lock(path: &Path, patience: Duration) -> Result<FileLock, StoreError> {
    let mut attempts = LockAttempts::open(path, patience).map_err(PrivateFileError::from)?;
    loop {
        match attempts.attempt().map_err(PrivateFileError::from)? {
            LockAttempt::Taken(lock) => return Ok(lock),
            LockAttempt::HeldByOther { pause } => tokio::time::sleep(pause).await,
        }
    }
}

fn read(file: &PrivateFile) -> Result<(Vec<StoredLogin>, Option<FileStamp>), StoreError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let Some((bytes, stamp)) = file.read(FILE_BYTES_MAX)? else {
        return Ok((Vec::new(), None));
    };
    let bytes = Zeroizing::new(bytes);
    // The parser's own words could repeat a token.
    let damaged = |_| StoreError::Damaged { path: shown(file.path()) };
    let Versioned { version } = serde_json::from_slice(&bytes).map_err(damaged)?;
    if version != VERSION {
        return Err(StoreError::Version { path: shown(file.path()), found: version });
    }
    let content: Content = serde_json::from_slice(&bytes).map_err(damaged)?;
    Ok((content.logins, Some(stamp)))
}

fn write(file: &PrivateFile, logins: Vec<StoredLogin>) -> Result<(), StoreError> {
    let damaged = |_| StoreError::Damaged { path: shown(file.path()) };
    let bytes = serde_json::to_vec_pretty(&Content { version: VERSION, logins }).map_err(damaged)?;
    Ok(file.replace(&Zeroizing::new(bytes))?)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Here, and only here, secrets are written out.
mod plain_secret {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::secret::Secret;

    pub(super) fn serialize<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(secret.reveal())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Secret, D::Error> {
        String::deserialize(deserializer).map(Secret::new)
    }
}

mod optional_secret {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::secret::Secret;

    pub(super) fn serialize<S: Serializer>(
        secret: &Option<Secret>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match secret {
            Some(secret) => serializer.serialize_some(secret.reveal()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Secret>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Secret::new))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use gristmill_testkit::TestFolder;

    use super::*;

    fn login(server: &str, token: &str) -> StoredLogin {
        let url = |text: &str| Url::parse(text).expect("a URL");
        StoredLogin {
            server: server.to_owned(),
            url: url("https://mcp.example/mcp"),
            issuer: "https://login.example".to_owned(),
            resource: "https://mcp.example/mcp".to_owned(),
            token_endpoint: url("https://login.example/token"),
            revocation_endpoint: None,
            client_id: "us".to_owned(),
            client_secret: Some(Secret::new("client-s3cret")),
            client_proof: ClientProof::Basic,
            access_token: Secret::new(token),
            refresh_token: Some(Secret::new("refresh-s3cret")),
            obtained_at: 1000,
            expires_at: Some(4600),
            scopes: vec!["read".to_owned()],
            missing_scopes: Vec::new(),
            not_renewed: None,
        }
    }

    fn write_file(store: &TokenStore, text: &str) {
        std::fs::write(store.path(), text).expect("a file");
        std::fs::set_permissions(store.path(), std::fs::Permissions::from_mode(0o600)).expect("a mode");
    }

    #[tokio::test]
    async fn logins_are_stored_replaced_amended_and_removed() {
        let test = TestFolder::new("token-store");
        let store = TokenStore::new(test.path().join("data"));
        let found = |server: &str| store.find(server, &login(server, "").url).expect("a file").0;
        assert_eq!((found("crm"), store.remove("crm").await), (None, Ok(Vec::new())));
        store.put(login("crm", "one")).await.expect("stored");
        store.put(login("mail", "two")).await.expect("stored");
        store.put(login("crm", "three")).await.expect("stored");
        assert_eq!((found("crm"), found("mail")), (Some(login("crm", "three")), Some(login("mail", "two"))));
        let other_url = Url::parse("https://elsewhere.example/mcp").expect("a URL");
        assert_eq!(store.find("crm", &other_url).expect("a file").0, None);
        // An amendment of a login that has been replaced meanwhile changes nothing.
        store.amend(&login("crm", "one"), |login| login.refresh_token = None).await.expect("read");
        assert_eq!(found("crm"), Some(login("crm", "three")));
        store.amend(&login("crm", "three"), |login| login.refresh_token = None).await.expect("stored");
        assert_eq!(found("crm").and_then(|login| login.refresh_token), None);
        assert_eq!(store.remove("mail").await, Ok(vec![login("mail", "two")]));
        let names: Vec<String> =
            store.list().expect("a file").into_iter().map(|login| login.server).collect();
        assert_eq!(names, ["crm"]);
    }

    #[tokio::test]
    async fn many_writers_lose_nothing_of_each_other() {
        let test = TestFolder::new("token-store-writers");
        // A store of its own for each, as in different processes: they share the files only.
        let writes = (0..20).map(|number| {
            let store = TokenStore::new(test.path());
            tokio::spawn(async move { store.put(login(&format!("server{number}"), "t")).await })
        });
        for write in writes.collect::<Vec<_>>() {
            write.await.expect("no panic").expect("stored");
        }
        assert_eq!(TokenStore::new(test.path()).list().expect("a file").len(), 20);
    }

    #[tokio::test]
    async fn a_lock_is_held_by_one_and_waited_for_by_the_other() {
        let test = TestFolder::new("token-store-lock");
        let path = test.path().join("x.lock");
        let held = lock(&path, Duration::ZERO).await.expect("free");
        let refused = lock(&path, Duration::ZERO).await.expect_err("held").to_string();
        let expected = "has been locked by another process for 0 s; is another gristmill hanging?";
        assert_eq!(refused, format!("{} {expected}", path.display()));
        let waiting = tokio::spawn(async move { lock(&path, Duration::from_secs(30)).await });
        tokio::task::yield_now().await;
        drop(held);
        waiting.await.expect("no panic").expect("free again");
    }

    #[test]
    fn a_file_that_is_too_large_or_open_to_others_is_refused_with_the_remedy() {
        let test = TestFolder::new("token-store-refused");
        let store = TokenStore::new(test.path());
        let path = store.path().display().to_string();
        write_file(&store, "{}");
        let large = std::fs::File::options().write(true).open(store.path()).expect("a file");
        large.set_len(FILE_BYTES_MAX + 1).expect("room");
        assert_eq!(
            store.list().expect_err("too large").to_string(),
            format!("{path} is larger than {FILE_BYTES_MAX} bytes; delete it and log in again")
        );
        std::fs::set_permissions(store.path(), std::fs::Permissions::from_mode(0o640)).expect("a mode");
        assert_eq!(
            store.list().expect_err("readable by others").to_string(),
            format!("{path} contains logins, and other users can read it (mode 640); run: chmod 600 {path}")
        );
    }

    #[test]
    fn a_file_that_is_not_ours_to_understand_is_left_alone() {
        let test = TestFolder::new("token-store-damaged");
        let store = TokenStore::new(test.path());
        let path = store.path().display().to_string();
        for garbage in
            ["", "[]", "{\"version\": 1}", "{\"version\": 1, \"logins\": [{\"access_token\": \"t0k\"}]}"]
        {
            write_file(&store, garbage);
            assert_eq!(store.list(), Err(StoreError::Damaged { path: path.clone() }), "{garbage}");
        }
        write_file(&store, "{\"version\": 2, \"sealed\": true}");
        assert_eq!(store.list(), Err(StoreError::Version { path, found: 2 }));
    }

    #[test]
    fn a_stored_login_shows_no_secret() {
        let shown = format!("{:?}", login("crm", "access-s3cret"));
        assert!(!shown.contains("s3cret") && shown.contains("(secret)"), "{shown}");
    }
}
