//! What is said of a program that no node takes: which nodes there are, why each doesn't, and what to do.

use std::collections::BTreeMap;
use std::time::Duration;

use gristmill_gateway::EngineId;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::ports::NoNode;

use super::roster::{Picked, Wanted, WhyNot};
use crate::names::{Label, NodeName};

/// Nodes that are named for one reason; of the others it's said how many there are.
const NAMED_MAX: usize = 3;

/// Reasons that are given. Only what nodes say of themselves can make more of them.
const REASONS_MAX: usize = 8;

/// Of what a node says when it refuses a program.
const REFUSAL_CHARS_MAX: usize = 160;

/// `why_not` has the nodes that were heard, but for one that has a place just now.
pub(super) fn explained(
    wanted: &Wanted,
    why_not: &BTreeMap<WhyNot<'_>, Vec<NodeName>>,
    picked: &Picked,
    waited: Duration,
) -> NoNode {
    let program = described(wanted);
    let said = match picked {
        Picked::NoneFits => format!("no node takes this program ({program})"),
        Picked::Full | Picked::Node { .. } => {
            format!("no place for this program ({program}) became free within {} s", waited.as_secs())
        }
    };
    let hint = match (why_not.first_key_value(), picked) {
        (_, Picked::Full | Picked::Node { .. }) => {
            "try again in a moment, or start another node with `gristmill worker-node`".to_owned()
        }
        (None, Picked::NoneFits) => {
            "start one with `gristmill worker-node`; `gristmill doctor` says whether the bus can be reached"
                .to_owned()
        }
        (Some((nearest, names)), Picked::NoneFits) => remedy(nearest, names, wanted),
    };
    let mut reasons: Vec<String> =
        why_not.iter().take(REASONS_MAX).map(|(why, names)| reason(why, names, wanted)).collect();
    let others: usize = why_not.values().skip(REASONS_MAX).map(Vec::len).sum();
    if others > 0 {
        reasons.push(format!("{others} more don't either"));
    }
    if reasons.is_empty() && *picked == Picked::NoneFits {
        reasons.push("none is heard".to_owned());
    }
    let why = match reasons.is_empty() {
        true => format!("{said}; nothing ran"),
        false => format!("{said}: {}; nothing ran", reasons.join("; ")),
    };
    NoNode { why, hint }
}

/// Nothing is known of nodes then.
pub(super) fn without_a_bus(wanted: &Wanted) -> NoNode {
    let program = described(wanted);
    NoNode {
        why: format!(
            "no node takes this program ({program}): this gateway isn't connected to the bus; nothing ran"
        ),
        hint: "check that the NATS server runs; `gristmill doctor` says whether it can be reached".to_owned(),
    }
}

/// What a node must have.
fn described(wanted: &Wanted) -> String {
    let Wanted { engine, level, labels, refused_by: _ } = wanted;
    let labels: Vec<_> = labels.iter().map(Label::as_str).collect();
    match labels.as_slice() {
        [] => format!("{engine}, level {level}"),
        [one] => format!("{engine}, level {level}, label {one}"),
        more => format!("{engine}, level {level}, labels {}", more.join(" and ")),
    }
}

fn reason(why: &WhyNot<'_>, names: &[NodeName], wanted: &Wanted) -> String {
    let (listed, is_one) = (listed(names), names.len() == 1);
    let (is, has, does, refuses) = match is_one {
        true => ("is", "has", "doesn't", "refuses"),
        false => ("are", "have", "don't", "refuse"),
    };
    let Wanted { engine, level, .. } = wanted;
    match why {
        WhyNot::Full => format!("{listed} {is} full"),
        WhyNot::Draining => format!("{listed} {is} draining"),
        WhyNot::Silent => format!("nothing is heard of {listed}"),
        WhyNot::Refuses(why) => format!("{listed} {refuses} it ({})", one_line(why, REFUSAL_CHARS_MAX)),
        WhyNot::Label(label) => format!("{listed} {has} no label {label}"),
        WhyNot::Level => format!("{listed} {does} run level {level}"),
        WhyNot::Engine => format!("{listed} {does} run {engine}"),
        WhyNot::OtherVersion(why) => format!("{listed} {is} another version ({why})"),
    }
}

/// What brings a node that is nearest to taking the program to take it.
fn remedy(why: &WhyNot<'_>, names: &[NodeName], wanted: &Wanted) -> String {
    let Some(node) = names.first() else { return String::new() };
    let level = wanted.level;
    match why {
        WhyNot::Draining => format!(
            "`gristmill cluster drain {node} --off` has {node} take programs again; \
             if it's being stopped, start a node with `gristmill worker-node`"
        ),
        WhyNot::Full | WhyNot::Silent => {
            "try again in a moment; `gristmill cluster status` shows which nodes are up".to_owned()
        }
        WhyNot::Refuses(_) => format!("run `gristmill doctor --level {level}` on {node}; its log says more"),
        WhyNot::Label(_) => {
            let labels: Vec<String> = wanted.labels.iter().map(|label| format!("--label {label}")).collect();
            format!("start a node with `gristmill worker-node {}`", labels.join(" "))
        }
        WhyNot::Level => {
            format!("`gristmill doctor --level {level}` on {node} says what the level needs there")
        }
        WhyNot::Engine => match wanted.engine {
            EngineId::Native => format!(
                "turn the native engine on for a node: `[engines.native]` in the configuration of {node}, \
                 then start it again"
            ),
            EngineId::Python | EngineId::TypeScript => "start a node with `gristmill worker-node`".to_owned(),
        },
        WhyNot::OtherVersion(_) => format!(
            "gateways and nodes must speak the same version, and this gateway is {}; \
             `gristmill cluster status` shows those of the nodes",
            env!("CARGO_PKG_VERSION")
        ),
    }
}

