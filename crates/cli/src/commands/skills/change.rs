//! `skills add`, `test`, `rollback` and `remove`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use gristmill_gateway::audit::Audit;
use gristmill_gateway::domain::counted;
use gristmill_gateway::domain::skills::{CODE_BYTES_MAX, SkillLanguage};
use gristmill_gateway::skills::{
    SaveRequest, SavedSkill, Skill, SkillError, SkillOrigin, SkillPlace, SkillTest, Skills, Standing,
    read_files,
};
use gristmill_gateway::upstream::{Refresh, Startup};
use gristmill_gateway::{DataSettings, Gateway, Settings, Upkeep, WorkerCommand};

use super::{Outcome, Place, done, failure};
use crate::audit_log;
use crate::data_store;
use crate::failure::Failure;
use crate::hints::hint;
use crate::skill_folders;
use crate::terminal::{Printable, eprint_lines, one_line};

/// What is to be added.
pub struct New {
    pub path: PathBuf,
    pub name: Option<String>,
    pub description: Option<String>,
    pub tags: Vec<String>,
    pub test: Option<PathBuf>,
    pub project: bool,
}

impl Place {
    /// A gateway that checks code and runs tests, with the tools there are.
    pub async fn gateway(&self) -> Result<Gateway, Failure> {
        let worker = WorkerCommand::this_executable().map_err(|error| Failure::Internal(error.into()))?;
        let mut settings = Settings::new(worker);
        settings.limits = self.configured.config.limits.clone();
        settings.pool.waiting = 0;
        // Of its own: this one is closed with the gateway.
        let (store, audit) = audit_log::open(&self.configured)?;
        let usable = self.configured.usable();
        if !usable.is_empty() {
            let observer = audit.as_ref().map(Audit::observer);
            let noting = audit.as_ref().map(Audit::log);
            let startup = Startup { observer, audit: noting, ..Startup::from(Refresh::WhenUsed) };
            settings.tools = Arc::new(self.configured.connect(&usable, startup)?);
        }
        settings.data = Some(DataSettings {
            // What a test runs is in the history; without it the command works all the same.
            history: Some(self.configured.config.history.settings),
            audit,
            history_is_optional: true,
            skills: Some(skill_folders::folders(&store, &self.configured.surroundings)),
            upkeep: Upkeep::AtShutdown,
            ..DataSettings::new(store)
        });
        let gateway = Gateway::build(settings).await.map_err(data_store::build_failure)?;
        data_store::print_problems(&gateway);
        Ok(gateway)
    }

    /// The skills, as a gateway checks them.
    pub fn checked<'a>(&'a self, gateway: &'a Gateway) -> &'a Skills {
        gateway.skills().unwrap_or(&self.skills)
    }
}

pub async fn add(place: &Place, new: New) -> Outcome {
    let gateway = place.gateway().await?;
    let outcome = save_new(place.checked(&gateway), new).await;
    gateway.shutdown().await;
    print_saved(&outcome?)
}

async fn save_new(skills: &Skills, new: New) -> Result<SavedSkill, Failure> {
    let stem = new.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name = new.name.unwrap_or(stem);
    if new.path.is_dir() {
        if new.description.is_some() || !new.tags.is_empty() || new.test.is_some() {
            let why = "a folder has its description and tags in SKILL.md and brings its tests; leave out --description, --tag and --test";
            return Err(Failure::Usage(anyhow!(why)));
        }
        let files =
            read_files(&new.path).map_err(|why| Failure::Usage(anyhow!("{}: {why}", new.path.display())))?;
        return skills.save_files(&name, files, new.project).await.map_err(failure);
    }
    let language = language_of(&new.path)?;
    if let Some(test) = new.test.as_deref().filter(|test| test.extension().is_some())
        && language_of(test).is_ok_and(|other| other != language)
    {
        let why = "a test is written in the language of its skill";
        return Err(Failure::Usage(anyhow!("{}: {why}", test.display())));
    }
    let test = new.test.as_deref().map(read_source).transpose()?;
    let request = SaveRequest {
        name,
        code: read_source(&new.path)?,
        language: Some(language),
        description: new.description,
        tags: Some(new.tags).filter(|tags| !tags.is_empty()),
        test: test.map(SkillTest::Source),
        in_project: new.project,
        origin: SkillOrigin::Person,
        caller: None,
        tests_only_read: false,
    };
    skills.save(request).await.map_err(failure)
}

