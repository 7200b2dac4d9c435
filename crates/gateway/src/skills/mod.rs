//! Skills: code that was saved and that programs import, from the user's folder and from the project's.
//!
//! The folders are the truth: whatever lies there is what is used, whoever put it there, and what was
//! edited by hand becomes a new version at the next look. Saving checks the code and runs its tests in
//! the sandbox first, and writes whole folders or nothing.
//!
//! Walls: a project's skills come from anybody. Nothing of them can be imported or found until the user
//! said yes to exactly these files, and everything about them is bounded. An agent changes only its own
//! skills; what it would do to another's waits for a person.

mod changes;
mod error;
mod folder;
mod held;
mod holder;
mod inspection;
mod listing;
mod marked;
mod needed_modules;
mod offer;
mod program_calls;
mod project_approval;
mod sandbox;
mod save;
mod skill;
mod test_source;
mod view;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gristmill_domain::skills::{CodeFacts, SkillName};
use parking_lot::Mutex;

use crate::marks::MarkLedger;
use crate::store::Store;
use crate::upstream::{TreeLease, TreeStore};
use folder::{Found, FoundSkill};
use inspection::Inspector;
use view::Known;

pub use crate::ports::SkillOffer;
pub use crate::store::SkillOrigin;
pub use changes::{DeletedSkill, RolledBack};
pub use error::SkillError;
pub use folder::{Problem, UnreadableSkill, read_files};
pub use held::{HandOver, HeldChange};
pub use holder::Held;
pub use listing::{ListDetail, ListQuery, ListedSkills, listed};
pub(crate) use needed_modules::NeededModule;
pub(crate) use program_calls::{MayChange, ProgramSkills, SkillCall};
pub use project_approval::WaitingSkill;
pub(crate) use sandbox::{SandboxProgram, SkillSandbox};
pub use save::{SaveRequest, SavedSkill};
pub use skill::{Skill, SkillPlace, Standing};
pub use test_source::SkillTest;
pub(crate) use view::FrozenSkills;
pub use view::SkillsView;

/// Where skills lie below a project.
pub const PROJECT_FOLDER: &str = ".gristmill/skills";

/// Where skills lie below the data folder.
pub const USER_FOLDER: &str = "skills";

/// The user's folder as the database names it; no path is written so.
const USER_KEY: &str = "user";

/// How soon an edit by hand is seen by programs. Looking costs a moment for each skill.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Skills whose code is read at one look: each takes a run in the sandbox.
const READ_AT_ONCE_MAX: usize = 20;

/// Where skills are, and what remembers them.
pub struct SkillsSettings {
    pub store: Store,
    /// The user's own folder; none where nothing is kept.
    pub user: Option<PathBuf>,
    /// The project's folder, whether it is there or not.
    pub project: Option<PathBuf>,
    /// What can be made again: the trees that programs see.
    pub cache: PathBuf,
    /// None if no server has a mark.
    pub marks: Option<MarkLedger>,
}

/// All skills. Cheap to clone.
#[derive(Clone)]
pub struct Skills {
    inner: Arc<Inner>,
    /// Without one nothing can be checked, and so nothing saved.
    sandbox: Option<Arc<dyn SkillSandbox>>,
}

struct Inner {
    store: Store,
    user: Option<PathBuf>,
    project: Option<PathBuf>,
    trees: Arc<TreeStore>,
    looked: tokio::sync::Mutex<Looked>,
    /// Whether what a killed one left was cleaned up.
    is_clean: AtomicBool,
    tree: Mutex<Option<(String, Arc<TreeLease>)>>,
    marks: Option<MarkLedger>,
}

#[derive(Default)]
struct Looked {
    view: Arc<SkillsView>,
    at: Option<Instant>,
    fingerprint: Option<Fingerprint>,
}

type Fingerprint = ([blake3::Hash; 2], Option<(i64, i64)>);

impl Skills {
    /// Over these folders. Nothing is read yet.
    pub fn new(settings: SkillsSettings) -> Self {
        let SkillsSettings { store, user, project, cache, marks } = settings;
        Self {
            inner: Arc::new(Inner {
                store,
                user,
                project,
                trees: Arc::new(TreeStore::new(cache.join("skill-trees"))),
                looked: tokio::sync::Mutex::default(),
                is_clean: AtomicBool::new(false),
                tree: Mutex::default(),
                marks,
            }),
            sandbox: None,
        }
    }

