//! Definitions are pinned at first sight; what changes afterwards waits for a person.
//!
//! A server that was trusted once may come back with other words in its descriptions. Only a
//! definition that hashes as it did when it was approved is usable.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{ToolDefinition, ToolHash};
use crate::Accept;
use crate::visible_text::one_line;

/// The version of the written form of `Pins`.
pub const PINS_FORMAT: u32 = 1;

/// What was approved, of all servers. Written down between runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pins {
    /// `PINS_FORMAT`; another one was written by another version of Gristmill.
    pub format: u32,
    /// By the server's configured name.
    pub servers: BTreeMap<String, ServerPins>,
}

impl Default for Pins {
    fn default() -> Self {
        Self { format: PINS_FORMAT, servers: BTreeMap::new() }
    }
}

/// What was approved of one server, by the tool's name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerPins {
    /// Tools that the server no longer offers are kept: coming back is no way around a review.
    pub tools: BTreeMap<String, Pin>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Of the definition, in hex.
    pub hash: String,
    /// The definition as it was approved, to show what changed.
    pub raw: String,
    /// How it came to be approved.
    pub approved: Approval,
}

/// How a definition came to be approved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Approval {
    /// It was there when the server was first seen.
    FirstUse,
    /// The setting accepted it.
    Setting,
    Person,
}

/// What may be used of a server's offer, and what waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    /// Approved, in the server's order.
    pub usable: Vec<Arc<ToolDefinition>>,
    /// To be written down in place of the old ones.
    pub new_pins: ServerPins,
    /// Not usable until a person has looked, in the server's order.
    pub waiting: Vec<Waiting>,
    /// Pinned, but no longer offered. By name.
    pub gone: Vec<String>,
}

/// A tool that a person has to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// As it is offered now.
    pub offered: Arc<ToolDefinition>,
    pub kind: WaitingKind,
}

/// Why a tool waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingKind {
    /// It was not there before.
    Added,
    /// It is not what was approved.
    Changed { pinned_raw: String },
}

/// Compares an offer with what was approved. `None` for a server that was never seen: all of it is
/// approved by its first use.
pub fn review(pins: Option<&ServerPins>, offered: &[Arc<ToolDefinition>], accept: Accept) -> Review {
    let mut made = Review { new_pins: pins.cloned().unwrap_or_default(), ..Review::default() };
    let mut seen: HashSet<&str> = HashSet::new();
    for tool in offered {
        // The first of a name counts, as everywhere; a second one cannot slip in behind it.
        if !seen.insert(&tool.name) {
            continue;
        }
        let pinned = pins.and_then(|pins| pins.tools.get(&tool.name));
        match judge(pins.is_none(), pinned, tool, accept) {
            Verdict::Usable => made.usable.push(Arc::clone(tool)),
            Verdict::Pin(approved) => {
                made.new_pins.tools.insert(tool.name.clone(), Pin::of(tool, approved));
                made.usable.push(Arc::clone(tool));
            }
            Verdict::Wait(kind) => made.waiting.push(Waiting { offered: Arc::clone(tool), kind }),
        }
    }
    let known = made.new_pins.tools.keys();
    made.gone = known.filter(|name| !seen.contains(name.as_str())).cloned().collect();
    made
}

enum Verdict {
    Usable,
    Pin(Approval),
    Wait(WaitingKind),
}

fn judge(first_sight: bool, pinned: Option<&Pin>, tool: &ToolDefinition, accept: Accept) -> Verdict {
    match pinned {
        None if first_sight => Verdict::Pin(Approval::FirstUse),
        None => match accept {
            Accept::Additions | Accept::Everything => Verdict::Pin(Approval::Setting),
            Accept::Nothing => Verdict::Wait(WaitingKind::Added),
        },
        Some(pin) if ToolHash::from_hex(&pin.hash) == Some(tool.hash) => Verdict::Usable,
        Some(pin) => match accept {
            Accept::Everything => Verdict::Pin(Approval::Setting),
            Accept::Nothing | Accept::Additions => {
                Verdict::Wait(WaitingKind::Changed { pinned_raw: pin.raw.clone() })
            }
        },
    }
}

impl Pin {
    fn of(tool: &ToolDefinition, approved: Approval) -> Self {
        Self { hash: tool.hash.to_hex(), raw: tool.raw.clone(), approved }
    }
}

/// What a person approves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approve<'a> {
    /// Everything that is offered.
    All,
    /// The tools of these names.
    Tools(&'a [String]),
}

/// A name that is not among what is offered. Nothing was approved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` isn't a tool of {server}{}", hint(near))]
pub struct NotOffered {
    pub server: String,
    pub tool: String,
    /// The closest name there is.
    pub near: Option<String>,
}

