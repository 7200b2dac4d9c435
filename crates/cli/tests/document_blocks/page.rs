//! One document from its beginning to its end, in one home: what an earlier block did, a later one finds.

use std::fmt::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gristmill_testkit::{Home, Ran};
use libtest_mimic::Failed;
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};

use crate::blocks::{self, Block, Plan};
use crate::shown;

/// Longer than any command of a document takes; one that serves or asks would never end.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(60);

/// Keys by which JSON is a configuration.
const CONFIG_KEYS: [&str; 7] = ["level", "limits", "servers", "mcpServers", "sessions", "history", "results"];

/// How many blocks were treated in which way.
#[derive(Debug, Default)]
pub struct Done {
    pub run: usize,
    pub compiled: usize,
    pub read: usize,
    pub not_run: usize,
}

struct Page<'a> {
    home: Home,
    done: Done,
    document: &'a Path,
    /// The document with the output that was printed, where that differs.
    updated: String,
    /// Handles in the document, and what they are here.
    handles: Vec<(String, String)>,
    /// Programs that are compiled, all at once, with their lines.
    programs: Vec<(usize, String)>,
}

/// Does with every block what is to be done, and tells all that failed.
pub fn check(document: &Path) -> Result<Done, Failed> {
    let text = std::fs::read_to_string(document)?;
    let blocks = blocks::find(&text)?;
    if blocks.is_empty() {
        return Ok(Done::default());
    }
    let name = document.file_stem().unwrap_or_default().to_string_lossy();
    let home = Home::new(Path::new(env!("CARGO_BIN_EXE_gristmill")), &name);
    let mut page = Page {
        home,
        done: Done::default(),
        document,
        updated: text.clone(),
        handles: Vec::new(),
        programs: Vec::new(),
    };
    let mut failures = Vec::new();
    for block in &blocks {
        if let Err(problem) = page.treat(block) {
            failures.push(format!("line {}: {problem}", block.line));
        }
    }
    failures.extend(page.compile_all().err());
    if page.updated != text {
        std::fs::write(page.document, &page.updated)?;
    }
    match failures.is_empty() {
        true => Ok(page.done),
        false => Err(Failed::from(format!(
            "{}\n\nA block that can't be tried here is marked on the line before it: <!-- not run: why -->",
            failures.join("\n\n")
        ))),
    }
}

