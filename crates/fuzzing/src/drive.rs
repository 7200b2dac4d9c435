//! Runs one target on many inputs: first those that are there, then changed ones.
//!
//! It has no coverage to go by. What a target says about how far an input got is enough to keep those
//! that went somewhere new, so that changes add up.

use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::finding::Finding;
use crate::mutate::Mutator;
use crate::target::Target;

/// Inputs that are kept to change further. More only take memory.
const POOL_MAX: usize = 2_000;

/// How long it goes on: whichever is over first. What is given is run in any case.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub inputs: usize,
    pub time: Duration,
}

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Inputs that were given.
    pub given: usize,
    /// Changed ones.
    pub made: usize,
    /// Different places that inputs got to.
    pub places: usize,
}

/// What is told of a run while it goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told<'a> {
    /// The target is about to see this input: what ends the whole process is known by it.
    Next(&'a [u8]),
    /// A changed input got somewhere new.
    New(&'a [u8]),
}

/// Stops at the first finding.
///
/// # Errors
/// The input that broke the promise.
pub fn drive(
    target: &Target,
    given: Vec<Vec<u8>>,
    seed: u64,
    budget: Budget,
    mut tell: impl FnMut(Told<'_>),
) -> Result<Summary, Finding> {
    let until = Instant::now() + budget.time;
    let mut places = HashSet::new();
    let mut run = |input: &[u8], is_made: bool| {
        tell(Told::Next(input));
        let outcome = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
        let reached = outcome.map_err(|panic| Finding { said: text_of(&*panic), input: input.to_vec() })?;
        let is_new = places.insert(reached);
        if is_new && is_made {
            tell(Told::New(input));
        }
        Ok(is_new)
    };
    for input in &given {
        run(input, false)?;
    }
    let mut summary = Summary { given: given.len(), made: 0, places: 0 };
    let mut pool = given;
    let mut mutator = Mutator::new(seed, target.dictionary, target.bytes_max);
    while summary.made < budget.inputs && Instant::now() < until {
        let input = mutator.next(&pool);
        summary.made += 1;
        if run(&input, true)? && pool.len() < POOL_MAX {
            pool.push(input);
        }
    }
    summary.places = places.len();
    Ok(summary)
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Reached;

    const BUDGET: Budget = Budget { inputs: 200_000, time: Duration::from_secs(60) };

    /// A word, a second one behind it, and behind that a large number, each a place of its own: all three at
    /// once are not found by chance.
    fn breaks_at_a_large_size(input: &[u8]) -> Reached {
        let text = String::from_utf8_lossy(input);
        let Some((_, opened)) = text.split_once("open:") else { return Reached::of(0) };
        let Some((_, size)) = opened.split_once("size=") else { return Reached::of(1) };
        let digits = size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len());
        let size: u64 = size[..digits].parse().unwrap_or(0);
        assert!(size < 1 << 60, "the planted bug");
        Reached::of((2, size > 9))
    }

    fn keeps_its_promise(input: &[u8]) -> Reached {
        Reached::of(input.len())
    }

    fn planted(run: fn(&[u8]) -> Reached) -> Target {
        Target { name: "planted", promise: "none", run, dictionary: &[b"open:", b"size="], bytes_max: 60 }
    }

    #[test]
    fn a_planted_bug_is_found_and_found_again() {
        let target = planted(breaks_at_a_large_size);
        let given = || vec![b"size=3;".to_vec()];
        let find = || drive(&target, given(), 11, BUDGET, |_| {}).expect_err("it is there to be found");
        let finding = find();
        assert_eq!(finding.said, "the planted bug");
        assert!(finding.input.windows(5).any(|it| it == b"open:"), "{finding:?}");
        assert_eq!(find(), finding, "the same seed finds the same");
    }

    #[test]
    fn a_bug_in_what_is_given_is_found_without_any_change() {
        let budget = Budget { inputs: 0, time: Duration::ZERO };
        let given = vec![b"".to_vec(), b"open:size=9223372036854775807;".to_vec()];
        let found = drive(&planted(breaks_at_a_large_size), given, 1, budget, |_| {});
        assert_eq!(found.expect_err("given").input, b"open:size=9223372036854775807;");
    }

    #[test]
    fn it_ends_when_its_inputs_or_its_time_are_used_up() {
        let target = planted(keeps_its_promise);
        let (mut seen, mut new) = (0, 0);
        let budget = Budget { inputs: 500, ..BUDGET };
        let count = |told: Told<'_>| match told {
            Told::Next(_) => seen += 1,
            Told::New(_) => new += 1,
        };
        let summary = drive(&target, vec![vec![1]], 1, budget, count).expect("no bug");
        assert_eq!((summary.given, summary.made, seen), (1, 500, 501));
        assert_eq!(new + 1, summary.places, "one place was reached by what was given");
        assert!(summary.places > 20, "{summary:?}");
        let budget = Budget { time: Duration::ZERO, ..BUDGET };
        assert_eq!(drive(&target, vec![vec![1]], 1, budget, |_| {}).expect("no bug").made, 0);
    }
}
