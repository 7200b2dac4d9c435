//! `gristmill explain CODE`: what an error code means and what to do about it, from docs/errors.md; the same of the
//! rules of `gristmill check`.

use std::borrow::Cow;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::Args;
use gristmill_gateway::checks::{Rule, Severity};
use gristmill_gateway::domain::nearest;
use serde_json::json;

use super::{Failure, Outcome};
use crate::terminal::print_lines;

const PAGE: &str = include_str!("../../../../docs/errors.md");

#[derive(Args)]
pub struct Explain {
    /// The code, such as GM-1201, 1201 or GC-114; leave it out to list all codes
    pub code: Option<String>,

    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// One code, as the page has it.
#[derive(Debug, PartialEq, Eq)]
struct Section {
    code: &'static str,
    title: &'static str,
    /// Markdown.
    body: Cow<'static, str>,
}

pub fn explain(arguments: Explain) -> Outcome {
    let sections: Vec<Section> = errors().chain(rules()).collect();
    let Some(asked) = &arguments.code else {
        match arguments.json {
            true => println!("{:#}", sections.iter().map(as_json).collect::<serde_json::Value>()),
            false => sections.iter().for_each(|section| println!("{}  {}", section.code, section.title)),
        }
        return Ok(ExitCode::SUCCESS);
    };
    let code = normalized(asked);
    let Some(section) = sections.iter().find(|section| section.code == code) else {
        return Err(Failure::Usage(unknown(asked, &code, &sections)));
    };
    match arguments.json {
        true => println!("{:#}", as_json(section)),
        false => print_lines(&as_text(section)),
    }
    Ok(ExitCode::SUCCESS)
}

/// `1201`, `gm1201` and `[GM-1201]` mean GM-1201; `114` and `gc114` mean GC-114.
fn normalized(asked: &str) -> String {
    let digits: String = asked.chars().filter(char::is_ascii_digit).collect();
    let is_rule = asked.to_ascii_uppercase().contains("GC") || digits.len() == 3;
    format!("{}-{digits}", if is_rule { "GC" } else { "GM" })
}

fn unknown(asked: &str, code: &str, sections: &[Section]) -> anyhow::Error {
    let near = nearest(code, sections.iter().map(|section| (section.code, section.code)), 3);
    let listed: Vec<String> = sections
        .iter()
        .filter(|section| near.contains(&section.code))
        .map(|section| format!("  {}  {}", section.code, section.title))
        .collect();
    let hint = "hint: `gristmill explain` lists all codes";
    match listed.is_empty() {
        true => anyhow!("there's no code `{asked}`\n{hint}"),
        false => anyhow!("there's no code `{asked}`; the closest are:\n{}\n{hint}", listed.join("\n")),
    }
}

fn errors() -> impl Iterator<Item = Section> {
    let parts = PAGE.split("\n## ").skip(1);
    parts.filter_map(|part| {
        let (heading, body) = part.split_once('\n')?;
        let (code, title) = heading.split_once(' ')?;
        code.starts_with("GM-").then_some(Section { code, title, body: body.trim().into() })
    })
}

fn rules() -> impl Iterator<Item = Section> {
    Rule::ALL.iter().map(|rule| {
        let (severity, happens, advice) = (rule.severity(), happens(*rule), uncapitalized(rule.advice()));
        let body = format!(
            "- **Severity:** {severity}\n- **What happens:** {happens}.\n- **What to do:** {advice}.\n- **All rules:** `gristmill help checks`"
        );
        Section { code: rule.id(), title: rule.title(), body: body.into() }
    })
}

/// What a finding comes to, at each level.
fn happens(rule: Rule) -> &'static str {
    match (rule, rule.severity()) {
        (Rule::DeniedModule | Rule::ModuleNotAllowed, _) => "the program is refused (GM-1701)",
        (Rule::Syntax, _) => "the program is refused (GM-1101)",
        (_, Severity::Error) => {
            "the program is refused; where the line may not run, the finding is of severity medium"
        }
        (_, Severity::High) => {
            "the finding is recorded at level production; at hardened, and with `guardrails.strict_mode`, the program is refused (GM-1701)"
        }
        (_, Severity::Medium | Severity::Low) => {
            "the finding is recorded at levels production and hardened; the program runs"
        }
    }
}

