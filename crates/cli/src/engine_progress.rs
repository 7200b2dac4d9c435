//! The engine's one-time compilation, shown while it happens.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use gristmill_gateway::Folders;
use gristmill_worker::Artifact;

/// What the compilation usually takes on two cores; the bar is drawn against it.
const USUAL: Duration = Duration::from_secs(13);

const BAR_CELLS: usize = 24;

/// Where the compiled engine belongs.
pub fn artifact() -> anyhow::Result<Artifact> {
    let folders = Folders::from_environment()?;
    Ok(Artifact::in_cache(folders.cache.join("engines"))?)
}

/// Compiles the engine if there is no compiled one, with a bar on stderr.
pub fn prepare() -> anyhow::Result<()> {
    let artifact = artifact()?;
    // The worker checks the file's hash when it loads it; here it is enough that there is one.
    if artifact.is_ready() {
        return Ok(());
    }
    compile(&artifact)
}

/// Compiles, with a bar on stderr.
pub fn compile(artifact: &Artifact) -> anyhow::Result<()> {
    let executable = std::env::current_exe()?;
    let mut bar = Bar::new(io::stderr().is_terminal());
    artifact.prepare(&executable, |progress| bar.draw(progress.elapsed))?;
    bar.finish();
    Ok(())
}

struct Bar {
    terminal: bool,
    begun: bool,
}

impl Bar {
    fn new(terminal: bool) -> Self {
        Self { terminal, begun: false }
    }

    fn draw(&mut self, elapsed: Duration) {
        if !self.terminal {
            if !self.begun {
                self.begun = true;
                eprintln!("compiling the Python engine for this machine, once (about {} s)", USUAL.as_secs());
            }
            return;
        }
        self.begun = true;
        // Never full before it is done.
        let share = (elapsed.as_secs_f64() / USUAL.as_secs_f64()).min(0.97);
        let full = (share * BAR_CELLS as f64) as usize;
        let _ = write!(
            io::stderr(),
            "\r\x1b[Kcompiling the engine, once [{}{}] {:>2} s",
            "█".repeat(full),
            "░".repeat(BAR_CELLS - full),
            elapsed.as_secs()
        );
        let _ = io::stderr().flush();
    }

    fn finish(&self) {
        if self.terminal && self.begun {
            eprintln!("\r\x1b[Kcompiled the Python engine for this machine");
        }
    }
}
