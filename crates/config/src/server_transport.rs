//! How a server is reached, as a file says it.

use std::collections::BTreeMap;

use gristmill_gateway::domain::{OAuthSettings, Part, SecretText, Transport};

use super::fields::Fields;
use super::problem::{Foreign, ProblemKind, Problems, Severity};
use super::references::{self, Folders};
use super::strictness::Strictness;
use super::tree::{Node, Value, join};

const TYPES: [&str; 3] = ["stdio", "http", "streamable-http"];
pub(super) const OAUTH_KEYS: [&str; 4] = ["client_id", "client_secret", "scopes", "callback_port"];
/// What other clients set by hand and we find out from the server.
const OAUTH_FOREIGN: [&str; 11] = [
    "enabled",
    "issuer",
    "authorizationUrl",
    "tokenUrl",
    "registrationUrl",
    "redirectUri",
    "tokenParamName",
    "audiences",
    "authServerMetadataUrl",
    "resource",
    "type",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Stdio,
    Http,
}

/// Reads it. `None` if there is none or it is wrong.
pub fn read(
    fields: &mut Fields<'_>,
    line: usize,
    strictness: Strictness,
    folders: &Folders,
    problems: &mut Problems,
) -> Option<Transport> {
    let said = kind(fields, problems);
    let before = problems.errors();
    let command = fields.text("command", problems);
    let url = ["httpUrl", "serverUrl", "url"].map(|key| (key, fields.text(key, problems)));
    let url = url.into_iter().find_map(|(key, text)| Some((key, text?)));
    let is_missing = problems.errors() == before;
    // All of them are read, so that all of their mistakes are told.
    let stdio = Stdio::read(fields, folders, problems);
    let http = Http::read(fields, folders, problems);
    let said = said.ok()?;
    match (command, url) {
        (None, None) => {
            if is_missing {
                problems.error(fields.own_path(), line, ProblemKind::NoTransport);
            }
            None
        }
        (Some(_), Some((key, _))) => {
            let what = ProblemKind::TwoTransports { first: "command".to_owned(), second: key.to_owned() };
            problems.error(fields.own_path(), line, what);
            None
        }
        (Some((command, line)), None) => {
            if said == Some(Kind::Http) {
                return wrong_type(fields, "url", problems);
            }
            http.unused(fields, strictness, problems);
            let key = fields.path("command");
            if command.trim().is_empty() {
                problems.error(&key, line, ProblemKind::Empty);
                return None;
            }
            let command = references::secret_text(command, &key, line, folders, problems)?;
            Some(Transport::Stdio { command, args: stdio.args, env: stdio.env, cwd: stdio.cwd })
        }
        (None, Some((key, (url, line)))) => {
            if said == Some(Kind::Stdio) {
                return wrong_type(fields, "command", problems);
            }
            stdio.unused(fields, strictness, problems);
            let key = fields.path(key);
            let url = references::secret_text(url, &key, line, folders, problems)?;
            check_url(&url, &key, line, problems);
            Some(Transport::Http { url, headers: http.headers, oauth: http.oauth })
        }
    }
}

/// `type` says one thing, and the other keys another.
fn wrong_type(fields: &Fields<'_>, needs: &'static str, problems: &mut Problems) -> Option<Transport> {
    problems.error(&fields.path("type"), fields.line("type"), ProblemKind::WrongTransport { needs });
    None
}

fn kind(fields: &mut Fields<'_>, problems: &mut Problems) -> Result<Option<Kind>, ()> {
    for key in ["type", "transport"] {
        let Some((word, line)) = fields.text(key, problems) else { continue };
        let what = match word.to_ascii_lowercase().as_str() {
            "stdio" | "local" => return Ok(Some(Kind::Stdio)),
            "http" | "https" | "streamable-http" | "streamable_http" | "streamablehttp" | "remote" => {
                return Ok(Some(Kind::Http));
            }
            "sse" => ProblemKind::Sse,
            _ => ProblemKind::not_one_of(word, &TYPES),
        };
        problems.error(&fields.path(key), line, what);
        return Err(());
    }
    Ok(None)
}

