//! Saving a skill: checked, described, tested, and only then written.

use std::sync::Arc;

use gristmill_checks::{Language, detect};
use gristmill_domain::policy::Seen;
use gristmill_domain::skills::{
    CODE_BYTES_MAX, CodeFacts, Described, FilesError, SKILL_FILE, SKILLS_MAX, SkillFiles, SkillLanguage,
    SkillMd, SkillName,
};

use super::changes::{ChangeLock, NewVersion};
use super::error::SkillError;
use super::holder::{Change, Held, whose};
use super::inspection::Inspector;
use super::marked::inheriting;
use super::sandbox::SkillSandbox;
use super::skill::{Skill, SkillPlace, Standing};
use super::test_source::{self, SkillTest};
use super::view::{FrozenSkills, SkillsView};
use super::{Skills, folder, in_background};
use crate::ids::{Caller, Owner};
use crate::ports::Writes;
use crate::store::{SavedHow, SkillOrigin};

/// A skill to be saved, as code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SaveRequest {
    pub name: String,
    pub code: String,
    /// What it is written in; none to tell it from the code.
    pub language: Option<SkillLanguage>,
    /// What it is for; none to keep what is said already, or to take the docstring.
    pub description: Option<String>,
    /// None to keep those there are.
    pub tags: Option<Vec<String>>,
    /// None to keep the test there is.
    pub test: Option<SkillTest>,
    /// Whether it goes into the project's folder even if it is new.
    pub in_project: bool,
    /// Who saves it.
    pub origin: SkillOrigin,
    /// Whose rules its tests run by; `None` for the local owner's.
    pub caller: Option<Caller>,
    /// Whether its tests may only read, whatever its code says: nobody has looked at it.
    pub tests_only_read: bool,
}

/// A skill that was saved.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedSkill {
    pub name: SkillName,
    pub version: i64,
    pub place: SkillPlace,
    /// What was read out of its code.
    pub facts: CodeFacts,
    /// How many files of tests passed.
    pub tests: usize,
    /// Whether everything was so already, so that nothing was written.
    pub is_unchanged: bool,
    /// Whether it waits for the user, because the name is another's; `version` is in use until then.
    pub held: Option<Held>,
    pub notes: Vec<String>,
    /// Its source, as it was kept.
    pub code: String,
}

/// A skill on its way to be saved.
struct SkillDraft {
    name: SkillName,
    place: SkillPlace,
    files: SkillFiles,
    said: Described,
    origin: SkillOrigin,
    tests: Tests,
}

/// What becomes of its tests.
enum Tests {
    /// They must pass; whatever they do is this caller's doing.
    Run(Box<Caller>, Writes),
    /// They wait until somebody has looked at them.
    Leave,
}

/// A skill that passed every check and only has to be written.
struct Tested {
    name: SkillName,
    place: SkillPlace,
    files: SkillFiles,
    said: Described,
    facts: CodeFacts,
    origin: SkillOrigin,
    tests: usize,
    notes: Vec<String>,
    code: String,
}

impl Skills {
    /// Saves code under a name: a new skill, or a new version of one.
    pub async fn save(&self, request: SaveRequest) -> Result<SavedSkill, SkillError> {
        let name = SkillName::new(&request.name)?;
        if request.code.len() > CODE_BYTES_MAX {
            let file = SkillFiles::code_file(&name, request.language.unwrap_or_default());
            return Err(
                FilesError::Large { file, bytes: request.code.len(), bytes_max: CODE_BYTES_MAX }.into()
            );
        }
        if request.code.trim().is_empty() {
            return Err(SkillError::Bad("no code to save".to_owned()));
        }
        let view = self.look_again().await;
        let place = self.place_for(&view, &name, request.in_project)?;
        let there = view.all().iter().find(|skill| skill.place == place && skill.name == name);
        let language = language_of(&request, there)?;
        let mut files = there.map(|skill| skill.files.clone()).unwrap_or_default();
        files.put(&SkillFiles::code_file(&name, language), &request.code)?;
        let test_file = SkillFiles::test_file(&name, language);
        match request.test.as_ref().map(|test| test.source(language)) {
            None => {}
            Some(source) if source.trim().is_empty() => files.remove(&test_file),
            Some(source) => files.put(&test_file, &source)?,
        }
        let said = Described { description: request.description, tags: request.tags };
        let origin = self.marked(request.origin).await;
        let writes = if request.tests_only_read { Writes::refused() } else { Writes::Sent };
        let caller = match (&origin, request.caller) {
            (_, Some(caller)) => caller,
            (SkillOrigin::Person, None) => Caller::local(),
            (SkillOrigin::Agent { owner, .. }, None) => Caller::of(Owner(owner.clone())),
        };
        let tests = Tests::Run(Box::new(caller), writes);
        self.save_checked(&view, SkillDraft { name, place, files, said, origin, tests }).await
    }

