//! Hostile data against the analysis worker: whatever it does, it ends one process, with words, and the
//! next analysis works.
#![cfg(target_os = "linux")]

mod support;

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::{
    AnalysisData, AnalysisFailure, AnalysisInput, AnalysisOutcome, AnalysisRequest, ExecuteRequest,
};
use gristmill_testkit::processes::{eventually, is_alive, workers_of};
use gristmill_testkit::{TestFolder, World};
use serde_json::{Value, json};
use support::gristmill;

const DESCRIBE: &str = r#"{"steps":[{"describe":{}}]}"#;
const ABOVE_ONE: &str = r#"{"steps":[{"filter":{"field":"a","operator":">","value":1}}]}"#;

/// A world in which no worker waits, so that those there are analyze.
fn world() -> World {
    World::new(gristmill()).limits(Limits::of(Level::Development)).waiting(0).start()
}

fn limited(name: LimitName, value: u64) -> Option<Limits> {
    let mut limits = Limits::of(Level::Development);
    limits.set(name, value).expect("in range");
    Some(limits)
}

fn inline(text: String) -> AnalysisInput {
    AnalysisInput { name: "data".to_owned(), format: None, data: AnalysisData::Inline(text) }
}

fn file(path: &Path, format: Option<&str>) -> AnalysisInput {
    let data = AnalysisData::File(File::open(path).expect("the input"));
    AnalysisInput { name: "data".to_owned(), format: format.map(str::to_owned), data }
}

fn request(steps: &str, input: AnalysisInput, limits: Option<Limits>) -> AnalysisRequest {
    let output = tempfile::tempfile().expect("an output");
    AnalysisRequest { request: steps.to_owned(), inputs: vec![input], limits, output }
}

fn analyze(world: &World, request: AnalysisRequest) -> Result<AnalysisOutcome, AnalysisFailure> {
    world.block_on(world.gateway().analyze(request))
}

/// Eight million values in what may just be passed inline.
fn many_values() -> String {
    format!("[{}0]", "0,".repeat(8_000_000))
}

