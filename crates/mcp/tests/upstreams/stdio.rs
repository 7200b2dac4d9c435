//! Connections over stdio: how they are begun, and what is listed.

use gristmill_gateway::domain::{Protocol, ServerSettings};
use gristmill_gateway::upstream::{ServerFacts, UpstreamFailure};
use serde_json::{Value, json};

use crate::cases::cases;
use crate::world::{call_of, connect, limited, scripted, try_connect};

cases![
    every_handshake_version_is_agreed_on,
    a_modern_server_is_spoken_to_without_a_handshake,
    a_configured_version_is_the_only_one_that_is_tried,
    an_unknown_version_is_refused_by_its_number,
    a_server_that_is_silent_to_discover_is_greeted,
    a_server_that_dies_of_discover_is_started_again_and_greeted,
    a_server_that_turned_from_modern_to_the_handshake_is_still_reached,
    a_server_that_is_slow_to_start_is_waited_for,
    a_server_that_says_nothing_is_given_up_at_its_limit,
    a_server_that_crashes_at_its_start_is_quoted,
    a_server_that_closes_its_input_and_crashes_is_quoted,
    a_program_that_is_not_there_is_named,
    a_list_in_pages_is_read_whole,
    cursors_in_a_circle_end,
    a_thousand_tools_and_odd_names_arrive,
];

fn facts(protocol: &str) -> ServerFacts {
    ServerFacts {
        title: Some("scripted".to_owned()),
        version: Some("1.0".to_owned()),
        instructions: None,
        protocol: protocol.to_owned(),
    }
}

