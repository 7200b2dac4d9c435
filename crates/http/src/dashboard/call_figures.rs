//! How tools did lately: counts and times of the calls of the newest executions.

use std::collections::HashMap;

use gristmill_gateway::domain::catalogue::Resolved;

use super::visit::Visit;

/// Figures of a server or a tool.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Figures {
    pub(super) calls: u64,
    pub(super) errors: u64,
    pub(super) p50_ms: Option<f64>,
    pub(super) p95_ms: Option<f64>,
    /// When the last execution with such a call began.
    pub(super) last_ms: Option<i64>,
}

#[derive(Default)]
struct Counted {
    errors: u64,
    times: Vec<f64>,
    last_ms: Option<i64>,
}

/// By server and tool, as the catalog names them.
#[derive(Default)]
pub(super) struct CallFigures {
    tools: HashMap<(String, String), Counted>,
}

impl CallFigures {
    pub(super) async fn of(visit: &Visit) -> Self {
        let mut figures = Self::default();
        let (Some(history), Some(upstreams)) = (visit.history(), &visit.parts().upstreams) else {
            return figures;
        };
        let snapshot = upstreams.snapshot();
        let mut names: HashMap<String, Option<(String, String)>> = HashMap::new();
        for call in history.latest_calls().await.unwrap_or_default() {
            let resolved =
                names.entry(call.name).or_insert_with_key(|name| match snapshot.lookup().resolve(name) {
                    Resolved::One(server, tool) => {
                        Some((server.offer.name.clone(), tool.definition.name.clone()))
                    }
                    Resolved::Reserved(..) | Resolved::Several(_) | Resolved::None(_) => None,
                });
            let Some(tool) = resolved.clone() else { continue };
            let counted = figures.tools.entry(tool).or_default();
            counted.errors += u64::from(!call.ok);
            counted.times.push(call.time_ms);
            counted.last_ms = counted.last_ms.max(Some(call.started_ms));
        }
        figures
    }

    pub(super) fn of_server(&self, server: &str) -> Figures {
        summed(self.tools.iter().filter(|((name, _), _)| name == server).map(|(_, counted)| counted))
    }

    pub(super) fn of_tool(&self, server: &str, tool: &str) -> Figures {
        summed(self.tools.get(&(server.to_owned(), tool.to_owned())).into_iter())
    }
}

fn summed<'a>(all: impl Iterator<Item = &'a Counted>) -> Figures {
    let (mut figures, mut times) = (Figures::default(), Vec::new());
    for counted in all {
        figures.errors += counted.errors;
        figures.last_ms = figures.last_ms.max(counted.last_ms);
        times.extend_from_slice(&counted.times);
    }
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times.get((times.len() * percent).div_ceil(100).saturating_sub(1)).copied();
    (figures.calls, figures.p50_ms, figures.p95_ms) = (times.len() as u64, at(50), at(95));
    figures
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_by_their_middle_and_their_slow_end() {
        let counted = Counted { errors: 2, times: (1..=100).map(f64::from).collect(), last_ms: Some(7) };
        let figures = summed([&counted].into_iter());
        assert_eq!((figures.calls, figures.errors, figures.last_ms), (100, 2, Some(7)));
        assert_eq!((figures.p50_ms, figures.p95_ms), (Some(50.0), Some(95.0)));
        assert_eq!(summed([].into_iter()).p50_ms, None);
    }
}