    /// The same skills, for whoever can have code checked and tested there.
    pub(crate) fn with_sandbox(&self, sandbox: Arc<dyn SkillSandbox>) -> Self {
        Self { inner: Arc::clone(&self.inner), sandbox: Some(sandbox) }
    }

    /// All skills, as they were a second ago at most.
    pub async fn look(&self) -> Arc<SkillsView> {
        let mut looked = self.inner.looked.lock().await;
        if looked.at.is_some_and(|at| at.elapsed() < LOOK_EVERY) {
            return Arc::clone(&looked.view);
        }
        if !self.inner.is_clean.swap(true, Ordering::Relaxed) {
            self.clean_up().await;
        }
        let fingerprint = self.fingerprint().await;
        if looked.fingerprint.is_none() || looked.fingerprint != fingerprint {
            looked.view = Arc::new(self.read().await);
            looked.fingerprint = fingerprint;
        }
        looked.at = Some(Instant::now());
        Arc::clone(&looked.view)
    }

    /// What is on disk, and what was approved: perhaps by a command while we run.
    async fn fingerprint(&self) -> Option<Fingerprint> {
        let folders = [self.inner.user.clone(), self.inner.project.clone()];
        let on_disk =
            in_background(move || folders.map(|folder| folder_fingerprint(folder.as_deref()))).await?;
        let approved = match &self.inner.project {
            Some(project) => self.inner.store.skill_approvals_mark(&path_key(project)).await.ok(),
            None => None,
        };
        Some((on_disk, approved))
    }

    /// All skills as they are now.
    pub async fn look_again(&self) -> Arc<SkillsView> {
        let mut looked = self.inner.looked.lock().await;
        (looked.at, looked.fingerprint) = (None, None);
        drop(looked);
        self.look().await
    }

    /// The same as [`Skills::look`]; code that nobody has read yet, because it was edited by hand, is read
    /// first if a gateway is there to do it.
    pub async fn look_closely(&self) -> Arc<SkillsView> {
        let view = self.look().await;
        let Some(sandbox) = &self.sandbox else { return view };
        let unread = view.usable().filter(|skill| skill.known_facts.is_none() && skill.version > 0);
        let mut has_read = false;
        for skill in unread.take(READ_AT_ONCE_MAX) {
            has_read |= self.read_code(sandbox.as_ref(), skill).await.is_some();
        }
        if has_read { self.look_again().await } else { view }
    }

    async fn read_code(&self, sandbox: &dyn SkillSandbox, skill: &Skill) -> Option<()> {
        // What does not compile says nothing about itself, which is an answer as well.
        let mut facts = match Inspector(sandbox).inspect(skill.language, skill.code()).await {
            Ok(facts) => facts,
            Err(SkillError::Syntax { language, message, line }) => {
                let line = line.map(|line| format!(" (line {line})")).unwrap_or_default();
                CodeFacts { language, broken: Some(format!("{message}{line}")), ..CodeFacts::default() }
            }
            Err(_) => return None,
        };
        let tools = sandbox.tools().await;
        if let Some(lookup) = tools.lookup() {
            facts.note_schemas(lookup);
        }
        let folder = self.key_of(skill.place)?;
        let name = skill.name.as_str();
        self.inner.store.set_skill_facts(&folder, name, skill.version, &facts).await.ok()
    }

    /// What a program that begins now finds.
    pub(crate) async fn freeze(&self) -> FrozenSkills {
        let view = self.look().await;
        if view.is_empty() {
            return FrozenSkills { view, tree: None };
        }
        let kept = self.inner.tree.lock().clone();
        if let Some((_, tree)) = kept.filter(|(version, _)| version == view.version()) {
            return FrozenSkills { view, tree: Some(tree) };
        }
        let (trees, shown) = (Arc::clone(&self.inner.trees), Arc::clone(&view));
        // Without a tree nothing can be imported; everything else works.
        let lease = in_background(move || trees.lease(shown.version(), || shown.tree()).ok()).await.flatten();
        let tree = lease.map(Arc::new);
        if let Some(tree) = &tree {
            let kept = Some((view.version().to_owned(), Arc::clone(tree)));
            *self.inner.tree.lock() = kept;
        }
        FrozenSkills { view, tree }
    }