    /// Saves a whole folder, of the local owner's own making.
    pub async fn save_files(
        &self,
        name: &str,
        files: SkillFiles,
        in_project: bool,
    ) -> Result<SavedSkill, SkillError> {
        self.save_folder(name, files, in_project, Tests::Run(Box::new(Caller::local()), Writes::Sent)).await
    }

    /// Saves a whole folder that comes from somebody else: nothing of it runs, its tests included.
    pub async fn import_files(
        &self,
        name: &str,
        files: SkillFiles,
        in_project: bool,
    ) -> Result<SavedSkill, SkillError> {
        self.save_folder(name, files, in_project, Tests::Leave).await
    }

    async fn save_folder(
        &self,
        name: &str,
        files: SkillFiles,
        in_project: bool,
        tests: Tests,
    ) -> Result<SavedSkill, SkillError> {
        let name = SkillName::new(name)?;
        files.code(&name)?;
        let view = self.look_again().await;
        let place = self.place_for(&view, &name, in_project)?;
        let (said, origin) = (Described::default(), SkillOrigin::Person);
        self.save_checked(&view, SkillDraft { name, place, files, said, origin, tests }).await
    }

    /// Runs the tests of a skill as it is. How many there are.
    pub async fn test(&self, name: &str) -> Result<usize, SkillError> {
        let (view, name) = self.named(name).await?;
        let skill = view.find(name.as_str()).filter(|skill| skill.standing != Standing::Waiting);
        let skill = skill.ok_or_else(|| SkillError::Waiting(name.as_str().to_owned()))?;
        Inspector(self.sandbox()?).inspect(skill.language, skill.code()).await?;
        self.try_out(&view, &name, &skill.files, (&Caller::local(), Seen::default()), &Writes::Sent).await
    }

    /// A skill stays where it is. A new one is the user's unless it is said to be the project's.
    fn place_for(
        &self,
        view: &SkillsView,
        name: &SkillName,
        in_project: bool,
    ) -> Result<SkillPlace, SkillError> {
        // One that waits was put there by anybody: it blocks nothing but its own place.
        let blocks = |skill: &&Skill| in_project || skill.standing != Standing::Waiting;
        let alike = view.all().iter().filter(|skill| skill.name.folded() == name.folded());
        let alike: Vec<_> = alike.filter(blocks).collect();
        if let Some(other) = alike.iter().find(|skill| skill.name != *name) {
            return Err(SkillError::Alike { name: name.to_string(), known: other.name.to_string() });
        }
        let in_projects = alike.iter().find(|skill| skill.place == SkillPlace::Project);
        if in_projects.is_some_and(|skill| skill.standing == Standing::Waiting) {
            return Err(SkillError::Waiting(name.to_string()));
        }
        let place = match in_project || in_projects.is_some() {
            true => SkillPlace::Project,
            false => SkillPlace::User,
        };
        self.writable(place)?;
        let count = view.all().iter().filter(|skill| skill.place == place).count();
        let is_new = !alike.iter().any(|skill| skill.place == place);
        if is_new && count >= SKILLS_MAX { Err(SkillError::TooMany(count)) } else { Ok(place) }
    }

