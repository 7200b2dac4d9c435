//! `gristmill bench guest`: how fast Python computes in the sandbox, next to the machine's own python3. The programs
//! are of the kinds that pyperformance has, and their results must be the same on both sides.

use std::process::ExitCode;

use anyhow::{anyhow, bail};
use gristmill_gateway::{EngineId, ExecuteRequest, Gateway};
use serde_json::{Value, json};

use super::machine;
use super::sandbox::gateway_of;
use crate::arguments::Bench;

/// Each has a function `work`, which gives something that depends on all of its work.
const PROGRAMS: [(&str, &str); 18] = [
    ("chaos", include_str!("guest_programs/chaos.py")),
    ("constraints", include_str!("guest_programs/constraints.py")),
    ("fannkuch", include_str!("guest_programs/fannkuch.py")),
    ("generators", include_str!("guest_programs/generators.py")),
    ("group and sort", include_str!("guest_programs/group_and_sort.py")),
    ("JSON dumps", include_str!("guest_programs/json_dumps.py")),
    ("JSON loads", include_str!("guest_programs/json_loads.py")),
    ("n-body", include_str!("guest_programs/nbody.py")),
    ("n queens", include_str!("guest_programs/nqueens.py")),
    ("pickle in Python", include_str!("guest_programs/pickle_pure.py")),
    ("digits of pi", include_str!("guest_programs/pidigits.py")),
    ("ray tracing", include_str!("guest_programs/raytrace.py")),
    ("regex DNA", include_str!("guest_programs/regex_dna.py")),
    ("rendering", include_str!("guest_programs/rendering.py")),
    ("scheduler", include_str!("guest_programs/scheduler.py")),
    ("spectral norm", include_str!("guest_programs/spectral_norm.py")),
    ("decimals", include_str!("guest_programs/telco.py")),
    ("unpacking", include_str!("guest_programs/unpack_sequence.py")),
];

/// The best of so many counts: whatever else the machine does only ever takes time.
const ROUNDS_MAX: usize = 5;

/// One program on both sides: the least CPU time that it took.
struct Compared {
    name: &'static str,
    ours_ms: f64,
    native_ms: f64,
}

impl Compared {
    fn ratio(&self) -> f64 {
        self.ours_ms / self.native_ms
    }
}

/// What a program took, and what came of it.
struct Done {
    cpu_ms: f64,
    value: Value,
}

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let rounds = arguments.rounds.clamp(1, ROUNDS_MAX);
    let gateway = gateway_of(EngineId::Python, 1).await?;
    gateway.ready().await.map_err(|reason| anyhow!(reason))?;
    let version = machine::native_output("import sys; print(sys.version.split()[0])")
        .ok_or_else(|| anyhow!("there is no python3 to compare with"))?;
    let mut compared = Vec::new();
    for (name, code) in PROGRAMS {
        eprintln!("measuring {name}");
        compared.push(compare(&gateway, name, code, rounds).await?);
    }
    gateway.shutdown().await;
    print(&compared, version.trim(), arguments.json)?;
    Ok(ExitCode::SUCCESS)
}

/// By turns, so that whatever else the machine does meets both.
async fn compare(
    gateway: &Gateway,
    name: &'static str,
    code: &str,
    rounds: usize,
) -> anyhow::Result<Compared> {
    let mut compared = Compared { name, ours_ms: f64::INFINITY, native_ms: f64::INFINITY };
    for _ in 0..rounds {
        let ours = in_sandbox(gateway, code).await.map_err(|error| error.context(name))?;
        let native = natively(code).map_err(|error| error.context(name))?;
        if ours.value != native.value {
            bail!("{name}: the sandbox has {}, and python3 has {}", ours.value, native.value);
        }
        compared.ours_ms = compared.ours_ms.min(ours.cpu_ms);
        compared.native_ms = compared.native_ms.min(native.cpu_ms);
    }
    Ok(compared)
}

async fn in_sandbox(gateway: &Gateway, code: &str) -> anyhow::Result<Done> {
    let report = gateway.execute(ExecuteRequest::python(format!("{code}\nresult = work()\n"))).finish().await;
    // Of the process that ran it. The guest's own clocks tell the time that passed, not the time that it had.
    let cpu_ms = report.cpu_time_ms;
    match report.result {
        Some(value) => Ok(Done { cpu_ms, value }),
        None => Err(anyhow!("{:?}", report.error)),
    }
}

fn natively(code: &str) -> anyhow::Result<Done> {
    let code = format!(
        "import json, time\nbegan = time.process_time()\n{code}\nvalue = work()\n\
         print(json.dumps([(time.process_time() - began) * 1000, value]))\n"
    );
    let said = machine::native_output(&code).ok_or_else(|| anyhow!("python3 failed"))?;
    let (cpu_ms, value) = serde_json::from_str(&said)?;
    Ok(Done { cpu_ms, value })
}

/// How many times as long programs take, one with another.
fn geometric_mean(compared: &[Compared]) -> f64 {
    let sum: f64 = compared.iter().map(|one| one.ratio().ln()).sum();
    (sum / compared.len() as f64).exp()
}

fn print(compared: &[Compared], version: &str, as_json: bool) -> anyhow::Result<()> {
    let mean = geometric_mean(compared);
    if as_json {
        let programs: Vec<Value> = compared
            .iter()
            .map(|one| json!({ "name": one.name, "ours_ms": one.ours_ms, "native_ms": one.native_ms, "ratio": one.ratio() }))
            .collect();
        let all = json!({
            "machine": machine::describe(),
            "python3": version,
            "programs": programs,
            "geometric_mean": mean,
        });
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{}\n", machine::describe());
    println!("| CPU time, the best of each | sandbox | python3 {version} | ratio |\n|---|---|---|---|");
    for one in compared {
        println!("| {} | {:.0} ms | {:.0} ms | {:.2}x |", one.name, one.ours_ms, one.native_ms, one.ratio());
    }
    println!("| geometric mean | | | {mean:.2}x |");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_is_measured_under_a_name_of_its_own() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guest_programs");
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), PROGRAMS.len());
        let names: std::collections::BTreeSet<_> = PROGRAMS.iter().map(|(name, _)| name).collect();
        let codes: std::collections::BTreeSet<_> = PROGRAMS.iter().map(|(_, code)| code).collect();
        assert_eq!((names.len(), codes.len()), (PROGRAMS.len(), PROGRAMS.len()));
    }

    #[test]
    fn the_mean_is_geometric() {
        let one = |ours_ms, native_ms| Compared { name: "", ours_ms, native_ms };
        assert!((geometric_mean(&[one(20.0, 10.0), one(80.0, 10.0)]) - 4.0).abs() < 1e-9);
    }
}
