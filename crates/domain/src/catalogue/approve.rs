//! A person approves what a server offers: all of it, what was shown, or what is named.

use std::collections::HashSet;

use super::ToolHash;
use super::offer::{ItemKind, Offer, OfferItem};
use super::pins::{Approval, Pin, Pins};
use super::review::Waiting;
use crate::visible_text::one_line;

/// What a person approves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Approve<'a> {
    /// Everything that is offered.
    All,
    /// Exactly this: what is no longer offered as it was shown is left as it is.
    Shown(&'a [Waiting]),
    /// Items by their names or by their labels, such as `add` or `prompt:add`.
    Named(&'a [String]),
}

/// A name that does not say what is approved. Nothing was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChooseError {
    #[error("`{name}` isn't offered by {server}{}", hint(.near))]
    NotOffered {
        server: String,
        name: String,
        /// The closest name there is.
        near: Option<String>,
    },
    #[error("`{name}` may mean several things of {server}: write {}", .labels.join(" or "))]
    Several { server: String, name: String, labels: Vec<String> },
}

fn hint(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |near| format!("; did you mean `{}`?", one_line(near, 200)))
}

/// The place of the one among some items that a name or a label means.
pub fn chosen(server: &str, written: &str, items: &[(ItemKind, &str)]) -> Result<usize, ChooseError> {
    let is_meant = |(kind, name): (ItemKind, &str)| {
        written == kind.label(name) || (kind != ItemKind::Instructions && written == name)
    };
    let found: Vec<usize> = (0..items.len()).filter(|place| is_meant(items[*place])).collect();
    match found.as_slice() {
        [place] => Ok(*place),
        [] => {
            let candidates = items.iter().map(|(_, name)| (*name, *name));
            let near = crate::nearest(written, candidates, 1).first().map(|near| (*near).to_owned());
            Err(ChooseError::NotOffered { server: server.to_owned(), name: one_line(written, 200), near })
        }
        several => Err(ChooseError::Several {
            server: server.to_owned(),
            name: one_line(written, 200),
            labels: several
                .iter()
                .map(|place| one_line(&items[*place].0.label(items[*place].1), 200))
                .collect(),
        }),
    }
}

/// Pins what a person approved, as it is offered now. Answers what is new or changed by that, in the
/// words in which it can be named.
pub fn approve(
    pins: &mut Pins,
    server: &str,
    what: Approve<'_>,
    offer: &Offer,
) -> Result<Vec<String>, ChooseError> {
    let items = items_of(offer);
    let chosen: Vec<&Item> = match what {
        Approve::All => items.iter().collect(),
        Approve::Shown(shown) => {
            let is_as_shown = |item: &Item, shown: &Waiting| {
                (item.kind, item.name.as_str(), item.hash) == (shown.of, shown.name.as_str(), shown.hash)
            };
            items.iter().filter(|item| shown.iter().any(|shown| is_as_shown(item, shown))).collect()
        }
        Approve::Named(names) => {
            let known: Vec<(ItemKind, &str)> =
                items.iter().map(|item| (item.kind, item.name.as_str())).collect();
            let found = names.iter().map(|name| Ok(&items[chosen(server, name, &known)?]));
            found.collect::<Result<_, ChooseError>>()?
        }
    };
    let pinned = &mut pins.servers.entry(server.to_owned()).or_default().kinds;
    let mut approved = Vec::new();
    for item in chosen {
        let of_kind = pinned.entry(item.kind).or_default();
        if of_kind.get(&item.name).is_none_or(|pin| pin.hash != item.pin.hash) {
            of_kind.insert(item.name.clone(), item.pin.clone());
            approved.push(match item.kind {
                ItemKind::Tool => item.name.clone(),
                kind => kind.label(&item.name),
            });
        }
    }
    Ok(approved)
}

/// Something that is offered, with the pin that approves it.
struct Item {
    kind: ItemKind,
    name: String,
    hash: ToolHash,
    pin: Pin,
}

/// Every item; the first of a name counts.
fn items_of(offer: &Offer) -> Vec<Item> {
    let mut items = Vec::new();
    add(&mut items, offer.tools());
    add(&mut items, offer.about.as_slice());
    add(&mut items, offer.prompts());
    add(&mut items, offer.resources());
    add(&mut items, offer.resource_templates());
    items
}

fn add<T: OfferItem>(items: &mut Vec<Item>, offered: &[T]) {
    let mut seen = HashSet::new();
    let first = offered.iter().filter(|item| seen.insert(item.item_name().to_owned()));
    items.extend(first.map(|item| Item {
        kind: T::KIND,
        name: item.item_name().to_owned(),
        hash: item.item_hash(),
        pin: Pin::of(item, Approval::Person),
    }));
}
