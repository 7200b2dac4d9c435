//! What else runs JavaScript on this machine: node, and deno where it is installed.

use std::process::{Command, Stdio};
use std::time::Instant;

use super::figures::Percentiles;

#[derive(Clone, Copy)]
pub struct Runtime {
    pub name: &'static str,
    /// What comes before the code.
    arguments: &'static [&'static str],
}

pub const NODE: Runtime = Runtime { name: "node", arguments: &["-e"] };
pub const DENO: Runtime = Runtime { name: "deno", arguments: &["eval"] };

impl Runtime {
    /// The time of `1 + 1` from nothing, where there is one.
    pub fn cold(self, rounds: usize) -> Option<Percentiles> {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let started = Instant::now();
            let status = self.command("1 + 1").stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
            times.push(started.elapsed());
            if !status.success() {
                return None;
            }
        }
        Some(Percentiles::of(times))
    }

    /// What a workload says of itself, the best of three.
    pub fn best_of_three(self, code: &str) -> Option<f64> {
        // A workload ends in `export default` and its figure.
        let code = code.replace("export default ", "console.log(") + ")";
        (0..3)
            .filter_map(|_| {
                let output = self.command(&code).output().ok()?;
                String::from_utf8(output.stdout).ok()?.trim().parse().ok()
            })
            .reduce(f64::min)
    }

    fn command(self, code: &str) -> Command {
        let mut command = Command::new(self.name);
        command.args(self.arguments).arg(code).stdin(Stdio::null());
        command
    }
}
