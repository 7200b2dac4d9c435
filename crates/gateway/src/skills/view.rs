//! All skills at one moment: never changes, shared by everyone who began with it.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use gristmill_domain::catalogue::fold;
use gristmill_domain::nearest;
use gristmill_domain::policy::Seen;
use gristmill_domain::skills::{SkillFiles, SkillName};
use gristmill_domain::tree::TreeFile;

use super::folder::{FoundSkill, Problem};
use super::offer;
use super::skill::{Skill, SkillPlace, Standing};
use crate::ports::SkillOffer;
use crate::store::SkillVersion;
use crate::upstream::TreeLease;

/// In the tree that programs see: the names of those that wait, a line each.
const WAITING_FILE: &str = ".waiting";

#[derive(Default)]
pub struct SkillsView {
    skills: Vec<Skill>,
    problems: Vec<Problem>,
    version: String,
    offer: Arc<SkillOffer>,
}

/// What the database knows of one folder.
#[derive(Default)]
pub(super) struct Known {
    pub latest: HashMap<String, SkillVersion>,
    pub approved: HashSet<(String, String)>,
}

impl SkillsView {
    /// Of what lies in both folders; the project's wins.
    pub(super) fn of(
        user: (Vec<FoundSkill>, Known),
        project: (Vec<FoundSkill>, Known),
        mut problems: Vec<Problem>,
    ) -> Self {
        let mut skills: Vec<Skill> = Vec::new();
        let mut projects: HashSet<String> = HashSet::new();
        for (place, (found, known)) in [(SkillPlace::Project, project), (SkillPlace::User, user)] {
            for found in found {
                let latest = known.latest.get(found.name.as_str());
                let mut skill = match Skill::new(found, place, latest) {
                    Ok(skill) => skill,
                    Err(problem) => {
                        problems.push(problem);
                        continue;
                    }
                };
                let key = (skill.name.as_str().to_owned(), skill.hash.clone());
                skill.standing = match place {
                    SkillPlace::Project if !known.approved.contains(&key) => Standing::Waiting,
                    SkillPlace::User if projects.contains(&skill.name.folded()) => Standing::Hidden,
                    SkillPlace::Project | SkillPlace::User => Standing::Usable,
                };
                // One that waits hides nothing: nobody has said yes to it.
                if place == SkillPlace::Project && skill.standing == Standing::Usable {
                    projects.insert(skill.name.folded());
                }
                skills.push(skill);
            }
        }
        skills.sort_by(|a, b| a.name.cmp(&b.name).then(b.place.cmp(&a.place)));
        let usable = || skills.iter().filter(|skill| skill.standing == Standing::Usable);
        let (mut hasher, mut read) = (blake3::Hasher::new(), String::new());
        for skill in usable() {
            hasher.update(format!("{}\0{}\0", skill.name, skill.hash).as_bytes());
            // Code that was read meanwhile is found by more words, but its files are the same.
            read.push(if skill.known_facts.is_some() { '1' } else { '0' });
        }
        for skill in skills.iter().filter(|skill| skill.standing == Standing::Waiting) {
            hasher.update(format!("waiting {}\0", skill.name).as_bytes());
        }
        let version = hasher.finalize().to_hex().to_string();
        let offer = Arc::new(offer::offer(&format!("{version}{read}"), usable()));
        Self { skills, problems, version, offer }
    }

    /// All of them, by name: those that wait and those that are hidden among them.
    pub fn all(&self) -> &[Skill] {
        &self.skills
    }

    /// Whether a program has nothing to hear of: none can be used, and none waits.
    pub(super) fn is_empty(&self) -> bool {
        self.skills.iter().all(|skill| skill.standing == Standing::Hidden)
    }

