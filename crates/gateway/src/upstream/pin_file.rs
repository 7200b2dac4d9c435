//! The approvals, on disk. A file that cannot be read stops new approvals and changes, never hides
//! that something changed: without it everything waits.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_domain::Accept;
use gristmill_domain::catalogue::{
    Approval, Approve, ChooseError, ItemKind, Offer, Pins, Review, ServerPins, approve, review,
};
use gristmill_files::{FileLock, FileStamp, read_bounded, replace_private};
use parking_lot::Mutex;

use crate::ports::{ApprovedHow, AuditEvent};
use crate::store::{Store, check_leads_beside};

const PINS_FILE: &str = "pins.json";

const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// The definitions of one server that are remembered, those among them that it no longer offers. A
/// server that wants more is held back; the others are not.
const SERVER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The approvals cannot be read or written. Tools that were approved before are held back until
/// they can be.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PinError {
    /// The file. Tools of every server are held back until it can be used.
    #[error("can't use the tool approvals in {path}: {why}")]
    File {
        path: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// One server. The others are unaffected.
    #[error(
        "`{server}` has offered {bytes} bytes of different definitions over time, and only {SERVER_BYTES_MAX} are remembered; remove it with `gristmill remove` and add it again to start over"
    )]
    TooMuch { server: String, bytes: usize },
}

/// An approval that did not happen. Nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// Not configured, or not enabled.
    #[error("no server `{0}`")]
    NoServer(String),
    /// Not something of it.
    #[error(transparent)]
    Choose(#[from] ChooseError),
    /// The approvals cannot be written.
    #[error(transparent)]
    Pins(#[from] PinError),
}

/// Forgets what was approved of a server: it is a new one when it is seen again. `data` is where what must
/// last is.
pub fn forget_approvals(data: &Path, server: &str) -> Result<(), PinError> {
    let file = PinFile::in_folder(data);
    let mut last = file.last.lock();
    if !file.read_if_new(&mut last)?.servers.contains_key(server) {
        return Ok(());
    }
    file.change(|pins| {
        pins.servers.remove(server);
        Ok(())
    })
}

/// What was approved of a server without a person.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    how: ApprovedHow,
    tools: Vec<String>,
    /// Prompts, resources, and what it says about itself.
    others: usize,
}

impl Taken {
    /// What is pinned now and was not before, by the way that it was approved.
    fn between(before: Option<&ServerPins>, after: &ServerPins) -> Vec<Self> {
        let is_new = |kind: ItemKind, name: &str, hash: &str| {
            let known = before.and_then(|pins| pins.of(kind)?.get(name));
            known.is_none_or(|pin| pin.hash != hash)
        };
        let pins =
            after.kinds.iter().flat_map(|(kind, pins)| pins.iter().map(|(name, pin)| (*kind, name, pin)));
        let new: Vec<_> = pins.filter(|(kind, name, pin)| is_new(*kind, name, &pin.hash)).collect();
        let taken = |approved: Approval, how: ApprovedHow| {
            let (mut tools, mut others) = (Vec::new(), 0);
            for (kind, name, _) in new.iter().filter(|(_, _, pin)| pin.approved == approved) {
                match kind {
                    ItemKind::Tool => tools.push((*name).clone()),
                    // They come and go with the data: where they are taken unseen, nobody asks which.
                    ItemKind::Resource if how == ApprovedHow::Accepted => {}
                    ItemKind::Instructions
                    | ItemKind::Prompt
                    | ItemKind::Resource
                    | ItemKind::ResourceTemplate => others += 1,
                }
            }
            (!tools.is_empty() || others > 0).then_some(Self { how, tools, others })
        };
        let ways = [(Approval::FirstUse, ApprovedHow::First), (Approval::Setting, ApprovedHow::Accepted)];
        ways.into_iter().filter_map(|(approved, how)| taken(approved, how)).collect()
    }

    pub(super) fn event(&self, server: &str) -> AuditEvent {
        AuditEvent::tools_approved(server, &self.tools, self.how).and_others(self.others)
    }
}

