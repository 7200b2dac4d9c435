//! What changes skills beside saving: edits by hand noted, versions brought back and skills
//! deleted. All of it under one lock, whichever gateway does it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gristmill_domain::one_line;
use gristmill_domain::skills::{CodeFacts, Described, SKILL_FILE, SkillFiles, SkillMd, SkillName};
use gristmill_files::{FileLock, LockAttempt, LockAttempts, LockError, make_private_folder};

use super::error::SkillError;
use super::folder::FoundSkill;
use super::holder::{Change, Held, whose};
use super::marked::inheriting;
use super::skill::{Skill, SkillPlace, Standing};
use super::{Skills, USER_FOLDER, folder, in_background, write};
use crate::ports::AuditEvent;
use crate::store::{BegunSave, SavedHow, SkillOrigin, SkillVersion};

/// Nobody writes for so long; who waits longer waits for somebody who is stuck.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Who edits by hand is not known.
const BY_HAND: &str = "";

/// Held while a folder or its history changes. The kernel lets go of it with the process.
pub(super) struct ChangeLock {
    _lock: FileLock,
}

/// A version that is about to be written.
pub(super) struct NewVersion {
    pub name: SkillName,
    pub files: SkillFiles,
    pub facts: Option<CodeFacts>,
    pub origin: SkillOrigin,
    /// Which agent has the name from then on; none if a person does.
    pub holder: Option<String>,
    pub how: SavedHow,
}

/// A skill that was deleted.
pub struct DeletedSkill {
    /// As it was.
    pub skill: Skill,
    /// Whether that waits for the user, because the skill is another's.
    pub held: Option<Held>,
}

/// An earlier version that was brought back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RolledBack {
    /// The number of the version that is in use now.
    pub version: i64,
    /// Whether it waits for the user, because the skill is another's.
    pub held: Option<Held>,
}

impl Skills {
    /// One lock for all folders of this user: changes are rare and short.
    pub(super) async fn lock(&self) -> Result<ChangeLock, SkillError> {
        let Some(data) = self.inner.store.folder() else {
            return Err(SkillError::ReadOnly("the gateway runs without state, so nothing is kept"));
        };
        let path = data.join("skills.lock");
        let failed = |error: std::io::Error| SkillError::Disk {
            what: path.display().to_string(),
            why: error.to_string(),
        };
        make_private_folder(data).map_err(failed)?;
        let mut attempts = LockAttempts::open(&path, LOCK_WAIT).map_err(|error| failed(error.into()))?;
        loop {
            match attempts.attempt() {
                Ok(LockAttempt::Taken(lock)) => return Ok(ChangeLock { _lock: lock }),
                Ok(LockAttempt::HeldByOther { pause }) => tokio::time::sleep(pause).await,
                Err(LockError::Held { .. }) => {
                    let why = "another gristmill is changing skills; try again in a moment".to_owned();
                    return Err(SkillError::Unchecked(why));
                }
                Err(error @ LockError::System { .. }) => return Err(failed(error.into())),
            }
        }
    }

    /// Finishes what somebody who was killed had begun in the user's own folder. A project's is not
    /// touched by looking at it: that waits until something is saved there.
    pub(super) async fn clean_up(&self) {
        let Some(folder) = self.inner.user.clone().filter(|folder| write::has_leftovers(folder)) else {
            return;
        };
        // Whoever holds the lock is still writing, and cleans up itself.
        if let Ok(_lock) = self.lock().await {
            in_background(move || write::clean(&folder)).await;
        }
    }

    /// What lies in a folder and has another content than its latest version becomes a version.
    pub(super) async fn note_edits(
        &self,
        place: SkillPlace,
        folder: &str,
        found: &[&FoundSkill],
    ) -> Result<Vec<SkillVersion>, SkillError> {
        let _lock = self.lock().await?;
        let mut noted = Vec::new();
        for skill in found {
            let (name, hash) = (skill.name.as_str(), skill.files.hash());
            // It was read before the lock was ours, and may be older by now than what was saved meanwhile.
            let there = self.files_of(place, &skill.name).await;
            if !there.is_ok_and(|there| there.is_some_and(|files| files.hash() == hash)) {
                continue;
            }
            let latest = self.inner.store.latest_skill(folder, name).await?;
            if let Some(latest) = latest.as_ref().filter(|latest| latest.hash == hash) {
                // Someone else was faster.
                noted.push(latest.clone());
                continue;
            }
            noted.push(self.note_found(folder, name, &skill.files, latest).await?);
        }
        Ok(noted)
    }

