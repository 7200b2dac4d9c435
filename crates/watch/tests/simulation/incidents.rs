//! Twenty kinds of trouble, put into a normal day.

use gristmill_watch::{Anomaly, CallOutcome, Kind, Outcome};

use crate::day::{DAY_MS, Event, HOUR_MS, MEMORY_LIMIT, Maker, TIME_LIMIT_MS, called, start_of};
use crate::forces::Force;
use crate::random::Random;
use crate::world::{Caller, Habit, RARE_SERVER, World};

pub const NAMES: [&str; 20] = [
    "server down",
    "tool fails",
    "agent fails",
    "gateway fails",
    "tries denied tools",
    "denials creep in",
    "call storm of a caller",
    "call storm on a tool",
    "output flood",
    "memory near limit",
    "time near limit",
    "first use of a tool",
    "first use of a server",
    "answers grow",
    "answers shrink",
    "answers change shape",
    "loop of a failing program",
    "loop of a working program",
    "savings become losses",
    "work at night",
];

/// What was put in, and which finding tells it.
pub struct Incident {
    pub from_ms: u64,
    kinds: &'static [Kind],
    about: String,
    pub is_burst: bool,
}

impl Incident {
    pub fn is_told_by(&self, anomaly: &Anomaly) -> bool {
        self.kinds.contains(&anomaly.kind)
            && anomaly.key.contains(&self.about)
            && anomaly.at_ms >= self.from_ms
    }
}

struct Scene<'a> {
    world: &'a World,
    force: Force,
    day: usize,
    random: &'a mut Random,
    events: &'a mut Vec<Event>,
    from_ms: u64,
}

/// Puts the incident of this number into a day.
pub fn inject(
    number: usize,
    world: &World,
    force: Force,
    day: usize,
    random: &mut Random,
    events: &mut Vec<Event>,
) -> Incident {
    let from_ms = start_of(day) + (random.between(10.0, 14.5) * HOUR_MS) as u64;
    let mut scene = Scene { world, force, day, random, events, from_ms };
    let (kinds, about): (&'static [Kind], String) = match number {
        0 => (&[Kind::CallFailures], scene.server_down()),
        1 => (&[Kind::CallFailures], scene.tool_fails()),
        2 => (&[Kind::Failures], scene.agent_fails()),
        3 => (&[Kind::SystemFailures, Kind::Failures], scene.gateway_fails()),
        4 => (&[Kind::Denials], scene.denials(force.probe_gap_s, force.probe_tools)),
        5 => (&[Kind::Denials], scene.denials(force.creep_gap_s, 1)),
        6 => (&[Kind::Calls], scene.call_storm()),
        7 => (&[Kind::Calls], scene.tool_storm()),
        8 => (&[Kind::Output], scene.flood()),
        9 => (&[Kind::MemoryNearLimit], scene.near_limit(true)),
        10 => (&[Kind::TimeNearLimit], scene.near_limit(false)),
        11 => (&[Kind::FirstTool], scene.first_use(false)),
        12 => (&[Kind::FirstServer], scene.first_use(true)),
        13 => (&[Kind::AnswerSize], scene.answers(Change::Grow)),
        14 => (&[Kind::AnswerSize], scene.answers(Change::Shrink)),
        15 => (&[Kind::AnswerShape], scene.answers(Change::Shape)),
        16 => (&[Kind::RepeatedProgram], scene.stuck(force.loop_gap_s, true)),
        17 => (&[Kind::RepeatedProgram], scene.stuck(force.good_loop_gap_s, false)),
        18 => (&[Kind::SavingsLost], scene.losses()),
        _ => (&[Kind::UnusualHours], scene.night()),
    };
    let from_ms = scene.from_ms;
    events.sort_by_key(Event::at_ms);
    Incident { from_ms, kinds, about, is_burst: matches!(number, 0 | 2 | 3 | 4 | 6 | 7 | 8) }
}

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Grow,
    Shrink,
    Shape,
}

