//! A short run of every fuzz target: all seeds, what longer runs have kept, then changed inputs.
//!
//! Each target runs in a process of its own, so that a stack overflow, an allocation that fails or an
//! endless loop is a finding as well. What was found is written to a file, with how to play it again:
//!
//!     GRISTMILL_FUZZ_PLAY=FILE cargo test -p gristmill-fuzzing --test fuzz TARGET
//!
//! GRISTMILL_FUZZ_SECONDS and GRISTMILL_FUZZ_SEED change how long it goes on, and with which inputs. Of a run
//! for some seconds, inputs that got somewhere new are kept in the cache folder for the next one.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use gristmill_fuzzing::{
    ALL, Budget, Finding, Reached, Target, Told, by_name, corpus_folder, drive, keep, seed_folder, seeds,
};
use gristmill_testkit::TestFolder;
use libtest_mimic::{Arguments, Failed, Trial};

/// The target that this process is started for.
const CHILD: &str = "GRISTMILL_FUZZ_TARGET";
/// Where that process notes which input it is with.
const CURRENT: &str = "GRISTMILL_FUZZ_CURRENT";
/// An input to run instead of all others.
const PLAY: &str = "GRISTMILL_FUZZ_PLAY";
const SECONDS: &str = "GRISTMILL_FUZZ_SECONDS";
const SEED: &str = "GRISTMILL_FUZZ_SEED";

/// Each target, in CI. The same inputs on every machine, as far as time allows.
const INPUTS: usize = 20_000;
const TIME: Duration = Duration::from_secs(3);
const SEED_DEFAULT: u64 = 13;

/// What is run of the inputs that longer runs have kept: they must not make this one long.
const CORPUS_MAX: usize = 500;

/// Beyond its time a target may still be with one input; more is an endless loop.
const INPUT_TIME_MAX: Duration = Duration::from_secs(40);

/// What a target may map: far more than any needs, far less than a size that an input makes up.
const ADDRESS_BYTES_MAX: u64 = 8 << 30;

/// What is shown of what a target printed: its end, where the finding is.
const SAID_BYTES_MAX: usize = 8 * 1024;

/// A child that has found something ends with this.
const FOUND: u8 = 9;

