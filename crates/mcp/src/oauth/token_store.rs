//! The logins of this user, in one file: `tokens.json` in the data folder.
//!
//! Walls: mode 600 in a folder of mode 700, replaced as a whole under a lock, so that two gateways
//! do not lose each other's renewals. A login belongs to one server at one URL and to the login
//! server that issued it, whose endpoints are kept with it: a token never goes elsewhere because
//! metadata changed.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::clock::system_time;
use super::private_file::{self, Lock, PrivateFileError, Stamp};
use crate::secret::Secret;

/// The format that we write, and the only one that we read.
const VERSION: u64 = 1;

/// Real files have some kilobytes.
const FILE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How long a change of the file may take in another process.
const FILE_PATIENCE: Duration = Duration::from_secs(10);

/// How long a renewal may take in another process: its request, and some air.
const RENEWAL_PATIENCE: Duration = Duration::from_secs(30);

/// The file with the logins cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// As a file.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// Its content.
    #[error("{path} is damaged; move it away and log in again")]
    Damaged {
        /// Which.
        path: String,
    },
    /// From another time.
    #[error(
        "{path} has format {found}, and this gristmill reads {VERSION}; \
         use the newer one, or move the file away and log in again"
    )]
    Version {
        /// Which.
        path: String,
        /// Its format.
        found: u64,
    },
    /// A bug of ours, or the program is ending.
    #[error("{path} was not written")]
    Interrupted {
        /// Which.
        path: String,
    },
}

/// How we prove to the login server who we are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ClientProof {
    /// In the `Authorization` header.
    Basic,
    /// In the form.
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
    /// The server's name.
    pub server: String,
    /// Its URL, without a query.
    pub url: Url,
    /// Who issued the login.
    pub issuer: String,
    /// What was granted.
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

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.folder.join("tokens.json")
    }

    /// All logins.
    pub fn list(&self) -> Result<Vec<StoredLoginSummary>, StoreError> {
        let summary = |login: StoredLogin| StoredLoginSummary {
            server: login.server,
            url: login.url,
            issuer: login.issuer,
            scopes: login.scopes,
            expires_at: login.expires_at.and_then(system_time),
            is_renewed: login.refresh_token.is_some(),
        };
        Ok(read(&self.path())?.0.into_iter().map(summary).collect())
    }

    /// Tells one state of the file from the next, without reading it.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        private_file::stamp(&self.path())
    }

    /// A server's login, and the state of the file that it is from.
    pub(super) fn find(
        &self,
        server: &str,
        url: &Url,
    ) -> Result<(Option<StoredLogin>, Option<Stamp>), StoreError> {
        let (logins, stamp) = read(&self.path())?;
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
    pub(super) async fn renewal_lock(&self, server: &str, url: &Url) -> Result<Lock, StoreError> {
        let folder = self.folder.join("token-locks");
        private_file::ensure_folder(&folder)?;
        let name = blake3::hash(format!("{server}\n{url}").as_bytes()).to_hex();
        let path = folder.join(format!("{}.lock", &name[..16]));
        Ok(private_file::lock(path, RENEWAL_PATIENCE).await?)
    }

    /// One change, made whole even if nobody waits for it any more.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut Vec<StoredLogin>) -> T + Send + 'static,
    ) -> Result<T, StoreError> {
        private_file::ensure_folder(&self.folder)?;
        let lock = private_file::lock(self.folder.join("tokens.lock"), FILE_PATIENCE).await?;
        let path = self.path();
        let interrupted = StoreError::Interrupted { path: path.display().to_string() };
        let task = tokio::task::spawn_blocking(move || {
            let (mut logins, _) = read(&path)?;
            let outcome = change(&mut logins);
            write(&path, logins)?;
            drop(lock);
            Ok(outcome)
        });
        task.await.unwrap_or(Err(interrupted))
    }
}

fn read(path: &Path) -> Result<(Vec<StoredLogin>, Option<Stamp>), StoreError> {
    #[derive(Deserialize)]
    struct Versioned {
        version: u64,
    }
    let Some((bytes, stamp)) = private_file::read(path, FILE_BYTES_MAX)? else {
        return Ok((Vec::new(), None));
    };
    let bytes = Zeroizing::new(bytes);
    let shown = || path.display().to_string();
    // The parser's own words could repeat a token.
    let damaged = |_| StoreError::Damaged { path: shown() };
    let Versioned { version } = serde_json::from_slice(&bytes).map_err(damaged)?;
    if version != VERSION {
        return Err(StoreError::Version { path: shown(), found: version });
    }
    let content: Content = serde_json::from_slice(&bytes).map_err(damaged)?;
    Ok((content.logins, Some(stamp)))
}

fn write(path: &Path, logins: Vec<StoredLogin>) -> Result<(), StoreError> {
    let damaged = |_| StoreError::Damaged { path: path.display().to_string() };
    let bytes = serde_json::to_vec_pretty(&Content { version: VERSION, logins }).map_err(damaged)?;
    Ok(private_file::replace(path, &Zeroizing::new(bytes))?)
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