async fn every_handshake_version_is_agreed_on() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for remembered in [None, Some("2025-06-18")] {
            let settings = scripted("a", &[&format!("version={version}")]);
            let (upstream, _, _) = try_connect(settings, remembered).await;
            let upstream = upstream.expect(version);
            assert_eq!(*upstream.facts(), facts(version));
            let tools = upstream.list_tools().await.expect("tools");
            assert!(tools.iter().any(|tool| tool.contains(r#""name":"echo""#)), "{tools:?}");
        }
    }
}

async fn a_modern_server_is_spoken_to_without_a_handshake() {
    for remembered in [None, Some("2026-07-28"), Some("2025-11-25")] {
        let (upstream, _, _) = try_connect(scripted("a", &["modern"]), remembered).await;
        let upstream = upstream.expect("a connection");
        assert_eq!(*upstream.facts(), facts("2026-07-28"));
        upstream.list_tools().await.expect("tools");
        let raw = upstream.call(call_of("echo", &json!({ "text": "x" }))).await.expect("an answer");
        assert_eq!(raw, r#"{"resultType":"complete","content":[],"structuredContent":{"text":"x"}}"#);
    }
}

async fn a_configured_version_is_the_only_one_that_is_tried() {
    let with = |behavior: &str, protocol: Protocol| ServerSettings {
        protocol: Some(protocol),
        ..scripted("a", &[behavior])
    };
    // It would die of being asked what it speaks.
    let (upstream, _, _) =
        try_connect(with("exit-at-discover", Protocol::V20251125), Some("2026-07-28")).await;
    assert_eq!(*upstream.expect("a connection").facts(), facts("2025-11-25"));
    let (upstream, _, _) = try_connect(with("modern", Protocol::V20260728), Some("2025-11-25")).await;
    assert_eq!(*upstream.expect("a connection").facts(), facts("2026-07-28"));
    // It would speak with a handshake.
    let (outcome, _, _) = try_connect(with("version=2025-06-18", Protocol::V20260728), None).await;
    assert!(outcome.is_err(), "nothing else was tried");
}

async fn an_unknown_version_is_refused_by_its_number() {
    let (outcome, _, _) = try_connect(scripted("a", &["version=1999-01-01"]), None).await;
    let why = "it speaks protocol version 1999-01-01, which Gristmill doesn't support";
    assert_eq!(outcome.err(), Some(UpstreamFailure::BadAnswer(why.to_owned())));
}

async fn a_server_that_is_silent_to_discover_is_greeted() {
    let server = connect(scripted("a", &["silent-to-discover"])).await;
    assert_eq!(*server.upstream.facts(), facts("2025-11-25"));
}

async fn a_server_that_dies_of_discover_is_started_again_and_greeted() {
    for remembered in [None, Some("2026-07-28")] {
        let (upstream, _, _) = try_connect(scripted("a", &["exit-at-discover"]), remembered).await;
        assert_eq!(*upstream.expect("a connection").facts(), facts("2025-11-25"));
    }
}

async fn a_server_that_turned_from_modern_to_the_handshake_is_still_reached() {
    for behavior in ["version=2025-06-18", "silent-to-discover"] {
        let settings = limited(scripted("a", &[behavior]), |limits| limits.startup_ms = 20_000);
        let (upstream, _, _) = try_connect(settings, Some("2026-07-28")).await;
        assert!(upstream.expect(behavior).facts().protocol.starts_with("2025-"), "{behavior}");
    }
}

async fn a_server_that_is_slow_to_start_is_waited_for() {
    for (behavior, protocol) in [("modern", "2026-07-28"), ("version=2025-03-26", "2025-03-26")] {
        let server = connect(scripted("a", &[behavior, "start-delay-ms=3500"])).await;
        assert_eq!(*server.upstream.facts(), facts(protocol));
        server.upstream.list_tools().await.expect("tools");
    }
}

async fn a_server_that_says_nothing_is_given_up_at_its_limit() {
    let settings = limited(scripted("a", &["silent"]), |limits| limits.startup_ms = 3000);
    let (outcome, _, _) = try_connect(settings, None).await;
    let why = "it didn't start within 3 s";
    assert_eq!(outcome.err(), Some(UpstreamFailure::Down(why.to_owned())));
}

async fn a_server_that_crashes_at_its_start_is_quoted() {
    let (outcome, _, _) = try_connect(scripted("a", &["crash-at-start=no config at /x"]), None).await;
    let why = outcome.err().expect("it crashed").to_string();
    assert_eq!(why, "the server exited with code 3; last stderr line: no config at /x");
}

async fn a_server_that_closes_its_input_and_crashes_is_quoted() {
    let server = connect(scripted("a", &[])).await;
    server.upstream.call(call_of("close_input", &json!({}))).await.expect("an answer");
    let outcome = server.upstream.call(call_of("echo", &json!({}))).await;
    let why = "the server exited with code 3; last stderr line: the disk is full";
    assert_eq!(outcome, Err(UpstreamFailure::Down(why.to_owned())));
}

async fn a_program_that_is_not_there_is_named() {
    let mut settings = scripted("a", &[]);
    settings.transport = gristmill_gateway::domain::Transport::Stdio {
        command: gristmill_gateway::domain::SecretText::plain("no-such-program-anywhere"),
        args: Vec::new(),
        env: Default::default(),
        cwd: None,
    };
    let (outcome, _, _) = try_connect(settings, None).await;
    let why = "command `no-such-program-anywhere` not found; install it, or use its full path";
    assert_eq!(outcome.err(), Some(UpstreamFailure::Down(why.to_owned())));
}

async fn a_list_in_pages_is_read_whole() {
    let whole = connect(scripted("a", &["many=50"])).await.upstream.list_tools().await.expect("tools");
    let paged = connect(scripted("a", &["many=50", "page=7"])).await;
    assert_eq!(paged.upstream.list_tools().await.expect("tools"), whole);
}

async fn cursors_in_a_circle_end() {
    let same = connect(scripted("a", &["page=5", "cursors=same"])).await;
    let tools = same.upstream.list_tools().await.expect("tools");
    assert_eq!(tools.len(), 10);
    let circle = connect(scripted("a", &["page=5", "cursors=circle"])).await;
    let why = "its list of tools has more than 100 pages";
    assert_eq!(circle.upstream.list_tools().await, Err(UpstreamFailure::BadAnswer(why.to_owned())));
}

async fn a_thousand_tools_and_odd_names_arrive() {
    let server = connect(scripted("a", &["many=1000"])).await;
    let before = server.upstream.list_tools().await.expect("tools").len();
    let odd = ["読む", "a.b/c", &"n".repeat(128), "", " ", "a\"b\\c\n", "echo"];
    let tools: Vec<Value> = odd.iter().map(|name| json!({ "name": name, "unknown": "kept" })).collect();
    server.value("set_tools", json!({ "tools": tools })).await;
    let listed = server.upstream.list_tools().await.expect("tools");
    assert_eq!(listed.len(), before + odd.len());
    let names: Vec<Value> = listed
        .iter()
        .map(|raw| serde_json::from_str::<Value>(raw).expect("JSON"))
        .filter(|tool| tool["unknown"] == "kept")
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, odd);
    for name in odd.iter().filter(|name| **name != "echo") {
        assert_eq!(server.value(name, json!({ "x": name })).await, json!({ "x": name }));
    }
}
