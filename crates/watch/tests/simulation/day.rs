//! One day of everybody's normal use.

use gristmill_watch::{CallOutcome, Called, Executed, Outcome};

use crate::random::Random;
use crate::world::{Caller, Habit, Tool, World};

pub const DAY_MS: u64 = 86_400_000;
pub const HOUR_MS: f64 = 3_600_000.0;
/// A Monday in January.
const FIRST_DAY: u64 = 20_458;
pub const TIME_LIMIT_MS: u64 = 30_000;
pub const MEMORY_LIMIT: u64 = 512 << 20;
const OUTPUT_LIMIT: f64 = 1_000_000.0;

#[derive(Clone)]
pub enum Event {
    Executed(Executed),
    Called(Called),
}

impl Event {
    pub fn at_ms(&self) -> u64 {
        match self {
            Self::Executed(event) => event.at_ms,
            Self::Called(event) => event.at_ms,
        }
    }
}

pub fn start_of(day: usize) -> u64 {
    (FIRST_DAY + day as u64) * DAY_MS
}

/// Everything that happens on a day, in order.
pub fn normal_day(world: &World, day: usize, random: &mut Random) -> Vec<Event> {
    let mut events = Vec::new();
    for caller in world.callers.iter().filter(|caller| caller.from_day <= day) {
        Maker { world, caller, day, random, events: &mut events }.day();
    }
    events.sort_by_key(Event::at_ms);
    hiccup(world, &mut events, random);
    events
}

/// Now and then a server fails a few calls in a row.
fn hiccup(world: &World, events: &mut [Event], random: &mut Random) {
    if !random.chance(0.15) || events.is_empty() {
        return;
    }
    let server = random.pick(&world.tools).server.clone();
    let from = random.below(events.len());
    let mut left = 2 + random.below(4);
    for event in &mut events[from..] {
        if let Event::Called(called) = event
            && called.server == server
            && left > 0
        {
            called.outcome = CallOutcome::Failed;
            left -= 1;
        }
    }
}

/// Makes events of one caller.
pub struct Maker<'a> {
    pub world: &'a World,
    pub caller: &'a Caller,
    pub day: usize,
    pub random: &'a mut Random,
    pub events: &'a mut Vec<Event>,
}

