//! What a model knows of a tool when it calls it: the arguments that a program passes must be among
//! those that a search or a definition showed.

use std::collections::HashSet;

use anyhow::{Context, bail};

/// Fails if a program calls a tool, or passes an argument, that is not in what was shown.
pub fn check(program: &str, shown: &str) -> anyhow::Result<()> {
    imported(program).into_iter().try_for_each(|tool| check_tool(program, tool, shown))
}

/// The tools of which a program uses more than was shown, as `server.tool`.
pub fn half_shown(program: &str, shown: &str) -> Vec<String> {
    let is_half = |tool: &(&str, &str)| check_tool(program, *tool, shown).is_err();
    imported(program).into_iter().filter(is_half).map(|(server, tool)| format!("{server}.{tool}")).collect()
}

fn check_tool(program: &str, (server, tool): (&str, &str), shown: &str) -> anyhow::Result<()> {
    let signature = signature(shown, server, tool)
        .with_context(|| format!("the program calls {server}.{tool}, which was not shown"))?;
    let known: Vec<&str> = pieces(signature)
        .into_iter()
        .map(|piece| piece.split([':', '=']).next().unwrap_or_default().trim().trim_end_matches('?'))
        .collect();
    for argument in passed(program, tool)? {
        // What Python can't name without `_` has its own name in TypeScript.
        let is_it = |name: &&str| {
            *name == argument || (is_typescript(program) && name.strip_suffix('_') == Some(argument))
        };
        if !known.iter().any(is_it) {
            bail!("the program passes `{argument}` to {server}.{tool}, which was not shown to the model");
        }
    }
    Ok(())
}

/// Server and tool of everything that a program imports from servers.
fn imported(program: &str) -> Vec<(&str, &str)> {
    program
        .lines()
        .filter_map(|line| match line.strip_prefix("from servers.") {
            Some(line) => line.split_once(" import "),
            None => {
                let (tools, server) = line.strip_prefix("import {")?.split_once(TYPESCRIPT_FROM)?;
                Some((server.trim_end_matches(['"', ';']), tools.trim_end_matches(['}', ' '])))
            }
        })
        .flat_map(|(server, tools)| tools.split(',').map(move |tool| (server, tool.trim())))
        .collect()
}

/// Before the name of a server.
const TYPESCRIPT_FROM: &str = " from \"./servers/";

fn is_typescript(program: &str) -> bool {
    program.contains(TYPESCRIPT_FROM)
}

/// The parameters of a tool as they were shown: those of its definition, else those of the search.
fn signature<'a>(shown: &'a str, server: &str, tool: &str) -> Option<&'a str> {
    let defined = format!("async def {tool}(");
    let found = format!("{server}.{tool}(");
    let with_name = [defined, found].iter().find_map(|start| {
        let at = shown.find(start.as_str())? + start.len();
        shown.get(at..at + closing(shown.get(at..)?)?)
    });
    with_name.or_else(|| listed(shown, server, tool))
}

/// The same in a list of all tools, which has a line for each server.
fn listed<'a>(shown: &'a str, server: &str, tool: &str) -> Option<&'a str> {
    let line = shown.lines().find_map(|line| line.strip_prefix(server)?.strip_prefix(": "))?;
    let start = format!("{tool}(");
    let is_whole = |at: &usize| *at == 0 || line.get(..*at).is_some_and(|before| before.ends_with(", "));
    let at = line.match_indices(&start).map(|(at, _)| at).find(is_whole)? + start.len();
    line.get(at..at + closing(line.get(at..)?)?)
}

/// Whether a program hands an answer on as it is: then nobody has to know what the answer looks like.
pub fn is_passed_on(program: &str) -> bool {
    let mut lines = program.trim_end().lines().rev();
    let is_call = lines.next().is_some_and(|last| {
        let begins = ["result = await ", "export default await "].iter().any(|start| last.starts_with(start));
        begins && last.trim_end_matches(';').ends_with(')')
    });
    is_call
        && lines
            .all(|line| line.is_empty() || line.starts_with("from servers.") || line.starts_with("import "))
}