fn main() -> ExitCode {
    if let Ok(name) = std::env::var(CHILD) {
        return child(&name);
    }
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> =
        ALL.iter().map(|target| Trial::test(target.name, || fuzz(target, None).map(drop))).collect();
    trials.push(Trial::test("a_broken_promise_is_found_and_kept_as_a_file", a_broken_promise));
    trials.push(Trial::test("a_crash_is_found_and_kept_as_a_file", a_crash));
    trials.push(Trial::test("an_endless_loop_is_found_and_kept_as_a_file", an_endless_loop));
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

// ---- the parent ----

/// Runs a target in a process of its own; what it printed.
fn fuzz(target: &Target, patience: Option<Duration>) -> Result<String, Failed> {
    let findings = findings_folder();
    std::fs::create_dir_all(&findings)?;
    let current = findings.join(format!("{}-current-{}", target.name, std::process::id()));
    // What targets leave there is gone with it.
    let temporary = TestFolder::new("fuzz");
    let (out, err) = (temporary.path().join("out"), temporary.path().join("err"));
    let mut child = Command::new(std::env::current_exe()?)
        .env("TMPDIR", temporary.path())
        .env(CHILD, target.name)
        .env(CURRENT, &current)
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::null())
        // Files, not pipes: nobody reads until it has ended, and a target may print a lot.
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()?;
    let time = number(SECONDS).map_or(TIME, Duration::from_secs);
    let until = Instant::now() + patience.unwrap_or(time + INPUT_TIME_MAX);
    let is_late = loop {
        match child.try_wait()? {
            Some(_) => break false,
            None if Instant::now() > until => break true,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    if is_late {
        child.kill()?;
    }
    let status = child.wait()?;
    let input = Note::read(&current);
    let _ = std::fs::remove_file(&current);
    let summary = String::from_utf8_lossy(&std::fs::read(&out)?).into_owned();
    if status.success() {
        print!("{summary}");
        return Ok(summary);
    }
    let said = std::fs::read(&err)?;
    let said = String::from_utf8_lossy(&said[said.len().saturating_sub(SAID_BYTES_MAX)..]).into_owned();
    let how = if is_late { "doesn't end".to_owned() } else { format!("ended with {status}") };
    let finding = Finding { said, input };
    let file = finding.keep(target, &findings)?;
    Err(told(target, &finding.said, &how, &file).into())
}

fn told(target: &Target, said: &str, how: &str, file: &Path) -> String {
    let name = target.name;
    format!(
        "{name} {how}: {}\n{}\nThe input is {}. Play it again:\n    GRISTMILL_FUZZ_PLAY={} cargo test -p gristmill-fuzzing --test fuzz {name}",
        target.promise,
        said.trim_end(),
        file.display(),
        file.display(),
    )
}

/// Beside the test binary, in the target folder.
fn findings_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz-findings")
}

// ---- the child ----

fn child(name: &str) -> ExitCode {
    let limit =
        rustix::process::Rlimit { current: Some(ADDRESS_BYTES_MAX), maximum: Some(ADDRESS_BYTES_MAX) };
    rustix::process::setrlimit(rustix::process::Resource::As, limit).expect("a limit");
    let Some(target) = PLANTED.iter().chain(by_name(name)).find(|target| target.name == name) else {
        eprintln!("there is no target {name}");
        return ExitCode::FAILURE;
    };
    let note = Note::at(std::env::var_os(CURRENT).map(PathBuf::from).as_deref());
    let given = given(target);
    let seed = number(SEED).unwrap_or(SEED_DEFAULT);
    let budget = match (std::env::var_os(PLAY), number(SECONDS)) {
        (Some(_), _) => Budget { inputs: 0, time: Duration::ZERO },
        (None, Some(seconds)) => Budget { inputs: usize::MAX, time: Duration::from_secs(seconds) },
        (None, None) => Budget { inputs: INPUTS, time: TIME },
    };
    let corpus = number(SECONDS).and_then(|_| corpus_folder(target));
    let outcome = drive(target, given, seed, budget, |told| match (told, &corpus) {
        (Told::Next(input), _) => note.write(input),
        (Told::New(input), Some(corpus)) => {
            drop(keep(input, target, corpus).expect("the corpus can be kept"))
        }
        (Told::New(_), None) => {}
    });
    match outcome {
        Ok(summary) => {
            println!(
                "{name}: {} given and {} changed inputs (seed {seed}) got to {} places",
                summary.given, summary.made, summary.places
            );
            ExitCode::SUCCESS
        }
        // The panic has been printed.
        Err(_) => ExitCode::from(FOUND),
    }
}

/// The present input in a file, known after whatever ends the process. Written in place, since a new file
/// for each input would take longer than most targets do.
struct Note(Option<File>);

impl Note {
    fn at(path: Option<&Path>) -> Self {
        Self(path.map(|path| File::create(path).expect("the input can be noted")))
    }

    fn write(&self, input: &[u8]) {
        if let Some(file) = &self.0 {
            let noted = [&(input.len() as u64).to_le_bytes(), input].concat();
            file.write_all_at(&noted, 0).expect("the input can be noted");
        }
    }

    fn read(path: &Path) -> Vec<u8> {
        let noted = std::fs::read(path).unwrap_or_default();
        let Some((length, rest)) = noted.split_first_chunk::<8>() else { return Vec::new() };
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        rest.get(..length).unwrap_or(rest).to_vec()
    }
}

fn given(target: &Target) -> Vec<Vec<u8>> {
    if let Some(file) = std::env::var_os(PLAY) {
        return vec![std::fs::read(&file).expect("the file to play")];
    }
    let mut given = seeds(&seed_folder(target)).expect("the seeds");
    if let Some(corpus) = corpus_folder(target) {
        given.extend(seeds(&corpus).expect("the corpus").into_iter().take(CORPUS_MAX));
    }
    given
}

// ---- the harness itself ----

const PLANTED: &[Target] = &[
    planted("planted-panic", |input| {
        assert!(input.len() < 9, "nine bytes or more");
        Reached::of(input.len())
    }),
    planted("planted-crash", |input| match input.len() {
        9.. => std::process::abort(),
        length => Reached::of(length),
    }),
    planted("planted-loop", |input| match input.len() {
        9.. => loop {
            std::thread::sleep(Duration::from_millis(10));
        },
        length => Reached::of(length),
    }),
];

const fn planted(name: &'static str, run: fn(&[u8]) -> Reached) -> Target {
    Target {
        name,
        promise: "inputs are shorter than nine bytes",
        run,
        dictionary: &[b"word"],
        bytes_max: 100,
    }
}

/// The words of a failure that must come, and the input that it names.
fn failure_of(name: &str) -> Result<(String, Vec<u8>), Failed> {
    let target = PLANTED.iter().find(|target| target.name == name).expect("a planted target");
    let Err(failed) = fuzz(target, Some(Duration::from_secs(6))) else {
        return Err(format!("{name} went unnoticed").into());
    };
    let words = failed.message().unwrap_or_default().to_owned();
    let file = words.split("The input is ").nth(1).and_then(|rest| rest.split(". Play").next());
    let file = PathBuf::from(file.ok_or_else(|| format!("no file is named: {words}"))?);
    let input = std::fs::read(&file)?;
    std::fs::remove_file(&file)?;
    Ok((words, input))
}

fn a_broken_promise() -> Result<(), Failed> {
    let (words, input) = failure_of("planted-panic")?;
    assert!(words.contains("nine bytes or more"), "{words}");
    assert!(words.contains("GRISTMILL_FUZZ_PLAY="), "{words}");
    assert!(input.len() >= 9, "{input:?}");
    Ok(())
}

fn a_crash() -> Result<(), Failed> {
    let (words, input) = failure_of("planted-crash")?;
    assert!(words.contains("signal: 6"), "{words}");
    assert!(input.len() >= 9, "{input:?}");
    Ok(())
}

fn an_endless_loop() -> Result<(), Failed> {
    let (words, input) = failure_of("planted-loop")?;
    assert!(words.contains("doesn't end"), "{words}");
    assert!(input.len() >= 9, "{input:?}");
    Ok(())
}
