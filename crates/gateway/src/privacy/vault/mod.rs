//! The vault: which value each token stands for, by session, or by client where there is no session.
//!
//! Values are in the database, sealed with keys that one scope has for itself; the master key is in a file beside
//! it. Whatever a token was made for outlives a kill, is the same in every gateway of the data folder, and goes
//! with its session. A client's are kept for a day after their last use.
//!
//! Walls: a value leaves only for a token of the right scope, code and kind, and only unchanged. Nothing in the
//! database tells a value, or whether a guess is right.

mod cipher;
mod error;
mod kept;
mod key;
mod line;
mod memory;

use std::path::Path;
use std::sync::Arc;

use gristmill_privacy::{Code, FoundToken, Kind, mint, placeholder};
use parking_lot::Mutex;

use crate::ids::Owner;
use crate::marks::Scope;
use crate::store::{Store, StoreError, VaultOf, VaultRows};

pub use error::VaultError;
pub(super) use kept::SERVERS_MAX;
pub use kept::{Kept, Wanted};
pub use line::{VaultLine, Wipe};

use cipher::{ScopeKeys, random};
use key::{Current, KeyFile};
use memory::{Memory, OpenScope};

/// Longer values get no code.
const VALUE_BYTES_MAX: usize = 64 << 10;

/// How often another code is tried for a value. Two of 100,000 values meet once in 200 scopes.
const ATTEMPTS: u8 = 4;

/// See the module. Cheap to clone: all clones are the same.
#[derive(Clone)]
pub struct Vault {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    /// Whether the database knows sessions.
    has_sessions: bool,
    key: KeyFile,
    memory: Mutex<Memory>,
}

impl Vault {
    /// That of a database, with the key in this folder or else beside the database. Without a database everything
    /// is forgotten with the process. Blocks on the disk; the key is made when it is first needed.
    pub fn open(store: Option<Store>, folder: Option<&Path>) -> Result<Self, VaultError> {
        let has_sessions = store.is_some();
        let store = store.map_or_else(Store::in_memory, Ok)?;
        let folder = folder.or(store.folder()).filter(|_| has_sessions);
        let key = KeyFile::open(folder)?;
        let memory = Mutex::default();
        Ok(Self { inner: Arc::new(Inner { store, has_sessions, key, memory }) })
    }