    /// Makes a version of what was found in a folder: a save that was killed, or what somebody edited.
    async fn note_found(
        &self,
        folder: &str,
        name: &str,
        files: &SkillFiles,
        latest: Option<SkillVersion>,
    ) -> Result<SkillVersion, SkillError> {
        let hash = files.hash();
        let begun = self.inner.store.begun_skill(folder, name, &hash).await?;
        let version = SkillVersion {
            folder: folder.to_owned(),
            name: name.to_owned(),
            version: latest.map_or(1, |latest| latest.version + 1),
            hash,
            files: files.clone(),
            facts: None,
            saved_ms: self.inner.store.now_ms(),
            saved_by: begun.as_ref().map_or_else(|| BY_HAND.to_owned(), |begun| begun.origin.by()),
            how: begun.as_ref().map_or(SavedHow::Edited, |begun| begun.how),
            holder: begun.as_ref().and_then(|begun| begun.holder.clone()),
            origin: begun.map(|begun| begun.origin),
        };
        self.inner.store.add_skill_version(version.clone()).await?;
        Ok(version)
    }

    /// Writes a version into its folder and into the history. Whoever calls holds the lock.
    pub(super) async fn write_version(
        &self,
        _lock: &ChangeLock,
        place: SkillPlace,
        new: NewVersion,
        number: i64,
    ) -> Result<(), SkillError> {
        let folder = self.writable(place)?;
        let key = self.key_of(place).unwrap_or_default();
        let (hash, name) = (new.files.hash(), new.name.clone());
        let disk = |error: String| SkillError::Disk { what: format!("the skill {name}"), why: error };
        let files = new.files.clone();
        let (path, written_name) = (folder.clone(), new.name.clone());
        if place == SkillPlace::Project {
            // First: whoever is killed after writing must not find its own skill waiting.
            make_project_folder(&folder).map_err(|error| disk(error.to_string()))?;
            self.inner.store.approve_skill(&key, new.name.as_str(), &hash, self.inner.store.now_ms()).await?;
        }
        // Whoever is killed after writing is still known as the one who saved it.
        self.inner
            .store
            .begin_skill(BegunSave {
                folder: key.clone(),
                name: new.name.as_str().to_owned(),
                hash: hash.clone(),
                how: new.how,
                origin: new.origin.clone(),
                holder: new.holder.clone(),
            })
            .await?;
        let written = in_background(move || {
            write::clean(&path);
            write::replace(&path, &written_name, &files)
        })
        .await;
        let written = written.unwrap_or_else(|| Err(std::io::Error::other("it was interrupted")));
        written.map_err(|error| disk(error.to_string()))?;
        self.tell_changed(place, &new.name);
        let version = SkillVersion {
            folder: key,
            name: new.name.as_str().to_owned(),
            version: number,
            hash,
            files: new.files,
            facts: new.facts,
            saved_ms: self.inner.store.now_ms(),
            saved_by: new.origin.by(),
            how: new.how,
            origin: Some(new.origin),
            holder: new.holder,
        };
        let event = AuditEvent::skill_changed(
            new.how.as_str(),
            &version.name,
            number,
            &version.hash,
            &version.saved_by,
        );
        self.inner.store.add_skill_version(version).await?;
        self.inner.store.note(event);
        Ok(())
    }

    /// A project's folder is its machine's own.
    fn tell_changed(&self, place: SkillPlace, name: &SkillName) {
        match place {
            SkillPlace::User => self.inner.store.changed(&format!("{USER_FOLDER}/{}", name.as_str())),
            SkillPlace::Project => {}
        }
    }

    /// The folder of a place that may be written to.
    pub(super) fn writable(&self, place: SkillPlace) -> Result<PathBuf, SkillError> {
        let folder = self.folder_of(place).map(Path::to_owned);
        folder.ok_or(SkillError::ReadOnly(match place {
            SkillPlace::User => "the gateway runs without state, so nothing is kept",
            SkillPlace::Project => "this isn't a project",
        }))
    }

