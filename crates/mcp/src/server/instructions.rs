//! What a client is told when it connects: what this is for, and which servers are behind it.
//!
//! It is made of the configuration alone, so that it stays the same while servers come, go and
//! change: what stands at the beginning of every conversation must not change, or caches of
//! prompts are lost.

pub use gristmill_gateway::domain::StandingServer as ServerLine;
use gristmill_gateway::domain::one_line;

/// Clients cut instructions at 2,048 characters.
const CHARS_MAX: usize = 2_000;
const DESCRIPTION_CHARS_MAX: usize = 100;

/// Where a client reads which servers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServersToldBy {
    Instructions,
    /// The description of `execute_code`, which says more of them.
    Description,
}

pub(super) fn instructions(servers: &[ServerLine], told_by: ServersToldBy) -> String {
    let mut text = include_str!("instructions.md").trim_end().to_owned();
    if servers.is_empty() {
        text.push_str("\n\nNo servers are connected yet; programs still run.");
        return text;
    }
    if told_by == ServersToldBy::Description {
        return text;
    }
    text.push_str("\n\nServers:");
    let described = servers.iter().map(|server| match &server.description {
        Some(words) => format!("\n- {}: {}", server.name, one_line(words, DESCRIPTION_CHARS_MAX)),
        None => format!("\n- {}", server.name),
    });
    let described: Vec<String> = described.collect();
    let room = CHARS_MAX - text.chars().count();
    if described.iter().map(|line| line.chars().count()).sum::<usize>() <= room {
        text.extend(described);
        return text;
    }
    // Names alone say that a service is there.
    for (number, server) in servers.iter().enumerate() {
        let more = format!(" and {} more: search_tools without a query lists them", servers.len() - number);
        let name = format!("{}{}", if number == 0 { " " } else { ", " }, server.name);
        if text.chars().count() + name.chars().count() + more.chars().count() > CHARS_MAX {
            text.push_str(&more);
            return text;
        }
        text.push_str(&name);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(count: usize, description: Option<&str>) -> Vec<ServerLine> {
        (0..count)
            .map(|number| ServerLine {
                name: format!("server-{number}"),
                description: description.map(str::to_owned),
            })
            .collect()
    }

    #[test]
    fn each_server_has_its_line() {
        let text = instructions(&servers(2, Some("contacts\nand deals")), ServersToldBy::Instructions);
        assert!(
            text.ends_with("\n\nServers:\n- server-0: contacts and deals\n- server-1: contacts and deals"),
            "{text}"
        );
    }

    #[test]
    fn many_servers_are_named_only_and_too_many_are_counted() {
        let text = instructions(&servers(60, Some(&"long ".repeat(40))), ServersToldBy::Instructions);
        assert!(text.contains("Servers: server-0, server-1,") && text.ends_with("server-59"), "{text}");
        let text = instructions(&servers(1_000, None), ServersToldBy::Instructions);
        assert!(text.chars().count() <= CHARS_MAX, "{}", text.chars().count());
        assert!(text.ends_with(" more: search_tools without a query lists them"), "{text}");
    }
}