/// By its name. One without an ending is Python.
fn language_of(path: &Path) -> Result<SkillLanguage, Failure> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    match ending.as_deref() {
        None | Some("py") => Ok(SkillLanguage::Python),
        Some("ts" | "mts" | "js" | "mjs") => Ok(SkillLanguage::TypeScript),
        Some(_) => {
            let why = "a skill is a Python file (.py), a TypeScript or JavaScript file (.ts, .js), or a folder with SKILL.md";
            Err(Failure::Usage(anyhow!("{}: {why}", path.display())))
        }
    }
}

fn read_source(path: &Path) -> Result<String, Failure> {
    use std::io::Read;
    let read = || -> anyhow::Result<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(CODE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
        String::from_utf8(bytes).map_err(|_| anyhow!("it isn't UTF-8 text"))
    };
    read().with_context(|| format!("can't read {}", path.display())).map_err(Failure::Usage)
}

pub fn print_saved(saved: &SavedSkill) -> Outcome {
    match saved.is_unchanged {
        true => println!("{} is unchanged (version {})", saved.name, saved.version),
        false => println!("saved {} version {} ({})", saved.name, saved.version, saved.place.as_str()),
    }
    for note in &saved.notes {
        eprint_lines(&format!("note: {}", Printable::all(note)));
    }
    if saved.tests == 0 {
        eprint_lines("note: it has no test; add one with --test FILE");
    }
    hint(&Printable::all(&saved.usage()));
    Ok(ExitCode::SUCCESS)
}

pub async fn test(place: &Place, name: Option<&str>) -> Outcome {
    let view = place.skills.look_again().await;
    let names: Vec<String> = match name {
        Some(name) => vec![name.to_owned()],
        None => view.usable().map(|skill| skill.name.to_string()).collect(),
    };
    if names.is_empty() {
        eprint_lines("No skills to test.");
        return Ok(ExitCode::SUCCESS);
    }
    let gateway = place.gateway().await?;
    let mut failed = None;
    for name in &names {
        match place.checked(&gateway).test(name).await {
            Ok(0) => println!("{name}: no test"),
            Ok(count) => println!("{name}: ok ({})", counted(count, "test")),
            Err(error @ (SkillError::TestFailed { .. } | SkillError::Syntax { .. })) => {
                println!("{name}: {}", Printable::all(error.to_string().trim_start_matches("not saved: ")));
                failed = Some(ExitCode::FAILURE);
            }
            Err(error) => {
                gateway.shutdown().await;
                return Err(failure(error));
            }
        }
    }
    gateway.shutdown().await;
    Ok(failed.unwrap_or(ExitCode::SUCCESS))
}

pub async fn rollback(place: &Place, name: &str, version: i64) -> Outcome {
    let back = place.skills.rollback(name, version, &SkillOrigin::Person).await.map_err(failure)?;
    let number = back.version;
    done(&format!("restored version {version} of {} as version {number}", one_line(name)))
}

pub async fn remove(place: &Place, name: &str) -> Outcome {
    let deleted = place.skills.delete(name, &SkillOrigin::Person).await.map_err(failure)?.skill;
    println!("removed {} ({})", deleted.name, deleted.place.as_str());
    let view = place.skills.look_again().await;
    for left in view.named(deleted.name.as_str()) {
        eprint_lines(&match left.standing {
            Standing::Usable => format!("note: {} is used now", whose(left)),
            Standing::Waiting => format!("note: {} still exists and needs approval", whose(left)),
            Standing::Hidden => format!("note: {} still exists", whose(left)),
        });
    }
    if deleted.version > 0 {
        hint(&format!("`gristmill skills rollback {} {}` restores it", deleted.name, deleted.version));
    }
    Ok(ExitCode::SUCCESS)
}

fn whose(skill: &Skill) -> String {
    match skill.place {
        SkillPlace::User => format!("your own {}", skill.name),
        SkillPlace::Project => format!("the project's {}", skill.name),
    }
}
