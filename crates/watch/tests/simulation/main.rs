//! A simulated company: how many of twenty kinds of incidents are found, how fast, and how many false alarms a month
//! of normal use brings. `cargo test --release --test simulation -- --nocapture` prints the figures.
//!
//! The detectors were tuned on the development half alone. The held-out half has other seeds, another company and
//! other incidents.

mod day;
mod incidents;
mod random;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use std::time::{Duration, Instant};

use gristmill_watch::alerts::{Alert, AlertSettings, Alerts};
use gristmill_watch::{Anomaly, Settings, Severity, Watch};

use day::{DAY_MS, Event, normal_day, start_of};
use incidents::{Force, NAMES, inject};
use random::Random;
use world::{Shape, World};

/// Four weeks to learn, thirty days to measure.
const LEARNS: usize = 28;
const DAYS: usize = 58;
/// Incidents happen on the weekdays of the second measured week.
const INCIDENT_DAYS: std::ops::Range<usize> = 35..40;
const MINUTE_MS: u64 = 60_000;

struct Half {
    name: &'static str,
    seeds: &'static [u64],
    shape: Shape,
    /// In turns, seed by seed.
    forces: [Force; 2],
}

const DEVELOPMENT: Half = Half {
    name: "development",
    seeds: &[1, 2, 3, 4, 5, 6],
    shape: Shape {
        office: 7,
        night: 1,
        tasks_an_hour: (1.5, 4.0),
        fails: (0.03, 0.12),
        service_seconds: 90.0,
        poller_seconds: 240.0,
        loops: (25.0, 0.8),
        late: 0.06,
        adopts: 0.3,
    },
    forces: [STRONG, WEAK],
};

const STRONG: Force = Force {
    fails: 1.0,
    retry_s: 8.0,
    agent_gap_s: 3.0,
    probe_gap_s: 2.0,
    probe_tools: 12,
    creep_gap_s: 25.0,
    storm_a_second: 25.0,
    tool_storm_a_second: 8.0,
    flood_bytes: 700_000,
    flood_gap_s: 4.0,
    near: 0.96,
    near_share: 1.0,
    grows: 20.0,
    shrinks_to: 15,
    other_shape: 1.0,
    loop_gap_s: 8.0,
    good_loop_gap_s: 10.0,
    alternates: false,
    loss: 800,
    loss_share: 1.0,
    night_hour: 3.0,
    night_gap_s: 90.0,
};

const WEAK: Force = Force {
    fails: 0.85,
    retry_s: 6.0,
    agent_gap_s: 3.0,
    probe_gap_s: 5.0,
    probe_tools: 6,
    creep_gap_s: 35.0,
    storm_a_second: 15.0,
    tool_storm_a_second: 6.0,
    flood_bytes: 400_000,
    flood_gap_s: 5.0,
    near: 0.93,
    near_share: 0.8,
    grows: 10.0,
    shrinks_to: 80,
    other_shape: 0.75,
    loop_gap_s: 15.0,
    good_loop_gap_s: 12.0,
    alternates: true,
    loss: 250,
    loss_share: 0.85,
    night_hour: 1.5,
    night_gap_s: 240.0,
};

#[derive(Default)]
struct Figures {
    /// For each incident, the delays of each seed; `None`: not found.
    delays: BTreeMap<usize, Vec<Option<u64>>>,
    late_bursts: usize,
    alarms: Vec<usize>,
    notices: Vec<usize>,
    quiet_week: Vec<usize>,
    events: usize,
    took: Duration,
}

fn feed(watch: &mut Watch, event: &Event) -> Vec<Anomaly> {
    match event {
        Event::Executed(event) => watch.executed(event),
        Event::Called(event) => watch.called(event),
    }
}

fn simulate(half: &Half) -> Figures {
    let mut figures = Figures::default();
    // Optimized builds take all seeds; the others would take minutes.
    let seeds = if cfg!(debug_assertions) { &half.seeds[..2] } else { half.seeds };
    for (turn, seed) in seeds.iter().enumerate() {
        simulate_one(half, half.forces[turn % 2], *seed, &mut figures);
    }
    figures
}

