//! Where the time of an execution went: its stages, and when its calls began.

use std::time::{Duration, Instant};

/// The stages of an execution in their order, and the beginnings of its calls in theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    stages: Vec<StageTime>,
    pub(crate) calls_began: Vec<Instant>,
}

/// One stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageTime {
    pub name: &'static str,
    pub began: Instant,
    pub took: Duration,
}

impl Timing {
    /// A stage that has just ended.
    pub(crate) fn ended(&mut self, name: &'static str, began: Instant) {
        self.took(name, began, began.elapsed());
    }

    /// A stage of this length.
    pub(crate) fn took(&mut self, name: &'static str, began: Instant, took: Duration) {
        self.stages.push(StageTime { name, began, took });
    }

    /// The stage before all others.
    pub(crate) fn preceded_by(&mut self, first: StageTime) {
        self.stages.insert(0, first);
    }

    pub fn stages(&self) -> &[StageTime] {
        &self.stages
    }

    /// From which all is counted: the beginning of the first stage.
    pub fn zero(&self) -> Option<Instant> {
        self.stages.first().map(|stage| stage.began)
    }

    /// When a call began, by its place among the calls, in milliseconds since the beginning of all.
    pub fn call_began_ms(&self, place: usize) -> Option<f64> {
        Some(milliseconds(self.calls_began.get(place)?.saturating_duration_since(self.zero()?)))
    }
}

/// With three digits behind the point.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_stand_in_their_order_and_calls_count_from_the_first() {
        let asked = Instant::now();
        let mut timing = Timing::default();
        assert_eq!((timing.zero(), timing.call_began_ms(0)), (None, None));
        timing.ended("run", asked + Duration::from_millis(5));
        timing.preceded_by(StageTime { name: "place", began: asked, took: Duration::from_millis(5) });
        timing.calls_began.push(asked + Duration::from_micros(7_250));
        let names: Vec<&str> = timing.stages().iter().map(|stage| stage.name).collect();
        assert_eq!((names, timing.zero()), (vec!["place", "run"], Some(asked)));
        assert_eq!((timing.call_began_ms(0), timing.call_began_ms(1)), (Some(7.25), None));
    }
}
