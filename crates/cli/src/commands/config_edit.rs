//! `gristmill config edit`: the configuration in your editor, checked before it replaces the file.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::anyhow;
use gristmill_config::commands::check;
use gristmill_config::edit::{Done, Edited};
use gristmill_config::read_file::FileText;
use gristmill_config::{Flags, Problem, Severity, Surroundings, load};
use gristmill_files::replace_keeping_mode;
use gristmill_gateway::audit::{AuditEvent, ConfigChange};

use super::add::{Scope, file_of, renew_approval};
use super::{Failure, Outcome};
use crate::audit_log::note_changes_since;
use crate::exit_codes;
use crate::terminal::{Printable, ask, eprint_lines};

/// Which file the flags mean; `--config` names one.
pub fn scope(config: Option<PathBuf>, project: bool) -> Scope {
    match (config, project) {
        (Some(file), _) => Scope::File(file),
        (None, true) => Scope::Project,
        (None, false) => Scope::User,
    }
}

/// Edits the file of a scope.
pub fn edit(surroundings: &Surroundings, scope: &Scope, flags: &Flags) -> Outcome {
    let file = file_of(surroundings, scope).map_err(|error| Failure::Usage(error.into()))?;
    let before = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Failure::Usage(anyhow!("can't read {}: {error}", file.display()))),
    };
    let copy = EditedCopy::of(&file, &before)?;
    loop {
        copy.open_in_editor()?;
        let after = copy.read()?;
        if after.bytes == before {
            println!("no changes");
            return Ok(ExitCode::SUCCESS);
        }
        let problems = problems_of(&file, &copy.path, surroundings);
        for problem in &problems {
            let line = format!("{}: {problem}", check::name(problem.severity));
            eprint_lines(&Printable::all(&line));
        }
        if !problems.iter().any(|problem| problem.severity == Severity::Error) {
            if fs::read(&file).unwrap_or_default() != before {
                return Err(Failure::Usage(anyhow!(
                    "{} was changed meanwhile, so it was left alone\nnote: your edits are in {}",
                    file.display(),
                    copy.keep().display()
                )));
            }
            let config = load(surroundings, flags).config;
            replace_keeping_mode(&file, &after.bytes).map_err(|error| Failure::Usage(error.into()))?;
            let edited = Edited { done: Done::Replaced, before: Some(before), after: after.bytes };
            let renewed = renew_approval(surroundings, &file, &file, &edited);
            renewed.map_err(|error| Failure::Internal(error.into()))?;
            let name = file.display().to_string();
            note_changes_since(config, flags, AuditEvent::config_changed(ConfigChange::Edited, &name));
            println!("saved {name}");
            return Ok(ExitCode::SUCCESS);
        }
        let again = ask("The configuration has errors. Edit again? [Y/n]");
        if !matches!(again.as_deref(), Some("" | "y" | "Y" | "yes")) {
            let kept = copy.keep();
            eprint_lines(&format!(
                "{} was not changed\nnote: your edits are in {}",
                file.display(),
                kept.display()
            ));
            return Ok(exit_codes::usage());
        }
    }
}

/// What is wrong with the new text, told by the file's own name.
fn problems_of(file: &Path, copy: &Path, surroundings: &Surroundings) -> Vec<Problem> {
    let loaded = load(surroundings, &Flags { config: Some(copy.to_owned()), ..Flags::default() });
    let named = |mut problem: Problem| {
        if problem.place.file.as_deref() == Some(copy) {
            problem.place.file = Some(file.to_owned());
        }
        problem
    };
    loaded.problems.into_iter().map(named).collect()
}

/// The file beside which nothing happens until it is in order.
struct EditedCopy {
    folder: PathBuf,
    path: PathBuf,
}

impl EditedCopy {
    /// Under the same name, so that editors know its format, in a folder that only its owner opens.
    fn of(file: &Path, bytes: &[u8]) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::Internal(anyhow!("can't make a copy to edit: {error}"));
        let name = file.file_name().unwrap_or_default();
        let folder = std::env::temp_dir().join(format!("gristmill-edit-{}", std::process::id()));
        let path = folder.join(name);
        // One that is there already is not ours.
        let made = fs::DirBuilder::new().mode(0o700).create(&folder);
        made.and_then(|()| fs::write(&path, bytes)).map_err(failed)?;
        Ok(Self { folder, path })
    }

    fn open_in_editor(&self) -> Result<(), Failure> {
        let editor = editor()?;
        // An editor may come with flags, such as `code --wait`.
        let status = Command::new("sh")
            .arg("-c")
            .arg(format!("{} \"$1\"", editor.to_string_lossy()))
            .arg("sh")
            .arg(&self.path)
            .status();
        match status {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(Failure::Usage(anyhow!(
                "the editor `{}` failed ({status}); nothing was changed",
                editor.to_string_lossy()
            ))),
            Err(error) => Err(Failure::Usage(anyhow!("can't start the editor: {error}"))),
        }
    }

    fn read(&self) -> Result<FileText, Failure> {
        let unreadable = |error| Failure::Usage(anyhow!("{} {error}", self.path.display()));
        FileText::read(&self.path).map_err(unreadable)
    }

    /// Leaves it where it is.
    fn keep(self) -> PathBuf {
        let path = self.path.clone();
        std::mem::forget(self);
        path
    }
}

impl Drop for EditedCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn editor() -> Result<OsString, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) {
        return Ok(editor);
    }
    match io::stdin().is_terminal() {
        true => Ok("vi".into()),
        false => Err(Failure::Usage(anyhow!("no editor; set VISUAL or EDITOR"))),
    }
}
