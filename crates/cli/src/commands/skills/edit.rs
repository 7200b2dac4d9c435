//! `skills edit`: the files of a skill in an editor, on a copy. What cannot be saved is not lost, and what
//! is there stays until then.

use std::path::PathBuf;
use std::process::Command;

use anyhow::anyhow;
use gristmill_gateway::domain::skills::{SKILL_FILE, SkillFiles};
use gristmill_gateway::skills::{Skill, SkillError, Standing, read_files};

use super::change::print_saved;
use super::{Outcome, Place, done, failure};
use crate::failure::Failure;
use crate::terminal::one_line;

pub async fn edit(place: &Place, name: &str) -> Outcome {
    let view = place.skills.look_again().await;
    let Some(skill) = view.find(name) else {
        return Err(failure(SkillError::Unknown { name: one_line(name), nearest: view.nearest(name) }));
    };
    // Saving it would run the tests of whoever wrote it.
    if skill.standing == Standing::Waiting {
        return Err(failure(SkillError::Waiting(skill.name.to_string())));
    }
    let folder = place.configured.data_folder()?.join(format!("editing-{}", std::process::id()));
    let copy = EditedCopy { at: folder.join(skill.name.as_str()), folder };
    copy.write(skill)?;
    let edited = match copy.edit(skill) {
        Ok(edited) => edited,
        Err(why) => return Err(copy.kept_unless_the_same(skill, &why)),
    };
    if edited == skill.files {
        copy.remove();
        return done("nothing changed");
    }
    let gateway = place.gateway().await?;
    let saved = place.checked(&gateway).save_files(skill.name.as_str(), edited, false).await;
    gateway.shutdown().await;
    match saved {
        Ok(saved) => {
            copy.remove();
            print_saved(&saved)
        }
        Err(error) => Err(copy.kept_unless_the_same(skill, &error.to_string())),
    }
}

struct EditedCopy {
    /// Only ours.
    folder: PathBuf,
    /// The skill in it.
    at: PathBuf,
}

impl EditedCopy {
    fn write(&self, skill: &Skill) -> Result<(), Failure> {
        let ours = |error: std::io::Error| Failure::Internal(error.into());
        std::fs::create_dir_all(&self.at).map_err(ours)?;
        for (file, text) in skill.files.iter() {
            std::fs::write(self.at.join(file), text).map_err(ours)?;
        }
        Ok(())
    }

    /// What the editor made of it, or why that cannot be used.
    fn edit(&self, skill: &Skill) -> Result<SkillFiles, String> {
        let code = SkillFiles::code_file(&skill.name, skill.language);
        let tests = skill.files.tests(skill.language).map(|(file, _)| file);
        let files = [code.as_str(), SKILL_FILE].into_iter().chain(tests).map(|file| self.at.join(file));
        let status = editor().args(files).status();
        let status = status.map_err(|error| format!("can't start the editor: {error}; set EDITOR"))?;
        match status.success() {
            true => read_files(&self.at).map_err(|error| error.to_string()),
            false => Err(format!("the editor exited with {status}; nothing was saved")),
        }
    }

    /// The failure, with where the edit is; a copy that is as it was is worth nothing.
    fn kept_unless_the_same(self, skill: &Skill, why: &str) -> Failure {
        if read_files(&self.at).is_ok_and(|files| files == skill.files) {
            self.remove();
            return Failure::Usage(anyhow!("{why}"));
        }
        let at = self.at.display();
        Failure::Usage(anyhow!(
            "{why}\nhint: your edit is in {at}; once it's fixed, `gristmill skills add {at}` saves it"
        ))
    }

    /// What cannot be removed is in nobody's way.
    fn remove(self) {
        let _ = std::fs::remove_dir_all(self.folder);
    }
}

/// `$VISUAL` and `$EDITOR` may hold arguments, such as `code --wait`.
fn editor() -> Command {
    let chosen = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
    let chosen = chosen.into_iter().find(|value| !value.trim().is_empty()).unwrap_or_else(|| "vi".to_owned());
    let mut words = chosen.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("vi"));
    command.args(words);
    command
}
