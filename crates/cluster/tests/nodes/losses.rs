//! Nodes, gateways and the bus itself go away in the middle.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gristmill_gateway::Event;
use gristmill_gateway::domain::Code;
use gristmill_gateway::domain::catalogue::{Catalogue, Lookup, ServerOffer, ToolDefinition};
use gristmill_testkit::ScriptedTools;
use gristmill_testkit::processes::eventually;
use gristmill_testkit::scripted_worker::{Step, Text, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    a_bus_that_loses_and_doubles_messages_loses_nothing_of_a_program,
    a_bus_that_goes_down_and_comes_up_again_ends_no_program,
    a_server_of_the_bus_that_falls_silent_ends_no_program,
    a_program_that_changed_nothing_runs_again_on_another_node,
    a_program_that_only_read_runs_again,
    a_program_that_wrote_does_not_run_again_and_its_calls_are_told,
    files_of_a_lost_node_change_nothing_here,
    a_program_whose_files_are_lost_with_its_node_is_not_done,
    a_lost_gateway_ends_its_programs_on_every_node,
    a_gateway_hears_of_a_program_that_its_node_gave_up,
    a_node_that_stops_finishes_what_runs_and_takes_nothing_new,
];

/// A tool that only reads and one that doesn't; how often each was called.
fn tools() -> (ScriptedTools, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (reads, writes) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let counted = (Arc::clone(&reads), Arc::clone(&writes));
    let read_only = json!({ "name": "look", "inputSchema": {}, "annotations": { "readOnlyHint": true } });
    let definitions = [read_only, json!({ "name": "update", "inputSchema": {} })];
    let definitions = definitions.map(|definition| ToolDefinition::from_text(&definition.to_string()));
    let tools = definitions.into_iter().map(|definition| Arc::new(definition.expect("a tool"))).collect();
    let offer = ServerOffer { name: "crm".to_owned(), tools, ..ServerOffer::default() };
    let tools = ScriptedTools::new(move |call| {
        let counter = if call.name == "crm.look" { &counted.0 } else { &counted.1 };
        counter.fetch_add(1, Ordering::SeqCst);
        async move { Ok(json!(call.name).into()) }
    });
    (tools.lookup(Lookup::new(Arc::new(Catalogue::new(vec![offer])))), reads, writes)
}

/// Prints what the test waits for, and waits for ever on the first node that it is on.
fn waits_once(
    first: &gristmill_testkit::scripted_worker::Script,
) -> gristmill_testkit::scripted_worker::Script {
    first.clone().print("waiting").step(Step::TakeAnswers(1_000))
}

fn a_bus_that_loses_and_doubles_messages_loses_nothing_of_a_program() {
    let stage = Stage::new(1, 2);
    stage.bus.loses(20, 10);
    let mut program = script();
    for id in 1..=60 {
        program = program
            .print(&format!("line {id}\n"))
            .call(id, "t", &json!({ "n": id }))
            .step(Step::TakeAnswers(1));
    }
    let report = stage.run(&program.done(&json!("all")));
    assert_eq!((report.error, report.result), (None, Some(json!("all"))));
    let expected: String = (1..=60).map(|id| format!("line {id}\n")).collect();
    assert_eq!(report.stdout, expected);
    assert_eq!(report.tools_called.iter().filter(|called| called.ok).count(), 60);
}

fn a_bus_that_goes_down_and_comes_up_again_ends_no_program() {
    let answers = Arc::new(tokio::sync::Semaphore::new(0));
    let waits = Arc::clone(&answers);
    let tools = ScriptedTools::new(move |_| {
        let waits = Arc::clone(&waits);
        async move {
            waits.acquire().await.expect("it is open").forget();
            Ok(json!("answered").into())
        }
    });
    let stage = Stage::with_tools(1, 1, tools);
    let program = script().print("before").call(1, "t", &json!({})).step(Step::TakeAnswers(1));
    let mut execution = stage.start(stage.request(&program.print(" after").done(&json!(1))));
    stage.block_on(execution.next_event());
    stage.bus.goes_down();
    // The answer is on its way while there is no bus.
    answers.add_permits(1);
    stage.block_on(async { tokio::time::sleep(Duration::from_millis(400)).await });
    stage.bus.comes_up();
    let report = stage.finish(execution);
    assert_eq!((report.error, report.stdout.as_str()), (None, "before after"));
    assert!(report.notes.is_empty(), "it ran once: {:?}", report.notes);
}