    fn sandbox(&self) -> Result<&dyn SkillSandbox, SkillError> {
        let sandbox = self.sandbox.as_deref();
        sandbox.ok_or_else(|| SkillError::Unchecked("no gateway runs that could do it".to_owned()))
    }

    async fn save_checked(
        &self,
        view: &Arc<SkillsView>,
        draft: SkillDraft,
    ) -> Result<SavedSkill, SkillError> {
        let SkillDraft { name, place, mut files, said, origin, tests } = draft;
        let sandbox = self.sandbox()?;
        let language = files.language(&name)?;
        let code = files.code(&name)?.to_owned();
        let mut facts = Inspector(sandbox).inspect(language, &code).await?;
        let is_known = |skill: &Skill| skill.name == name && skill.standing != Standing::Waiting;
        let is_new = !view.all().iter().any(is_known);
        let mut notes = Vec::new();
        let tools = sandbox.tools().await;
        if let Some(lookup) = tools.lookup() {
            if is_new {
                name.check_free_in(lookup.catalogue())?;
            }
            facts.note_schemas(lookup);
            let missing =
                facts.tools.iter().filter(|tool| tool.schema.is_none()).map(|tool| tool.name.as_str());
            let missing: Vec<&str> = missing.collect();
            if !missing.is_empty() {
                notes.push(format!("it calls {}, which isn't available now", missing.join(", ")));
            }
        }
        if facts.functions.is_empty() {
            notes.push(match language {
                SkillLanguage::Python => {
                    "it has no top-level function, so there's nothing to import from it".to_owned()
                }
                SkillLanguage::TypeScript => {
                    "it exports no function; write `export` before what programs import".to_owned()
                }
            });
        }
        let native = sandbox.only_natively(&facts.imports);
        if !native.is_empty() {
            notes.push(format!(
                "it imports {}, so programs that import it run in the native engine",
                native.join(", ")
            ));
        }
        // Described first: what is tested is what will be written.
        describe(&name, &mut files, &said, &facts, 1, None)?;
        let tests = match tests {
            Tests::Run(caller, writes) => {
                self.try_out(view, &name, &files, (&caller, origin.seen()), &writes).await?
            }
            Tests::Leave if files.tests(language).next().is_none() => 0,
            Tests::Leave => {
                notes.push(format!(
                    "its tests were not run: look at it first, then `gristmill skills test {name}` runs them"
                ));
                0
            }
        };
        let tested = Tested { name, place, files, said, facts, origin, tests, notes, code };
        // On a task of its own: whoever saves may be stopped, but not between the folder and its history.
        let skills = self.clone();
        let written = tokio::spawn(async move { skills.write_tested(tested).await }).await;
        written.unwrap_or_else(|_| Err(SkillError::Unchecked("the gateway is closing".to_owned())))
    }

    async fn write_tested(&self, tested: Tested) -> Result<SavedSkill, SkillError> {
        let Tested { name, place, mut files, said, facts, origin, tests, notes, code } = tested;
        let lock = self.lock().await?;
        let (there, latest) = self.latest_on_disk(&lock, place, &name).await?;
        if there.is_none() {
            self.check_room(&lock, place, &name).await?;
        }
        let before = latest.as_ref().and_then(|latest| latest.facts.as_ref());
        let origin = inheriting(origin, latest.as_ref());
        let current = latest.as_ref().map_or(0, |latest| latest.version);
        let (is_unchanged, held) = (true, None);
        let mut saved =
            SavedSkill { name, version: current, place, facts, tests, is_unchanged, held, notes, code };
        if let Some(there) = &there {
            describe(&saved.name, &mut files, &said, &saved.facts, current, before)?;
            if *there == files {
                return Ok(saved);
            }
        }
        saved.is_unchanged = false;
        describe(&saved.name, &mut files, &said, &saved.facts, current + 1, before)?;
        let facts = Some(saved.facts.clone());
        let (name, how) = (saved.name.clone(), SavedHow::Saved);
        if let Some(held) = whose(&origin, place, there.is_some(), latest.as_ref()) {
            self.hold(&lock, place, Change { name, files, facts, origin, how }).await?;
            saved.held = Some(held);
            return Ok(saved);
        }
        saved.version = current + 1;
        let new = NewVersion { name, files, facts, holder: origin.holder(), origin, how };
        self.write_version(&lock, place, new, saved.version).await?;
        drop(lock);
        self.look_again().await;
        Ok(saved)
    }

