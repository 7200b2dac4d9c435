//! The figures, the bars they are held against, and both as text and JSON.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

use super::workloads::Compared;

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Percentiles {
    pub p50_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub rounds: usize,
}

impl Percentiles {
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |share: f64| {
            let index = ((times.len() as f64 - 1.0) * share).round() as usize;
            times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Self { p50_us: at(0.50), p95_us: at(0.95), p99_us: at(0.99), rounds: times.len() }
    }
}

/// Everything that was measured.
pub struct Figures {
    pub machine: String,
    pub cold_python: Option<Percentiles>,
    pub fresh_instance: Option<Percentiles>,
    pub forked_on_demand: Option<Percentiles>,
    pub forked_ahead: Option<Percentiles>,
    /// Into an interpreter that a session has.
    pub kept: Option<Percentiles>,
    /// How many times as fast as a fresh worker, by turns in the same run.
    pub kept_ratio: Option<f64>,
    /// Its memory, shared pages included.
    pub kept_mb: Option<f64>,
    pub per_second: Option<f64>,
    pub tool_call_us: Option<Percentiles>,
    pub gather_ms: Option<f64>,
    pub private_kb: Option<u64>,
    pub workloads: Vec<Compared>,
}

/// What we promise, and whether this run kept it.
#[derive(Serialize)]
pub struct Bar {
    name: &'static str,
    promised: String,
    measured: String,
    /// `None`: could not be measured here.
    kept: Option<bool>,
}

impl Bar {
    pub fn all(figures: &Figures) -> Vec<Bar> {
        let ahead = figures.forked_ahead.map(|times| times.p50_us);
        let ratio = figures.cold_python.zip(ahead).map(|(cold, ahead)| cold.p50_us / ahead);
        let call = figures.tool_call_us.map(|times| times.p50_us);
        let private_mb = figures.private_kb.map(|kb| kb as f64 / 1024.0);
        let at_most = |name, value: Option<f64>, bar: f64, unit: &str| Bar {
            name,
            promised: format!("at most {bar} {unit}"),
            measured: value.map_or("not measurable here".to_owned(), |value| format!("{value:.2} {unit}")),
            kept: value.map(|value| value <= bar),
        };
        let at_least = |name, value: Option<f64>, bar: f64, unit: &str| Bar {
            name,
            promised: format!("at least {bar} {unit}"),
            measured: value.map_or("not measurable here".to_owned(), |value| format!("{value:.1} {unit}")),
            kept: value.map(|value| value >= bar),
        };
        vec![
            at_most("a worker forked ahead, p50", ahead.map(|us| us / 1000.0), 1.5, "ms"),
            at_least("against cold python3 -c", ratio, 15.0, "times faster"),
            at_least("sustained, a fresh process each", figures.per_second, 250.0, "per second"),
            at_most("tool-call round trip, p50", call, 100.0, "us"),
            at_most("private memory of a waiting worker", private_mb, 4.0, "MB"),
        ]
    }
}

impl Figures {
    pub fn new(machine: String) -> Self {
        Self {
            machine,
            cold_python: None,
            fresh_instance: None,
            forked_on_demand: None,
            forked_ahead: None,
            kept: None,
            kept_ratio: None,
            kept_mb: None,
            per_second: None,
            tool_call_us: None,
            gather_ms: None,
            private_kb: None,
            workloads: Vec::new(),
        }
    }

    pub fn json(&self, bars: &[Bar]) -> Value {
        let workloads: Vec<Value> = self
            .workloads
            .iter()
            .map(|one| json!({ "name": one.name, "ours_ms": one.ours_ms, "native_ms": one.native_ms }))
            .collect();
        json!({
            "machine": self.machine,
            "cold_python3": self.cold_python,
            "fresh_instance": self.fresh_instance,
            "forked_on_demand": self.forked_on_demand,
            "forked_ahead": self.forked_ahead,
            "kept_interpreter": self.kept,
            "kept_interpreter_times_as_fast_as_fresh": self.kept_ratio,
            "kept_interpreter_resident_mb": self.kept_mb,
            "executions_per_second": self.per_second,
            "tool_call_round_trip": self.tool_call_us,
            "gather_10_x_100_ms": self.gather_ms,
            "private_kb_per_waiting_worker": self.private_kb,
            "workloads": workloads,
            "bars": bars,
        })
    }

    pub fn print(&self, bars: &[Bar]) {
        println!("{}\n", self.machine);
        self.print_times();
        self.print_single_figures();
        self.print_workloads();
        print_promises(bars);
    }

    fn print_times(&self) {
        println!("| one program, `1 + 1`, from request to answer | p50 | p95 | p99 | against cold python3 |");
        println!("|---|---|---|---|---|");
        let cold = self.cold_python.map(|times| times.p50_us);
        for (name, times) in [
            ("cold `python3 -c`, no sandbox", self.cold_python),
            ("fresh WebAssembly instance in process, no jail", self.fresh_instance),
            ("worker forked on demand", self.forked_on_demand),
            ("worker forked ahead", self.forked_ahead),
            ("interpreter kept by its session", self.kept),
        ] {
            match times {
                Some(times) => {
                    let ratio = cold.map_or("-".to_owned(), |cold| format!("{:.1}x", cold / times.p50_us));
                    println!(
                        "| {name} | {:.2} ms | {:.2} ms | {:.2} ms | {ratio} |",
                        times.p50_us / 1000.0,
                        times.p95_us / 1000.0,
                        times.p99_us / 1000.0
                    );
                }
                None => println!("| {name} | - | - | - | - |"),
            }
        }
    }

    fn print_single_figures(&self) {
        println!("\n| | |\n|---|---|");
        if let Some(ratio) = self.kept_ratio {
            println!("| a kept interpreter against a fresh worker, by turns | {ratio:.2} times as fast |");
        }
        if let Some(mb) = self.kept_mb {
            println!("| a kept interpreter's memory, shared pages included | {mb:.1} MB |");
        }
        if let Some(per_second) = self.per_second {
            println!("| executions per second on all cores, each in a fresh process | {per_second:.0} |");
        }
        if let Some(calls) = self.tool_call_us {
            println!(
                "| tool-call round trip, program to gateway and back | p50 {:.0} us, p95 {:.0} us, p99 {:.0} us ({:.0} per second) |",
                calls.p50_us,
                calls.p95_us,
                calls.p99_us,
                1e6 / calls.p50_us
            );
        }
        if let Some(gather_ms) = self.gather_ms {
            println!("| ten tools of 100 ms in asyncio.gather | {gather_ms:.1} ms |");
        }
        match self.private_kb {
            Some(kb) => println!("| private memory of a waiting worker | {:.2} MB |", kb as f64 / 1024.0),
            None => println!("| private memory of a waiting worker | only root may look |"),
        }
    }

    fn print_workloads(&self) {
        println!("\n| computing, best of three | sandbox | python3 | ratio |\n|---|---|---|---|");
        for one in &self.workloads {
            match one.native_ms {
                Some(native) => println!(
                    "| {} | {:.0} ms | {native:.0} ms | {:.1}x |",
                    one.name,
                    one.ours_ms,
                    one.ours_ms / native
                ),
                None => println!("| {} | {:.0} ms | - | - |", one.name, one.ours_ms),
            }
        }
    }
}

fn print_promises(bars: &[Bar]) {
    println!("\n| promise | measured | kept |\n|---|---|---|");
    for bar in bars {
        let kept = match bar.kept {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "-",
        };
        println!("| {}: {} | {} | {kept} |", bar.name, bar.promised, bar.measured);
    }
}
