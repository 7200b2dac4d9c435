//! What programs called after their owner had searched: the next time somebody asks for something like it,
//! those tools come first.
//!
//! Kept for each owner, in a file of its own: the vector of what was asked, a hash of the tool's name, and the
//! day; no text. What isn't done again counts less from day to day, until it's forgotten.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use gristmill_encoder::{DIMENSIONS, Vector};
use gristmill_files::replace_private;
use parking_lot::Mutex;

use super::vector_file::{Key, checked, key_of, sealed};
use crate::ids::Owner;
use crate::ports::{ArgumentRecord, CallEnd, CallFacts, CallObserver, RequestKind};

/// How long after a search a call is taken for its outcome.
const SOON: Duration = Duration::from_secs(10 * 60);

/// The last searches of an owner that calls may follow.
const RECENT_MAX: usize = 4;

/// Tools that one search can have led to.
const TOOLS_OF_SEARCH_MAX: usize = 8;

/// Of one owner; the oldest go first.
const USES_MAX: usize = 300;
const OWNERS_MAX: usize = 64;

/// After so many days a use counts half.
const HALF_LIFE_DAYS: f32 = 30.0;
const DAYS_MAX: u32 = 120;

/// Two searches that are less alike have nothing to do with each other; as alike as this, they are the same.
const ALIKE_MIN: f32 = 0.5;
const SAME_MIN: f32 = 0.97;

const USE_BYTES: usize = KEY_BYTES + DAY_BYTES + DIMENSIONS;
const KEY_BYTES: usize = size_of::<Key>();
const DAY_BYTES: usize = 4;

/// A tool by its own name and that of its server.
pub(super) fn tool_key(server: &str, tool: &str) -> Key {
    key_of(&format!("{server}\0{tool}"))
}

#[derive(Clone, Debug, PartialEq)]
struct Use {
    tool: Key,
    day: u32,
    asked: Vector,
}

struct Recent {
    asked: Vector,
    at: Instant,
    tools: Vec<Key>,
}

#[derive(Default)]
struct OfOwner {
    uses: Vec<Use>,
    recent: VecDeque<Recent>,
}

/// All owners' uses.
pub(in crate::upstream) struct Uses {
    folder: PathBuf,
    stem: String,
    owners: Mutex<HashMap<String, OfOwner>>,
}

impl Uses {
    pub(super) fn new(folder: &Path, stem: &str) -> Self {
        Self { folder: folder.to_owned(), stem: stem.to_owned(), owners: Mutex::default() }
    }

    /// What each tool is worth for whoever asks this, up to 1. Remembers that it was asked.
    pub(super) fn asked(&self, owner: &Owner, asked: &Vector) -> HashMap<Key, f32> {
        let today = today();
        let mut worth: HashMap<Key, f32> = HashMap::new();
        self.of(owner, |of_owner| {
            for one in &of_owner.uses {
                let alike = asked.cosine(&one.asked);
                if alike >= ALIKE_MIN {
                    let days = today.saturating_sub(one.day) as f32;
                    let fresh = 0.5_f32.powf(days / HALF_LIFE_DAYS);
                    let sum = worth.entry(one.tool).or_default();
                    *sum = (*sum + fresh * (alike - ALIKE_MIN) / (1.0 - ALIKE_MIN)).min(1.0);
                }
            }
            let recent = Recent { asked: asked.clone(), at: Instant::now(), tools: Vec::new() };
            of_owner.recent.push_front(recent);
            of_owner.recent.truncate(RECENT_MAX);
        });
        worth
    }

    /// Whether a call of this owner may be the outcome of a search.
    fn is_waiting(&self, owner: &Owner) -> bool {
        let owners = self.owners.lock();
        let recent = owners.get(&owner.0).and_then(|of_owner| of_owner.recent.front());
        recent.is_some_and(|recent| recent.at.elapsed() < SOON)
    }

    /// A tool was called, and it answered.
    fn called(&self, owner: &Owner, tool: Key) {
        let today = today();
        let kept = self.of(owner, |of_owner| {
            let OfOwner { uses, recent } = of_owner;
            let mut has_changed = false;
            for one in recent.iter_mut().filter(|one| one.at.elapsed() < SOON) {
                if one.tools.contains(&tool) || one.tools.len() >= TOOLS_OF_SEARCH_MAX {
                    continue;
                }
                one.tools.push(tool);
                uses.retain(|known| known.tool != tool || known.asked.cosine(&one.asked) < SAME_MIN);
                uses.push(Use { tool, day: today, asked: one.asked.clone() });
                has_changed = true;
            }
            uses.drain(..uses.len().saturating_sub(USES_MAX));
            has_changed.then(|| uses.clone())
        });
        if let Some(uses) = kept {
            let mut bytes = Vec::with_capacity(uses.len() * USE_BYTES);
            for one in &uses {
                bytes.extend_from_slice(&one.tool);
                bytes.extend_from_slice(&one.day.to_le_bytes());
                bytes.extend_from_slice(&one.asked.as_bytes());
            }
            // What can't be kept is learned again.
            let _ = replace_private(&self.path(owner), &sealed(&bytes));
        }
    }

