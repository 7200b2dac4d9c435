//! Resolves the references of a configuration, at the moment a server is reached. The only place
//! where a secret becomes text.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use gristmill_gateway::domain::{Part, Reference, SecretText};
use tokio::io::AsyncReadExt;

use crate::secret::Secret;

/// A reference that leads nowhere. Names the reference, never a value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SecretError {
    /// Not in the environment.
    #[error(
        "the variable {0} isn't set; set it in the environment or in the `.env` next to the configuration, or use `${{{0}:-default}}`"
    )]
    NoVariable(String),
    /// Not a file that can be read.
    #[error("can't read the secret file {path}: {why}")]
    File { path: String, why: String },
    /// Not in the keyring.
    #[error("the keyring has no entry `{name}` for gristmill: {why}")]
    Keyring { name: String, why: String },
    /// The command did not give one.
    #[error("the command of `${{cmd:{command}}}` gave no secret: {why}")]
    Command {
        /// As it is written.
        command: String,
        why: String,
    },
}

/// A secret is never this long.
const SECRET_BYTES_MAX: u64 = 64 * 1024;

/// How long a command or a keyring may take; one may ask its owner to unlock it.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);

/// What references are resolved against.
#[derive(Clone, Debug, Default)]
pub struct SecretContext {
    /// Variables from `.env` files. The real environment comes first.
    pub variables: HashMap<String, String>,
    /// Where relative files are.
    pub folder: PathBuf,
    /// Texts of files as they were approved, by how they are written; those files aren't read again.
    pub files: HashMap<String, String>,
}

/// A resolved text, and the secrets in it with the names to show for them.
#[derive(Clone, Default)]
pub(crate) struct Resolved {
    pub text: String,
    pub secrets: Vec<(String, String)>,
}

impl SecretContext {
    /// `key` is what the text is for: a variable called `…_TOKEN` holds a secret however it came.
    pub(crate) async fn resolve(&self, key: &str, text: &SecretText) -> Result<Resolved, SecretError> {
        let mut resolved = Resolved::default();
        for part in text.parts() {
            match part {
                Part::Plain(plain) => {
                    if sounds_secret(key) {
                        resolved.secrets.push((key.to_owned(), plain.clone()));
                    }
                    resolved.text.push_str(plain);
                }
                Part::Reference(reference) => {
                    let (name, value, is_secret) = self.look_up(key, reference).await?;
                    if is_secret {
                        resolved.secrets.push((name, value.clone()));
                    }
                    resolved.text.push_str(&value);
                }
            }
        }
        Ok(resolved)
    }

    /// A text that is a secret as a whole, such as a key.
    pub async fn secret(&self, key: &str, text: &SecretText) -> Result<Secret, SecretError> {
        Ok(Secret::new(self.resolve(key, text).await?.text))
    }

    async fn look_up(&self, key: &str, reference: &Reference) -> Result<(String, String, bool), SecretError> {
        match reference {
            Reference::Environment { name, default } => {
                let real = std::env::var(name).ok().filter(|value| !value.is_empty());
                let found = real.or_else(|| self.variables.get(name).cloned()).or_else(|| default.clone());
                let value = found.ok_or_else(|| SecretError::NoVariable(name.clone()))?;
                Ok((format!("env:{name}"), value, sounds_secret(name) || sounds_secret(key)))
            }
            Reference::File(path) => {
                let value = match self.files.get(path) {
                    Some(approved) => approved.clone(),
                    None => self.read_file(path).await?,
                };
                Ok((format!("file:{path}"), value, true))
            }
            Reference::Keyring(name) => {
                let value = from_keyring(name)
                    .await
                    .map_err(|why| SecretError::Keyring { name: name.clone(), why })?;
                Ok((format!("keyring:{name}"), value, true))
            }
            Reference::Command(command) => {
                let value = from_command(command, &self.folder)
                    .await
                    .map_err(|why| SecretError::Command { command: command.clone(), why })?;
                Ok(("cmd".to_owned(), value, true))
            }
        }
    }