    /// What is in the folder becomes a version if it is none yet; gives the latest one. Whoever calls
    /// holds the lock.
    pub(super) async fn latest_on_disk(
        &self,
        _lock: &ChangeLock,
        place: SkillPlace,
        name: &SkillName,
    ) -> Result<(Option<SkillFiles>, Option<SkillVersion>), SkillError> {
        let there = self.files_of(place, name).await?;
        let folder = self.key_of(place).unwrap_or_default();
        let mut latest = self.inner.store.latest_skill(&folder, name.as_str()).await?;
        if let Some(files) = &there
            && latest.as_ref().is_none_or(|latest| latest.hash != files.hash())
        {
            latest = Some(self.note_found(&folder, name.as_str(), files, latest).await?);
        }
        Ok((there, latest))
    }

    /// What lies in the folder under this name.
    pub(super) async fn files_of(
        &self,
        place: SkillPlace,
        name: &SkillName,
    ) -> Result<Option<SkillFiles>, SkillError> {
        let (path, wanted) = (self.writable(place)?, name.clone());
        let there = in_background(move || folder::read_one(&path, &wanted)).await;
        let unreadable = |why: String| SkillError::Disk { what: format!("the skill {name}"), why };
        let there = there.ok_or_else(|| unreadable("it was interrupted".to_owned()))?;
        there.map_err(|error| unreadable(error.to_string()))
    }

    /// Deletes a skill. Its history stays, and a rollback brings it back.
    pub async fn delete(&self, name: &str, origin: &SkillOrigin) -> Result<DeletedSkill, SkillError> {
        let (view, name) = self.named(name).await?;
        let skill = view.find(name.as_str()).filter(|skill| skill.standing != Standing::Waiting);
        let skill = skill.ok_or_else(|| SkillError::Waiting(name.as_str().to_owned()))?.clone();
        let lock = self.lock().await?;
        let (there, latest) = self.latest_on_disk(&lock, skill.place, &skill.name).await?;
        if let Some(held) = whose(origin, skill.place, there.is_some(), latest.as_ref()) {
            let (files, facts) = (SkillFiles::default(), None);
            let (origin, how) = (origin.clone(), SavedHow::Deleted);
            self.hold(&lock, skill.place, Change { name, files, facts, origin, how }).await?;
            return Ok(DeletedSkill { skill, held: Some(held) });
        }
        self.remove(&lock, skill.place, &skill.name, origin).await?;
        drop(lock);
        self.look_again().await;
        Ok(DeletedSkill { skill, held: None })
    }

    /// Takes the folder away and notes it. Whoever calls holds the lock.
    pub(super) async fn remove(
        &self,
        lock: &ChangeLock,
        place: SkillPlace,
        name: &SkillName,
        origin: &SkillOrigin,
    ) -> Result<(), SkillError> {
        let (_, latest) = self.latest_on_disk(lock, place, name).await?;
        let (path, gone) = (self.writable(place)?, name.clone());
        let removed = in_background(move || write::remove(&path, &gone)).await;
        removed.unwrap_or_else(|| Err(std::io::Error::other("it was interrupted"))).map_err(|error| {
            SkillError::Disk { what: format!("the skill {name}"), why: error.to_string() }
        })?;
        self.tell_changed(place, name);
        let version = SkillVersion {
            folder: self.key_of(place).unwrap_or_default(),
            name: name.as_str().to_owned(),
            version: latest.map_or(1, |latest| latest.version + 1),
            hash: String::new(),
            files: SkillFiles::default(),
            facts: None,
            saved_ms: self.inner.store.now_ms(),
            saved_by: origin.by(),
            how: SavedHow::Deleted,
            origin: Some(origin.clone()),
            holder: None,
        };
        let event =
            AuditEvent::skill_changed("deleted", &version.name, version.version, "", &version.saved_by);
        self.inner.store.add_skill_version(version).await?;
        self.inner.store.note(event);
        Ok(())
    }

    /// The versions of a skill, the latest first; of a deleted one as well.
    pub async fn history(&self, name: &str) -> Result<Vec<SkillVersion>, SkillError> {
        Ok(self.history_in_place(name).await?.1)
    }

