//! Gateways and nodes of different versions on one bus. The node of another version is one of this build whose word of
//! itself is changed on its way.

use gristmill_cluster::{NodePresence, WIRE_VERSION};
use gristmill_gateway::domain::Code;
use gristmill_testkit::scripted_worker::{Step, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    a_node_of_another_version_is_seen_and_left_alone,
    a_node_that_comes_to_speak_our_version_is_used,
    with_nodes_of_other_versions_only_it_is_said_which_they_are,
];

fn of_another_wire(presence: &mut NodePresence) {
    presence.wire += 1;
    presence.version = "99.0.0".to_owned();
}

fn of_other_workers(presence: &mut NodePresence) {
    presence.worker_protocol += 1;
}

fn a_node_of_another_version_is_seen_and_left_alone() {
    for alter in [of_another_wire, of_other_workers] {
        let mut stage = Stage::new(1, 3);
        stage.bus.alters("node n2", alter);
        // With most of the places: of our version, it would be asked first.
        stage.start_node("n2", 12, &[]);
        let seen = stage.around().nodes;
        let versions: Vec<_> = seen
            .iter()
            .map(|node| (node.name.as_str(), node.presence.speaks_another_version().is_some()))
            .collect();
        assert_eq!(versions, [("n1", false), ("n2", true)]);
        let stalls = script().print("x").step(Step::Stall);
        let mut running: Vec<_> = (0..3).map(|_| stage.start(stage.request(&stalls))).collect();
        for execution in &mut running {
            stage.block_on(execution.next_event());
        }
        let waits = stage.start(stage.request(&script().done(&json!(4))));
        let free: Vec<_> = stage.around().nodes.iter().map(|node| node.presence.free).collect();
        assert_eq!(free, [0, 12], "the fourth program waits for a node of our version");
        assert!(!stage.has_worker("n2"));
        for execution in running {
            execution.cancel();
            assert_eq!(stage.finish(execution).error.map(|error| error.code), Some(Code::Cancelled));
        }
        assert_eq!(stage.finish(waits).result, Some(json!(4)));
    }
}

fn a_node_that_comes_to_speak_our_version_is_used() {
    let mut stage = Stage::new(1, 2);
    stage.bus.alters("node n2", of_another_wire);
    stage.start_node("n2", 2, &[]);
    stage.stop_node("n1");
    let waits = stage.start(stage.request(&script().done(&json!("on n2"))));
    stage.bus.alters_no_more("node n2");
    assert_eq!(stage.finish(waits).result, Some(json!("on n2")));
}

fn with_nodes_of_other_versions_only_it_is_said_which_they_are() {
    let mut stage = Stage::new(0, 0);
    stage.bus.alters("node n1", of_another_wire);
    stage.start_node("n1", 2, &[]);
    stage.bus.alters("node n2", of_other_workers);
    stage.start_node("n2", 2, &[]);
    let error = stage.run(&script().done(&json!(1))).error.expect("a failure");
    assert_eq!(error.code, Code::NoNode);
    let ours = gristmill_gateway::WORKER_PROTOCOL_VERSION;
    let expected = format!(
        "no node takes this program (python, level development): n2 is another version (has workers of version {} \
         and not {ours}); n1 is another version (speaks version {} and not {WIRE_VERSION}); nothing ran",
        ours + 1,
        WIRE_VERSION + 1
    );
    assert_eq!(error.message, expected);
    assert!(
        error.hint.is_some_and(|hint| hint.starts_with("gateways and nodes must speak the same version"))
    );
}
