//! What a model may read of a server is pinned at first sight; what is new or changed afterwards waits for
//! a person.
//!
//! A server that was trusted once may come back with other words in its descriptions, or with more tools.
//! Only what hashes as it did when it was approved is usable.

use std::collections::{BTreeMap, HashSet};

use super::ToolHash;
use super::offer::{ItemKind, Offer, OfferItem, SelfDescription};
use super::pins::{Approval, Pin, ServerPins};
use crate::Accept;

/// What may be used of a server's offer, and what waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Review {
    /// Approved, in the server's order. A description of itself that waits is here as it was approved.
    pub usable: Offer,
    /// To be written down in place of the old ones.
    pub new_pins: ServerPins,
    /// Not usable until a person has looked: kind by kind, in the server's order.
    pub waiting: Vec<Waiting>,
}

/// Something that a person has to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    pub of: ItemKind,
    /// Its own name: of a tool or prompt, or a URI. A server's instructions have none.
    pub name: String,
    /// As it is offered now, as JSON.
    pub raw: String,
    /// Of that.
    pub hash: ToolHash,
    pub kind: WaitingKind,
}

/// Why something waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitingKind {
    /// It was not there before.
    Added,
    /// It is not what was approved.
    Changed { pinned_raw: String },
}

/// Compares an offer with what was approved. What was never seen is approved by its first use: all of a
/// server, or a kind of items that an older version of Gristmill did not pin.
pub fn review(pins: Option<&ServerPins>, offer: &Offer, accept: Accept) -> Review {
    let mut made = Review { new_pins: pins.cloned().unwrap_or_default(), ..Review::default() };
    made.usable.tools = made.of_kind(offer.tools.as_deref(), accept);
    made.usable.about = made.about(offer.about.as_ref(), accept);
    made.usable.prompts = made.of_kind(offer.prompts.as_deref(), accept);
    made.usable.resources = made.of_kind(offer.resources.as_deref(), accept);
    made.usable.resource_templates = made.of_kind(offer.resource_templates.as_deref(), accept);
    made
}

impl Review {
    /// The items of one kind that are usable. `None` leaves what is pinned as it is.
    fn of_kind<T: OfferItem + Clone>(&mut self, offered: Option<&[T]>, accept: Accept) -> Option<Vec<T>> {
        let offered = offered?;
        let before = self.new_pins.kinds.remove(&T::KIND);
        let is_first_sight = before.is_none();
        let mut pinned = before.unwrap_or_default();
        let mut usable = Vec::new();
        let mut seen: HashSet<&str> = HashSet::new();
        for item in offered {
            // The first of a name counts, as everywhere; a second one cannot slip in behind it.
            if !seen.insert(item.item_name()) {
                continue;
            }
            match judge(is_first_sight, pinned.get(item.item_name()), item.item_hash(), accept) {
                Verdict::Usable => usable.push(item.clone()),
                Verdict::Pin(approved) => {
                    pinned.insert(item.item_name().to_owned(), Pin::of(item, approved));
                    usable.push(item.clone());
                }
                Verdict::Wait(kind) => self.waiting.push(waiting(item, kind)),
            }
        }
        // Resources come and go with the data. Where new ones are taken unseen, it is of no use to know
        // which ones there once were.
        if T::KIND == ItemKind::Resource && accept != Accept::Nothing {
            pinned.retain(|name, _| seen.contains(name.as_str()));
        }
        self.new_pins.kinds.insert(T::KIND, pinned);
        Some(usable)
    }

    /// What a server says about itself, as it was approved: its tools are not found without it.
    fn about(&mut self, offered: Option<&SelfDescription>, accept: Accept) -> Option<SelfDescription> {
        let usable = self.of_kind(offered.map(std::slice::from_ref), accept)?;
        let pinned = || self.new_pins.of(ItemKind::Instructions)?.get("");
        usable.into_iter().next().or_else(|| SelfDescription::from_text(&pinned()?.raw))
    }
}

fn waiting<T: OfferItem>(item: &T, kind: WaitingKind) -> Waiting {
    Waiting {
        of: T::KIND,
        name: item.item_name().to_owned(),
        raw: item.item_text().into_owned(),
        hash: item.item_hash(),
        kind,
    }
}

enum Verdict {
    Usable,
    Pin(Approval),
    Wait(WaitingKind),
}

fn judge(first_sight: bool, pinned: Option<&Pin>, hash: ToolHash, accept: Accept) -> Verdict {
    match pinned {
        None if first_sight => Verdict::Pin(Approval::FirstUse),
        None => match accept {
            Accept::Additions | Accept::Everything => Verdict::Pin(Approval::Setting),
            Accept::Nothing => Verdict::Wait(WaitingKind::Added),
        },
        Some(pin) if ToolHash::from_hex(&pin.hash) == Some(hash) => Verdict::Usable,
        Some(pin) => match accept {
            Accept::Everything => Verdict::Pin(Approval::Setting),
            Accept::Nothing | Accept::Additions => {
                Verdict::Wait(WaitingKind::Changed { pinned_raw: pin.raw.clone() })
            }
        },
    }
}

/// What waits of a server, for a model: it may hear what is there, but none of the words that nobody has
/// approved. Names that could be more than names are only counted.
pub fn waiting_words(waiting: &[Waiting]) -> String {
    const NAMES_MAX: usize = 20;
    let mut parts: Vec<String> = Vec::new();
    let (named, others): (Vec<&Waiting>, Vec<&Waiting>) =
        waiting.iter().partition(|waiting| waiting.of == ItemKind::Tool && is_plain_name(&waiting.name));
    let why = |waiting: &Waiting| match waiting.kind {
        WaitingKind::Added => "new",
        WaitingKind::Changed { .. } => "changed",
    };
    let shown: Vec<String> =
        named.iter().take(NAMES_MAX).map(|waiting| format!("{} ({})", waiting.name, why(waiting))).collect();
    if !shown.is_empty() {
        parts.push(shown.join(", "));
    }
    let mut counts: BTreeMap<ItemKind, usize> = BTreeMap::new();
    for waiting in others.into_iter().chain(named.into_iter().skip(NAMES_MAX)) {
        *counts.entry(waiting.of).or_default() += 1;
    }
    let is_more = !parts.is_empty();
    parts.extend(counts.into_iter().map(|(kind, count)| match kind {
        ItemKind::Instructions => "its instructions (changed)".to_owned(),
        ItemKind::Tool if is_more => format!("{count} more {}", if count == 1 { "tool" } else { "tools" }),
        ItemKind::Tool | ItemKind::Prompt | ItemKind::Resource | ItemKind::ResourceTemplate => {
            crate::counted(count, kind.name())
        }
    }));
    parts.join(", ")
}

/// Whether a name has room for nothing but a name.
fn is_plain_name(name: &str) -> bool {
    const CHARS_MAX: usize = 64;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    name.len() <= CHARS_MAX && !name.is_empty() && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests;