fn check_url(url: &SecretText, key: &str, line: usize, problems: &mut Problems) {
    let Some(Part::Plain(start)) = url.parts().first() else { return };
    let after = ["http://", "https://"].iter().find_map(|scheme| {
        let head = start.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| &start[scheme.len()..])
    });
    let is_bad = |c: char| c.is_whitespace() || c.is_control();
    let has_host = after.is_some_and(|after| !after.is_empty() || url.parts().len() > 1);
    if !has_host || start.contains(is_bad) {
        problems.error(key, line, ProblemKind::BadUrl);
    } else if url.as_plain().is_some_and(|url| url.trim_end_matches('/').ends_with("/sse")) {
        problems.add(Severity::Warning, key, line, ProblemKind::LooksLikeSse);
    }
}

struct Stdio {
    args: Vec<SecretText>,
    env: BTreeMap<String, SecretText>,
    cwd: Option<std::path::PathBuf>,
}

impl Stdio {
    fn read(fields: &mut Fields<'_>, folders: &Folders, problems: &mut Problems) -> Self {
        let mut args = Vec::new();
        for (index, (text, line)) in fields.texts("args", problems).into_iter().enumerate() {
            let key = format!("{}[{index}]", fields.path("args"));
            args.extend(references::secret_text(&text, &key, line, folders, problems));
        }
        let mut env = BTreeMap::new();
        for (name, text, line) in fields.named_texts("env", problems) {
            let key = join(&fields.path("env"), name);
            if name.is_empty() || name.contains(['=', '\0']) {
                problems.error(&key, line, ProblemKind::BadVariable);
            }
            if let Some(text) = references::secret_text(&text, &key, line, folders, problems) {
                env.insert(name.to_owned(), text);
            }
        }
        // Codex passes these on as they are.
        for (name, line) in fields.texts("env_vars", problems) {
            let key = fields.path("env_vars");
            if let Some(text) = variable(&name, &key, line, problems) {
                env.entry(name).or_insert(text);
            }
        }
        let cwd = ["cwd", "workingDirectory"].map(|key| {
            let (text, line) = fields.text(key, problems)?;
            references::path(text, &fields.path(key), line, folders, problems)
        });
        Self { args, env, cwd: cwd.into_iter().flatten().next() }
    }

    fn unused(&self, fields: &Fields<'_>, strictness: Strictness, problems: &mut Problems) {
        let given =
            [("args", !self.args.is_empty()), ("env", !self.env.is_empty()), ("cwd", self.cwd.is_some())];
        tell_unused(given, "command", fields, strictness, problems);
    }
}

struct Http {
    headers: BTreeMap<String, SecretText>,
    oauth: OAuthSettings,
}

impl Http {
    fn read(fields: &mut Fields<'_>, folders: &Folders, problems: &mut Problems) -> Self {
        let mut headers = BTreeMap::new();
        for block in ["http_headers", "headers"] {
            for (name, text, line) in fields.named_texts(block, problems) {
                let key = join(&fields.path(block), name);
                if !is_header(name, &text) {
                    problems.error(&key, line, ProblemKind::BadHeader);
                }
                if let Some(text) = references::secret_text(&text, &key, line, folders, problems) {
                    headers.insert(name.to_owned(), text);
                }
            }
        }
        for (name, text, line) in fields.named_texts("env_http_headers", problems) {
            let key = join(&fields.path("env_http_headers"), name);
            if !is_header(name, "") {
                problems.error(&key, line, ProblemKind::BadHeader);
            }
            if let Some(text) = variable(&text, &key, line, problems) {
                headers.insert(name.to_owned(), text);
            }
        }
        if let Some((name, line)) = fields.text("bearer_token_env_var", problems) {
            let key = fields.path("bearer_token_env_var");
            if variable(name, &key, line, problems).is_some()
                && let Ok(text) = SecretText::parse(&format!("Bearer ${{{name}}}"))
            {
                headers.insert("Authorization".to_owned(), text);
            }
        }
        Self { headers, oauth: oauth(fields, folders, problems) }
    }

