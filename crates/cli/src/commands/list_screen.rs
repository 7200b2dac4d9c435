//! The screen while servers are asked: a table that is drawn again with each answer, and a spinner below it.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use gristmill_gateway::domain::counted;

/// Between two pictures of the spinner.
pub const FRAME: Duration = Duration::from_millis(100);

const FRAMES: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// What is shown while servers are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Each server as it answers.
    Table,
    /// How many have answered.
    Spinner,
    Nothing,
}

impl Progress {
    /// As much of it as there is a terminal for.
    pub fn where_seen(self) -> Self {
        let is_plain = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let (stdout, stderr) = (std::io::stdout().is_terminal(), std::io::stderr().is_terminal());
        match self {
            Progress::Nothing => Progress::Nothing,
            _ if is_plain || !stderr => Progress::Nothing,
            Progress::Table if stdout => Progress::Table,
            Progress::Table | Progress::Spinner => Progress::Spinner,
        }
    }
}

/// Draws over what it drew before. A screen that cannot be written is nobody's loss.
pub struct Screen {
    progress: Progress,
    began: Instant,
    frame: usize,
    /// Lines of the table that are on the screen.
    drawn: usize,
}

impl Screen {
    pub fn new(progress: Progress) -> Self {
        Self { progress: progress.where_seen(), began: Instant::now(), frame: 0, drawn: 0 }
    }

    pub fn is_seen(&self) -> bool {
        self.progress != Progress::Nothing
    }

    /// The table as it is now.
    pub fn draw(&mut self, lines: impl FnOnce() -> Vec<String>) {
        if self.progress != Progress::Table {
            return;
        }
        self.erase();
        let lines = lines();
        // What has scrolled away cannot be drawn over.
        let rows =
            rustix::termios::tcgetwinsize(std::io::stdout()).map_or(0, |size| usize::from(size.ws_row));
        if lines.len() + 1 >= rows {
            return;
        }
        let mut stdout = std::io::stdout().lock();
        for line in &lines {
            let _ = writeln!(stdout, "{line}");
        }
        let _ = stdout.flush();
        self.drawn = lines.len();
    }

    /// The spinner's next picture.
    pub fn tick(&mut self, answered: usize, asked: usize) {
        if !self.is_seen() {
            return;
        }
        self.frame = (self.frame + 1) % FRAMES.len();
        let (frame, seconds) = (FRAMES[self.frame], self.began.elapsed().as_secs());
        let waited = if seconds == 0 { String::new() } else { format!(" {seconds} s") };
        let mut stderr = std::io::stderr();
        let _ =
            write!(stderr, "\r\x1b[K{frame} {answered} of {} answered…{waited}", counted(asked, "server"));
        let _ = stderr.flush();
    }

    /// Takes everything off the screen again.
    pub fn erase(&mut self) {
        if !self.is_seen() {
            return;
        }
        let mut stderr = std::io::stderr();
        let _ = write!(stderr, "\r\x1b[K");
        let _ = stderr.flush();
        let drawn = std::mem::take(&mut self.drawn);
        if drawn > 0 {
            let mut stdout = std::io::stdout();
            let _ = write!(stdout, "\x1b[{drawn}A\x1b[J");
            let _ = stdout.flush();
        }
    }
}