    /// Those that the user has not said yes to.
    pub fn waiting(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.standing == Standing::Waiting)
    }

    /// Those that can be imported.
    pub fn usable(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.standing == Standing::Usable)
    }

    /// What lies in the folders and is no skill.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// One by any spelling of its name: the usable one, else whichever there is.
    pub fn find(&self, name: &str) -> Option<&Skill> {
        self.named(name).into_iter().next()
    }

    /// Every one of a name, in any spelling: the user's own and the project's. The usable one comes first.
    pub fn named(&self, name: &str) -> Vec<&Skill> {
        let folded = fold(name);
        let named = self.skills.iter().filter(|skill| !folded.is_empty() && skill.name.folded() == folded);
        let mut named: Vec<&Skill> = named.collect();
        named.sort_by_key(|skill| skill.standing != Standing::Usable);
        named
    }

    /// The names closest to one that is not there. Names of marked skills are words of what those were made
    /// from, so nobody is told them who doesn't know them.
    pub fn nearest(&self, name: &str) -> Vec<String> {
        let told = self.usable().filter(|skill| skill.seen.is_empty());
        let names = told.map(|skill| (skill.name.as_str(), skill.name.as_str()));
        nearest(name, names, 3).into_iter().map(str::to_owned).collect()
    }

    /// As it is searched.
    pub fn offer(&self) -> &Arc<SkillOffer> {
        &self.offer
    }

    /// The same with one skill more, or another in its place: what a test finds.
    pub(super) fn with(&self, name: &SkillName, files: &SkillFiles) -> Result<Self, Problem> {
        let is_it = |skill: &&Skill| skill.standing == Standing::Usable && skill.name == *name;
        let place = self.skills.iter().find(is_it).map_or(SkillPlace::User, |skill| skill.place);
        let found = FoundSkill { name: name.clone(), files: files.clone() };
        let mut skills = vec![Skill::new(found, place, None)?];
        skills.extend(self.skills.iter().filter(|skill| !is_it(skill)).cloned());
        skills.sort_by(|a, b| a.name.cmp(&b.name).then(b.place.cmp(&a.place)));
        let version = blake3::hash(format!("{} {name} {}", self.version, files.hash()).as_bytes());
        let version = version.to_hex().to_string();
        Ok(Self { skills, problems: self.problems.clone(), version, offer: Arc::clone(&self.offer) })
    }

    /// The same without what was made from marked data that its reader has not read.
    pub(super) fn for_reader_of(&self, seen: &Seen) -> Self {
        // Of those that wait only names are told, or how many there are.
        let is_shown = |skill: &&Skill| skill.standing == Standing::Waiting || seen.covers(&skill.seen);
        let skills: Vec<Skill> = self.skills.iter().filter(is_shown).cloned().collect();
        let usable = || skills.iter().filter(|skill| skill.standing == Standing::Usable);
        let names: Vec<&str> = usable().map(|skill| skill.name.as_str()).collect();
        let version = blake3::hash(format!("{} only {}", self.version, names.join(" ")).as_bytes());
        let version = version.to_hex().to_string();
        // Found by more words once its code was read.
        let offer = Arc::new(offer::offer(&format!("{version} {}", self.offer.version()), usable()));
        Self { problems: self.problems.clone(), version, offer, skills }
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The files of `/skills`.
    pub(super) fn tree(&self) -> Vec<TreeFile> {
        let files_of = |skill: &Skill| {
            let code = SkillFiles::code_file(&skill.name, skill.language);
            [
                TreeFile { path: code, content: skill.code().to_owned() },
                TreeFile { path: format!("{}.md", skill.name), content: skill.usage() },
            ]
        };
        let mut files: Vec<TreeFile> = self.usable().flat_map(files_of).collect();
        let waiting: String = self.waiting().map(|skill| format!("{}\n", skill.name)).collect();
        if !waiting.is_empty() {
            // Their names alone: whoever imports one is told why it is not there.
            files.push(TreeFile { path: WAITING_FILE.to_owned(), content: waiting });
        }
        files
    }
}

/// What one program finds under `/skills`, and for how long it is there.
#[derive(Clone, Default)]
pub(crate) struct FrozenSkills {
    pub view: Arc<SkillsView>,
    pub tree: Option<Arc<TreeLease>>,
}

impl FrozenSkills {
    pub fn folder(&self) -> Option<&Path> {
        self.tree.as_ref().map(|tree| tree.path())
    }
}