fn still_works(world: &World) {
    let outcome = analyze(world, request(ABOVE_ONE, inline(r#"[{"a":1},{"a":2}]"#.to_owned()), None));
    let outcome = outcome.expect("an ordinary analysis");
    assert_eq!((outcome.rows, outcome.columns), (Some(1), vec!["a".to_owned()]));
    let written: Value = serde_json::from_reader(outcome.output).expect("JSON");
    assert_eq!(written, json!([{"a": 2}]));
    eventually("no worker is left", || workers_of(world).is_empty().then_some(()));
}

#[test]
fn an_analysis_is_done_in_a_process_that_is_gone_afterwards() {
    still_works(&world());
}

#[test]
fn a_pattern_is_matched_behind_the_walls() {
    let matching = r#"{"steps":[{"filter":{"field":"a","operator":"matches","value":"^x+$"}}]}"#;
    let world = world();
    let outcome = analyze(&world, request(matching, inline(r#"[{"a":"xx"},{"a":"y"}]"#.to_owned()), None));
    assert_eq!(outcome.expect("an ordinary analysis").rows, Some(1));
}

#[test]
fn data_that_takes_too_much_memory_ends_with_that_limit() {
    let world = world();
    let limits = limited(LimitName::Memory, 64 << 20);
    let failure = analyze(&world, request(DESCRIBE, inline(many_values()), limits)).unwrap_err();
    assert_eq!(failure.code, Code::Memory, "{failure:?}");
    assert!(failure.hint.is_some_and(|hint| hint.contains("`memory`")));
    still_works(&world);
}

#[test]
fn an_analysis_that_takes_too_long_is_ended_at_its_deadline() {
    let world = world();
    // The first one waits for the zygote, which is not counted.
    still_works(&world);
    let limits = limited(LimitName::WallTime, 1);
    let failure = analyze(&world, request(DESCRIBE, inline(many_values()), limits)).unwrap_err();
    assert_eq!(failure.code, Code::WallTime, "{failure:?}");
    still_works(&world);
}

#[test]
fn an_analysis_that_computes_too_much_is_ended_by_the_kernel() {
    let world = world();
    let limits = limited(LimitName::CpuTime, 1);
    let failure = analyze(&world, request(DESCRIBE, inline(many_values()), limits)).unwrap_err();
    assert_eq!(failure.code, Code::CpuTime, "{failure:?}");
    still_works(&world);
}

#[test]
fn odd_files_get_words_and_end_one_worker_at_most() {
    let world = world();
    let folder = TestFolder::new("odd");
    let parquet_head = [b"PAR1".as_slice(), &[0xff; 200]].concat();
    let parquet_foot = [b"PAR1".as_slice(), &[7; 64], &0x7fff_ffff_u32.to_le_bytes(), b"PAR1"].concat();
    let deep = [b"[".repeat(1_000_000), b"]".repeat(1_000_000)].concat();
    let cases: [(&str, Option<&str>, Vec<u8>); 10] = [
        ("nothing.json", None, Vec::new()),
        ("truncated.json", Some("json"), br#"[{"a":1},{"a"#.to_vec()),
        ("deep.json", Some("json"), deep),
        ("no-text.json", Some("json"), vec![0xff; 1000]),
        ("truncated.parquet", Some("parquet"), b"PAR1".to_vec()),
        ("head-only.parquet", None, parquet_head),
        ("huge-footer.parquet", Some("parquet"), parquet_foot),
        ("unclosed.csv", Some("csv"), b"a,b\n\"1,2\n3,4\n".to_vec()),
        ("zeros.csv", Some("csv"), vec![0; 100_000]),
        ("wide.csv", Some("csv"), [b",".repeat(200_000), b"\n".to_vec()].concat()),
    ];
    for (name, format, bytes) in cases {
        let path = folder.path().join(name);
        File::create(&path).and_then(|mut made| made.write_all(&bytes)).expect("a file");
        if let Err(failure) = analyze(&world, request(DESCRIBE, file(&path, format), None)) {
            let code = failure.code;
            assert!(matches!(code, Code::Analysis | Code::EngineCrash | Code::Memory), "{name}: {failure:?}");
            assert!(!failure.message.is_empty() && failure.message.len() < 8_000, "{name}");
        }
        assert_eq!(fs::read(&path).expect("the input"), bytes, "{name} is as it was");
    }
    still_works(&world);
}

#[test]
fn an_analysis_that_nobody_waits_for_is_ended_and_stood_behind_its_walls() {
    let world = world();
    still_works(&world);
    let pid = world.block_on(async {
        let looked = async {
            loop {
                let behind =
                    workers_of(&world).into_iter().find(|pid| seccomp_of(*pid).as_deref() == Some("2"));
                match behind {
                    Some(pid) => break pid,
                    None => tokio::task::yield_now().await,
                }
            }
        };
        tokio::select! {
            biased;
            pid = looked => pid,
            outcome = world.gateway().analyze(request(DESCRIBE, inline(many_values()), None)) => {
                panic!("done before anybody looked: {outcome:?}")
            }
        }
    });
    eventually("it is gone", || (!is_alive(pid)).then_some(()));
    still_works(&world);
}

/// What the kernel says of a process's filter.
fn seccomp_of(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    assert_eq!(field("NoNewPrivs:"), Some("1"));
    assert_eq!(field("CapEff:").map(|set| set.trim_start_matches('0')), Some(""));
    field("Seccomp:").map(str::to_owned)
}

#[test]
fn an_analysis_and_a_program_get_processes_of_their_own_kind() {
    let world = world();
    let analysis = world.gateway().analyze(request(ABOVE_ONE, inline(r#"[{"a":2}]"#.to_owned()), None));
    let program = world.gateway().execute(ExecuteRequest::python("6 * 7")).finish();
    let (analysed, report) = world.block_on(async { tokio::join!(analysis, program) });
    assert_eq!(analysed.expect("an analysis").rows, Some(1));
    assert_eq!(report.result, Some(json!(42)));
}