impl Scene<'_> {
    fn office(&self) -> Vec<&Caller> {
        let is_there =
            |caller: &&Caller| matches!(caller.habit, Habit::Office { .. }) && caller.from_day == 0;
        self.world.callers.iter().filter(is_there).collect()
    }

    /// The person with the most work after the incident has begun.
    fn busiest(&self) -> &Caller {
        let runs = |name: &str| {
            let is_theirs = |event: &&Event| matches!(event, Event::Executed(it) if it.caller == name && it.at_ms > self.from_ms);
            self.events.iter().filter(is_theirs).count()
        };
        self.office().into_iter().max_by_key(|caller| runs(&caller.name)).expect("somebody works")
    }

    /// One of the five tools that are called most after the incident has begun.
    fn busy_tool(&mut self) -> usize {
        let mut counts: Vec<(usize, usize)> = (0..self.world.tools.len())
            .map(|index| {
                let tool = &self.world.tools[index];
                let is_its = |event: &&Event| {
                    matches!(event, Event::Called(it)
                        if it.server == tool.server && it.tool == tool.name && it.at_ms > self.from_ms)
                };
                // A tool without a shape of its own can't change it.
                let is_steady = tool.shapes < 10;
                (if is_steady { self.events.iter().filter(is_its).count() } else { 0 }, index)
            })
            .collect();
        counts.sort_unstable();
        counts[counts.len() - 1 - self.random.below(5)].1
    }

    fn maker<'b>(&'b mut self, caller: &'b Caller) -> Maker<'b> {
        Maker { world: self.world, caller, day: self.day, random: self.random, events: self.events }
    }

    fn server_down(&mut self) -> String {
        let tool = self.busy_tool();
        let server = self.world.tools[tool].server.clone();
        let until_ms = self.from_ms + 20 * 60_000;
        for event in self.events.iter_mut() {
            if let Event::Called(it) = event
                && it.server == server
                && (self.from_ms..until_ms).contains(&it.at_ms)
            {
                let is_down = self.random.chance(self.force.fails);
                it.outcome = if is_down { CallOutcome::Failed } else { it.outcome };
            }
        }
        let world = self.world;
        let (gap_s, fails) = (self.force.retry_s, self.force.fails);
        for step in 0..40 {
            let caller = &world.callers[step % 2];
            let at = self.from_ms + (step as f64 * gap_s * 1000.0) as u64;
            let mut maker = self.maker(caller);
            let mut run = maker.execution(at, None, step as u64 + 1_000_000);
            for attempt in 0..2 {
                let is_down = maker.random.chance(fails);
                let outcome = if is_down { CallOutcome::Failed } else { CallOutcome::Answered };
                maker.call(&run.id, at + 100 * (attempt + 1), tool, outcome);
            }
            run.at_ms = at + 400;
            maker.events.push(Event::Executed(run));
        }
        server
    }

    fn tool_fails(&mut self) -> String {
        let tool = &self.world.tools[self.busy_tool()];
        for event in self.events.iter_mut() {
            if let Event::Called(it) = event
                && it.server == tool.server
                && it.tool == tool.name
                && it.at_ms >= self.from_ms
                && self.random.chance(self.force.fails)
            {
                it.outcome = CallOutcome::Failed;
            }
        }
        tool.server.clone()
    }

    fn agent_fails(&mut self) -> String {
        let name = self.busiest().name.clone();
        let (gap_s, fails) = (self.force.agent_gap_s, self.force.fails);
        self.extra_runs(&name, gap_s, 240.0, |run, random, _| {
            if random.chance(fails) {
                run.outcome = Outcome::ProgramFailed;
                run.code = Some("GM-1201".to_owned());
            } else {
                run.outcome = Outcome::Succeeded;
            }
        });
        name
    }

    fn gateway_fails(&mut self) -> String {
        let until_ms = self.from_ms + 10 * 60_000;
        let fails = self.force.fails;
        for event in self.events.iter_mut() {
            if let Event::Executed(it) = event
                && (self.from_ms..until_ms).contains(&it.at_ms)
                && self.random.chance(fails)
            {
                it.outcome = Outcome::SystemFailed;
            }
        }
        let names: Vec<String> = self.office().iter().take(3).map(|caller| caller.name.clone()).collect();
        let gap_s = self.force.agent_gap_s * 2.0;
        for name in names {
            self.extra_runs(&name, gap_s, 120.0, |run, random, _| {
                run.outcome = if random.chance(fails) { Outcome::SystemFailed } else { Outcome::Succeeded };
                run.code = Some("GM-4002".to_owned());
            });
        }
        "gateway".to_owned()
    }

    /// A session that begins with the incident.
    fn extra_runs(
        &mut self,
        name: &str,
        gap_s: f64,
        for_s: f64,
        change: impl Fn(&mut gristmill_watch::Executed, &mut Random, usize),
    ) {
        let world = self.world;
        let caller = world.callers.iter().find(|caller| caller.name == name).expect("a caller");
        let session = Some(format!("incident-{}", self.random.bits() % 1000));
        let from_ms = self.from_ms;
        let mut at = 0.0;
        let mut index = 0;
        while at < for_s {
            let maker = &mut self.maker(caller);
            let program = maker.random.bits();
            let mut run = maker.execution(from_ms, session.clone(), program);
            run.at_ms = from_ms + (at * 1000.0) as u64;
            change(&mut run, maker.random, index);
            maker.events.push(Event::Executed(run));
            at += gap_s * maker.random.between(0.8, 1.2);
            index += 1;
        }
    }

    fn denials(&mut self, gap_s: f64, tools: usize) -> String {
        let name = self.busiest().name.clone();
        for step in 0..40 {
            let tool = &self.world.tools[step % tools];
            let at = self.from_ms + (step as f64 * gap_s * 1000.0) as u64;
            let execution = format!("denied-{}", step / if tools > 1 { 8 } else { 1 });
            let call = called(self.random, tool, &name, &execution, at, CallOutcome::Denied);
            self.events.push(Event::Called(call));
        }
        name
    }

    fn call_storm(&mut self) -> String {
        let name = self.busiest().name.clone();
        let tool = self.world.callers.iter().find(|it| it.name == name).expect("a caller").tools[0].0;
        let a_second = self.force.storm_a_second;
        for step in 0..(a_second * 180.0) as u64 {
            let at = self.from_ms + (step as f64 * 1000.0 / a_second) as u64;
            let tool = &self.world.tools[tool];
            let call = called(self.random, tool, &name, "storm", at, CallOutcome::Answered);
            self.events.push(Event::Called(call));
        }
        name
    }

    fn tool_storm(&mut self) -> String {
        let tool = &self.world.tools[self.busy_tool()];
        let names: Vec<String> = self.office().iter().take(4).map(|caller| caller.name.clone()).collect();
        let a_second = self.force.tool_storm_a_second;
        for (index, name) in names.iter().enumerate() {
            for step in 0..(a_second * 180.0) as u64 {
                let at = self.from_ms + (step as f64 * 1000.0 / a_second) as u64 + index as u64;
                let execution = format!("storm-{index}");
                let call = called(self.random, tool, name, &execution, at, CallOutcome::Answered);
                self.events.push(Event::Called(call));
            }
        }
        format!("tool {}.{}", tool.server, tool.name)
    }

    fn flood(&mut self) -> String {
        let name = self.busiest().name.clone();
        let (gap_s, bytes) = (self.force.flood_gap_s, self.force.flood_bytes);
        self.extra_runs(&name, gap_s, 180.0, |run, _, _| run.output_bytes = bytes);
        name
    }

    fn near_limit(&mut self, is_memory: bool) -> String {
        let name = self.busiest().name.clone();
        for event in self.events.iter_mut() {
            if let Event::Executed(it) = event
                && it.caller == name
                && it.at_ms >= self.from_ms
                && self.random.chance(self.force.near_share)
            {
                let near = self.force.near + self.random.between(0.0, 0.02);
                if is_memory {
                    it.memory_peak_bytes = (MEMORY_LIMIT as f64 * near) as u64;
                } else {
                    it.duration_ms = (TIME_LIMIT_MS as f64 * near) as u64;
                }
            }
        }
        name
    }

    fn first_use(&mut self, of_a_server: bool) -> String {
        let caller = self.busiest();
        let knows = |tool: usize| caller.tools.iter().any(|(known, _)| *known == tool);
        let knows_server = |server: usize| caller.tools.iter().any(|(known, _)| known / 4 == server);
        let all = 0..self.world.tools.len() - 1;
        let strange = |tool: &usize| {
            if of_a_server { !knows_server(tool / 4) } else { !knows(*tool) && knows_server(tool / 4) }
        };
        let fitting: Vec<usize> = all.filter(strange).collect();
        let name = caller.name.clone();
        let tool = if fitting.is_empty() { self.world.tools.len() - 1 } else { *self.random.pick(&fitting) };
        let tool = &self.world.tools[tool];
        assert!(of_a_server || tool.server != RARE_SERVER, "a known server has another tool");
        let call = called(self.random, tool, &name, "first", self.from_ms, CallOutcome::Answered);
        self.events.push(Event::Called(call));
        name
    }

    fn answers(&mut self, change: Change) -> String {
        let tool = &self.world.tools[self.busy_tool()];
        for event in self.events.iter_mut() {
            if let Event::Called(it) = event
                && it.server == tool.server
                && it.tool == tool.name
                && it.at_ms >= self.from_ms
            {
                match change {
                    Change::Grow => it.answer_bytes = (it.answer_bytes as f64 * self.force.grows) as u64,
                    Change::Shrink => it.answer_bytes = it.answer_bytes.min(self.force.shrinks_to),
                    Change::Shape if self.random.chance(self.force.other_shape) => it.shape = 777_777,
                    Change::Shape => {}
                }
            }
        }
        format!("tool {}.{}", tool.server, tool.name)
    }

    fn stuck(&mut self, gap_s: f64, fails: bool) -> String {
        let name = self.busiest().name.clone();
        let alternates = self.force.alternates;
        self.extra_runs(&name, gap_s, 900.0, |run, _, index| {
            run.program = if alternates && index % 2 == 1 { 5555 } else { 4444 };
            run.outcome = if fails { Outcome::ProgramFailed } else { Outcome::Succeeded };
        });
        name
    }

    fn losses(&mut self) -> String {
        let name = self.busiest().name.clone();
        for event in self.events.iter_mut() {
            if let Event::Executed(it) = event
                && it.caller == name
                && it.at_ms >= self.from_ms
                && self.random.chance(self.force.loss_share)
            {
                it.tokens_saved = Some(-self.force.loss);
            }
        }
        name
    }

    fn night(&mut self) -> String {
        let name = self.busiest().name.clone();
        self.from_ms = start_of(self.day) + (self.force.night_hour * HOUR_MS) as u64 % DAY_MS;
        let gap_s = self.force.night_gap_s;
        self.extra_runs(&name, gap_s, 2400.0, |_, _, _| {});
        name
    }
}