    fn folder_of(&self, place: SkillPlace) -> Option<&Path> {
        match place {
            SkillPlace::User => self.inner.user.as_deref(),
            SkillPlace::Project => self.inner.project.as_deref(),
        }
    }

    /// A place as the database names it. The user's own folder lies beside the database and moves with it,
    /// so its path says nothing.
    fn key_of(&self, place: SkillPlace) -> Option<String> {
        let folder = self.folder_of(place)?;
        Some(match place {
            SkillPlace::User => USER_KEY.to_owned(),
            SkillPlace::Project => path_key(folder),
        })
    }

    async fn read(&self) -> SkillsView {
        let (user, project) = (self.inner.user.clone(), self.inner.project.clone());
        let read =
            move || [user, project].map(|folder| folder.as_deref().map(folder::read).unwrap_or_default());
        let [user, project] = in_background(read).await.unwrap_or_default();
        let mut problems = Vec::new();
        let user = self.remembered(SkillPlace::User, user, &mut problems).await;
        let project = self.remembered(SkillPlace::Project, project, &mut problems).await;
        SkillsView::of(user, project, problems)
    }

    /// What was found, with what the database knows of it. What it does not know yet is noted there.
    async fn remembered(
        &self,
        place: SkillPlace,
        found: Found,
        problems: &mut Vec<Problem>,
    ) -> (Vec<FoundSkill>, Known) {
        problems.extend(found.problems);
        let Some(folder) = self.key_of(place) else { return (found.skills, Known::default()) };
        let mut known = match self.known(&folder).await {
            Ok(known) => known,
            Err(error) => {
                let why = format!("can't read what is recorded about the skills: {error}");
                problems.push(Problem { name: String::new(), why });
                return (found.skills, Known::default());
            }
        };
        let is_ours = |skill: &&FoundSkill| {
            // What a project holds is remembered only once the user said yes to it.
            let key = (skill.name.as_str().to_owned(), skill.files.hash());
            place == SkillPlace::User || known.approved.contains(&key)
        };
        let new: Vec<&FoundSkill> = found
            .skills
            .iter()
            .filter(is_ours)
            .filter(|skill| {
                known.latest.get(skill.name.as_str()).is_none_or(|latest| latest.hash != skill.files.hash())
            })
            .collect();
        if !new.is_empty() {
            match self.note_edits(place, &folder, &new).await {
                Ok(noted) => {
                    known.latest.extend(noted.into_iter().map(|version| (version.name.clone(), version)))
                }
                Err(error) => {
                    let why = format!("manual edits weren't recorded in the history: {error}");
                    problems.push(Problem { name: String::new(), why });
                }
            }
        }
        (found.skills, known)
    }

    async fn known(&self, folder: &str) -> Result<Known, SkillError> {
        let latest = self.inner.store.latest_skills(folder).await?;
        let approved = self.inner.store.approved_skills(folder).await?;
        Ok(Known {
            latest: latest.into_iter().map(|version| (version.name.clone(), version)).collect(),
            approved: approved.into_iter().collect(),
        })
    }

    /// The skill of that name that is meant, usable or not.
    async fn named(&self, name: &str) -> Result<(Arc<SkillsView>, SkillName), SkillError> {
        let view = self.look_again().await;
        match view.find(name) {
            Some(skill) => {
                let name = skill.name.clone();
                Ok((view, name))
            }
            None => {
                let nearest = view.nearest(name);
                Err(SkillError::Unknown { name: gristmill_domain::one_line(name, 64), nearest })
            }
        }
    }
}

/// A project's folder as the database names it.
fn path_key(folder: &Path) -> String {
    let real = std::fs::canonicalize(folder).or_else(|_| std::path::absolute(folder));
    real.unwrap_or_else(|_| folder.to_owned()).to_string_lossy().into_owned()
}

fn folder_fingerprint(folder: Option<&Path>) -> blake3::Hash {
    folder.map_or_else(|| blake3::hash(b""), folder::fingerprint)
}

/// The disk, where nobody else waits for it.
async fn in_background<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    tokio::task::spawn_blocking(work).await.ok()
}

#[cfg(test)]
mod tests;
