//! Bytes that are no messages, and messages out of place.

use gristmill_gateway::domain::Code;
use gristmill_protocol::{
    CallKind, FRAME_BYTES_MAX, FRAME_HEADER_BYTES, FromWorker, Outcome, PROTOCOL_VERSION, RunStats,
    encode_frame,
};
use gristmill_testkit::scripted_worker::{Script, Step, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    bytes_that_are_no_message_end_the_worker,
    text_that_is_not_utf_8_ends_the_worker,
    a_second_hello_ends_the_worker,
    half_a_frame_and_then_death_is_a_lost_worker,
    half_a_frame_and_then_silence_is_a_passed_deadline,
    a_frame_in_single_bytes_is_put_together,
    smuggled_descriptors_are_closed,
];

fn misbehaves(stage: &Stage, script: &Script, how: &str) {
    stage.fails(script, Code::WorkerMisbehaved, "worker_misbehaved", how);
    stage.works();
}

/// A message whose last bytes, which are text, are replaced.
fn ending_in(message: &FromWorker, bytes: &[u8]) -> Vec<u8> {
    let mut frame = encode_frame(message).expect("a frame");
    let at = frame.len() - bytes.len();
    frame[at..].copy_from_slice(bytes);
    frame
}

fn bytes_that_are_no_message_end_the_worker() {
    let stage = Stage::sound();
    let over = u32::try_from(FRAME_BYTES_MAX + 1).expect("a frame's length");
    misbehaves(&stage, &script().frame_of(0, &[]), "a frame of no bytes");
    misbehaves(&stage, &script().frame_of(over, &[]), "over the cap of 20971520");
    misbehaves(&stage, &script().frame_of(u32::MAX, &[1; 64]), "a frame of 4294967295 bytes");
    misbehaves(&stage, &script().body(&[200, 1, 2]), "not a message of this protocol");
    // Output, on the first stream, of bytes that claim to be 4 GiB long.
    misbehaves(&stage, &script().body(&[1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f]), "not a message");
    let cancel = encode_frame(&FromWorker::CancelCall { id: 7 }).expect("a frame");
    let longer = [&cancel[FRAME_HEADER_BYTES..], &[0]].concat();
    misbehaves(&stage, &script().body(&longer), "1 stray bytes after a message");
    stage.ends();
}

fn text_that_is_not_utf_8_ends_the_worker() {
    let stage = Stage::sound();
    let call = FromWorker::Call { id: 1, kind: CallKind::Tool, payload: "{}".to_owned() };
    misbehaves(&stage, &script().step(Step::Bytes(ending_in(&call, b"\xff\xfe"))), "not a message");
    let stats = RunStats::default();
    let told = encode_frame(&FromWorker::Done { outcome: Outcome::Returned("AB".to_owned()), stats });
    let mut told = told.expect("a frame");
    let at = told.windows(2).position(|pair| pair == b"AB").expect("the text");
    told[at] = 0xff;
    misbehaves(&stage, &script().step(Step::Bytes(told)), "not a message");
    stage.ends();
}

fn a_second_hello_ends_the_worker() {
    let stage = Stage::sound();
    let again = script().say(FromWorker::Hello { version: PROTOCOL_VERSION, cpu_us: 0 }).done(&json!(1));
    misbehaves(&stage, &again, "a second hello");
    stage.ends();
}

fn half_a_frame_and_then_death_is_a_lost_worker() {
    let stage = Stage::sound();
    let script = script().print("so far").frame_of(100, &[1, 0, 96]).step(Step::Exit(0));
    let report = stage.fails(&script, Code::WorkerLost, "worker_lost", "exited with code 0");
    assert_eq!(report.stdout, "so far");
    stage.works_and_ends();
}

fn half_a_frame_and_then_silence_is_a_passed_deadline() {
    let stage = Stage::limited(&[("wall_time", "200ms")]);
    let largest = u32::try_from(FRAME_BYTES_MAX).expect("a frame's length");
    let script = script().frame_of(largest, &[1, 0, 96]).step(Step::Stall);
    stage.fails(&script, Code::WallTime, "limit", "200 ms");
    stage.has_no_child();
    stage.ends();
}

fn a_frame_in_single_bytes_is_put_together() {
    let stage = Stage::sound();
    let stats = RunStats::default();
    let told = Outcome::Returned(r#"{"ok":true,"has_result":true,"result":[1,2]}"#.to_owned());
    let frame = encode_frame(&FromWorker::Done { outcome: told, stats }).expect("a frame");
    let script = frame.iter().fold(script(), |script, byte| script.step(Step::Bytes(vec![*byte])));
    assert_eq!(stage.run(&script).result, Some(json!([1, 2])));
    stage.works_and_ends();
}

fn smuggled_descriptors_are_closed() {
    let stage = Stage::sound();
    let message = FromWorker::CancelCall { id: 1 };
    let smuggle = Step::Smuggle { message, file: "smuggled".to_owned(), copies: 8 };
    let script = (0..50).fold(script(), |script, _| script.step(smuggle.clone())).done(&json!("done"));
    assert_eq!(stage.run(&script).result, Some(json!("done")));
    assert!(stage.workspace().join("smuggled").exists());
    assert_eq!(open_here("smuggled", stage.workspace()), 0);
    stage.works_and_ends();
}

/// How many descriptors of this process belong to a file.
pub fn open_here(name: &str, folder: &std::path::Path) -> usize {
    let path = folder.canonicalize().expect("a folder").join(name);
    let descriptors = std::fs::read_dir("/proc/self/fd").expect("our descriptors").flatten();
    descriptors.filter(|entry| std::fs::read_link(entry.path()).is_ok_and(|to| to == path)).count()
}
