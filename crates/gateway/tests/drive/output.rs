//! What a worker prints.

use gristmill_gateway::Event;
use gristmill_gateway::domain::Code;
use gristmill_protocol::{FromWorker, Stream};
use gristmill_testkit::scripted_worker::{Step, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    output_over_its_limit_is_cut_exactly_there,
    both_streams_count_together,
    nothing_may_be_printed_where_the_limit_is_none,
    output_that_is_no_text_is_shown_as_far_as_it_is,
    output_that_nobody_takes_holds_the_worker_up_and_none_is_lost,
    a_reader_who_leaves_lets_the_program_go_on,
];

fn output(stream: Stream, bytes: &[u8]) -> FromWorker {
    FromWorker::Output { stream, bytes: bytes.to_vec() }
}

fn output_over_its_limit_is_cut_exactly_there() {
    let stage = Stage::limited(&[("output_bytes", "1000")]);
    let flood = Step::Flood { message: output(Stream::Stdout, &[b'a'; 64]), times: u64::MAX };
    let report = stage.fails(&script().step(flood), Code::OutputBytes, "limit", "1000 bytes");
    assert_eq!(report.stdout, "a".repeat(1000));
    let one = script().say(output(Stream::Stderr, &vec![b'b'; 100_000]));
    let report = stage.fails(&one, Code::OutputBytes, "limit", "1000 bytes");
    assert_eq!((report.stdout.as_str(), report.stderr), ("", "b".repeat(1000)));
    stage.works_and_ends();
}

fn both_streams_count_together() {
    let stage = Stage::limited(&[("output_bytes", "1000")]);
    let both = Step::Say(vec![output(Stream::Stdout, &[b'a'; 600]), output(Stream::Stderr, &[b'b'; 600])]);
    let report = stage.fails(&script().step(both), Code::OutputBytes, "limit", "output_bytes");
    assert_eq!((report.stdout.len(), report.stderr.len()), (600, 400));
    stage.works_and_ends();
}

fn nothing_may_be_printed_where_the_limit_is_none() {
    let stage = Stage::limited(&[("output_bytes", "0")]);
    let empty = script().say(output(Stream::Stdout, b"")).done(&json!(1));
    assert_eq!(stage.run(&empty).result, Some(json!(1)));
    let report = stage.fails(&script().print("x"), Code::OutputBytes, "limit", "output_bytes");
    assert_eq!(report.stdout, "");
    stage.has_no_child();
    stage.ends();
}

fn output_that_is_no_text_is_shown_as_far_as_it_is() {
    let stage = Stage::sound();
    let report = stage.run(&script().say(output(Stream::Stdout, b"a\xffb")).done(&json!(1)));
    assert_eq!((report.success, report.stdout.as_str()), (true, "a\u{fffd}b"));
    assert!(report.notes.iter().any(|note| note.contains("aren't UTF-8")), "{:?}", report.notes);
    stage.works_and_ends();
}

fn output_that_nobody_takes_holds_the_worker_up_and_none_is_lost() {
    let stage = Stage::sound();
    let flood = Step::Flood { message: output(Stream::Stdout, b"x"), times: 20_000 };
    let request = stage.request(&script().step(flood).done(&json!(1)));
    let (seen, report) = stage.world().block_on(async {
        let mut execution = stage.world().gateway().execute(request);
        let mut seen = 0;
        while let Some(event) = execution.next_event().await {
            assert_eq!(event, Event::Output { stream: Stream::Stdout, bytes: b"x".to_vec() });
            seen += 1;
        }
        (seen, execution.finish().await)
    });
    assert_eq!((seen, report.stdout.len(), report.result), (20_000, 20_000, Some(json!(1))));
    stage.works_and_ends();
}

fn a_reader_who_leaves_lets_the_program_go_on() {
    let stage = Stage::sound();
    let flood = Step::Flood { message: output(Stream::Stdout, b"x"), times: 20_000 };
    let report = stage.run(&script().step(flood).done(&json!(1)));
    assert_eq!((report.stdout.len(), report.result), (20_000, Some(json!(1))));
    stage.works_and_ends();
}
