//! Takes the secrets out of a server's settings, and puts references in their place.

use std::ops::Range;

use gristmill_gateway::domain::{Part, SecretText, ServerSettings, Transport};

use super::secret_shapes::{in_any, in_named, is_secret};
use super::variables::VariableNames;

/// Replaces them. Gives the variables that they are in now.
pub fn take_out(settings: &mut ServerSettings, naming: &mut VariableNames<'_>) -> Vec<String> {
    let mut taking = Taking { server: settings.name.clone(), naming, variables: Vec::new() };
    match &mut settings.transport {
        Transport::Stdio { args, env, .. } => {
            taking.arguments(args);
            for (name, text) in env {
                taking.named(name, name, text);
            }
        }
        Transport::Http { url, headers, oauth } => {
            taking.any("URL_TOKEN", url);
            for (name, text) in headers {
                taking.named(name, header_key(name), text);
            }
            if let Some(secret) = &mut oauth.client_secret {
                taking.named("client_secret", "CLIENT_SECRET", secret);
            }
        }
        // No client has any.
        Transport::Hosts(_) => {}
    }
    taking.variables.sort();
    taking.variables.dedup();
    taking.variables
}

struct Taking<'a, 'b> {
    server: String,
    naming: &'a mut VariableNames<'b>,
    variables: Vec<String>,
}

impl Taking<'_, '_> {
    /// A text that stands under a name; `key` is what a variable for it would be called.
    fn named(&mut self, name: &str, key: &str, text: &mut SecretText) {
        match text.as_plain().and_then(in_named).filter(|_| is_secret(name)) {
            Some(range) => self.replace(text, key, |_| vec![range.clone()]),
            None => self.any(key, text),
        }
    }

    fn any(&mut self, key: &str, text: &mut SecretText) {
        self.replace(text, key, in_any);
    }

    /// `--token x`, `--token=x`, `NAME=x`, `--header "Name: x"`, and tokens that just stand there.
    fn arguments(&mut self, args: &mut [SecretText]) {
        let mut flag: Option<String> = None;
        for arg in args {
            let Some(text) = arg.as_plain().map(str::to_owned) else {
                flag = None;
                self.any("SECRET", arg);
                continue;
            };
            let previous = flag.take();
            if let Some(name) = previous.filter(|_| !text.starts_with('-')) {
                match in_named(&text) {
                    Some(range) => self.replace(arg, &name, |_| vec![range.clone()]),
                    None => self.any(&name, arg),
                }
                continue;
            }
            match inner_value(&text) {
                Some((name, value)) => {
                    let key = header_key(name);
                    let range = in_named(&text[value..]).map(|range| range.start + value..range.end + value);
                    match range {
                        Some(range) => self.replace(arg, key, |_| vec![range.clone()]),
                        None => self.any(key, arg),
                    }
                }
                None if text.starts_with('-') && is_secret(&text) && !text.contains('=') => flag = Some(text),
                None => self.any("SECRET", arg),
            }
        }
    }

    fn replace(&mut self, text: &mut SecretText, key: &str, find: impl Fn(&str) -> Vec<Range<usize>>) {
        let mut written = String::new();
        let mut has_changed = false;
        for part in text.parts() {
            let Part::Plain(plain) = part else {
                written.push_str(&part_written(part));
                continue;
            };
            let mut at = 0;
            for range in find(plain) {
                let Some(variable) = self.naming.variable(&self.server, key, &plain[range.clone()]) else {
                    continue;
                };
                written.push_str(&escaped(&plain[at..range.start]));
                written.push_str(&format!("${{{variable}}}"));
                at = range.end;
                has_changed = true;
                self.variables.push(variable);
            }
            written.push_str(&escaped(&plain[at..]));
        }
        if has_changed && let Ok(changed) = SecretText::parse(&written) {
            *text = changed;
        }
    }
}

/// What a variable for a header would be called: `X-Api-Key` is just an API key.
fn header_key(name: &str) -> &str {
    if name.eq_ignore_ascii_case("authorization") {
        return "TOKEN";
    }
    name.strip_prefix("X-").or_else(|| name.strip_prefix("x-")).unwrap_or(name)
}

/// The name and the beginning of the value in `--name=value`, `NAME=value` and `Name: value`, if the
/// name promises a secret.
fn inner_value(text: &str) -> Option<(&str, usize)> {
    let at = text.find(['=', ':'])?;
    let name = &text[..at];
    let is_one_word = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let after = &text[at + 1..];
    let value = at + 1 + (after.len() - after.trim_start().len());
    (is_one_word && is_secret(name) && !after.starts_with("//")).then_some((name, value))
}

fn escaped(text: &str) -> String {
    text.replace("${", "$${")
}

fn part_written(part: &Part) -> String {
    match part {
        Part::Plain(text) => escaped(text),
        Part::Reference(reference) => reference.written(),
    }
}

/// A text in which `…` stands for whatever looks like a secret.
pub fn masked(text: &str) -> String {
    let mut shown = String::new();
    let mut at = 0;
    let named = inner_value(text)
        .and_then(|(_, value)| in_named(&text[value..]).map(|range| range.start + value..range.end + value));
    let ranges = named.map_or_else(|| in_any(text), |range| vec![range]);
    for range in ranges {
        shown.push_str(&text[at..range.start]);
        shown.push_str(gristmill_config::written::MASK);
        at = range.end;
    }
    shown.push_str(&text[at..]);
    shown
}