impl Page<'_> {
    fn treat(&mut self, block: &Block) -> Result<(), String> {
        for command in &block.first {
            self.succeed(command)?;
        }
        match &block.plan {
            Plan::NotRun(_) => self.done.not_run += 1,
            Plan::Shell => {
                self.succeed(&block.text)?;
                self.done.run += 1;
            }
            Plan::Console => {
                self.converse(block)?;
                self.done.run += 1;
            }
            Plan::Program => {
                self.write("block.py", &block.text)?;
                self.succeed("gristmill run --session document block.py")?;
                self.done.run += 1;
            }
            Plan::Compiled => {
                self.programs.push((block.line, block.text.clone()));
                self.done.compiled += 1;
            }
            Plan::File(name) => {
                self.write(name, &block.text)?;
                self.done.read += 1;
            }
            Plan::Config(ending) => {
                self.read_config(ending, &block.text)?;
                self.done.read += 1;
            }
            Plan::Json => {
                let value: Option<Value> = serde_json::from_str(&block.text).ok();
                let is_config = match &value {
                    // Our configuration may have comments and trailing commas.
                    None => true,
                    Some(value) => CONFIG_KEYS.iter().any(|key| value.get(key).is_some()),
                };
                if is_config {
                    self.read_config("json", &block.text)?;
                }
                self.done.read += 1;
            }
        }
        Ok(())
    }

    /// Runs each command of a console, and compares what it prints with what is shown below it.
    fn converse(&mut self, block: &Block) -> Result<(), String> {
        for (command, shown) in exchanges(&block.text)? {
            if let Some(name) = command.strip_prefix("cat ")
                && !self.home.work().join(name).exists()
            {
                self.write(name, &shown)?;
                continue;
            }
            let here =
                self.handles.iter().fold(command.clone(), |text, (shown, here)| text.replace(shown, here));
            // Messages are in the output, as on a screen.
            let ran = self.run(&format!("exec 2>&1\n{here}"))?;
            let printed = self.as_shown(&ran.stdout, &shown);
            let is_as_shown = match shown.is_empty() {
                // With nothing below it, it only has to work.
                true => ran.code == Some(0),
                false => shown::fits(&shown, &printed),
            };
            if is_as_shown {
                continue;
            }
            if std::env::var_os("UPDATE_EXPECTED").is_none() {
                let code = ran.code;
                return Err(format!(
                    "$ {command}\nis shown to print\n{shown}\nand prints ({code:?})\n{printed}"
                ));
            }
            let (old, new) = (format!("$ {command}\n{shown}"), format!("$ {command}\n{printed}"));
            self.updated = self.updated.replacen(&old, &new, 1);
        }
        Ok(())
    }

    /// The output with the document's home, place of the binary and handles.
    fn as_shown(&mut self, printed: &str, shown: &str) -> String {
        let new_here =
            shown::handles(printed).find(|handle| !self.handles.iter().any(|(_, here)| here == handle));
        let new_shown =
            shown::handles(shown).find(|handle| !self.handles.iter().any(|(shown, _)| shown == handle));
        if let (Some(here), Some(shown)) = (new_here, new_shown) {
            self.handles.push((shown.to_owned(), here.to_owned()));
        }
        let text =
            self.handles.iter().fold(printed.to_owned(), |text, (shown, here)| text.replace(here, shown));
        let binary = Path::new(env!("CARGO_BIN_EXE_gristmill")).parent().unwrap_or(Path::new("/"));
        text.replace(&*self.home.path().to_string_lossy(), "/home/you")
            .replace(&*binary.to_string_lossy(), "/usr/local/bin")
    }

    fn succeed(&self, script: &str) -> Result<(), String> {
        let ran = self.run(script)?;
        match ran.code {
            Some(0) => Ok(()),
            code => Err(format!("{script}\nended with {code:?}\n{}{}", ran.stdout, ran.stderr)),
        }
    }

    fn run(&self, script: &str) -> Result<Ran, String> {
        let mut shell = self.home.shell(script);
        // So that everything is where documents say, below the home.
        for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "GRISTMILL_DATA_DIR"] {
            shell.env_remove(name);
        }
        run_within(shell, COMMAND_TIME_MAX).map_err(|problem| format!("{script}\n{problem}"))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        std::fs::write(self.home.work().join(name), text).map_err(|error| format!("{name}: {error}"))
    }

    fn read_config(&self, ending: &str, text: &str) -> Result<(), String> {
        // Apart from the document's own commands, which may have a configuration by now.
        let file = self.home.path().join(format!("read.{ending}"));
        std::fs::write(&file, text).map_err(|error| error.to_string())?;
        let ran = self.home.run(&["config", "--config", &file.to_string_lossy(), "show", "--json"]);
        match ran.code {
            Some(0) => Ok(()),
            code => Err(format!("{text}\nis no configuration ({code:?}):\n{}{}", ran.stdout, ran.stderr)),
        }
    }

    /// Compiles the programs that aren't run, in one program of the guest.
    fn compile_all(&self) -> Result<(), String> {
        if self.programs.is_empty() {
            return Ok(());
        }
        let code = "import ast, textwrap\nfailed = []\nfor line, text in programs:\n    try:\n        \
            compile(textwrap.dedent(text), 'block', 'exec', flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)\n    \
            except SyntaxError as error:\n        \
            failed.append(f'line {line + (error.lineno or 0)}: {error.msg}')\n\
            assert not failed, failed\n";
        let context = format!("programs={}", json!(self.programs));
        let ran = self.home.run(&["run", "--no-servers", "--context", &context, "-c", code]);
        match ran.code {
            Some(0) => Ok(()),
            code => {
                let mut told = String::from("the programs that are only compiled");
                let _ = write!(told, " ended with {code:?}\n{}{}", ran.stdout, ran.stderr);
                Err(told)
            }
        }
    }
}

/// The commands of a console, each with what is shown below it.
fn exchanges(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut continues = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push((command.to_owned(), String::new()));
        } else {
            let (command, shown) = found.last_mut().ok_or("a console begins with `$ `")?;
            match continues {
                true => *command = format!("{command}\n{line}"),
                false => *shown += &format!("{line}\n"),
            }
        }
        continues = (continues || line.starts_with("$ ")) && line.ends_with('\\');
    }
    Ok(found)
}

/// Runs a command to its end, which has to come in time. Its output goes through files: a pipe that a process
/// left behind would keep open never ends.
fn run_within(mut command: Command, time: Duration) -> Result<Ran, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let file = |path: &Path| std::fs::File::create(path).map_err(|error| error.to_string());
    command.stdout(Stdio::from(file(&out)?)).stderr(Stdio::from(file(&err)?)).process_group(0);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let code = wait(&mut child, time)?;
    let text = |path: &Path| String::from_utf8_lossy(&std::fs::read(path).unwrap_or_default()).into_owned();
    Ok(Ran { code, stdout: text(&out), stderr: text(&err) })
}

fn wait(child: &mut Child, time: Duration) -> Result<Option<i32>, String> {
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Err(error) => return Err(error.to_string()),
            Ok(Some(status)) => return Ok(status.code()),
            Ok(None) if started.elapsed() > time => {
                // What it started, too.
                let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
                let _ = group.map(|group| kill_process_group(group, Signal::KILL));
                let _ = child.wait();
                return Err(format!("did not end within {time:?}"));
            }
            Ok(None) => std::thread::park_timeout(Duration::from_millis(5)),
        }
    }
}
