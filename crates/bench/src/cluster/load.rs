//! What is asked of the cluster: who asks, in which session, for what kind of program, and what that program does.

use super::costs::FRESH_WORKER_US;
use super::design::{Settings, WALL_LIMIT_US};
use super::random::{Lognormal, Pareto, Random, Zipf};

/// Owners, by Zipf's law: the largest has a tenth of all executions.
pub const OWNERS: usize = 10_000;

/// The largest.
pub const LARGEST_OWNER: u32 = 0;

/// From this rank on, an owner is a small one: together they have half of all executions.
pub const SMALL_OWNERS_FROM: u32 = 80;

/// Executions in a session; the others have none.
const IN_SESSION: f64 = 0.5;

/// Flattens the top of the sessions' popularity: an agent that waits for answers can't send more than a few programs
/// a second into one session.
const SESSION_SHIFT: f64 = 1_000.0;

/// The hot session: more than it can run one after another.
pub const HOT_SESSION: u32 = 0;
pub const HOT_PER_SECOND: f64 = 10.0;

/// Executions by what they need; the others are Python.
const TYPESCRIPT: f64 = 0.20;
const NATIVE: f64 = 0.05;

/// CPU of a program, in microseconds: most filter what servers answered, a few compute for long.
const BODY: Lognormal = Lognormal { median: 15_000.0, sigma: 1.4 };
const TAIL: Pareto = Pareto { least: 400_000.0, shape: 1.2 };
const IN_TAIL: f64 = 0.04;

/// Calls of a program, one after another.
const CALLS_MEAN: f64 = 3.0;
const CALLS_MAX: u32 = 1_000;

/// What a server takes for one.
const SERVER: Lognormal = Lognormal { median: 60_000.0, sigma: 1.0 };
const SERVER_MAX_US: f64 = 30_000_000.0;

/// Calls that write.
const WRITES: f64 = 0.15;

/// What an execution is queued by: engine, level and labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Python,
    Typescript,
    /// Only nodes with a label run it.
    Native,
}

impl Class {
    pub const ALL: [Self; 3] = [Self::Python, Self::Typescript, Self::Native];
}

/// One execution, as it's asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    pub owner: u32,
    pub session: Option<u32>,
    pub class: Class,
    /// Of the program: the same one when it runs again.
    pub seed: u64,
}

pub struct Load {
    random: Random,
    seed: u64,
    mean_gap_us: f64,
    hot: f64,
    owners: Zipf,
    sessions: Zipf,
}

impl Load {
    pub fn new(settings: &Settings) -> Self {
        Self {
            random: Random::stream(settings.seed, 1),
            seed: settings.seed,
            mean_gap_us: 1e6 / settings.rate,
            hot: (HOT_PER_SECOND / settings.rate).min(0.01),
            owners: Zipf::new(OWNERS, 1.0, 1.0),
            sessions: Zipf::new(settings.sessions, 1.0, SESSION_SHIFT),
        }
    }

    /// Time to the next request: nobody waits for anybody.
    pub fn gap_us(&mut self) -> u64 {
        self.random.exponential(self.mean_gap_us).round() as u64
    }

    pub fn request(&mut self) -> Request {
        let session = if self.random.happens(self.hot) {
            Some(HOT_SESSION)
        } else if self.random.happens(IN_SESSION) {
            Some(self.sessions.draw(&mut self.random) as u32)
        } else {
            None
        };
        let owner = match session {
            Some(session) => self.owner_of(session),
            None => self.owners.draw(&mut self.random) as u32,
        };
        let kind = self.random.unit();
        let class = if kind < NATIVE {
            Class::Native
        } else if kind < NATIVE + TYPESCRIPT {
            Class::Typescript
        } else {
            Class::Python
        };
        Request { owner, session, class, seed: self.random.bits() }
    }

    /// A session has one owner for ever. The hot one isn't the largest owner's, so that both can be told apart.
    pub fn owner_of(&self, session: u32) -> u32 {
        match session {
            HOT_SESSION => SMALL_OWNERS_FROM,
            session => self.owners.draw(&mut Random::stream(self.seed, 1_000 + u64::from(session))) as u32,
        }
    }
}

/// What a program does: computing and calls in turn.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    random: Random,
    /// CPU before, between and after its calls.
    pub slice_us: f64,
    pub calls_left: u32,
}

/// One call to a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerCall {
    pub takes_us: u64,
    pub writes: bool,
}