impl Maker<'_> {
    fn day(&mut self) {
        let start = start_of(self.day) as f64;
        match self.caller.habit {
            Habit::Office { from, to, tasks_an_hour } => self.office_day(start, from, to, tasks_an_hour),
            Habit::Night { hour } => {
                let mut at = start + (hour + self.random.between(0.0, 0.2)) * HOUR_MS;
                for index in 0..30 {
                    self.run(at as u64, None, 7000 + index % 10, false);
                    at += self.random.wait(20_000.0);
                }
            }
            Habit::Service { seconds } => self.around_the_clock(start, seconds, 0.5, 12),
            Habit::Poller { seconds } => self.around_the_clock(start, seconds, 0.0, 1),
        }
    }

    fn around_the_clock(&mut self, start: f64, seconds: f64, other_variables: f64, programs: u64) {
        let mut at = start;
        loop {
            at += if programs == 1 { seconds * 1000.0 } else { self.random.wait(seconds * 1000.0) };
            if at >= start + DAY_MS as f64 {
                return;
            }
            let is_other = self.random.chance(other_variables);
            let program = if is_other { self.random.bits() } else { 100 + self.random.bits() % programs };
            let fails = self.random.chance(self.caller.fails);
            self.run(at as u64, None, program, fails);
        }
    }

    fn office_day(&mut self, start: f64, from: f64, to: f64, tasks_an_hour: f64) {
        let is_weekend = self.day % 7 >= 5;
        let (mut from, mut to) = (from + self.random.normal() * 0.4, to + self.random.normal() * 0.5);
        if is_weekend {
            from = self.random.between(10.0, 16.0);
            to = from + 1.5;
        } else if self.random.chance(self.world.shape.late) {
            to += self.random.between(0.5, 2.5);
        }
        let stays_away = self.random.chance(if is_weekend { 0.985 } else { 0.05 });
        if stays_away {
            return;
        }
        let mut at = from;
        loop {
            at += self.random.wait(1.0 / tasks_an_hour);
            if at >= to {
                return;
            }
            let is_lunch = (12.0..13.0).contains(&at) && self.random.chance(0.6);
            if !is_lunch {
                self.task(start + at * HOUR_MS);
            }
        }
    }

    /// An agent's work on one thing: programs, some of which fail until they don't.
    fn task(&mut self, mut at: f64) {
        let session = self.random.chance(0.8).then(|| format!("s{:08x}", self.random.bits() as u32));
        let mut program = self.random.bits();
        let mut failures = 0;
        for _ in 0..1 + self.random.row(0.82) {
            let again = if failures > 0 { 0.25 } else { 0.04 };
            if !self.random.chance(again) {
                program = self.random.bits();
            }
            if failures > 0 {
                failures -= 1;
            } else if self.random.chance(self.caller.fails) {
                failures = 1 + self.random.row(0.5);
            }
            self.run(at as u64, session.clone(), program, failures > 0);
            at += 2000.0 + self.random.wait(30_000.0);
        }
    }

    /// One execution with its calls.
    pub fn run(&mut self, at: u64, session: Option<String>, program: u64, fails: bool) {
        let mut event = self.execution(at, session, program);
        if fails {
            event.outcome = Outcome::ProgramFailed;
            event.code = Some("GM-1201".to_owned());
        }
        let tools: Vec<usize> =
            self.caller.tools.iter().filter(|(_, from)| *from <= self.day).map(|(tool, _)| *tool).collect();
        // Favorites come first.
        let favorite = |random: &mut Random| tools[(random.unit().powi(2) * tools.len() as f64) as usize];
        let mut calls: Vec<(usize, CallOutcome)> = Vec::new();
        for _ in 0..self.random.row(0.6) {
            let tool = favorite(self.random);
            calls.push((tool, self.call_outcome(tool)));
        }
        let looped = favorite(self.random);
        if self.random.chance(0.06) && self.world.tools[looped].is_looped {
            let times =
                self.random.around(self.world.shape.loops.0, self.world.shape.loops.1).min(400.0) as usize;
            let is_wrong = self.random.chance(0.05);
            for _ in 0..times {
                let outcome = if is_wrong { CallOutcome::Failed } else { self.call_outcome(looped) };
                calls.push((looped, outcome));
            }
        }
        let step = event.duration_ms / (calls.len() as u64 + 1);
        event.calls = calls.len() as u32;
        for (index, (tool, outcome)) in calls.into_iter().enumerate() {
            self.call(&event.id, at + step * (index as u64 + 1), tool, outcome);
        }
        self.events.push(Event::Executed(event));
    }

    fn call_outcome(&mut self, tool: usize) -> CallOutcome {
        if self.random.chance(self.caller.denied) {
            CallOutcome::Denied
        } else if self.random.chance(self.world.tools[tool].fails) {
            CallOutcome::Failed
        } else {
            CallOutcome::Answered
        }
    }

    /// An execution that ends after it has started at this time; nothing is added yet.
    pub fn execution(&mut self, at: u64, session: Option<String>, program: u64) -> Executed {
        let caller = self.caller;
        let random = &mut *self.random;
        let time = random.around(caller.time, 0.8).min(1.0);
        let duration_ms = (time * TIME_LIMIT_MS as f64) as u64;
        let loses = random.chance(caller.losses);
        let saved = if loses { -random.around(200.0, 0.8) } else { random.around(caller.saved, 1.0) };
        let mut outcome = Outcome::Succeeded;
        if random.chance(0.001) {
            outcome = Outcome::SystemFailed;
        } else if random.chance(0.01) {
            outcome = Outcome::Canceled;
        } else if time >= 1.0 {
            outcome = Outcome::LimitReached;
        }
        Executed {
            id: format!("{:016x}", random.bits()),
            caller: caller.name.clone(),
            session,
            at_ms: at + duration_ms,
            outcome,
            code: None,
            duration_ms,
            duration_limit_ms: TIME_LIMIT_MS,
            memory_peak_bytes: (random.around(caller.memory, 0.4).min(1.0) * MEMORY_LIMIT as f64) as u64,
            memory_limit_bytes: MEMORY_LIMIT,
            output_bytes: random.around(caller.output, 1.2).min(OUTPUT_LIMIT) as u64,
            tokens_saved: Some(saved as i64),
            program,
            calls: 0,
        }
    }

    pub fn call(&mut self, execution: &str, at_ms: u64, tool: usize, outcome: CallOutcome) {
        let tool = &self.world.tools[tool];
        let called = called(self.random, tool, &self.caller.name, execution, at_ms, outcome);
        self.events.push(Event::Called(called));
    }
}

pub fn called(
    random: &mut Random,
    tool: &Tool,
    caller: &str,
    execution: &str,
    at_ms: u64,
    outcome: CallOutcome,
) -> Called {
    let is_empty = random.chance(tool.empty);
    let size = if is_empty { 2.0 } else { random.around(tool.bytes, tool.spread) };
    // Most answers have the commonest shapes.
    let shape = (random.unit().powi(3) * tool.shapes as f64) as u64;
    Called {
        execution: execution.to_owned(),
        caller: caller.to_owned(),
        server: tool.server.clone(),
        tool: tool.name.clone(),
        at_ms,
        outcome,
        took_ms: random.around(80.0, 0.6) as u64,
        answer_bytes: if outcome == CallOutcome::Answered { size as u64 } else { 0 },
        shape: if is_empty { 9999 } else { 1 + shape },
    }
}