    async fn read_file(&self, path: &str) -> Result<String, SecretError> {
        let failed = |why: String| SecretError::File { path: path.to_owned(), why };
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let full = match (path.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_), None) | (None, _) => self.folder.join(path),
        };
        let file = tokio::fs::File::open(&full).await.map_err(|error| failed(error.to_string()))?;
        let metadata = file.metadata().await.map_err(|error| failed(error.to_string()))?;
        if !metadata.is_file() {
            return Err(failed("it is not a file".to_owned()));
        }
        let mut text = String::new();
        file.take(SECRET_BYTES_MAX)
            .read_to_string(&mut text)
            .await
            .map_err(|error| failed(error.to_string()))?;
        Ok(text.trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// Whether a name is one that people give to secrets.
pub(crate) fn sounds_secret(name: &str) -> bool {
    const WORDS: [&str; 10] = [
        "token",
        "secret",
        "password",
        "passwd",
        "apikey",
        "api_key",
        "api-key",
        "credential",
        "authorization",
        "cookie",
    ];
    let name = name.to_ascii_lowercase();
    WORDS.iter().any(|word| name.contains(word))
        || name.ends_with("_key")
        || name.ends_with("_pat")
        || name == "key"
}

/// The keyring through the tool that each system has for it: no library of ours holds the session.
async fn from_keyring(name: &str) -> Result<String, String> {
    let arguments: &[&str] = if cfg!(target_os = "macos") {
        &["security", "find-generic-password", "-s", "gristmill", "-a", name, "-w"]
    } else {
        &["secret-tool", "lookup", "service", "gristmill", "account", name]
    };
    let store = if cfg!(target_os = "macos") {
        format!("security add-generic-password -s gristmill -a {name} -w")
    } else {
        format!("secret-tool store --label=gristmill service gristmill account {name}")
    };
    let value = output_of(arguments, Path::new("/"))
        .await
        .map_err(|why| format!("{why}; store it with `{store}`"))?;
    if value.is_empty() { Err(format!("it's empty; store it with `{store}`")) } else { Ok(value) }
}

/// Words are split as a shell does, but no shell is involved.
async fn from_command(command: &str, folder: &Path) -> Result<String, String> {
    let words = split_words(command)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.is_empty() {
        return Err("no command given".to_owned());
    }
    let value = output_of(&words, folder).await?;
    if value.is_empty() { Err("it printed nothing".to_owned()) } else { Ok(value) }
}

async fn output_of(words: &[&str], folder: &Path) -> Result<String, String> {
    let mut command = tokio::process::Command::new(words[0]);
    command
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    if folder.is_dir() {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(|error| format!("`{}`: {error}", words[0]))?;
    let mut stdout = child.stdout.take().ok_or("it has no output")?.take(SECRET_BYTES_MAX);
    let work = async {
        let mut text = String::new();
        stdout.read_to_string(&mut text).await.map_err(|error| error.to_string())?;
        let status = child.wait().await.map_err(|error| error.to_string())?;
        if status.success() { Ok(text) } else { Err(format!("`{}` ended with {status}", words[0])) }
    };
    let text = tokio::time::timeout(COMMAND_TIMEOUT, work)
        .await
        .map_err(|_| format!("it took longer than {} s", COMMAND_TIMEOUT.as_secs()))??;
    Ok(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// Single and double quotes, and the backslash.
fn split_words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                word.get_or_insert_default().extend(characters.next());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err("unclosed quote".to_owned());
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn resolved(
        context: &SecretContext,
        key: &str,
        text: &str,
    ) -> Result<(String, Vec<String>), SecretError> {
        let text = SecretText::parse(text).expect("a text");
        let resolved = context.resolve(key, &text).await?;
        Ok((resolved.text, resolved.secrets.into_iter().map(|(name, _)| name).collect()))
    }

    #[tokio::test]
    async fn references_are_resolved_and_secrets_known_as_such() {
        let folder = std::env::temp_dir().join(format!("gristmill-secrets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("key"), "from-file\n").expect("a file");
        let context = SecretContext {
            variables: HashMap::from([("GM_TEST_TOKEN".to_owned(), "abcdef".to_owned())]),
            folder: folder.clone(),
            files: HashMap::from([("seen".to_owned(), "as-approved".to_owned())]),
        };
        let check = async |key: &str, text: &str, expected: &str, secrets: &[&str]| {
            let (text, found) = resolved(&context, key, text).await.expect("resolved");
            assert_eq!(
                (text.as_str(), found.iter().map(String::as_str).collect::<Vec<_>>()),
                (expected, secrets.to_vec())
            );
        };
        check(
            "Authorization",
            "Bearer ${GM_TEST_TOKEN}",
            "Bearer abcdef",
            &["Authorization", "env:GM_TEST_TOKEN"],
        )
        .await;
        check("arg", "${GM_NO_SUCH:-plain}/x", "plain/x", &[]).await;
        check("X", "${file:key}", "from-file", &["file:key"]).await;
        check("X", "${file:seen}", "as-approved", &["file:seen"]).await;
        check("X", "${cmd:printf '%s' \"a b\"}", "a b", &["cmd"]).await;
        let refused = resolved(&context, "X", "${GM_NO_SUCH}").await.expect_err("nothing there").to_string();
        assert_eq!(
            refused,
            "the variable GM_NO_SUCH isn't set; set it in the environment or in the `.env` next to the configuration, or use `${GM_NO_SUCH:-default}`"
        );
        let refused = resolved(&context, "X", "${cmd:false}").await.expect_err("no secret").to_string();
        assert!(refused.contains("`false` ended with exit status: 1"), "{refused}");
        assert!(resolved(&context, "X", "${file:nowhere}").await.is_err());
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