fn hint(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{}`?", one_line(near, 200)))
}

/// Pins what a person approved, as it is offered now. Answers the names whose pin is new or changed.
pub fn approve(
    pins: &mut Pins,
    server: &str,
    what: Approve<'_>,
    offered: &[Arc<ToolDefinition>],
) -> Result<Vec<String>, NotOffered> {
    let find = |name: &str| offered.iter().find(|tool| tool.name == name);
    let chosen: Vec<&Arc<ToolDefinition>> = match what {
        Approve::All => {
            let mut seen = HashSet::new();
            offered.iter().filter(|tool| seen.insert(tool.name.as_str())).collect()
        }
        Approve::Tools(names) => {
            let found = names.iter().map(|name| {
                find(name).ok_or_else(|| {
                    let candidates = offered.iter().map(|tool| (tool.name.as_str(), tool.name.as_str()));
                    let near = crate::nearest(name, candidates, 1).first().map(|near| (*near).to_owned());
                    NotOffered { server: server.to_owned(), tool: name.clone(), near }
                })
            });
            found.collect::<Result<_, _>>()?
        }
    };
    let pinned = &mut pins.servers.entry(server.to_owned()).or_default().tools;
    let mut approved = Vec::new();
    for tool in chosen {
        let hash = tool.hash.to_hex();
        if pinned.get(&tool.name).is_none_or(|pin| pin.hash != hash) {
            pinned.insert(tool.name.clone(), Pin::of(tool, Approval::Person));
            approved.push(tool.name.clone());
        }
    }
    Ok(approved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, words: &str) -> Arc<ToolDefinition> {
        let raw = serde_json::json!({"name": name, "description": words, "inputSchema": {}}).to_string();
        Arc::new(ToolDefinition::from_text(&raw).expect("a definition"))
    }

    fn pins(tools: &[(&Arc<ToolDefinition>, Approval)]) -> ServerPins {
        let pinned = tools.iter().map(|(tool, approved)| (tool.name.clone(), Pin::of(tool, *approved)));
        ServerPins { tools: pinned.collect() }
    }

    #[test]
    fn the_first_sight_of_a_server_approves_all_of_it() {
        let (a, b) = (tool("a", "one"), tool("b", "two"));
        let seen = review(None, &[Arc::clone(&b), Arc::clone(&a)], Accept::Nothing);
        let new_pins = pins(&[(&a, Approval::FirstUse), (&b, Approval::FirstUse)]);
        assert_eq!(seen, Review { usable: vec![b, a], new_pins, ..Review::default() });
    }

    #[test]
    fn a_changed_tool_waits_and_keeps_its_old_pin() {
        let (old, new, other) = (tool("a", "one"), tool("a", "two"), tool("b", "x"));
        let before = pins(&[(&old, Approval::FirstUse), (&other, Approval::Person)]);
        let kind = WaitingKind::Changed { pinned_raw: old.raw.clone() };
        for accept in [Accept::Nothing, Accept::Additions] {
            let seen = review(Some(&before), &[Arc::clone(&new), Arc::clone(&other)], accept);
            let waiting = vec![Waiting { offered: Arc::clone(&new), kind: kind.clone() }];
            let usable = vec![Arc::clone(&other)];
            assert_eq!(seen, Review { usable, new_pins: before.clone(), waiting, gone: vec![] });
        }
        let seen = review(Some(&before), &[Arc::clone(&new), Arc::clone(&other)], Accept::Everything);
        let new_pins = pins(&[(&new, Approval::Setting), (&other, Approval::Person)]);
        assert_eq!(seen, Review { usable: vec![new, other], new_pins, ..Review::default() });
    }

    #[test]
    fn a_new_tool_is_taken_where_the_setting_says_so() {
        let (a, b) = (tool("a", "one"), tool("b", "two"));
        let before = pins(&[(&a, Approval::FirstUse)]);
        let offered = [Arc::clone(&a), Arc::clone(&b)];
        let seen = review(Some(&before), &offered, Accept::Nothing);
        let waiting = vec![Waiting { offered: Arc::clone(&b), kind: WaitingKind::Added }];
        let usable = vec![Arc::clone(&a)];
        assert_eq!(seen, Review { usable, new_pins: before.clone(), waiting, gone: vec![] });
        let seen = review(Some(&before), &offered, Accept::Additions);
        let new_pins = pins(&[(&a, Approval::FirstUse), (&b, Approval::Setting)]);
        assert_eq!(seen, Review { usable: offered.to_vec(), new_pins, ..Review::default() });
        let emptied = review(Some(&ServerPins::default()), &offered[..1], Accept::Nothing);
        assert_eq!(emptied.usable, []);
    }

    #[test]
    fn leaving_and_coming_back_does_not_swap_a_tool() {
        let (old, new) = (tool("a", "one"), tool("a", "two"));
        let before = pins(&[(&old, Approval::FirstUse)]);
        let away = review(Some(&before), &[], Accept::Additions);
        assert_eq!(away, Review { new_pins: before, gone: vec!["a".to_owned()], ..Review::default() });
        let back = review(Some(&away.new_pins), &[new, old], Accept::Additions);
        assert_eq!((back.usable, back.waiting.len()), (vec![], 1));
    }

    #[test]
    fn a_person_approves_by_name_or_all_at_once() {
        let (old, new, b) = (tool("a", "one"), tool("a", "two"), tool("read", "x"));
        let mut written = Pins::default();
        written.servers.insert("s".to_owned(), pins(&[(&old, Approval::FirstUse)]));
        let offered = [Arc::clone(&new), Arc::clone(&b)];
        let wrong = approve(&mut written, "s", Approve::Tools(&["raed".to_owned()]), &offered);
        let error = wrong.expect_err("not offered").to_string();
        assert_eq!(error, "`raed` isn't a tool of s; did you mean `read`?");
        assert_eq!(
            approve(&mut written, "s", Approve::Tools(&["a".to_owned()]), &offered),
            Ok(vec!["a".to_owned()])
        );
        assert_eq!(written.servers["s"], pins(&[(&new, Approval::Person)]));
        assert_eq!(approve(&mut written, "s", Approve::All, &offered), Ok(vec!["read".to_owned()]));
        assert_eq!(review(written.servers.get("s"), &offered, Accept::Nothing).usable, offered);

        let text = serde_json::to_string(&written).expect("pins");
        assert_eq!(serde_json::from_str::<Pins>(&text).expect("pins"), written);
        assert!(text.starts_with(r#"{"format":1,"servers":{"s":{"a":{"hash":""#), "{text}");
    }
}
