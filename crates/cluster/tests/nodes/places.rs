//! Who gets a place on which node.

use gristmill_cluster::{Order, order};
use gristmill_gateway::domain::Code;
use gristmill_gateway::ids::SessionId;
use gristmill_testkit::scripted_worker::{Step, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    without_a_node_it_is_said_what_there_is,
    a_program_waits_until_a_place_is_free,
    a_label_is_found_on_the_node_that_has_it,
    a_draining_node_takes_nothing_new_and_takes_again_when_told,
    a_program_that_no_node_takes_is_told_why_each_does_not,
    machines_are_seen_with_what_they_run,
];

fn without_a_node_it_is_said_what_there_is() {
    let stage = Stage::new(0, 0);
    let error = stage.run(&script().done(&json!(1))).error.expect("a failure");
    assert_eq!((error.code, error.kind.as_str()), (Code::NoNode, "no_node"));
    assert_eq!(
        error.message,
        "no node takes this program (python, level development): none is heard; nothing ran"
    );
    assert!(error.hint.is_some_and(|hint| hint.contains("gristmill worker-node")));
}

fn a_program_waits_until_a_place_is_free() {
    let stage = Stage::new(1, 1);
    let mut first = stage.start(stage.request_of("a", &script().print("x").step(Step::Stall)));
    stage.block_on(first.next_event());
    let second = stage.start(stage.request_of("b", &script().done(&json!(2))));
    first.cancel();
    assert_eq!(stage.finish(first).error.map(|error| error.code), Some(Code::Cancelled));
    assert_eq!(stage.finish(second).result, Some(json!(2)));
}

fn a_label_is_found_on_the_node_that_has_it() {
    let mut stage = Stage::new(1, 4);
    stage.start_node("big", 1, &["gpu"]);
    let mut request = stage.request_of("a", &script().print("x").step(Step::Stall));
    request.capabilities.caller.session_name = Some("gpu".to_owned());
    request.capabilities.caller.session = SessionId::read("aaaaaaaaaaaaaaaaaaaa");
    let mut execution = stage.start(request);
    stage.block_on(execution.next_event());
    assert!(stage.has_worker("big") && !stage.has_worker("n1"));
    execution.cancel();
    stage.finish(execution);
}

fn a_draining_node_takes_nothing_new_and_takes_again_when_told() {
    let stage = Stage::new(1, 2);
    let (bus, node) = (stage.block_on(stage.bus.connect("person")), "n1".parse().unwrap());
    let seen = stage.block_on(order(&bus, &node, Order::Drain)).expect("it obeys");
    assert!(seen.presence.draining);
    let error = stage.run(&script().done(&json!(1))).error.expect("a failure");
    assert_eq!(error.code, Code::NoNode);
    assert_eq!(
        error.message,
        "no node takes this program (python, level development): n1 is draining; nothing ran"
    );
    assert!(error.hint.is_some_and(|hint| hint.starts_with("`gristmill cluster drain n1 --off` has n1 ")));
    stage.block_on(order(&bus, &node, Order::Undrain)).expect("it obeys");
    assert_eq!(stage.run(&script().done(&json!(1))).result, Some(json!(1)));
    let unknown = stage.block_on(order(&bus, &"n9".parse().unwrap(), Order::Drain)).unwrap_err();
    assert_eq!(unknown.to_string(), "there is no node n9; there is only n1");
}

fn a_program_that_no_node_takes_is_told_why_each_does_not() {
    let mut stage = Stage::new(2, 2);
    stage.start_node("big", 1, &["gpu"]);
    let bus = stage.block_on(stage.bus.connect("person"));
    stage.block_on(order(&bus, &"big".parse().unwrap(), Order::Drain)).expect("it obeys");
    let mut request = stage.request(&script().done(&json!(1)));
    request.capabilities.caller.session_name = Some("gpu".to_owned());
    request.capabilities.caller.session = SessionId::read("aaaaaaaaaaaaaaaaaaaa");
    let execution = stage.start(request);
    let error = stage.finish(execution).error.expect("a failure");
    assert_eq!(
        error.message,
        "no node takes this program (python, level development, label gpu): big is draining; n1 and n2 have no \
         label gpu; nothing ran"
    );
}

fn machines_are_seen_with_what_they_run() {
    let stage = Stage::new(2, 3);
    let around = stage.around();
    let nodes: Vec<_> = around.nodes.iter().map(|seen| (seen.name.as_str(), seen.presence.places)).collect();
    assert_eq!(nodes, [("n1", 3), ("n2", 3)]);
    assert_eq!(around.gateways.iter().map(|seen| seen.name.as_str()).collect::<Vec<_>>(), ["g"]);
}