/// Whether every field that a program reads by its name was shown in the results of the tools that it calls. Objects
/// that the program makes itself count too, so this errs to the careful side.
pub fn has_fields(program: &str, shown: &str) -> bool {
    let is_named =
        |name: &str| !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_');
    let starts = ["[\"", "['", ".get(\"", ".get('"];
    let read = starts.iter().flat_map(|start| {
        let quote = if start.ends_with('"') { '"' } else { '\'' };
        program.match_indices(start).filter_map(move |(at, _)| {
            let (before, after) = (program.get(..at)?, program.get(at + start.len()..)?);
            // A list of texts begins after something that can't be read from.
            let is_read = start.starts_with('.')
                || before.ends_with(|one: char| one.is_alphanumeric() || matches!(one, '_' | ')' | ']'));
            is_read.then(|| after.split(quote).next()).flatten()
        })
    });
    let results = imported(program).into_iter().map(|(server, tool)| shown_result(shown, server, tool));
    let words: HashSet<&str> = results
        .flat_map(|result| result.split(|one: char| !one.is_alphanumeric() && one != '_'))
        .filter(|word| !word.is_empty())
        .collect();
    read.filter(|name| is_named(name)).all(|name| words.contains(name))
}

/// What was shown of a tool's result: all of its definition if that was read, else what follows its call. Empty if
/// nothing was.
fn shown_result<'a>(shown: &'a str, server: &str, tool: &str) -> &'a str {
    if shown.contains(&format!("async def {tool}(")) {
        return shown;
    }
    let starts = [format!("{server}.{tool}("), format!("{tool}(")];
    let after_calls = starts.iter().flat_map(|start| {
        shown.match_indices(start.as_str()).filter_map(|(at, _)| {
            let after = shown.get(at + start.len()..)?;
            after.get(closing(after)? + 1..)?.strip_prefix(" -> ")
        })
    });
    let known = after_calls.filter_map(|result| {
        let inner = result.get(1..).filter(|_| result.starts_with(['{', '[']))?;
        inner.get(..closing(inner)?)
    });
    known.max_by_key(|result| result.len()).unwrap_or_default()
}

/// The names of the arguments that a program passes to a tool.
fn passed<'a>(program: &'a str, tool: &str) -> anyhow::Result<Vec<&'a str>> {
    let call = format!("{tool}(");
    let mut names = Vec::new();
    for (at, _) in program.match_indices(&call) {
        let is_name = |before: char| before.is_alphanumeric() || before == '_' || before == '.';
        if program.get(..at).is_some_and(|before| before.ends_with(is_name)) {
            continue;
        }
        let after = program.get(at + call.len()..).unwrap_or_default();
        let end = closing(after).with_context(|| format!("a call of {tool} has no end"))?;
        let given = after.get(..end).unwrap_or_default().trim();
        let given = match is_typescript(program) {
            true if given.is_empty() => given,
            true => given
                .strip_prefix('{')
                .and_then(|given| given.strip_suffix('}'))
                .with_context(|| format!("a call of {tool} must name its arguments: {given}"))?,
            false => given,
        };
        for piece in pieces(given) {
            let name = match is_typescript(program) {
                // `{ city }` names it, too.
                true => Some(piece.split(':').next().unwrap_or(piece)),
                false => piece.split_once('=').map(|(name, _)| name),
            };
            match name {
                Some(name) if name.chars().all(|one| one.is_alphanumeric() || one == '_') => {
                    names.push(name);
                }
                Some(_) | None => bail!("a call of {tool} must name its arguments: {piece}"),
            }
        }
    }
    Ok(names)
}

/// Where the bracket that is open at the beginning closes.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, one) in text.char_indices() {
        match (quote, one) {
            (Some(open), one) if one == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(one),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') if depth == 0 => return Some(at),
            (None, ')' | ']' | '}') => depth -= 1,
            (None, _) => {}
        }
    }
    None
}

