//! What a program on a node does is what it does anywhere.

use std::time::Duration;

use gristmill_gateway::domain::Code;
use gristmill_gateway::{EngineId, Event, Stream};
use gristmill_protocol::FromWorker;
use gristmill_testkit::scripted_worker::{Step, script};
use rustix::process::Signal;
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    output_result_and_calls_come_back,
    large_output_and_large_answers_come_whole,
    its_output_is_seen_as_it_is_printed,
    a_worker_that_dies_is_told_with_its_signal,
    the_deadline_ends_it_on_its_node,
    a_caller_who_cancels_ends_it_on_its_node,
    a_worker_that_breaks_the_protocol_is_ended,
    typescript_runs_there_too,
    a_program_with_much_data_follows_its_offer,
    many_at_once_each_get_their_own,
    programs_that_end_at_once_are_heard_to_their_end,
    a_short_program_takes_few_messages,
];

fn output_result_and_calls_come_back() {
    let mut stage = Stage::new(1, 4);
    let called =
        script().print("hello ").call(1, "crm.list", &json!({ "page": 2 })).step(Step::TakeAnswers(1));
    let report = stage.run(&called.print("there").step(Step::TellAnswers));
    assert_eq!(report.error, None);
    assert_eq!(report.stdout, "hello there");
    assert_eq!(report.result, Some(json!([{ "id": 1, "ok": true, "payload": "\"crm.list\"" }])));
    assert_eq!(report.tools_called.len(), 1);
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    stage.has_no_worker("n1");
}

fn large_output_and_large_answers_come_whole() {
    let stage = Stage::with_tools(
        1,
        2,
        gristmill_testkit::ScriptedTools::new(|_| async { Ok(json!("x".repeat(3 << 20)).into()) }),
    );
    let line = "0123456789abcdef".repeat(256);
    let message = FromWorker::Output { stream: Stream::Stdout, bytes: line.clone().into_bytes() };
    let mut program = script().step(Step::Flood { message, times: 100 });
    for id in 1..=4 {
        program = program.call(id, "big", &json!({}));
    }
    let report = stage.run(&program.step(Step::TakeAnswers(4)).done(&json!("done")));
    assert_eq!(report.error, None);
    assert_eq!(report.stdout, line.repeat(100));
    assert!(report.tools_called.iter().all(|called| called.ok && called.answer_bytes > 3 << 20));
}

fn its_output_is_seen_as_it_is_printed() {
    let stage = Stage::new(1, 2);
    let waits = script().print("now").call(1, "wait", &json!({})).step(Step::Stall);
    let mut execution = stage.start(stage.request(&waits));
    let first = stage.block_on(execution.next_event());
    assert_eq!(first, Some(Event::Output { stream: Stream::Stdout, bytes: b"now".to_vec() }));
    execution.cancel();
    assert_eq!(stage.finish(execution).error.map(|error| error.code), Some(Code::Cancelled));
}

fn a_worker_that_dies_is_told_with_its_signal() {
    let mut stage = Stage::new(1, 2);
    for (signal, code) in [
        (Signal::KILL, Code::WorkerLost),
        (Signal::PROF, Code::CpuTime),
        (Signal::SYS, Code::WorkerMisbehaved),
    ] {
        let report = stage.run(&script().print("x").step(Step::Signal(signal.as_raw())));
        assert_eq!(report.error.map(|error| error.code), Some(code), "{signal:?}");
        assert_eq!(report.stdout, "x");
    }
    stage.has_no_worker("n1");
}

fn the_deadline_ends_it_on_its_node() {
    let mut stage = Stage::new(1, 1);
    let mut request = stage.request(&script().print("slow").step(Step::Stall));
    let mut limits = stage.gateway().limits().clone();
    limits.set_text("wall_time", "500ms").expect("a limit");
    request.limits = Some(limits);
    let execution = stage.start(request);
    let report = stage.finish(execution);
    assert_eq!(report.error.map(|error| error.code), Some(Code::WallTime));
    assert_eq!(report.stdout, "slow");
    stage.has_no_worker("n1");
    assert_eq!(stage.run(&script().done(&json!(1))).result, Some(json!(1)), "its place is free again");
}

fn a_caller_who_cancels_ends_it_on_its_node() {
    let mut stage = Stage::new(1, 1);
    let mut execution = stage.start(stage.request(&script().print("x").step(Step::Stall)));
    stage.block_on(execution.next_event());
    execution.cancel();
    assert_eq!(stage.finish(execution).error.map(|error| error.code), Some(Code::Cancelled));
    stage.has_no_worker("n1");
}

fn a_worker_that_breaks_the_protocol_is_ended() {
    let mut stage = Stage::new(1, 1);
    let report = stage.run(&script().body(&[255; 64]).step(Step::Stall));
    assert_eq!(report.error.map(|error| error.code), Some(Code::WorkerMisbehaved));
    stage.has_no_worker("n1");
}

fn a_program_with_much_data_follows_its_offer() {
    let stage = Stage::new(1, 1);
    let mut request = stage.request(&script().done(&json!("all of it")));
    let data = serde_json::Map::from_iter([("data".to_owned(), json!("x".repeat((8 << 20) - 12)))]);
    request.context = data.into();
    let execution = stage.start(request);
    let report = stage.finish(execution);
    assert_eq!((report.error, report.result), (None, Some(json!("all of it"))));
}

fn typescript_runs_there_too() {
    let stage = Stage::new(1, 1);
    let mut request = stage.request(&script());
    request.engine = EngineId::TypeScript;
    request.code = script().done(&json!(7)).typescript();
    let execution = stage.start(request);
    assert_eq!(stage.finish(execution).result, Some(json!(7)));
}

fn programs_that_end_at_once_are_heard_to_their_end() {
    let stage = Stage::new(1, 8);
    for round in 0..25 {
        let running: Vec<_> = (0..8)
            .map(|number| stage.start(stage.request(&script().done(&json!([round, number])))))
            .collect();
        for (number, execution) in running.into_iter().enumerate() {
            let report = stage.finish(execution);
            assert_eq!((report.error, report.result), (None, Some(json!([round, number]))));
        }
    }
}

fn a_short_program_takes_few_messages() {
    const PROGRAMS: usize = 20;
    let stage = Stage::new(1, 4);
    for number in 0..PROGRAMS {
        assert_eq!(stage.run(&script().done(&json!(number))).result, Some(json!(number)));
    }
    // What nobody has heard is sent again after less than this.
    std::thread::sleep(Duration::from_millis(700));
    let sent = stage.bus.link_messages();
    // The offer and its answer, the last word with what comes back, and that it's over, on both sides: on a busy
    // machine some go apart, or are acknowledged alone.
    assert!((5 * PROGRAMS..=8 * PROGRAMS).contains(&sent), "{sent}");
}

fn many_at_once_each_get_their_own() {
    let mut stage = Stage::new(2, 4);
    let executions: Vec<_> = (0..40)
        .map(|number| {
            let script =
                script().print(&format!("{number}")).call(1, "t", &json!({})).step(Step::TakeAnswers(1));
            stage.start(stage.request_of("a", &script.done(&json!(number))))
        })
        .collect();
    for (number, execution) in executions.into_iter().enumerate() {
        let report = stage.finish(execution);
        assert_eq!(
            (report.result, report.stdout),
            (Some(json!(number)), number.to_string()),
            "{:?}",
            report.error
        );
    }
    for node in ["n1", "n2"] {
        stage.has_no_worker(node);
    }
}