    async fn history_in_place(&self, name: &str) -> Result<(SkillPlace, Vec<SkillVersion>), SkillError> {
        let written = SkillName::new(name)?;
        let view = self.look_again().await;
        let skill = view.find(name);
        let name = skill.map_or(written, |skill| skill.name.clone());
        let places = match skill {
            Some(skill) => vec![skill.place],
            // Deleted: wherever it was.
            None => vec![SkillPlace::User, SkillPlace::Project],
        };
        for place in places {
            let Some(folder) = self.key_of(place) else { continue };
            let found = self.inner.store.skill_history(&folder, name.as_str()).await?;
            if !found.is_empty() || skill.is_some() {
                return Ok((place, found));
            }
        }
        Err(SkillError::Unknown { nearest: view.nearest(name.as_str()), name: name.to_string() })
    }

    /// One version of a skill that can be read, of a deleted one as well.
    pub async fn version(&self, name: &str, version: i64) -> Result<SkillVersion, SkillError> {
        Ok(self.version_in_place(name, version).await?.1)
    }

    async fn version_in_place(
        &self,
        name: &str,
        version: i64,
    ) -> Result<(SkillPlace, SkillVersion), SkillError> {
        let (place, mut history) = self.history_in_place(name).await?;
        history.retain(|known| !known.hash.is_empty());
        match history.iter().position(|known| known.version == version) {
            Some(at) => Ok((place, history.swap_remove(at))),
            None => {
                let known = history.iter().map(|known| known.version).collect();
                Err(SkillError::NoVersion { name: one_line(name, 64), version, known })
            }
        }
    }

    /// Brings an earlier version back, as a new one. What is so already makes no version.
    pub async fn rollback(
        &self,
        name: &str,
        version: i64,
        origin: &SkillOrigin,
    ) -> Result<RolledBack, SkillError> {
        let (place, old) = self.version_in_place(name, version).await?;
        let name = SkillName::new(&old.name)?;
        let lock = self.lock().await?;
        let (there, latest) = self.latest_on_disk(&lock, place, &name).await?;
        let current = latest.as_ref().map_or(0, |latest| latest.version);
        let is_so = |there: &SkillFiles| {
            old.hash == there.hash()
                || renumbered(&old.files, old.facts.as_ref(), &name, current)
                    .is_ok_and(|files| files == *there)
        };
        if there.as_ref().is_some_and(is_so) {
            return Ok(RolledBack { version: current, held: None });
        }
        let number = current + 1;
        let files = renumbered(&old.files, old.facts.as_ref(), &name, number)?;
        let origin = inheriting(self.marked(origin.clone()).await, latest.as_ref());
        let origin = origin.with_seen(&old.origin.map(|old| old.seen()).unwrap_or_default());
        let (facts, how) = (old.facts, SavedHow::RolledBack);
        let held = whose(&origin, place, there.is_some(), latest.as_ref());
        if held.is_some() {
            self.hold(&lock, place, Change { name, files, facts, origin, how }).await?;
            return Ok(RolledBack { version: current, held });
        }
        let new = NewVersion { name, files, facts, holder: origin.holder(), origin, how };
        self.write_version(&lock, place, new, number).await?;
        drop(lock);
        self.look_again().await;
        Ok(RolledBack { version: number, held: None })
    }
}

/// The files of a version as they are written with another number.
pub(super) fn renumbered(
    files: &SkillFiles,
    facts: Option<&CodeFacts>,
    name: &SkillName,
    number: i64,
) -> Result<SkillFiles, SkillError> {
    let mut files = files.clone();
    let md = SkillMd::parse(files.get(SKILL_FILE).unwrap_or_default())?;
    let md = match facts {
        Some(facts) => md.renewed(name, number, &Described::default(), facts, Some(facts)),
        // As somebody wrote it by hand.
        None => md,
    };
    files.put(SKILL_FILE, &md.render())?;
    Ok(files)
}

/// `.gristmill/skills` below the project, which must not be a way out of it.
fn make_project_folder(folder: &Path) -> std::io::Result<()> {
    for place in folder.ancestors().take(2) {
        if std::fs::symlink_metadata(place).is_ok_and(|found| found.is_symlink()) {
            return Err(std::io::Error::other(format!("{} is a link", place.display())));
        }
    }
    DirBuilder::new().recursive(true).mode(0o755).create(folder)
}