    /// Tokens for values, in their order: the same for the same kind and value in a scope. Once this returns they
    /// outlive a kill. What is too large, or beyond what the vault may hold, gets a placeholder without a code.
    pub async fn tokens(&self, scope: &Scope, wanted: &[Wanted<'_>]) -> Result<Vec<String>, VaultError> {
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        let key = self.key_or_new().await?;
        let mut codes = self.known_codes(&key, scope, wanted);
        let is_new = |(wanted, code): &(&Wanted<'_>, &Option<Code>)| {
            code.is_none() && wanted.value.len() <= VALUE_BYTES_MAX
        };
        let new: Vec<Kept> =
            wanted.iter().zip(&codes).filter(is_new).map(|(wanted, _)| Kept::of(wanted)).collect();
        if !new.is_empty() {
            let mut given = self.keep(&key, scope, new).await?.into_iter();
            for (wanted, code) in wanted.iter().zip(&mut codes) {
                if is_new(&(wanted, code)) {
                    *code = given.next().flatten();
                }
            }
        }
        let token = |(wanted, code): (&Wanted<'_>, Option<Code>)| match code {
            Some(code) => mint(wanted.kind, code, wanted.form),
            None => placeholder(wanted.kind),
        };
        Ok(wanted.iter().zip(codes).map(token).collect())
    }

    /// What tokens stand for, in their order; `None` for what none of these scopes has.
    pub async fn values(&self, scopes: &[Scope], tokens: &[&str]) -> Result<Vec<Option<Kept>>, VaultError> {
        let tokens: Vec<Option<FoundToken>> = tokens.iter().map(|token| FoundToken::read(token)).collect();
        let mut found: Vec<Option<Kept>> = vec![None; tokens.len()];
        let Some(key) = self.inner.key.current()? else { return Ok(found) };
        for scope in scopes {
            let open: Vec<(usize, &FoundToken)> = tokens
                .iter()
                .enumerate()
                .filter(|(place, _)| found[*place].is_none())
                .filter_map(|(place, token)| Some((place, token.as_ref()?)))
                .collect();
            let codes: Vec<Code> = open.iter().map(|(_, token)| token.code).collect();
            let kept = self.kept(&key, scope, &codes).await?;
            for ((place, token), kept) in open.into_iter().zip(kept) {
                found[place] = kept.filter(|kept| token.fits(&kept.kind)).map(|kept| Kept::clone(&kept));
            }
        }
        Ok(found)
    }

    /// What is kept of values in a scope, in their order; `None` for what isn't in it. Nothing is written.
    pub async fn known(
        &self,
        scope: &Scope,
        wanted: &[Wanted<'_>],
    ) -> Result<Vec<Option<Arc<Kept>>>, VaultError> {
        let mut found: Vec<Option<Arc<Kept>>> = vec![None; wanted.len()];
        let Some(key) = self.inner.key.current()? else { return Ok(found) };
        let Some(keys) = self.scope_keys(&key, scope).await? else { return Ok(found) };
        let mut open: Vec<usize> = (0..wanted.len()).collect();
        for attempt in 0..ATTEMPTS {
            let code = |place: &usize| keys.code(wanted[*place].kind, wanted[*place].value, attempt);
            let codes: Vec<Code> = open.iter().map(code).collect();
            let kept = self.kept(&key, scope, &codes).await?;
            let mut taken = Vec::new();
            for (place, kept) in open.into_iter().zip(kept) {
                match kept {
                    Some(kept) if kept.is(wanted[place].kind, wanted[place].value) => {
                        found[place] = Some(kept);
                    }
                    // Another value has this code: the next one may be ours.
                    Some(_) => taken.push(place),
                    None => {}
                }
            }
            open = taken;
            if open.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// Tells a value apart from every other one of a scope, although it isn't kept. Without the key nobody can
    /// check a guess by it.
    pub async fn digest(&self, scope: &Scope, kind: &Kind, value: &str) -> Result<String, VaultError> {
        let key = self.key_or_new().await?;
        Ok(key.master.digest(&self.inner.row_of(scope), kind, value))
    }

    /// Another number whenever something was wiped: what somebody else remembers of it isn't to be used then.
    pub fn generation(&self) -> u64 {
        self.inner.key.current().ok().flatten().map_or(0, |current| current.number)
    }

    /// How much there is of what, by scope and kind, the last used first; of one owner or of everyone.
    pub async fn list(&self, owner: Option<&Owner>) -> Result<Vec<VaultLine>, VaultError> {
        let key = self.inner.key.current()?.map(|current| current.master.id());
        let counts = self.inner.store.vault_counts(owner.map(|owner| owner.0.clone())).await?;
        Ok(counts.into_iter().map(|count| VaultLine::of(count, key)).collect())
    }

    /// Every scope that has values, of one owner or of everyone.
    pub async fn scopes(&self, owner: Option<&Owner>) -> Result<Vec<Scope>, VaultError> {
        let mut scopes: Vec<Scope> = Vec::new();
        for line in self.list(owner).await? {
            let scope = match (line.session, line.client) {
                (Some(session), _) => Scope::Session(session),
                (None, client) => Scope::Client { owner: line.owner, client: client.unwrap_or_default() },
            };
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        Ok(scopes)
    }

    /// Removes values for good, of one owner or of everyone; how many there were. No gateway restores them
    /// afterwards.
    pub async fn wipe(&self, owner: Option<&Owner>, which: Wipe) -> Result<u64, VaultError> {
        let is_everything = owner.is_none() && which == Wipe::All;
        let session = match which {
            Wipe::Session(session) => Some(session.to_string()),
            Wipe::All => None,
        };
        let gone = self.inner.store.wipe_vault(owner.map(|owner| owner.0.clone()), session).await?;
        // With a new key, copies of the database tell nothing either.
        self.on_disk(move |inner| inner.key.renew(is_everything)).await?;
        self.inner.memory.lock().forget();
        Ok(gone)
    }

    async fn key_or_new(&self) -> Result<Current, VaultError> {
        match self.inner.key.current()? {
            Some(current) => Ok(current),
            None => self.on_disk(|inner| inner.key.current_or_new()).await,
        }
    }

    /// The keys of a scope that is there.
    async fn scope_keys(&self, key: &Current, scope: &Scope) -> Result<Option<Arc<ScopeKeys>>, VaultError> {
        let now_ms = self.inner.store.now_ms();
        let open = self.inner.memory.lock().of_key(key.number).scope(scope, now_ms);
        if let Some(open) = open {
            return Ok(Some(open.keys));
        }
        let of = self.inner.row_of(scope);
        let rows = self.inner.store.vault_values(of.clone(), key.master.id(), Vec::new()).await?;
        let Some((row, _)) = rows else { return Ok(None) };
        let keys = || key.master.scope(&of, &row.salt);
        let mut memory = self.inner.memory.lock();
        Ok(memory.of_key(key.number).opened(scope, &row.salt, now_ms, keys).map(|open| open.keys))
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let inner = Arc::clone(&self.inner);
        let done = tokio::task::spawn_blocking(move || work(&inner)).await;
        done.map_err(|_| StoreError::Closed)?
    }

    fn known_codes(&self, key: &Current, scope: &Scope, wanted: &[Wanted<'_>]) -> Vec<Option<Code>> {
        let mut memory = self.inner.memory.lock();
        let memory = memory.of_key(key.number);
        let Some(open) = memory.scope(scope, self.inner.store.now_ms()) else {
            return vec![None; wanted.len()];
        };
        wanted.iter().map(|wanted| memory.code(&open, wanted)).collect()
    }

    /// Keeps values, in one transaction. Those that there is no room for get no code.
    async fn keep(
        &self,
        key: &Current,
        scope: &Scope,
        new: Vec<Kept>,
    ) -> Result<Vec<Option<Code>>, VaultError> {
        let (of, master, salt) = (self.inner.row_of(scope), Arc::clone(&key.master), *random()?);
        let work = {
            let of = of.clone();
            move |rows: &mut VaultRows<'_>| {
                let Some(keys) = master.scope(&of, &rows.scope().salt) else { return Ok(Vec::new()) };
                new.iter().map(|kept| keep_one(rows, &keys, kept)).collect::<Result<Vec<_>, _>>()
            }
        };
        let done = self.inner.store.change_vault(of.clone(), key.master.id(), salt, work).await?;
        let (row, kept) = done.ok_or(VaultError::NoSession)?;
        let mut memory = self.inner.memory.lock();
        let memory = memory.of_key(key.number);
        let keys = || key.master.scope(&of, &row.salt);
        if let Some(open) = memory.opened(scope, &row.salt, self.inner.store.now_ms(), keys) {
            for (code, kept) in kept.iter().flatten() {
                memory.keep(&open, *code, Arc::clone(kept));
            }
        }
        Ok(kept.into_iter().map(|one| one.map(|(code, _)| code)).collect())
    }

    async fn kept(
        &self,
        key: &Current,
        scope: &Scope,
        codes: &[Code],
    ) -> Result<Vec<Option<Arc<Kept>>>, VaultError> {
        let mut found = self.in_memory(key, scope, codes);
        let missing: Vec<usize> = (0..codes.len()).filter(|place| found[*place].is_none()).collect();
        if missing.is_empty() {
            return Ok(found);
        }
        let of = self.inner.row_of(scope);
        let asked = missing.iter().map(|place| codes[*place].number()).collect();
        let rows = self.inner.store.vault_values(of.clone(), key.master.id(), asked).await?;
        let Some((row, sealed)) = rows else { return Ok(vec![None; codes.len()]) };
        let mut memory = self.inner.memory.lock();
        let memory = memory.of_key(key.number);
        let keys = || key.master.scope(&of, &row.salt);
        let Some(open) = memory.opened(scope, &row.salt, self.inner.store.now_ms(), keys) else {
            return Ok(found);
        };
        for (place, sealed) in missing.into_iter().zip(sealed) {
            let code = codes[place];
            found[place] = sealed.and_then(|sealed| open.keys.open(code, &sealed)).map(Arc::new);
            if let Some(kept) = &found[place] {
                memory.keep(&open, code, Arc::clone(kept));
            }
        }
        Ok(found)
    }

    fn in_memory(&self, key: &Current, scope: &Scope, codes: &[Code]) -> Vec<Option<Arc<Kept>>> {
        let mut memory = self.inner.memory.lock();
        let memory = memory.of_key(key.number);
        let open: Option<OpenScope> = memory.scope(scope, self.inner.store.now_ms());
        codes.iter().map(|code| memory.kept(open.as_ref()?, *code)).collect()
    }
}

impl Inner {
    fn row_of(&self, scope: &Scope) -> VaultOf {
        match scope {
            Scope::Session(id) if self.has_sessions => VaultOf::Session(id.to_string()),
            Scope::Session(id) => VaultOf::Client { owner: String::new(), client: id.to_string() },
            Scope::Client { owner, client } => {
                VaultOf::Client { owner: owner.0.clone(), client: client.clone() }
            }
        }
    }
}

/// Keeps one value under its code, or under another if that is taken; `None` if there is no room for it.
fn keep_one(
    rows: &mut VaultRows<'_>,
    keys: &ScopeKeys,
    new: &Kept,
) -> Result<Option<(Code, Arc<Kept>)>, StoreError> {
    for attempt in 0..ATTEMPTS {
        let code = keys.code(&new.kind, &new.value, attempt);
        // What can't be opened was changed by somebody: its place is free.
        let there = rows.sealed(code.number())?.and_then(|sealed| keys.open(code, &sealed));
        let mut kept = match &there {
            Some(there) if !there.is(&new.kind, &new.value) => continue,
            Some(there) => there.clone(),
            None => new.clone(),
        };
        kept.add_servers(&new.servers);
        if there.as_ref() == Some(&kept) {
            return Ok(Some((code, Arc::new(kept))));
        }
        let sealed = keys.seal(code, &kept).map_err(|error| StoreError::Other(error.to_string()))?;
        let has_room = rows.put(code.number(), kept.kind.name(), &sealed)?;
        return Ok(if has_room { Some(kept) } else { there }.map(|kept| (code, Arc::new(kept))));
    }
    Ok(None)
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

#[cfg(test)]
mod tests;