fn a_server_of_the_bus_that_falls_silent_ends_no_program() {
    for whose in ["node n1", "gateway g"] {
        let (answers, answered) = tokio::sync::watch::channel(false);
        let tools = ScriptedTools::new(move |call| {
            let mut answered = answered.clone();
            async move {
                answered.wait_for(|is_answered| *is_answered).await.expect("the test goes on");
                Ok(json!(call.name).into())
            }
        });
        let stage = Stage::with_tools(1, 2, tools);
        // It may have written something, so that it can't run again.
        let called = script().print("x").call(1, "t", &json!({})).step(Step::TakeAnswers(1)).done(&json!(5));
        let mut execution = stage.start(stage.request(&called));
        stage.block_on(execution.next_event());
        stage.bus.silences_server_of(whose);
        eventually("both machines are heard at the other server", || {
            ["node n1", "gateway g"].into_iter().all(|name| stage.bus.is_heard(name)).then_some(())
        });
        answers.send(true).expect("it waits");
        let report = stage.finish(execution);
        assert_eq!((report.error, report.result), (None, Some(json!(5))), "{whose}");
    }
}

fn a_program_that_changed_nothing_runs_again_on_another_node() {
    let mut stage = Stage::new(2, 2);
    let mut execution = stage.start(stage.request(&waits_once(&script())));
    stage.block_on(execution.next_event());
    let first = if stage.has_worker("n1") { "n1" } else { "n2" };
    let other = if first == "n1" { "n2" } else { "n1" };
    stage.bus.isolate(&format!("node {first}"));
    eventually("it runs on the other node", || stage.has_worker(other).then_some(()));
    assert_eq!(stage.block_on(execution.next_event()), Some(Event::RunsAgain));
    stage.block_on(execution.next_event());
    execution.cancel();
    let report = stage.finish(execution);
    assert_eq!(report.error.map(|error| error.code), Some(Code::Cancelled));
    assert_eq!(report.stdout, "waiting", "what it printed there isn't told twice");
    let note = report.notes.first().expect("a note");
    assert!(note.contains(&format!("the node {first} was lost")) && note.contains(other), "{note}");
    // The gateway is silent for it, too.
    stage.has_no_worker(first);
}

fn a_program_that_only_read_runs_again() {
    let (tools, reads, writes) = tools();
    let mut stage = Stage::with_tools(2, 2, tools);
    let looks = script().call(1, "crm.look", &json!({})).step(Step::TakeAnswers(1));
    let mut execution = stage.start(stage.request(&waits_once(&looks)));
    eventually("it has looked", || (reads.load(Ordering::SeqCst) == 1).then_some(()));
    let first = if stage.has_worker("n1") { "n1" } else { "n2" };
    stage.bus.isolate(&format!("node {first}"));
    eventually("it has looked again", || (reads.load(Ordering::SeqCst) == 2).then_some(()));
    stage.block_on(execution.next_event());
    execution.cancel();
    let report = stage.finish(execution);
    assert_eq!(report.notes.len(), 1, "{:?}", report.notes);
    assert_eq!(writes.load(Ordering::SeqCst), 0);
}

