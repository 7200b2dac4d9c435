//! A user at a machine: a data folder, a clock that stands still, a browser, and a server to log in to.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use gristmill_mcp::oauth::{
    Clock, Granted, LoginError, LoginNetwork, LoginRequest, LoginSettings, TokenSource, TokenStore, login,
};
use gristmill_testkit::TestFolder;
use tokio::task::JoinHandle;
use url::Url;

use crate::login_server::{LoginServer, Script, browse};

/// When every test begins.
pub const START: u64 = 1_800_000_000;

pub struct World {
    pub server: LoginServer,
    pub folder: TestFolder,
    pub settings: LoginSettings,
    pub network: LoginNetwork,
    now: Arc<AtomicU64>,
}

impl World {
    pub async fn new(name: &str, script: Script) -> Self {
        let network = LoginNetwork { timeout: Duration::from_secs(20), ..LoginNetwork::default() };
        Self {
            server: LoginServer::start(script).await,
            folder: TestFolder::new(name),
            settings: LoginSettings::default(),
            network,
            now: Arc::new(AtomicU64::new(START)),
        }
    }

    /// With somebody logged in.
    pub async fn logged_in(name: &str, script: Script) -> Self {
        let world = Self::new(name, script).await;
        world.login().await.expect("logged in");
        world
    }

    pub fn clock(&self) -> Clock {
        let now = Arc::clone(&self.now);
        Clock::new(move || UNIX_EPOCH + Duration::from_secs(now.load(Ordering::SeqCst)))
    }

    /// Time goes by.
    pub fn after(&self, seconds: u64) {
        self.now.fetch_add(seconds, Ordering::SeqCst);
    }

    pub fn store(&self) -> TokenStore {
        TokenStore::new(self.folder.path().join("data"))
    }

    /// A source as another process would have it: it shares the files only.
    pub fn source(&self) -> TokenSource {
        let settings = self.settings.clone();
        TokenSource::new(
            "crm",
            &self.server.mcp(),
            settings,
            self.store(),
            self.network.clone(),
            self.clock(),
        )
    }

    /// A login by a user whose browser works.
    pub async fn login(&self) -> Result<Granted, LoginError> {
        let browser = Browser::default();
        self.login_with(&|url| browser.open(url), Duration::from_secs(30)).await
    }

    pub async fn login_with(
        &self,
        open: &(dyn Fn(&Url) -> bool + Send + Sync),
        time_limit: Duration,
    ) -> Result<Granted, LoginError> {
        let url = self.server.mcp();
        let request = LoginRequest {
            server: "crm",
            url: &url,
            settings: &self.settings,
            challenge: None,
            time_limit,
            open,
        };
        login(request, &self.store(), &self.network, &self.clock()).await
    }

    /// The error of a login that must not work, checked for secrets.
    pub async fn refused_login(&self) -> LoginError {
        let error = self.login().await.expect_err("no login");
        self.check_clean(&error);
        error
    }

    /// Nothing that the server gave out is in there.
    pub fn check_clean(&self, thing: &dyn Debug) {
        let shown = format!("{thing:?} {thing:#?}");
        for secret in self.server.secrets() {
            assert!(!shown.contains(&secret), "{secret} is in {shown}");
        }
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

/// Remembers what it was sent to, and what it was shown in the end.
#[derive(Default)]
pub struct Browser {
    opened: Mutex<Vec<(Url, JoinHandle<String>)>>,
}

impl Browser {
    pub fn open(&self, url: &Url) -> bool {
        let browsing = tokio::spawn(browse(url.clone()));
        self.opened.lock().expect("no panic").push((url.clone(), browsing));
        true
    }

    /// The URL and the last page of its only visit.
    pub async fn visit(self) -> (Url, String) {
        let mut opened = self.opened.into_inner().expect("no panic");
        assert_eq!(opened.len(), 1);
        let (url, browsing) = opened.remove(0);
        (url, browsing.await.expect("a page"))
    }
}
