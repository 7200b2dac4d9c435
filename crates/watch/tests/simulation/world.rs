//! Who is there: servers with tools, callers with habits.

use crate::random::Random;

pub const SERVERS: [&str; 6] = ["crm", "files", "search", "mail", "billing", "tickets"];
/// Nobody uses it until somebody does.
pub const RARE_SERVER: &str = "payroll";

pub struct Tool {
    pub server: String,
    pub name: String,
    pub bytes: f64,
    pub spread: f64,
    pub shapes: usize,
    pub fails: f64,
    pub empty: f64,
    /// Whether programs call it in loops.
    pub is_looped: bool,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Habit {
    /// Weekdays, in tasks of several programs.
    Office { from: f64, to: f64, tasks_an_hour: f64 },
    /// The same few programs every night.
    Night { hour: f64 },
    /// Around the clock, one program for each request.
    Service { seconds: f64 },
    /// The same program, again and again, all day.
    Poller { seconds: f64 },
}

pub struct Caller {
    pub name: String,
    pub habit: Habit,
    /// Tools, the favorite first, and the day from which it uses each.
    pub tools: Vec<(usize, usize)>,
    /// The first day.
    pub from_day: usize,
    pub fails: f64,
    pub denied: f64,
    pub output: f64,
    pub memory: f64,
    pub time: f64,
    pub saved: f64,
    pub losses: f64,
}

/// How a world differs from another one.
#[derive(Clone, Copy)]
pub struct Shape {
    pub office: usize,
    pub night: usize,
    pub tasks_an_hour: (f64, f64),
    pub fails: (f64, f64),
    pub service_seconds: f64,
    pub poller_seconds: f64,
    /// How long loops over a tool are: median and spread.
    pub loops: (f64, f64),
    /// How often somebody works late.
    pub late: f64,
    /// Tools that each office caller adopts in a month, on average.
    pub adopts: f64,
}

pub struct World {
    pub tools: Vec<Tool>,
    pub callers: Vec<Caller>,
    pub shape: Shape,
}

impl World {
    pub fn new(random: &mut Random, shape: Shape, days: usize) -> Self {
        let mut tools = Vec::new();
        for server in SERVERS {
            for index in 0..4 {
                tools.push(tool(random, server, index));
            }
        }
        tools.push(tool(random, RARE_SERVER, 0));
        let mut callers = Vec::new();
        for index in 0..shape.office {
            callers.push(office(random, shape, index, days));
        }
        for index in 0..shape.night {
            callers.push(machine(
                random,
                format!("nightly-{index}"),
                Habit::Night { hour: 2.0 + index as f64 },
            ));
        }
        let service = Habit::Service { seconds: shape.service_seconds };
        callers.push(machine(random, "service".to_owned(), service));
        callers.push(machine(random, "poller".to_owned(), Habit::Poller { seconds: shape.poller_seconds }));
        // Somebody joins in the month that is measured.
        let mut newcomer = office(random, shape, shape.office, days);
        newcomer.from_day = 28 + random.below(20);
        callers.push(newcomer);
        Self { tools, callers, shape }
    }
}

fn tool(random: &mut Random, server: &str, index: usize) -> Tool {
    Tool {
        server: server.to_owned(),
        name: format!("{}_{index}", ["get", "list", "find", "send"][index % 4]),
        bytes: random.around(3000.0, 1.0).max(300.0),
        spread: random.between(0.2, 0.9),
        shapes: if random.chance(0.15) { 60 } else { 1 + random.below(4) },
        fails: random.between(0.002, 0.03),
        empty: if random.chance(0.3) { 0.1 } else { 0.0 },
        is_looped: index % 4 != 3,
    }
}

fn office(random: &mut Random, shape: Shape, index: usize, days: usize) -> Caller {
    let from = random.between(7.5, 10.0);
    let mut tools = Vec::new();
    let known = 6 + random.below(6);
    while tools.len() < known {
        // Two servers of six are strange to each caller.
        let tool = random.below(SERVERS.len() * 4);
        let is_strange = (tool / 4 + index).is_multiple_of(3);
        if !is_strange && tools.iter().all(|(known, _)| *known != tool) {
            tools.push((tool, 0));
        }
    }
    let servers: Vec<usize> = tools.iter().map(|(tool, _)| tool / 4).collect();
    for _ in 0..2 {
        let server = *random.pick(&servers);
        let tool = server * 4 + random.below(4);
        let is_adopted = random.chance(shape.adopts / 2.0);
        if is_adopted && tools.iter().all(|(known, _)| *known != tool) {
            tools.push((tool, 28 + random.below(days - 28)));
        }
    }
    Caller {
        name: format!("person-{index}"),
        habit: Habit::Office {
            from,
            to: from + random.between(8.0, 9.5),
            tasks_an_hour: random.between(shape.tasks_an_hour.0, shape.tasks_an_hour.1),
        },
        tools,
        from_day: 0,
        fails: random.between(shape.fails.0, shape.fails.1),
        denied: random.between(0.0, 0.006),
        output: random.around(2000.0, 0.7),
        memory: random.between(0.08, 0.3),
        time: random.between(0.02, 0.12),
        saved: random.around(3000.0, 0.5),
        losses: random.between(0.02, 0.2),
    }
}

fn machine(random: &mut Random, name: String, habit: Habit) -> Caller {
    let tools = (0..3).map(|_| (random.below(SERVERS.len() * 4), 0)).collect();
    Caller {
        name,
        habit,
        tools,
        from_day: 0,
        fails: 0.01,
        denied: 0.0,
        output: 800.0,
        memory: 0.2,
        time: 0.1,
        saved: 1500.0,
        losses: 0.05,
    }
}