    fn of<T>(&self, owner: &Owner, then: impl FnOnce(&mut OfOwner) -> T) -> T {
        let mut owners = self.owners.lock();
        if !owners.contains_key(&owner.0) {
            if owners.len() >= OWNERS_MAX {
                let last_asked = |of_owner: &OfOwner| of_owner.recent.front().map(|recent| recent.at);
                let oldest = owners.iter().min_by_key(|(_, of_owner)| last_asked(of_owner));
                let oldest = oldest.map(|(name, _)| name.clone());
                oldest.map(|name| owners.remove(&name));
            }
            let uses = self.read(owner);
            owners.insert(owner.0.clone(), OfOwner { uses, recent: VecDeque::new() });
        }
        then(owners.entry(owner.0.clone()).or_default())
    }

    fn read(&self, owner: &Owner) -> Vec<Use> {
        let records = checked(&self.path(owner), USES_MAX * USE_BYTES);
        let today = today();
        let uses = records.chunks_exact(USE_BYTES).filter_map(read_use);
        uses.filter(|one| today.saturating_sub(one.day) <= DAYS_MAX).collect()
    }

    fn path(&self, owner: &Owner) -> PathBuf {
        let owner = blake3::hash(owner.0.as_bytes()).to_hex();
        self.folder.join(format!("{}-{}.uses", self.stem, &owner[..16]))
    }
}

fn read_use(bytes: &[u8]) -> Option<Use> {
    let (tool, rest) = bytes.split_first_chunk::<KEY_BYTES>()?;
    let (day, asked) = rest.split_first_chunk::<DAY_BYTES>()?;
    let asked = Vector::from_bytes(asked.first_chunk()?);
    Some(Use { tool: *tool, day: u32::from_le_bytes(*day), asked })
}

fn today() -> u32 {
    const DAY_SECONDS: u64 = 24 * 60 * 60;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs() / DAY_SECONDS).unwrap_or(u32::MAX)
}

/// Hears of calls, and passes everything on to whoever else wants to hear of them.
pub(in crate::upstream) struct UseObserver {
    pub uses: Arc<Uses>,
    pub next: Option<Arc<dyn CallObserver>>,
}

impl CallObserver for UseObserver {
    fn passed(&self, facts: &Arc<CallFacts>) {
        let is_use = facts.kind == RequestKind::CallTool && facts.end == CallEnd::Answered;
        let owner = &facts.caller.owner;
        if let Some(server) = facts.server.as_deref().filter(|_| is_use && self.uses.is_waiting(owner))
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let (uses, owner, tool) = (Arc::clone(&self.uses), owner.clone(), tool_key(server, &facts.name));
            runtime.spawn_blocking(move || uses.called(&owner, tool));
        }
        if let Some(next) = &self.next {
            next.passed(facts);
        }
    }

    fn arguments(&self, json: &str) -> Option<ArgumentRecord> {
        self.next.as_ref()?.arguments(json)
    }

    fn wants_shapes(&self) -> bool {
        self.next.as_ref().is_some_and(|next| next.wants_shapes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    fn vector(entries: &[(usize, u8)]) -> Vector {
        let mut bytes = [0; DIMENSIONS];
        entries.iter().for_each(|(at, value)| bytes[*at] = *value);
        Vector::from_bytes(&bytes)
    }

    #[test]
    fn what_was_called_after_a_search_counts_for_the_next_one_like_it() {
        let folder = TestFolder::new("meanings");
        let (owner, other) = (Owner::local(), Owner("http:other".to_owned()));
        let (mail, tea) = (vector(&[(0, 127)]), vector(&[(1, 127)]));
        let tool = tool_key("mail", "send");
        let uses = Uses::new(folder.path(), "stem");
        uses.called(&owner, tool);
        assert!(uses.asked(&owner, &mail).is_empty(), "nothing had been asked");
        uses.called(&owner, tool);
        let like_it = vector(&[(0, 120), (1, 40)]);
        let worth = uses.asked(&owner, &like_it)[&tool];
        assert!(worth > 0.8 && worth <= 1.0, "{worth}");
        assert!(uses.asked(&owner, &tea).is_empty(), "it was asked for something else");
        assert!(uses.asked(&other, &mail).is_empty(), "it was another owner's");
        let again = Uses::new(folder.path(), "stem");
        assert!(again.asked(&owner, &mail).contains_key(&tool), "it wasn't kept");
        assert!(Uses::new(folder.path(), "other").asked(&owner, &mail).is_empty());
    }

    #[test]
    fn it_is_bounded() {
        let folder = TestFolder::new("meanings");
        let uses = Uses::new(folder.path(), "stem");
        let owner = Owner::local();
        for round in 0..400_usize {
            uses.asked(&owner, &vector(&[(round % DIMENSIONS, 127), ((round / 7) % DIMENSIONS, 50)]));
            uses.called(&owner, tool_key("server", &round.to_string()));
        }
        let owners = uses.owners.lock();
        assert_eq!(owners[&owner.0].uses.len(), USES_MAX);
        assert_eq!(owners[&owner.0].recent.len(), RECENT_MAX);
    }
}