fn a_program_that_wrote_does_not_run_again_and_its_calls_are_told() {
    let (tools, _, writes) = tools();
    let mut stage = Stage::with_tools(2, 2, tools);
    let update = script().call(1, "crm.update", &json!({ "id": 7 })).step(Step::TakeAnswers(1));
    let execution = stage.start(stage.request(&waits_once(&update)));
    eventually("it has written", || (writes.load(Ordering::SeqCst) == 1).then_some(()));
    let first = if stage.has_worker("n1") { "n1" } else { "n2" };
    stage.bus.isolate(&format!("node {first}"));
    let report = stage.finish(execution);
    let error = report.error.expect("it fails");
    assert_eq!((error.code, error.kind.as_str()), (Code::NodeLost, "node_lost"));
    assert!(
        error.message.contains(&format!("the node {first}, where the program ran, was lost")),
        "{}",
        error.message
    );
    let called: Vec<_> = report.tools_called.iter().map(|called| (called.name.as_str(), called.ok)).collect();
    assert_eq!(called, [("crm.update", true)]);
    assert_eq!(writes.load(Ordering::SeqCst), 1, "once and no more");
}

fn files_of_a_lost_node_change_nothing_here() {
    let (tools, _, writes) = tools();
    let mut stage = Stage::with_tools(1, 2, tools);
    fs::write(stage.workspace().join("a.txt"), "as it was").unwrap();
    let program = script()
        .step(Step::WriteFile { file: "a.txt".to_owned(), text: "new".into() })
        .call(1, "crm.update", &json!({}))
        .step(Step::Stall);
    let execution = stage.start(stage.request(&program));
    eventually("it has written", || (writes.load(Ordering::SeqCst) == 1).then_some(()));
    stage.bus.isolate("node n1");
    assert_eq!(stage.finish(execution).error.map(|error| error.code), Some(Code::NodeLost));
    assert_eq!(fs::read_to_string(stage.workspace().join("a.txt")).unwrap(), "as it was");
    stage.has_no_worker("n1");
}

fn a_program_whose_files_are_lost_with_its_node_is_not_done() {
    let mut stage = Stage::new(1, 2);
    // It says that it is done, and lives on: its files are asked for, and come no more.
    let text = Text::repeated("", "a line of a file that takes a while to come back\n", 2_000_000, "");
    let program =
        script().step(Step::WriteFile { file: "a.txt".to_owned(), text }).print("x").done(&json!("done"));
    let mut execution = stage.start(stage.request(&program));
    stage.block_on(execution.next_event());
    stage.bus.isolate("node n1");
    let report = stage.finish(execution);
    assert_eq!(report.error.map(|error| error.code), Some(Code::NodeLost));
    assert!(!stage.workspace().join("a.txt").exists());
    stage.has_no_worker("n1");
}

fn a_lost_gateway_ends_its_programs_on_every_node() {
    let mut stage = Stage::new(1, 2);
    let mut execution = stage.start(stage.request(&script().print("x").step(Step::Stall)));
    stage.block_on(execution.next_event());
    assert!(stage.has_worker("n1"));
    stage.lose_gateway();
    stage.has_no_worker("n1");
    // To the gateway, it's the node that is silent.
    assert_eq!(stage.finish(execution).error.map(|error| error.code), Some(Code::NodeLost));
}

fn a_gateway_hears_of_a_program_that_its_node_gave_up() {
    let (tools, _, writes) = tools();
    let mut stage = Stage::with_tools(1, 2, tools);
    let update = script().call(1, "crm.update", &json!({})).step(Step::TakeAnswers(1));
    let execution = stage.start(stage.request(&waits_once(&update)));
    eventually("it has written", || (writes.load(Ordering::SeqCst) == 1).then_some(()));
    // The node misses the gateway, which hears the node all the time.
    stage.bus.mutes("gateway g");
    stage.has_no_worker("n1");
    let began = Instant::now();
    assert_eq!(stage.finish(execution).error.map(|error| error.code), Some(Code::NodeLost));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}

fn a_node_that_stops_finishes_what_runs_and_takes_nothing_new() {
    let mut stage = Stage::new(1, 2);
    let mut execution =
        stage.start(stage.request(
            &script().print("x").call(1, "t", &json!({})).step(Step::TakeAnswers(1)).done(&json!(5)),
        ));
    stage.block_on(execution.next_event());
    assert_eq!(stage.finish(execution).result, Some(json!(5)));
    stage.stop_node("n1");
    let report = stage.run(&script().done(&json!(1)));
    assert_eq!(report.error.map(|error| error.code), Some(Code::NoNode));
}