/// `a`, `a and b`, `a, b, c and 4 more`.
fn listed(names: &[NodeName]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMED_MAX).map(NodeName::to_string).collect();
    let more = names.len().saturating_sub(NAMED_MAX);
    let last = match more {
        0 => shown.pop(),
        more => Some(format!("{more} more")),
    };
    let last = last.unwrap_or_default();
    if shown.is_empty() { last } else { format!("{} and {last}", shown.join(", ")) }
}

#[cfg(test)]
mod tests {
    use gristmill_gateway::domain::Level;

    use super::*;

    fn wanted(labels: &[&str]) -> Wanted {
        let labels = labels.iter().map(|label| label.parse().unwrap()).collect();
        Wanted { engine: EngineId::Native, level: Level::Hardened, labels, refused_by: Vec::new() }
    }

    fn names(all: &[&str]) -> Vec<NodeName> {
        all.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn check(wanted: &Wanted, why_not: &[(WhyNot<'_>, &[&str])], why: &str, hint: &str) {
        let why_not: BTreeMap<_, _> = why_not.iter().map(|(why, all)| (why.clone(), names(all))).collect();
        let is_full = matches!(why_not.first_key_value(), Some((WhyNot::Full, _)));
        let picked = if is_full { Picked::Full } else { Picked::NoneFits };
        let said = explained(wanted, &why_not, &picked, Duration::from_secs(30));
        assert_eq!(said, NoNode { why: why.to_owned(), hint: hint.to_owned() });
    }

    #[test]
    fn every_node_is_named_with_what_keeps_it_and_the_nearest_decides_what_to_do() {
        let gpu: Label = "gpu".parse().unwrap();
        let version = || WhyNot::OtherVersion("speaks version 2 and not 1".to_owned());
        check(
            &wanted(&[]),
            &[],
            "no node takes this program (native, level hardened): none is heard; nothing ran",
            "start one with `gristmill worker-node`; `gristmill doctor` says whether the bus can be reached",
        );
        check(
            &wanted(&["gpu"]),
            &[
                (WhyNot::Draining, &["node-a"]),
                (WhyNot::Label(&gpu), &["b", "c"]),
                (WhyNot::Engine, &["d"]),
                (version(), &["e"]),
            ],
            "no node takes this program (native, level hardened, label gpu): node-a is draining; b and c have no \
             label gpu; d doesn't run native; e is another version (speaks version 2 and not 1); nothing ran",
            "`gristmill cluster drain node-a --off` has node-a take programs again; if it's being stopped, start a \
             node with `gristmill worker-node`",
        );
        check(
            &wanted(&[]),
            &[(WhyNot::Full, &["a", "b", "c", "d", "e"]), (WhyNot::Draining, &["f", "g", "h"])],
            "no place for this program (native, level hardened) became free within 30 s: a, b, c and 2 more are \
             full; f, g and h are draining; nothing ran",
            "try again in a moment, or start another node with `gristmill worker-node`",
        );
        check(
            &wanted(&["eu", "gpu"]),
            &[(WhyNot::Label(&gpu), &["a"])],
            "no node takes this program (native, level hardened, labels eu and gpu): a has no label gpu; nothing ran",
            "start a node with `gristmill worker-node --label eu --label gpu`",
        );
        check(
            &wanted(&[]),
            &[
                (WhyNot::Silent, &["a"]),
                (WhyNot::Refuses("no namespaces"), &["b"]),
                (WhyNot::Level, &["c", "d"]),
            ],
            "no node takes this program (native, level hardened): nothing is heard of a; b refuses it (no \
             namespaces); c and d don't run level hardened; nothing ran",
            "try again in a moment; `gristmill cluster status` shows which nodes are up",
        );
    }

    #[test]
    fn a_place_that_came_too_late_is_no_missing_node() {
        let late = Picked::Node { name: "a".parse().unwrap(), incarnation: 1 };
        let said = explained(&wanted(&[]), &BTreeMap::new(), &late, Duration::from_secs(30)).why;
        assert_eq!(
            said,
            "no place for this program (native, level hardened) became free within 30 s; nothing ran"
        );
    }

    #[test]
    fn what_is_said_has_an_end_however_many_nodes_and_reasons_there_are() {
        let versions: Vec<String> = (10..1_010).map(|number| format!("speaks version {number}")).collect();
        let why_not = versions
            .iter()
            .enumerate()
            .map(|(index, why)| (WhyNot::OtherVersion(why.clone()), names(&[&format!("n{index}")])));
        let said = explained(&wanted(&[]), &why_not.collect(), &Picked::NoneFits, Duration::from_secs(1)).why;
        assert!(said.len() < 600 && said.ends_with("; 992 more don't either; nothing ran"), "{said}");
    }

    #[test]
    fn without_its_bus_a_gateway_knows_of_no_node() {
        let said = without_a_bus(&wanted(&[])).why;
        assert_eq!(
            said,
            "no node takes this program (native, level hardened): this gateway isn't connected to the bus; nothing ran"
        );
    }
}