pub(super) struct PinFile {
    path: PathBuf,
    /// One at a time in this process; the file's lock is for other processes. What was read last is
    /// read again only if the file is another one by then.
    last: Mutex<Option<(FileStamp, Arc<Pins>)>>,
    /// Where answers wait for what is written here, too; `None` if none do.
    store: Option<Store>,
}

impl PinFile {
    pub(super) fn in_folder(data: &Path) -> Self {
        Self { path: data.join(PINS_FILE), last: Mutex::default(), store: None }
    }

    /// The same, which tells this database's state of its changes.
    pub(super) fn telling(self, store: Option<Store>) -> Self {
        Self { store, ..self }
    }

    /// Reads the file, so that the next who needs it finds it read. What is wrong with it is said then.
    pub(super) fn read_ahead(&self) {
        let _ = self.read_if_new(&mut self.last.lock());
    }

    /// Compares an offer with what was approved, and writes down what is approved by it.
    pub(super) fn review(
        &self,
        server: &str,
        offered: &Offer,
        accept: Accept,
    ) -> Result<(Review, Vec<Taken>), PinError> {
        let mut last = self.last.lock();
        // Most offers are as they were: that needs no lock.
        let before = self.read_if_new(&mut last)?;
        let reviewed = review(before.servers.get(server), offered, accept);
        let bytes = reviewed.new_pins.raw_bytes();
        if bytes > SERVER_BYTES_MAX {
            return Err(PinError::TooMuch { server: server.to_owned(), bytes });
        }
        if before.servers.get(server) == Some(&reviewed.new_pins) {
            return Ok((reviewed, Vec::new()));
        }
        self.change(|pins| {
            let before = pins.servers.get(server);
            let reviewed = review(before, offered, accept);
            let taken = Taken::between(before, &reviewed.new_pins);
            pins.servers.insert(server.to_owned(), reviewed.new_pins.clone());
            Ok::<_, PinError>((reviewed, taken))
        })
    }

    pub(super) fn approve(
        &self,
        server: &str,
        what: Approve<'_>,
        offered: &Offer,
    ) -> Result<Vec<String>, ApproveError> {
        let _turn = self.last.lock();
        self.change(|pins| Ok(approve(pins, server, what, offered)?))
    }

    /// Names of the tools of a server that were approved, whether it still offers them or not. `None` if
    /// it was never seen, or the approvals cannot be read.
    pub(super) fn tools_of(&self, server: &str) -> Option<Vec<String>> {
        let pins = self.read_if_new(&mut self.last.lock()).ok()?;
        let tools = pins.servers.get(server)?.of(ItemKind::Tool)?;
        Some(tools.keys().cloned().collect())
    }

    fn change<T, E: From<PinError>>(&self, change: impl FnOnce(&mut Pins) -> Result<T, E>) -> Result<T, E> {
        check_leads_beside(&self.path).map_err(|error| self.error(error.to_string()))?;
        let lock = FileLock::beside(&self.path);
        let _lock = lock.map_err(|error| self.error(error.to_string()))?;
        let mut pins = self.read()?;
        let outcome = change(&mut pins)?;
        let text = serde_json::to_vec(&pins).map_err(|error| self.error(error.to_string()))?;
        // What could not be read again is not written.
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(self.error(format!("it would have more than {FILE_BYTES_MAX} bytes")).into());
        }
        replace_private(&self.path, &text).map_err(|error| self.error(error.to_string()))?;
        if let Some(store) = &self.store {
            store.changed(PINS_FILE);
        }
        Ok(outcome)
    }

    fn read_if_new(&self, last: &mut Option<(FileStamp, Arc<Pins>)>) -> Result<Arc<Pins>, PinError> {
        let stamp = FileStamp::of(&self.path);
        if let (Some(stamp), Some((known, pins))) = (stamp, &*last)
            && stamp == *known
        {
            return Ok(Arc::clone(pins));
        }
        let pins = Arc::new(self.read()?);
        *last = stamp.map(|stamp| (stamp, Arc::clone(&pins)));
        Ok(pins)
    }

    fn read(&self) -> Result<Pins, PinError> {
        let text = read_bounded(&self.path, FILE_BYTES_MAX).map_err(|error| self.error(error.to_string()))?;
        let Some(text) = text else { return Ok(Pins::default()) };
        Pins::from_text(&text).map_err(|error| self.error(error.to_string()))
    }

    fn error(&self, why: String) -> PinError {
        PinError::File { path: self.path.display().to_string(), why }
    }
}