/// What stands between commas, outside of brackets and texts.
fn pieces(text: &str) -> Vec<&str> {
    let (mut depth, mut quote, mut start) = (0_usize, None, 0);
    let mut pieces = Vec::new();
    for (at, one) in text.char_indices() {
        match (quote, one) {
            (Some(open), one) if one == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(one),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                pieces.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            (None, _) => {}
        }
    }
    pieces.push(text.get(start..).unwrap_or_default());
    pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty() && *piece != "*").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOWN: &str = "2 of 9 shown\n\
        github.list_issues(owner: str, repo: str, filters: list[{state: str}] | None = None, …) -> Any\n    Lists.\n\
        async def history(*, city: str, from_: str = \"a, b: c\") -> HistoryResult:\n    ...\n";

    fn verdict(program: &str) -> String {
        check(program, SHOWN).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn what_was_shown_may_be_used() {
        let program = "from servers.github import list_issues\nfrom servers.weather import history\n\
                       a = await list_issues(owner=\"a, (b\", repo=f\"{x['y']}\")\n\
                       b = [await history(city=city, from_=day(1, 2)) for city in cities]";
        assert_eq!(verdict(program), "");
    }

    #[test]
    fn programs_in_typescript_are_held_to_the_same() {
        let check = |call: &str, words: &str| {
            let program = format!(
                "import {{ history }} from \"./servers/weather\";\nimport {{ list_issues }} from \"./servers/github\";\n{call}"
            );
            let verdict = verdict(&program);
            assert!(if words.is_empty() { verdict.is_empty() } else { verdict.contains(words) }, "{verdict}");
        };
        check("await history({ city, from: day({ a: 1 }) }); list_issues({ owner: `a, ${b}` })", "");
        check("await history({ city, to: 1 })", "passes `to` to weather.history");
        check("await list_issues({ ...place })", "must name its arguments");
        check("await list_issues(place)", "must name its arguments");
        let other = verdict("import { issue_read } from \"./servers/github\";");
        assert!(other.contains("github.issue_read, which was not shown"), "{other}");
    }

    #[test]
    fn a_list_of_all_tools_shows_them_too() {
        let listed =
            "All tools by server:\ncrm: get(id), get_all(kind: a|b, page?: int), to\ncrm_two: put(x)";
        let verdict = |program: &str| check(program, listed).err().map(|error| error.to_string());
        assert_eq!(verdict("from servers.crm import get_all\nawait get_all(kind=\"a\", page=1)"), None);
        assert_eq!(verdict("from servers.crm import get\nawait get(id=1)"), None);
        let wrong = verdict("from servers.crm import get\nawait get(page=1)").expect("it isn't shown");
        assert!(wrong.contains("passes `page` to crm.get"), "{wrong}");
        for program in ["from servers.crm import put\nawait put(x=1)", "from servers.crm import all\nall()"] {
            assert!(verdict(program).is_some(), "{program}");
        }
    }

    #[test]
    fn a_program_reads_only_fields_that_were_shown() {
        let check = |program: &str, expected: bool| {
            let shown = "rows = 1\ncrm.list(kind) -> {records: [{name, company}], next?}  # seen in 3 calls\n\
                         crm.other() -> {rows}";
            let program = format!("from servers.crm import list\n{program}");
            assert_eq!(has_fields(&program, shown), expected, "{program}");
        };
        check("page = await list(kind=\"a\")\nresult = [row['name'] for row in page[\"records\"]]", true);
        check("page = await list(kind=\"a\")\nresult = page.get(\"next\"), page[0][\"company\"]", true);
        check("for one in [\"crm\", \"erp\"]:\n    print(one)", true);
        check("result = (await list(kind=\"a\"))[\"rows\"]", false);
        check("result = (await list(kind=\"a\")).get('row', 0)", false);
        check("result = page[\"rec\"]", false);
    }

    #[test]
    fn an_answer_that_is_looked_into_is_not_passed_on() {
        let check = |program: &str, expected: bool| assert_eq!(is_passed_on(program), expected, "{program}");
        check("from servers.crm import get\nresult = await get(id=1)\n", true);
        check("import { get } from \"./servers/crm\";\nexport default await get({ id: 1 });\n", true);
        check("from servers.crm import get\nresult = (await get(id=1))[\"rows\"]", false);
        check(
            "from servers.crm import get\nrow = await get(id=1)\nresult = await get(id=row[\"next\"])",
            false,
        );
        check("result = await get(id=1)[\"rows\"]", false);
    }

    #[test]
    fn what_was_not_shown_stops_the_run() {
        let check = |call: &str, words: &str| {
            let program = format!("from servers.github import list_issues\nx = await {call}");
            assert!(verdict(&program).contains(words), "{}", verdict(&program));
        };
        check("list_issues(owner=\"a\", perPage=9)", "passes `perPage` to github.list_issues");
        check("list_issues(owner=\"a\", state=\"OPEN\")", "passes `state`");
        check("list_issues(**place)", "must name its arguments");
        check("list_issues(\"a\")", "must name its arguments");
        let other = verdict("from servers.github import list_issues, issue_read\nx = 1");
        assert!(other.contains("github.issue_read, which was not shown"), "{other}");
    }
}