fn simulate_one(half: &Half, force: Force, seed: u64, figures: &mut Figures) {
    let mut random = Random::new(seed);
    let world = World::new(&mut random, half.shape, DAYS);
    let mut watch = Watch::new(Settings::default());
    let mut told = Told::default();
    for day in 0..DAYS {
        if INCIDENT_DAYS.contains(&day) {
            for number in (0..NAMES.len()).filter(|number| number % 5 == day - INCIDENT_DAYS.start) {
                let delay = try_incident(force, &world, number, day, &watch, &random, figures);
                figures.delays.entry(number).or_default().push(delay);
            }
        }
        let events = normal_day(&world, day, &mut random);
        figures.events += events.len();
        for event in events {
            let before = Instant::now();
            let found = feed(&mut watch, &event);
            figures.took += before.elapsed();
            for anomaly in found {
                if day >= LEARNS {
                    told.hear(&anomaly, day, seed, half.name);
                }
            }
            told.alerts.tick(&AlertSettings::default(), event.at_ms());
        }
    }
    figures.alarms.push(told.alarms);
    figures.notices.push(told.notices);
    figures.quiet_week.push(told.quiet_week);
}

/// What a person hears in the month.
#[derive(Default)]
struct Told {
    alerts: Alerts,
    alarms: usize,
    notices: usize,
    noticed: BTreeSet<(usize, String)>,
    /// Alarms of the first week.
    quiet_week: usize,
}

impl Told {
    fn hear(&mut self, anomaly: &Anomaly, day: usize, seed: u64, half: &str) {
        if let Some(Alert::Send { .. }) = self.alerts.found(&AlertSettings::default(), anomaly) {
            self.alarms += 1;
            self.quiet_week += usize::from(day < LEARNS + 7);
            println!("  false alarm ({half}, seed {seed}, day {day}): {}", anomaly.words);
        }
        let is_news = self.noticed.insert((day, anomaly.key.clone()));
        if anomaly.severity == Severity::Notice && is_news {
            self.notices += 1;
        }
        if anomaly.severity == Severity::Notice && is_news && std::env::var_os("SHOW_NOTICES").is_some() {
            println!("  notice ({half}, seed {seed}, day {day}): {}", anomaly.words);
        }
    }
}

/// How long after its beginning the incident is told; the normal day goes on around it.
fn try_incident(
    force: Force,
    world: &World,
    number: usize,
    day: usize,
    watch: &Watch,
    random: &Random,
    figures: &mut Figures,
) -> Option<u64> {
    let mut random = random.clone();
    let mut watch = watch.clone();
    let mut events = normal_day(world, day, &mut random);
    let mut random = Random::new(random.bits() ^ number as u64);
    let incident = inject(number, world, force, day, &mut random, &mut events);
    for event in events.iter().filter(|event| event.at_ms() < start_of(day) + 2 * DAY_MS) {
        for anomaly in feed(&mut watch, event) {
            if incident.is_told_by(&anomaly) {
                assert!(anomaly.executions.len() <= 5 && !anomaly.action.is_empty(), "{anomaly:?}");
                let delay = anomaly.at_ms - incident.from_ms;
                figures.late_bursts += usize::from(incident.is_burst && delay > MINUTE_MS);
                return Some(delay);
            }
        }
    }
    figures.late_bursts += usize::from(incident.is_burst);
    None
}

fn mean(counts: &[usize]) -> f64 {
    counts.iter().sum::<usize>() as f64 / counts.len() as f64
}

/// Prints the table, and returns how many of twenty were found on average.
fn report(half: &Half, figures: &Figures) -> f64 {
    println!("\n{} half: {} seeds, {} events", half.name, figures.alarms.len(), figures.events);
    let mut all_found = 0;
    for (number, delays) in &figures.delays {
        let mut found: Vec<u64> = delays.iter().flatten().copied().collect();
        found.sort_unstable();
        all_found += found.len();
        let seconds = |delay: Option<&u64>| delay.map_or("-".to_owned(), |ms| format!("{} s", ms / 1000));
        println!(
            "  {:<28} found {}/{}  median {:>7}  slowest {:>7}",
            NAMES[*number],
            found.len(),
            delays.len(),
            seconds(found.get(found.len() / 2)),
            seconds(found.last()),
        );
    }
    let of_twenty = all_found as f64 / figures.alarms.len() as f64;
    println!("  found {of_twenty:.1} of 20; bursts later than a minute: {}", figures.late_bursts);
    println!("  false alarms a month: {:.2} {:?}", mean(&figures.alarms), figures.alarms);
    println!("  alarms in the first week: {:?}", figures.quiet_week);
    println!("  an event takes {:.1} us", figures.took.as_secs_f64() * 1e6 / figures.events as f64);
    println!("  notices a month: {:.2} {:?}", mean(&figures.notices), figures.notices);
    of_twenty
}

#[test]
fn incidents_are_found_and_normal_months_are_quiet_in_the_half_that_we_tune_on() {
    let figures = simulate(&DEVELOPMENT);
    let of_twenty = report(&DEVELOPMENT, &figures);
    assert!(of_twenty >= 19.0);
    assert_eq!(figures.late_bursts, 0);
    assert!(mean(&figures.alarms) <= 2.0);
}