#[cfg(test)]
mod tests {
    use gristmill_domain::catalogue::{Prompt, ToolDefinition};
    use gristmill_testkit::TestFolder;

    use super::*;
    use crate::ports::{BoxFuture, NotShared, SharedState};
    use crate::upstream::guard::{ALWAYS_FILE, AlwaysApproval, AlwaysApprovals};

    fn tool(name: &str, about: &str) -> Arc<ToolDefinition> {
        let text =
            format!(r#"{{"name":"{name}","description":"{about}","inputSchema":{{"type":"object"}}}}"#);
        Arc::new(ToolDefinition::from_text(&text).expect("a tool"))
    }

    #[test]
    fn what_is_approved_without_a_person_is_told_once_and_how() {
        let folder = std::env::temp_dir().join(format!("gristmill-pins-taken-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("made");
        let file = PinFile::in_folder(&folder);
        let prompt = Prompt::from_text(r#"{"name":"ask"}"#).expect("a prompt");
        let offer = |tools: Vec<Arc<ToolDefinition>>| Offer {
            tools: Some(tools),
            prompts: Some(vec![prompt.clone()]),
            ..Offer::default()
        };
        let check = |offer: &Offer, accept: Accept, expected: &[(ApprovedHow, &[&str], usize)]| {
            let (_, taken) = file.review("crm", offer, accept).expect("reviewed");
            let expected: Vec<Taken> = expected
                .iter()
                .map(|(how, tools, others)| Taken {
                    how: *how,
                    tools: tools.iter().map(|name| (*name).to_owned()).collect(),
                    others: *others,
                })
                .collect();
            assert_eq!(taken, expected);
        };
        let first = offer(vec![tool("get", "a"), tool("put", "a")]);
        check(&first, Accept::Nothing, &[(ApprovedHow::First, &["get", "put"], 1)]);
        check(&first, Accept::Everything, &[]);
        let more = offer(vec![tool("get", "b"), tool("put", "a"), tool("drop", "a")]);
        check(&more, Accept::Nothing, &[]);
        check(&more, Accept::Additions, &[(ApprovedHow::Accepted, &["drop"], 0)]);
        check(&more, Accept::Everything, &[(ApprovedHow::Accepted, &["get"], 0)]);
        check(&more, Accept::Everything, &[]);
        std::fs::remove_dir_all(&folder).expect("removed");
    }

    /// Hears what has changed.
    #[derive(Default)]
    struct Others(Mutex<Vec<String>>);

    impl SharedState for Others {
        fn changed(&self, path: &str) {
            self.0.lock().push(path.to_owned());
        }

        fn settle(&self) -> BoxFuture<'_, Result<(), NotShared>> {
            Box::pin(std::future::ready(Ok(())))
        }

        fn leads(&self) -> bool {
            true
        }
    }

    #[test]
    fn whoever_shares_the_state_hears_of_approvals_when_they_are_written() {
        let folder = TestFolder::new("pins-shared");
        let others = Arc::new(Others::default());
        let store = Store::open_shared(folder.path(), Arc::clone(&others) as Arc<_>).expect("opened");
        let pins = PinFile::in_folder(folder.path()).telling(Some(store.clone()));
        let offer = Offer { tools: Some(vec![tool("get", "a")]), ..Offer::default() };
        for _ in 0..2 {
            pins.review("crm", &offer, Accept::Nothing).expect("reviewed");
        }
        let always = AlwaysApprovals::open(folder.path()).telling(Some(store));
        let approval = AlwaysApproval {
            owner: "local".to_owned(),
            rule: "r".to_owned(),
            server: "crm".to_owned(),
            tool: "get".to_owned(),
        };
        always.allow(approval).expect("written");
        always.forget("crm", "get").expect("written");
        assert_eq!(*others.0.lock(), [PINS_FILE, ALWAYS_FILE, ALWAYS_FILE]);
    }
}