    fn unused(&self, fields: &Fields<'_>, strictness: Strictness, problems: &mut Problems) {
        let has_oauth = self.oauth != OAuthSettings::default();
        let given = [("headers", !self.headers.is_empty()), ("oauth", has_oauth)];
        tell_unused(given, "url", fields, strictness, problems);
    }
}

/// Other clients write empty and useless tables into their files; ours should not have them.
fn tell_unused<const N: usize>(
    given: [(&str, bool); N],
    needs: &'static str,
    fields: &Fields<'_>,
    strictness: Strictness,
    problems: &mut Problems,
) {
    let severity = match strictness {
        Strictness::Ours => Severity::Error,
        Strictness::Foreign => Severity::Warning,
    };
    for (key, _) in given.into_iter().filter(|(_, given)| *given) {
        problems.add(severity, &fields.path(key), fields.line(key), ProblemKind::WrongTransport { needs });
    }
}

/// `${NAME}`, by its bare name.
fn variable(name: &str, key: &str, line: usize, problems: &mut Problems) -> Option<SecretText> {
    let text = SecretText::parse(&format!("${{env:{name}}}")).ok();
    let text = text.filter(|_| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    if text.is_none() {
        problems.error(key, line, ProblemKind::BadVariable);
    }
    text
}

pub(super) fn is_header(name: &str, value: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(token) && !value.contains(|c: char| c.is_control() && c != '\t')
}

fn oauth(fields: &mut Fields<'_>, folders: &Folders, problems: &mut Problems) -> OAuthSettings {
    let mut settings = OAuthSettings::default();
    for block in ["auth", "oauth"] {
        let Some(node) = fields.take(block) else { continue };
        let path = fields.path(block);
        // Some clients say `oauth: false` or `auth: "oauth"`: there is nothing to take from it.
        if matches!(node.value, Value::Bool(_)) || (block == "auth" && !matches!(node.value, Value::Map(_))) {
            problems.add(Severity::Note, &path, node.line, ProblemKind::Foreign(Foreign::Ignored));
            continue;
        }
        read_oauth(node, &path, &mut settings, folders, problems);
    }
    settings
}

fn read_oauth(
    node: &Node,
    path: &str,
    settings: &mut OAuthSettings,
    folders: &Folders,
    problems: &mut Problems,
) {
    let Some(mut fields) = Fields::of(node, path, problems) else { return };
    for key in ["clientId", "CLIENT_ID", "client_id"] {
        if let Some((text, line)) = fields.text(key, problems) {
            let text = references::secret_text(text, &fields.path(key), line, folders, problems);
            settings.client_id = text.or(settings.client_id.take());
        }
    }
    for key in ["clientSecret", "CLIENT_SECRET", "client_secret"] {
        if let Some((text, line)) = fields.text(key, problems) {
            let text = references::secret_text(text, &fields.path(key), line, folders, problems);
            settings.client_secret = text.or(settings.client_secret.take());
        }
    }
    for key in ["callbackPort", "callback_port"] {
        if let Some(port) = fields.whole(key, 1, u64::from(u16::MAX), problems) {
            settings.callback_port = u16::try_from(port).ok();
        }
    }
    // RFC 6749 writes them with spaces between, most files as a list.
    settings.scopes = match fields.take("scopes").map(|node| &node.value) {
        Some(Value::Text(text)) => text.split_whitespace().map(str::to_owned).collect(),
        Some(_) => fields.texts("scopes", problems).into_iter().map(|(text, _)| text).collect(),
        None => std::mem::take(&mut settings.scopes),
    };
    for key in OAUTH_FOREIGN {
        if let Some(node) = fields.take(key) {
            problems.add(
                Severity::Note,
                &fields.path(key),
                node.line,
                ProblemKind::Foreign(Foreign::Ignored),
            );
        }
    }
    fields.finish(&OAUTH_KEYS, problems);
}
