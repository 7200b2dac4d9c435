//! `skills export` and `import`: skills as folders, to share.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use gristmill_gateway::domain::skills::{SKILL_FILE, SKILLS_MAX, SkillLanguage};
use gristmill_gateway::skills::{Skill, SkillError, read_files};

use super::{Outcome, Place, failure};
use crate::failure::Failure;
use crate::terminal::{Printable, eprint_lines, one_line};

pub async fn export(place: &Place, folder: &Path, names: &[String]) -> Outcome {
    let view = place.skills.look_again().await;
    let mut chosen: Vec<&Skill> = Vec::new();
    for name in names {
        let unknown = || failure(SkillError::Unknown { name: one_line(name), nearest: view.nearest(name) });
        chosen.push(view.find(name).ok_or_else(unknown)?);
    }
    if names.is_empty() {
        chosen.extend(view.usable());
    }
    let unwritable =
        |error: std::io::Error| Failure::Usage(anyhow!("can't write to {}: {error}", folder.display()));
    // All or none: what is there already is not mixed with what is new.
    if let Some(there) = chosen.iter().find(|skill| folder.join(skill.name.as_str()).exists()) {
        let there = folder.join(there.name.as_str());
        return Err(Failure::Usage(anyhow!("{} already exists; choose another folder", there.display())));
    }
    for skill in &chosen {
        let target = folder.join(skill.name.as_str());
        fs::create_dir_all(&target).map_err(unwritable)?;
        for (file, text) in skill.files.iter() {
            fs::write(target.join(file), text).map_err(unwritable)?;
        }
        println!("{}", target.display());
    }
    if chosen.is_empty() {
        eprint_lines("No skills to export.");
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn import(place: &Place, folder: &Path, project: bool) -> Outcome {
    let folders = skill_folders(folder)?;
    let gateway = place.gateway().await?;
    let mut failed = false;
    for found in &folders {
        let name = found.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let saved = match read_files(found) {
            Ok(files) => place
                .checked(&gateway)
                .import_files(&name, files, project)
                .await
                .map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match saved {
            Ok(saved) if saved.is_unchanged => {
                println!("{} is unchanged (version {})", saved.name, saved.version)
            }
            Ok(saved) => {
                println!("saved {} version {} ({})", saved.name, saved.version, saved.place.as_str());
                for note in &saved.notes {
                    eprint_lines(&format!("note: {}: {}", saved.name, Printable::all(note)));
                }
            }
            // The others are saved all the same.
            Err(why) => {
                failed = true;
                eprint_lines(&format!("error: {}: {}", one_line(&name), Printable::all(&why)));
            }
        }
    }
    gateway.shutdown().await;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The folder itself if it is a skill, else those in it that are.
fn skill_folders(folder: &Path) -> Result<Vec<std::path::PathBuf>, Failure> {
    let unreadable =
        |error: std::io::Error| Failure::Usage(anyhow!("can't read {}: {error}", folder.display()));
    let folder = fs::canonicalize(folder).map_err(unreadable)?;
    let own_name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let is_skill = |path: &Path, name: &str| {
        let has_code =
            |language: SkillLanguage| path.join(format!("{name}.{}", language.extension())).is_file();
        path.join(SKILL_FILE).is_file() || SkillLanguage::ALL.into_iter().any(has_code)
    };
    if is_skill(&folder, &own_name) {
        return Ok(vec![folder]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(unreadable)?.take(4 * SKILLS_MAX) {
        let entry = entry.map_err(unreadable)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_skill(&entry.path(), &name) {
            found.push(entry.path());
        }
    }
    found.sort();
    found.truncate(SKILLS_MAX);
    match found.is_empty() {
        true => Err(Failure::Usage(anyhow!(
            "no skills in {}: expected a {SKILL_FILE}, or folders with one",
            folder.display()
        ))),
        false => Ok(found),
    }
}
