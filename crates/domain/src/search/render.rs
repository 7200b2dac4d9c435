//! An answer as text for a model, within a budget of tokens.

use std::fmt::Write;

use super::answer::{Answer, Hit, ServerLine};
use super::query::Detail;
use crate::catalogue::import_name;

/// Counts the tokens of texts.
pub trait TokenCount {
    fn count(&self, text: &str) -> usize;

    /// Whether a text comes to no more than so many, which may be known without counting it.
    fn fits(&self, text: &str, tokens_max: usize) -> bool {
        self.count(text) <= tokens_max
    }
}

impl<F: Fn(&str) -> usize> TokenCount for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// The answer as text of at most `budget_tokens`, as `tokens` counts them. The first line says how
/// many of how many are shown, the last how to see more. The first line is there whatever the budget.
pub fn render(answer: &Answer, budget_tokens: usize, tokens: &dyn TokenCount) -> String {
    let blocks: Vec<String> = if answer.servers.is_empty() {
        answer.hits.iter().map(|hit| block(hit, answer.detail)).collect()
    } else {
        answer.servers.iter().map(server_block).collect()
    };
    let everything = whole(answer, &blocks, blocks.len());
    if tokens.fits(&everything, budget_tokens) {
        return everything;
    }
    let mut left = budget_tokens.saturating_sub(tokens.count(&whole(answer, &[], 0)));
    let fits = |block: &&String| {
        let taken = tokens.count(block);
        let fits = taken <= left;
        left = left.saturating_sub(taken);
        fits
    };
    let fitting: Vec<String> = blocks.iter().take_while(fits).cloned().collect();
    if fitting.is_empty()
        && let Some(shorter) = answer.hits.first().and_then(|hit| shorter(answer, hit, budget_tokens, tokens))
    {
        return shorter;
    }
    within(answer, fitting, budget_tokens, tokens)
}

/// Leaves blocks out until the whole fits: tokens of parts do not add up exactly.
fn within(answer: &Answer, mut blocks: Vec<String>, budget: usize, tokens: &dyn TokenCount) -> String {
    loop {
        let text = whole(answer, &blocks, blocks.len());
        if blocks.is_empty() {
            return if tokens.fits(&text, budget) { text } else { headline(answer, 0) };
        }
        if tokens.fits(&text, budget) {
            return text;
        }
        blocks.pop();
    }
}

fn whole(answer: &Answer, blocks: &[String], shown: usize) -> String {
    let mut text = headline(answer, shown);
    for block in blocks {
        text.push_str(block);
    }
    text.push_str(&hint(answer, shown));
    text
}

fn headline(answer: &Answer, shown: usize) -> String {
    let what = if answer.servers.is_empty() { "" } else { " servers" };
    let from = if answer.offset > 0 { format!(", after the first {}", answer.offset) } else { String::new() };
    format!("{shown} of {}{what} shown{from}\n", answer.total)
}

fn hint(answer: &Answer, shown: usize) -> String {
    let next = answer.offset.saturating_add(shown);
    if answer.total == 0 {
        return no_matches(&answer.instead);
    }
    if shown == 0 && answer.shown == 0 && answer.offset >= answer.total {
        return format!("There are only {}; use a smaller offset.\n", answer.total);
    }
    if next >= answer.total {
        return String::new();
    }
    if answer.servers.is_empty() {
        format!("More: offset {next}; or use narrower words or a server filter.\n")
    } else {
        format!("More: offset {next}; or search with words.\n")
    }
}

/// More are a list to be asked for.
const INSTEAD_MAX: usize = 12;

fn no_matches(servers: &[String]) -> String {
    if servers.is_empty() {
        return "No matches. Try other words, or an empty query to list all servers.\n".to_owned();
    }
    let named = servers.iter().take(INSTEAD_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = match servers.len().saturating_sub(INSTEAD_MAX) {
        0 => String::new(),
        more => format!(", {more} more"),
    };
    format!("No matches. Try other words, or an empty query to list all servers: {named}{more}.\n")
}

fn block(hit: &Hit, detail: Detail) -> String {
    let mut text = String::new();
    // Writing into a string cannot fail.
    let _ = match detail {
        Detail::Names => writeln!(text, "{}", hit.tool),
        Detail::Summary => write_summary(&mut text, hit, &hit.summary),
        Detail::Full => write_full(&mut text, hit),
    };
    text
}

fn write_summary(text: &mut String, hit: &Hit, summary: &str) -> std::fmt::Result {
    write_name(text, hit)?;
    if summary.is_empty() { Ok(()) } else { writeln!(text, "    {summary}") }
}

/// The name stands before the signature unless the signature holds it, in this spelling or as an identifier.
fn write_name(text: &mut String, hit: &Hit) -> std::fmt::Result {
    if hit.signature.contains(&hit.tool) || hit.signature.contains(&hit.tool.replace('-', "_")) {
        writeln!(text, "{}", hit.signature)
    } else if hit.signature.is_empty() {
        writeln!(text, "{}", hit.tool)
    } else {
        writeln!(text, "{}: {}", hit.tool, hit.signature)
    }
}

fn write_full(text: &mut String, hit: &Hit) -> std::fmt::Result {
    write_name(text, hit)?;
    for line in hit.description.as_deref().unwrap_or_default().lines() {
        let line = line.trim();
        if !line.is_empty() {
            writeln!(text, "    {line}")?;
        }
    }
    for parameter in &hit.parameters {
        let optional = if parameter.required { "" } else { "?" };
        let colon = if parameter.text.is_empty() { "" } else { ": " };
        writeln!(text, "    - {}{optional}{colon}{}", parameter.name, parameter.text)?;
    }
    Ok(())
}

fn server_block(line: &ServerLine) -> String {
    let kind = if line.are_skills { "skill" } else { "tool" };
    let tools = if line.tools == 1 { format!("1 {kind}") } else { format!("{} {kind}s", line.tools) };
    let category = line.category.as_deref().map(|name| format!(", {name}")).unwrap_or_default();
    let colon = if line.summary.is_empty() { "" } else { ": " };
    let module = import_name(&line.server).filter(|_| !line.are_skills);
    let module = module.map(|name| format!("{name}, ")).unwrap_or_default();
    format!("{} ({module}{tools}{category}){colon}{}\n", line.server, line.summary)
}

/// Less of the first hit, where even that one is too long: better its name than nothing.
fn shorter(answer: &Answer, hit: &Hit, budget: usize, tokens: &dyn TokenCount) -> Option<String> {
    let steps: &[Detail] = match answer.detail {
        Detail::Full => &[Detail::Summary, Detail::Names],
        Detail::Summary => &[Detail::Names],
        Detail::Names => &[],
    };
    let texts = steps.iter().map(|step| whole(answer, &[block(hit, *step)], 1));
    texts.into_iter().find(|text| tokens.fits(text, budget))
}
