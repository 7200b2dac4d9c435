//! What `gristmill run` runs: the program's text, its variables and its arguments.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, anyhow, bail};
use gristmill_gateway::{EngineChoice, EngineId, ExecuteRequest, engine_for, engine_named};
use serde_json::{Map, Value};

use crate::arguments::Run;
use crate::given_json::given_json;
use crate::terminal::eprint_lines;

/// No program is larger; what is piped in beyond this is a mistake.
const SCRIPT_BYTES_MAX: u64 = 1024 * 1024;

/// What the variables may be, as JSON.
const CONTEXT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The guest makes `sys.argv` of it; no variable can have this name.
const ARGV: &str = "sys.argv";

/// The program that the arguments name, with its variables.
pub fn request_from(arguments: &Run) -> anyhow::Result<ExecuteRequest> {
    let code = match (&arguments.code, &arguments.script) {
        (Some(code), _) => code.clone(),
        (None, Some(path)) if path.as_os_str() == "-" => {
            if io::stdin().is_terminal() {
                eprintln!("type the program, then press Ctrl-D");
            }
            read_text(io::stdin().lock(), "standard input")?
        }
        (None, Some(path)) => {
            let shown = path.display();
            if path.is_dir() {
                bail!("{shown} is a folder; give a Python or TypeScript file, or -c 'CODE'");
            }
            let file = std::fs::File::open(path).map_err(|error| {
                anyhow!("can't open {shown}: {error}\nhint: give a Python or TypeScript file, or -c 'CODE'")
            })?;
            read_text(file, &shown.to_string())?
        }
        // A plan has its own.
        (None, None) if arguments.plan.is_some() => String::new(),
        (None, None) => bail!("no program given; pass a file, `-` for standard input, or -c 'CODE'"),
    };
    let filename = arguments.script.as_ref().filter(|path| path.as_os_str() != "-");
    let filename = filename.map(|path| path.to_string_lossy().into_owned());
    let (context, dry_run) = (context_from(arguments)?.into(), arguments.dry_run);
    let script = arguments.script.as_deref().filter(|_| arguments.code.is_none());
    let engine = engine_of(arguments.language.as_deref(), script, &code)?;
    Ok(ExecuteRequest { filename, context, dry_run, ..ExecuteRequest::of(engine, code) })
}

/// The engine that is asked for, if one is.
pub fn engine_choice(arguments: &Run) -> anyhow::Result<Option<EngineChoice>> {
    Ok(arguments.engine.as_deref().map(str::parse).transpose()?)
}

/// As it is said, or as the file's name says, or as the code looks.
pub fn engine_of(language: Option<&str>, script: Option<&Path>, code: &str) -> anyhow::Result<EngineId> {
    let extension = script.and_then(Path::extension).and_then(|extension| extension.to_str());
    let named = extension.and_then(|extension| engine_named(extension).ok());
    match (language, named) {
        (None, Some(engine)) => Ok(engine),
        (language, _) => Ok(engine_for(language, code)?),
    }
}

fn read_text(from: impl Read, name: &str) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    from.take(SCRIPT_BYTES_MAX + 1).read_to_end(&mut bytes).with_context(|| format!("can't read {name}"))?;
    if bytes.len() as u64 > SCRIPT_BYTES_MAX {
        bail!(
            "{name} is larger than 1 MB, the limit for a program; pass data with --context-json or --workspace"
        );
    }
    String::from_utf8(bytes).map_err(|_| anyhow!("{name} isn't UTF-8 text; save the program as UTF-8"))
}

/// The folder is made if only its last part is missing.
pub fn kept_workspace(path: &Path) -> anyhow::Result<std::path::PathBuf> {
    match std::fs::create_dir(path) {
        Ok(()) => eprint_lines(&format!("note: new folder `{}`", path.display())),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => {
            return Err(error).with_context(|| format!("can't create the workspace {}", path.display()));
        }
    }
    if !path.is_dir() {
        bail!("the workspace {} isn't a folder", path.display());
    }
    let real = path.canonicalize().with_context(|| format!("can't open the workspace {}", path.display()))?;
    let whole_system =
        ["/", "/proc", "/sys", "/dev", "/etc", "/usr", "/bin", "/lib", "/boot", "/home", "/root"];
    if whole_system.iter().any(|folder| real == Path::new(folder)) {
        bail!(
            "{} can't be a workspace: programs may change everything in it; use a folder of its own",
            path.display()
        );
    }
    Ok(path.to_owned())
}

fn context_from(arguments: &Run) -> anyhow::Result<Map<String, Value>> {
    let mut context = Map::new();
    if let Some(path) = &arguments.context_json {
        let shown = path.display();
        let mut text = String::new();
        let file = std::fs::File::open(path)
            .with_context(|| format!("can't open {shown}; give a file that holds a JSON object"))?;
        file.take(CONTEXT_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .with_context(|| format!("can't read {shown}"))?;
        if text.len() as u64 > CONTEXT_BYTES_MAX {
            bail!(
                "{shown} is larger than 8 MB, the limit for variables; put large data into a --workspace folder"
            );
        }
        match given_json(&text).with_context(|| format!("{shown} isn't JSON"))? {
            Value::Object(object) => context = object,
            _ => bail!("{shown} must hold a JSON object; its keys become variables"),
        }
    }
    for setting in &arguments.context {
        let (name, value) =
            setting.split_once('=').ok_or_else(|| anyhow!("`--context {setting}` must be NAME=VALUE"))?;
        let value = given_json(value).unwrap_or_else(|_| Value::String(value.to_owned()));
        context.insert(name.trim().to_owned(), value);
    }
    if let Some(argv) = argv(arguments) {
        context.insert(ARGV.to_owned(), argv);
    }
    Ok(context)
}

/// The program's command line; none where it has no arguments.
fn argv(arguments: &Run) -> Option<Value> {
    let script = arguments.script.as_ref().map(|script| script.to_string_lossy().into_owned());
    // With -c, what would be the file is the first argument.
    let (name, first) = match &arguments.code {
        Some(_) => ("-c".to_owned(), script),
        None => (script?, None),
    };
    let words: Vec<String> = first.into_iter().chain(arguments.args.iter().cloned()).collect();
    (!words.is_empty()).then(|| Value::from([vec![name], words].concat()))
}