fn uncapitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().into_iter().flat_map(char::to_lowercase).chain(chars).collect()
}

fn as_text(section: &Section) -> String {
    format!("{}  {}\n\n{}", section.code, section.title, plain(&section.body))
}

fn as_json(section: &Section) -> serde_json::Value {
    json!({ "code": section.code, "title": section.title, "text": plain(&section.body) })
}

/// Where a link may begin: not inside of code.
fn first_bracket(markdown: &str) -> Option<usize> {
    let mut in_code = false;
    markdown.char_indices().find_map(|(at, one)| match one {
        '`' => {
            in_code = !in_code;
            None
        }
        '\n' => {
            in_code = false;
            None
        }
        '[' => (!in_code).then_some(at),
        _ => None,
    })
}

/// Markdown without its marks: `**Do:**` reads as `Do:`, and a link as its words.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some(start) = first_bracket(rest) {
        let (before, link) = rest.split_at(start);
        let parts = link[1..].split_once("](").and_then(|(words, after)| {
            let (_, after) = after.split_once(')')?;
            (!words.contains('\n')).then_some((words, after))
        });
        text.push_str(before);
        match parts {
            Some((words, after)) => {
                text.push_str(words);
                rest = after;
            }
            None => {
                text.push('[');
                rest = &link[1..];
            }
        }
    }
    text.push_str(rest);
    text.lines()
        .map(|line| line.strip_prefix("- ").unwrap_or(line).replace("**", ""))
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::domain::Code;

    use super::*;

    #[test]
    fn every_code_is_explained() {
        let explained: Vec<&str> = errors().map(|section| section.code).collect();
        let codes = Code::ALL.map(|code| code.to_string());
        assert_eq!(explained, codes);
    }

    #[test]
    fn a_rule_is_explained_as_a_code_is() {
        let told: Vec<String> = rules().map(|section| as_text(&section)).collect();
        assert_eq!(told.len(), Rule::ALL.len());
        let network = told.iter().find(|told| told.starts_with("GC-114")).expect("the rule");
        assert_eq!(
            network,
            "GC-114  Uses the network, which the sandbox doesn't have\n\n\
             Severity: low\n\
             What happens: the finding is recorded at levels production and hardened; the program runs.\n\
             What to do: call a tool, or set `allowed_hosts`.\n\
             All rules: `gristmill help checks`"
        );
        let processes = told.iter().find(|told| told.starts_with("GC-108")).expect("the rule");
        assert!(processes.contains("the program is refused (GM-1701)"), "{processes}");
    }

    #[test]
    fn every_code_ends_the_process_as_its_section_says() {
        for (section, code) in errors().zip(Code::ALL) {
            let (_, said) = section.body.rsplit_once("**Exit code:** ").expect(section.code);
            assert_eq!(said.trim(), crate::exit_codes::number_of(code).to_string(), "{}", section.code);
        }
    }

    #[test]
    fn a_code_may_be_written_in_any_way() {
        for asked in ["GM-1201", "gm-1201", "1201", "[GM-1201]", "GM1201"] {
            assert_eq!(normalized(asked), "GM-1201", "{asked}");
        }
        for asked in ["GC-114", "gc-114", "114", "[GC-114]", "GC114"] {
            assert_eq!(normalized(asked), "GC-114", "{asked}");
        }
    }

    #[test]
    fn markdown_becomes_plain_text() {
        let text = plain("- **Do:** see [python.md](python.md), or `a[0]`.\n- **exit:** 1");
        assert_eq!(text, "Do: see python.md, or `a[0]`.\nexit: 1");
    }
}
