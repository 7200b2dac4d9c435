//! The checker's process: a language server that is told of three documents, and asked about one of them.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use gristmill_checks::typescript::TypeError;
use serde_json::{Value, json};
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::TypeCheckCommand;
use super::wire::{self, Diagnostics, Message};

/// What every program finds in its globals.
const GLOBALS: &str = include_str!("globals.d.ts");

/// Errors of one program that are read.
const ERRORS_MAX: usize = 200;
const MESSAGE_CHARS_MAX: usize = 4_000;

/// Messages of the checker before an answer: it tells what it does.
const MESSAGES_MAX: usize = 2_000;

/// What its garbage collector tries to keep to, and how many cores it uses.
const ENVIRONMENT: [(&str, &str); 2] = [("GOMEMLIMIT", "384MiB"), ("GOMAXPROCS", "2")];

/// Between closing its input and ending it.
const GRACE: Duration = Duration::from_millis(500);

/// Nothing is emitted and nothing is strict: null fits everywhere, and what has no type has any.
fn project() -> Value {
    json!({
        "compilerOptions": {
            "target": "esnext",
            "lib": ["esnext"],
            "module": "esnext",
            "moduleDetection": "force",
            "strict": false,
            "types": [],
            "noEmit": true,
            "skipLibCheck": true,
        },
        "typeAcquisition": { "enable": false },
        "files": ["globals.d.ts", "tools.d.ts", "program.ts"],
    })
}

/// A checker that runs. Dropping it ends it.
pub(super) struct CheckerProcess {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Where its project is, as a URI with a slash at the end.
    place: String,
    /// Of the last question.
    id: u64,
    /// Of the documents.
    version: u64,
    /// The declarations that it has.
    declared: Option<u64>,
}

/// Declarations, and a number that is theirs alone.
#[derive(Clone, Copy)]
pub(super) struct Declarations<'d> {
    pub fingerprint: u64,
    pub text: &'d str,
}

impl CheckerProcess {
    /// Starts it, in a folder of its own.
    pub async fn start(command: &TypeCheckCommand, folder: &Path) -> io::Result<Self> {
        write_project(folder)?;
        // A link in the path would be another place to the checker.
        let folder = folder.canonicalize()?;
        let mut starting = Command::new(&command.program);
        starting.args(command.arguments(&folder)).current_dir(&folder).env_clear().envs(ENVIRONMENT);
        starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = starting.spawn()?;
        let (Some(input), Some(output), Some(error)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        tokio::spawn(wire::drain(error));
        let output = BufReader::new(output);
        let place = format!("file://{}/", uri_path(&folder));
        let mut made = Self { child, input, output, place, id: 0, version: 0, declared: None };
        let params = json!({
            "processId": null, "rootUri": made.place, "workspaceFolders": null, "capabilities": {}, "trace": "off",
            "initializationOptions": { "disablePushDiagnostics": true },
        });
        made.ask("initialize", &params).await?;
        made.tell("initialized", &json!({})).await?;
        Ok(made)
    }

    /// The errors in a program.
    pub async fn check(
        &mut self,
        program: &str,
        declarations: Declarations<'_>,
    ) -> io::Result<Vec<TypeError>> {
        let is_first = self.version == 0;
        self.version += 1;
        self.document("program.ts", program, is_first).await?;
        if self.declared != Some(declarations.fingerprint) {
            self.document("tools.d.ts", declarations.text, self.declared.is_none()).await?;
            self.declared = Some(declarations.fingerprint);
        }
        let params = json!({ "textDocument": { "uri": format!("{}program.ts", self.place) } });
        let answer = self.ask("textDocument/diagnostic", &params).await?;
        let found: Diagnostics = serde_json::from_slice(&answer)?;
        Ok(found.items.into_iter().filter_map(error_of).take(ERRORS_MAX).collect())
    }

    async fn document(&mut self, name: &str, text: &str, is_new: bool) -> io::Result<()> {
        let (uri, version) = (format!("{}{name}", self.place), self.version);
        match is_new {
            true => {
                let document =
                    json!({ "uri": uri, "languageId": "typescript", "version": version, "text": text });
                self.tell("textDocument/didOpen", &json!({ "textDocument": document })).await
            }
            false => {
                let document = json!({ "uri": uri, "version": version });
                let params = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
                self.tell("textDocument/didChange", &params).await
            }
        }
    }

    async fn tell(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.input.write_all(&wire::notification(method, params)).await
    }

    /// Asks, and gives the answer's result as JSON.
    async fn ask(&mut self, method: &str, params: &Value) -> io::Result<Vec<u8>> {
        self.id += 1;
        self.input.write_all(&wire::request(self.id, method, params)).await?;
        let id = self.id.to_string();
        for _ in 0..MESSAGES_MAX {
            let bytes = wire::read_message(&mut self.output).await?;
            let message: Message<'_> = serde_json::from_slice(&bytes)?;
            if message.method.is_some() {
                if let Some(answer) = wire::no_answer(&message) {
                    self.input.write_all(&answer).await?;
                }
            } else if message.id.is_some_and(|told| told.get() == id) {
                let result = message.result.map(|result| result.get().as_bytes().to_vec());
                return result.ok_or_else(|| io::Error::other("the checker refused"));
            }
        }
        Err(io::Error::other("the checker talks without end"))
    }

    /// Lets it end by itself, and ends it if it doesn't.
    pub async fn end(self) {
        let Self { mut child, input, .. } = self;
        drop(input);
        if tokio::time::timeout(GRACE, child.wait()).await.is_err() {
            let _ = child.kill().await;
        }
    }
}

fn write_project(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    std::fs::write(folder.join("tsconfig.json"), project().to_string())?;
    std::fs::write(folder.join("globals.d.ts"), GLOBALS)
}

/// A path as part of a URI.
fn uri_path(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut made = String::new();
    for byte in PathBuf::from(path).as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                made.push(char::from(*byte));
            }
            other => made.push_str(&format!("%{other:02X}")),
        }
    }
    made
}

fn error_of(found: wire::Diagnostic) -> Option<TypeError> {
    let is_error = found.severity == 1;
    let code = u32::try_from(found.code.as_u64()?).ok().filter(|_| is_error)?;
    Some(TypeError {
        line: found.range.start.line,
        column: found.range.start.character,
        end_line: found.range.end.line,
        end_column: found.range.end.character,
        code,
        message: found.message.chars().take(MESSAGE_CHARS_MAX).collect(),
    })
}
