//! Whole runs: the same seed gives the same figures, nothing is broken by any failure, and a broken rule is noticed.

use super::design::{Placement, Policy, Rules, Settings};
use super::ledger::{Invariant, Outcome};
use super::report::Report;
use super::simulation::{Course, Simulation};
use super::{ClusterArguments, Shared, measure};
use crate::BenchError;

/// A small cluster with everything in it. Its sessions are busy and its places nearly taken.
pub fn small() -> Settings {
    Settings {
        nodes: 12,
        gateways: 3,
        sessions: 400,
        rate: 200.0,
        seconds: 24,
        seed: 1,
        placement: Placement::Gateways,
        policy: Policy::default(),
        rules: Rules::default(),
    }
}

fn run(settings: Settings) -> Course {
    Simulation::new(settings).run()
}

fn broken(course: &Course) -> Vec<Invariant> {
    Invariant::ALL.into_iter().filter(|one| course.ledger.broken(*one).times > 0).collect()
}

/// What is broken in some of a few runs, if one rule is.
fn broken_with(rules: Rules) -> Vec<Invariant> {
    let runs = (1..=3).map(|seed| run(Settings { seed, rules: rules.clone(), ..small() }));
    let mut found: Vec<Invariant> = runs.flat_map(|course| broken(&course)).collect();
    found.sort_by_key(|one| *one as usize);
    found.dedup();
    found
}

#[test]
fn the_same_seed_gives_the_same_report_and_another_seed_another() {
    let report = |seed| {
        let settings = Settings { seed, ..small() };
        let omniscient = Settings { placement: Placement::Omniscient, ..settings.clone() };
        let (design, baseline) = (run(settings), run(omniscient));
        let report = Report::of(&design, &baseline, 0.04);
        (report.text(), report.json().to_string())
    };
    let first = report(1);
    assert_eq!(first, report(1));
    let other = report(2);
    assert!(first.0 != other.0 && first.1 != other.1);
    assert!(first.0.contains("The bottleneck: ") && !first.0.contains("BROKEN"), "{}", first.0);
}

#[test]
fn no_failure_breaks_an_invariant() {
    for seed in 1..=3 {
        for placement in [Placement::Gateways, Placement::Omniscient] {
            let course = run(Settings { seed, placement, ..small() });
            assert_eq!(broken(&course), [], "seed {seed}, {placement:?}");
            let recorded: u64 = Outcome::ALL.into_iter().map(|outcome| course.ledger.count(outcome)).sum();
            assert_eq!(recorded, course.ledger.arrivals());
            let ends = [Outcome::Answered, Outcome::FailedWithNode, Outcome::LostWithGateway];
            assert!(ends.into_iter().all(|outcome| course.ledger.count(outcome) > 0));
        }
    }
}

#[test]
fn a_gateway_that_leaves_no_records_is_noticed() {
    let rules = Rules { closes_what_a_gateway_left: false, ..Rules::default() };
    let expected = [Invariant::OneFinalRecord, Invariant::NothingLostSilently, Invariant::WorkIsConserved];
    assert_eq!(broken_with(rules), expected);
}

#[test]
fn writers_that_run_again_are_noticed() {
    let rules = Rules { ends_writers: false, ..Rules::default() };
    assert_eq!(broken_with(rules), [Invariant::WritersRunOnce]);
}

#[test]
fn a_second_answer_by_an_old_link_is_noticed() {
    let rules = Rules { drops_old_links: false, ..Rules::default() };
    assert!(broken_with(rules).contains(&Invariant::OneFinalRecord));
}

#[test]
fn a_session_that_does_not_wait_for_a_silent_node_is_noticed() {
    let rules = Rules { sessions_wait_out_silence: false, ..Rules::default() };
    assert_eq!(broken_with(rules), [Invariant::SessionsRunAlone]);
}

#[test]
fn a_lease_that_ends_before_nodes_have_noticed_is_noticed() {
    let rules = Rules { lease_us: 0, ..Rules::default() };
    assert_eq!(broken_with(rules), [Invariant::SessionsRunAlone]);
}

#[test]
fn executions_that_are_forgotten_after_a_refusal_are_noticed() {
    let rules = Rules { requeues_refused: false, ..Rules::default() };
    assert!(broken_with(rules).contains(&Invariant::OneFinalRecord));
}

#[test]
fn nodes_that_nobody_misses_are_noticed() {
    let rules = Rules { notices_lost_nodes: false, ..Rules::default() };
    assert!(broken_with(rules).contains(&Invariant::NothingLostSilently));
}

#[test]
fn gateways_that_know_less_offer_in_vain_and_a_baseline_never_does() {
    let many = || Settings { nodes: 40, gateways: 8, rate: 800.0, ..small() };
    let design = run(many());
    let baseline = run(Settings { placement: Placement::Omniscient, ..many() });
    assert!(design.figures.counts.refused_offers > 0);
    assert_eq!(baseline.figures.counts.refused_offers, 0);
    let rarely = Policy { presence_gap_us: 400_000, ..Policy::default() };
    let rarely = run(Settings { policy: rarely, ..many() });
    let (often, rarely) = (&design.figures.counts, &rarely.figures.counts);
    assert!(rarely.presences < often.presences / 3, "{} {}", rarely.presences, often.presences);
    assert!(
        rarely.refused_offers > often.refused_offers,
        "{} {}",
        rarely.refused_offers,
        often.refused_offers
    );
}

#[test]
fn an_owner_that_may_not_have_everything_leaves_places_to_others() {
    let tight = || Settings { nodes: 8, seconds: 60, ..small() };
    let design = run(tight());
    let shared = run(Settings { policy: Policy { owner_share: 0.02, ..Policy::default() }, ..tight() });
    assert!(shared.figures.refused.largest > design.figures.refused.largest);
    let p99 = |course: &Course| course.figures.waits.small_slow.at(0.99);
    assert!(p99(&shared) < p99(&design) / 2, "{} {}", p99(&shared), p99(&design));
}

#[test]
fn a_cluster_that_is_too_small_refuses_and_loses_nothing() {
    let course = run(Settings { nodes: 3, ..small() });
    assert_eq!(broken(&course), []);
    assert!(course.ledger.count(Outcome::Refused) > 100);
    assert!(course.figures.places.most() > 0.99);
}

#[test]
fn one_gateway_and_one_node_are_a_cluster() {
    let course = run(Settings { nodes: 1, gateways: 1, sessions: 1, rate: 5.0, ..small() });
    assert_eq!(broken(&course), []);
    assert!(course.ledger.count(Outcome::Answered) > 0);
}

#[test]
fn without_simulate_it_says_what_to_run() {
    let arguments = ClusterArguments {
        simulate: false,
        nodes: 1,
        gateways: 1,
        rate: 1,
        seed: 1,
        change: Vec::new(),
        vcpu_price: 0.04,
    };
    let shared = Shared { sessions: None, seconds: None, json: false };
    match measure(&arguments, &shared) {
        Err(BenchError::Usage(error)) => assert!(error.to_string().contains("ci/cluster_test.py")),
        other => panic!("{other:?}"),
    }
}