impl Program {
    pub fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let calls = random.geometric(CALLS_MEAN).min(CALLS_MAX);
        let cpu = match random.happens(IN_TAIL) {
            true => TAIL.draw(&mut random),
            false => BODY.draw(&mut random),
        };
        let cpu = cpu.min(WALL_LIMIT_US as f64) + FRESH_WORKER_US;
        Self { random, slice_us: cpu / f64::from(calls + 1), calls_left: calls }
    }

    pub fn call(&mut self) -> ServerCall {
        let takes_us = SERVER.draw(&mut self.random).min(SERVER_MAX_US) as u64;
        ServerCall { takes_us, writes: self.random.happens(WRITES) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::small;
    use super::*;

    const DRAWN: usize = 200_000;

    fn near(found: f64, expected: f64, tolerance: f64) {
        assert!((found / expected - 1.0).abs() <= tolerance, "{found}, and not {expected}");
    }

    #[test]
    fn programs_are_mostly_short_and_sometimes_very_long() {
        let mut seeds = Random::new(1);
        let all: Vec<(f64, u32)> = (0..DRAWN)
            .map(|_| Program::of(seeds.bits()))
            .map(|program| (program.slice_us * f64::from(program.calls_left + 1), program.calls_left))
            .collect();
        let share = |limit_us: f64| {
            all.iter().filter(|(cpu, _)| *cpu > limit_us + FRESH_WORKER_US).count() as f64 / DRAWN as f64
        };
        near(share(15_000.0), 0.52, 0.02);
        // Above 4 s there is nothing but the tail: a tenth of its least value is exceeded 10^1.2 times as rarely.
        near(share(4_000_000.0), 0.04 / 10f64.powf(1.2), 0.1);
        let longest = all.iter().map(|(cpu, _)| *cpu).fold(0.0, f64::max);
        assert!(longest <= WALL_LIMIT_US as f64 + FRESH_WORKER_US + 1.0, "{longest}");
        let cpu = all.iter().map(|(cpu, _)| cpu).sum::<f64>() / DRAWN as f64;
        // 0.96 of the body's mean, 0.04 of the bounded tail's, and the worker.
        near(cpu, 0.96 * 39_967.0 + 0.04 * 1_660_000.0 + FRESH_WORKER_US, 0.08);
        let calls = all.iter().map(|(_, calls)| f64::from(*calls)).sum::<f64>() / DRAWN as f64;
        near(calls, CALLS_MEAN, 0.02);
    }

    #[test]
    fn servers_answer_in_their_time_and_some_calls_write() {
        let mut program = Program::of(4);
        let calls: Vec<ServerCall> = (0..DRAWN).map(|_| program.call()).collect();
        let mean = calls.iter().map(|call| call.takes_us as f64).sum::<f64>() / DRAWN as f64;
        near(mean, 60_000.0 * 0.5f64.exp(), 0.02);
        near(calls.iter().filter(|call| call.writes).count() as f64 / DRAWN as f64, WRITES, 0.03);
    }

    #[test]
    fn a_program_that_runs_again_does_the_same() {
        let course = |mut program: Program| {
            let call = program.call();
            (program.slice_us, program.calls_left, call.takes_us, call.writes)
        };
        assert_eq!(course(Program::of(9)), course(Program::of(9)));
        assert_ne!(course(Program::of(9)), course(Program::of(10)));
    }

    #[test]
    fn requests_have_popular_owners_a_hot_session_and_few_native_programs() {
        let settings = Settings { rate: 2_000.0, sessions: 1_000_000, ..small() };
        let mut load = Load::new(&settings);
        let all: Vec<Request> = (0..DRAWN).map(|_| load.request()).collect();
        let share =
            |is: &dyn Fn(&Request) -> bool| all.iter().filter(|one| is(one)).count() as f64 / DRAWN as f64;
        near(share(&|one| one.owner == LARGEST_OWNER), 0.102, 0.05);
        near(share(&|one| one.owner >= SMALL_OWNERS_FROM), 0.50, 0.05);
        near(share(&|one| one.session == Some(HOT_SESSION)), HOT_PER_SECOND / settings.rate, 0.1);
        near(share(&|one| one.session.is_some()), 0.5, 0.02);
        near(share(&|one| one.class == Class::Native), NATIVE, 0.05);
        let strangers = all.iter().filter(|one| one.session.is_some_and(|s| load.owner_of(s) != one.owner));
        assert_eq!(strangers.count(), 0);
        let gaps: u64 = (0..DRAWN).map(|_| load.gap_us()).sum();
        near(gaps as f64 / DRAWN as f64, 1e6 / settings.rate, 0.01);
    }
}