    /// Once more, now that nobody else writes: others may have saved since the first look.
    async fn check_room(
        &self,
        _lock: &ChangeLock,
        place: SkillPlace,
        name: &SkillName,
    ) -> Result<(), SkillError> {
        let folder = self.writable(place)?;
        let there = in_background(move || folder::skill_names(&folder)).await.unwrap_or_default();
        if let Some(other) = there.iter().find(|other| other.folded() == name.folded() && *other != name) {
            return Err(SkillError::Alike { name: name.to_string(), known: other.to_string() });
        }
        if there.len() >= SKILLS_MAX { Err(SkillError::TooMany(there.len())) } else { Ok(()) }
    }

    /// Runs the tests against the skills there are, with this one among them. Whoever has them run has read
    /// what the marked skills were made from that they can import.
    async fn try_out(
        &self,
        view: &Arc<SkillsView>,
        name: &SkillName,
        files: &SkillFiles,
        (caller, mut seen): (&Caller, Seen),
        writes: &Writes,
    ) -> Result<usize, SkillError> {
        let language = files.language(name)?;
        let programs: Vec<String> =
            files.tests(language).map(|(_, test)| test_source::program(name, language, test)).collect();
        if programs.is_empty() {
            return Ok(0);
        }
        // A program names the skill that it tests, whose other files may be those of a marked version.
        let sources = programs.iter().map(String::as_str).chain([files.code(name)?]).collect();
        let (others, read) = self.found_by_test(view, caller, sources).await;
        seen.add(&read);
        let shown = others.with(name, files).map_err(|problem| SkillError::Bad(problem.why))?;
        let (shown, trees) = (Arc::new(shown), Arc::clone(&self.inner.trees));
        let found = Arc::clone(&shown);
        let lease = in_background(move || trees.lease(found.version(), || found.tree())).await;
        let lease = lease.unwrap_or_else(|| Err(std::io::Error::other("it was interrupted")));
        let lease = lease.map_err(|error| SkillError::Disk {
            what: "the tree of skills for the test".to_owned(),
            why: error.to_string(),
        })?;
        let frozen = FrozenSkills { view: shown, tree: Some(Arc::new(lease)) };
        Inspector(self.sandbox()?).test(name, files, frozen, (caller, &seen), writes).await?;
        Ok(programs.len())
    }
}

/// What the code is written in: as is said, as it looks, or as what is there. A name has one language.
fn language_of(request: &SaveRequest, there: Option<&Skill>) -> Result<SkillLanguage, SkillError> {
    let told = request.language.or_else(|| match detect(&request.code)? {
        Language::Python => Some(SkillLanguage::Python),
        Language::TypeScript => Some(SkillLanguage::TypeScript),
    });
    match (told, there) {
        (Some(told), Some(there)) if told != there.language => Err(SkillError::Bad(format!(
            "not saved: `{}` is a skill in {}, and this is {told}; choose another name, or delete the skill first",
            there.name, there.language
        ))),
        (Some(told), _) => Ok(told),
        (None, Some(there)) => Ok(there.language),
        (None, None) => Ok(SkillLanguage::default()),
    }
}

/// Brings `SKILL.md` up to date.
fn describe(
    name: &SkillName,
    files: &mut SkillFiles,
    said: &Described,
    facts: &CodeFacts,
    version: i64,
    before: Option<&CodeFacts>,
) -> Result<(), SkillError> {
    let md = SkillMd::parse(files.get(SKILL_FILE).unwrap_or_default())?;
    // What was made of this very code is made again.
    let before = before.or(Some(facts));
    files.put(SKILL_FILE, &md.renewed(name, version, said, facts, before).render())?;
    Ok(())
}
