//! What is not about one program: wrong usage, help, explanations, completions.

use std::process::Stdio;

use gristmill_testkit::TestFolder;
use serde_json::{Value, json};

use crate::{check, check_ok, command, parsed, run, text};

#[test]
fn wrong_usage_says_what_to_do() {
    for (arguments, said) in [
        (vec!["run", "nowhere.py"], "can't open nowhere.py"),
        (vec!["run", "--timeout", "soon", "-c", "1"], "write a number with ms, s, m, h or d"),
        (vec!["run", "--timeout", "10m", "-c", "1"], "1 s to 120 s"),
        (vec!["run", "--memory", "1T", "-c", "1"], "isn't a size"),
        (vec!["run", "--limit", "tool_cals=3", "-c", "1"], "did you mean `tool_calls`?"),
        (vec!["run", "--limit", "tool_calls", "-c", "1"], "must be NAME=VALUE"),
        (vec!["run", "--context", "novalue", "-c", "1"], "must be NAME=VALUE"),
        (vec!["run", "--level", "paranoid", "-c", "1"], "development, production or hardened"),
        (vec!["run", "--workspace", "/nowhere/at/all", "-c", "1"], "can't create the workspace"),
        (vec!["run", "--context", "class=1", "-c", "1"], "is a Python keyword"),
        (vec!["run", "--context-json", "/nowhere.json", "-c", "1"], "can't open /nowhere.json"),
        (vec!["run"], "no program given"),
        (vec!["run", "/tmp"], "is a folder"),
        (vec!["run", "--workspace", "/", "-c", "1"], "can't be a workspace"),
        (vec!["rum"], "'run'"),
        (vec!["tools", "serch", "x"], "'search'"),
        (vec!["config", "chekc"], "'check'"),
        (vec!["exlpain", "GM-1201"], "'explain'"),
        (vec!["run", "--watch", "-"], "--watch needs a file"),
        (vec!["run", "--keep-variables", "--session", "s", "-c", "1"], "--keep-variables"),
        (vec!["workspace", "put", "s", "."], "isn't a regular file"),
        (vec!["run", "--keep-variables", "x.py"], "--watch"),
        (vec!["list", "--color", "sometimes"], "always"),
        (vec!["explain", "GM-1299"], "GM-1201"),
    ] {
        let output = run(&arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{stderr}");
        assert!(stderr.contains(said), "{arguments:?}\n{stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[cfg(not(feature = "cluster"))]
#[test]
fn a_build_without_clusters_says_how_to_get_one_that_has_them() {
    let said = "this build has no cluster support; build it with `cargo install --path crates/cli --features cluster`";
    for arguments in [
        vec!["worker-node"],
        vec!["worker-node", "--label", "gpu", "--places", "4", "--name", "node-a"],
        vec!["cluster", "status", "--json"],
        vec!["cluster", "drain", "node-a", "--wait"],
        vec!["cluster", "join", "tls://nats.example.com:4222", "--nkey", "${NKEY}"],
    ] {
        let output = run(&arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{stderr}");
        assert!(stderr.contains(said) && output.stdout.is_empty(), "{arguments:?}\n{stderr}");
    }
    let folder = TestFolder::new("cluster-not-built");
    let file = folder.path().join("gristmill.toml");
    std::fs::write(&file, "level = 'production'\n[cluster]\nnats = 'nats://127.0.0.1:4222'\n").unwrap();
    let output = run(&["serve", "--no-state", "--no-servers", "--config", file.to_str().unwrap()]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    let (before, _) = stderr.split_once(": `[cluster]` needs a build with cluster support").expect(&stderr);
    assert!(before.ends_with("gristmill.toml:2") && stderr.contains("--features cluster"), "{stderr}");
    let output = run(&["doctor", "--no-servers", "--json", "--config", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let cluster = &found["cluster"];
    assert_eq!((&cluster["state"], &cluster["nodes"]), (&json!("not built"), &json!(null)), "{cluster:#}");
    assert!(cluster["remedy"].as_str().unwrap().contains("--features cluster"), "{cluster:#}");
    let shown = text(&run(&["doctor", "--no-servers", "--config", file.to_str().unwrap()]).stdout);
    assert!(shown.contains("\ncluster:\n  MISSING gristmill at nats://127.0.0.1:4222, as "), "{shown}");
    assert!(shown.contains(", but this build has no cluster support (see above)"), "{shown}");
}

#[cfg(feature = "cluster")]
#[test]
fn doctor_names_a_cluster_whose_bus_cannot_be_reached() {
    let folder = TestFolder::new("cluster-unreachable");
    let file = folder.path().join("gristmill.toml");
    // Nobody listens at port 1, and whoever is at the other never says a word.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = silent.local_addr().unwrap().port();
    for (port, why) in [(1, "can't connect: "), (silent, "can't connect: nobody answers within 3 s")] {
        let cluster = format!("[cluster]\nnats = 'nats://127.0.0.1:{port}'\nname = 'team'\nnode = 'a'\n");
        std::fs::write(&file, cluster).unwrap();
        let arguments = ["doctor", "--no-servers", "--json", "--config", file.to_str().unwrap()];
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(1));
        let mut found: Value = serde_json::from_slice(&output.stdout).unwrap();
        let problem = found["cluster"]["problem"].take();
        assert!(problem.as_str().is_some_and(|problem| problem.starts_with(why)), "{problem}");
        let expected = json!({
            "state": "wrong",
            "cluster": "team",
            "nats": [format!("nats://127.0.0.1:{port}")],
            "node": "a",
            "tls": false,
            "nkey": false,
            "nodes": null,
            "gateways": null,
            "problem": null,
            "remedy": "start the NATS server, or correct `nats`, `nkey` and `ca` under [cluster]",
        });
        assert_eq!(found["cluster"], expected);
    }
}

#[test]
fn doctor_tells_of_every_wall_and_runs_a_program() {
    let output = run(&["doctor", "--json"]);
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{findings:#}");
    assert_eq!(findings["ready"], json!(true));
    assert_eq!(findings["walls"].as_array().unwrap().len(), 10);
    assert_eq!(findings["engine_file_good"], json!(true));
    assert_eq!(findings["request_bytes_max"], json!(256 << 20));
    assert_eq!(findings["cluster"], json!(null));
    let shown = text(&run(&["doctor"]).stdout);
    assert!(shown.contains("landlock") && shown.contains("ready: a program ran in"), "{shown}");
}

#[test]
fn doctor_attacks_the_sandbox_and_says_what_stopped_each_attack() {
    let stdout = check_ok(&["doctor", "--attack", "--only", "network"]);
    assert!(stdout.contains("ok   a connection to the loopback address"), "{stdout}");
    assert!(stdout.contains("ok   network::tcp_connect ") && !stdout.contains("files::"), "{stdout}");
    let total = stdout.lines().filter(|line| line.contains("network::")).count();
    assert!(stdout.contains(&format!("\n{total} of {total} attacks stopped in ")), "{stdout}");
    // What a check would refuse there meets the walls all the same.
    let hardened = run(&["doctor", "--attack", "--only", "process,environment", "--level", "hardened"]);
    let shown = text(&hardened.stdout);
    assert!(hardened.status.success() && !shown.contains("nothing ran"), "{shown}");
    let wrong = run(&["doctor", "--attack", "--only", "netwrk"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("no attacks of kind `netwrk`; there are channel, "));
}

#[test]
fn the_demo_ends_with_its_token_table() {
    let output = run(&["demo", "--json"]);
    let demo: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(demo["report"]["success"], json!(true), "{demo:#}");
    assert_eq!(demo["report"]["tools_called"].as_array().unwrap().len(), 4);
    let expected = include_str!("../../../example-servers/src/demo/transcript_to_crm.result.txt");
    assert_eq!(demo["report"]["result"], json!(expected.trim_end()));
    assert!(demo["tokens"]["direct"].as_u64().unwrap() > 500_000);
    let [theirs, ours, milled] =
        ["definitions", "own_definitions", "milled"].map(|key| demo["tokens"][key].as_u64().unwrap());
    // Both sides have their definitions, counted alike: without output schemas and hints.
    assert!((1_000..2_500).contains(&theirs) && (300..600).contains(&ours), "{demo:#}");
    assert!(milled > ours && milled < ours + 1_000, "{demo:#}");
    let shown = text(&run(&["demo"]).stdout);
    assert!(shown.contains("direct calls   through Gristmill") && shown.contains("saved"), "{shown}");
}

#[test]
fn a_worker_command_by_hand_says_what_it_is() {
    let stderr = check(&["worker-zygote"], 2, "");
    assert!(stderr.contains("this command is internal"), "{stderr}");
}

#[test]
fn a_file_is_shaped_to_a_budget() {
    let folder = TestFolder::new("shaped");
    let rows: Vec<Value> = (0..10_000).map(|id| json!({"id": id, "name": "x"})).collect();
    let file = folder.path().join("rows.json");
    std::fs::write(&file, json!({"total": 10_000, "rows": rows}).to_string()).unwrap();
    let file = file.to_str().unwrap();
    let output = run(&["shape", file, "--max-tokens", "200"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    let shown: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&shown["total"], &shown["rows"][0]), (&json!(10_000), &json!({"id": 0, "name": "x"})));
    assert!(
        stderr.contains("left out: rows: 9,9") && stderr.contains(" of 10,000 items not shown"),
        "{stderr}"
    );

    let output = run(&["shape", file, "--max-tokens", "300", "--strategy", "table", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["value"]["rows"]["columns"]["id"]["max"], json!(9_999));
    assert!(document["tokens"].as_u64() <= Some(300) && document["is_whole"] == json!(false));

    let empty = folder.path().join("empty.json");
    let too_large = std::fs::File::create(&empty).unwrap();
    let stderr = check(&["shape", empty.to_str().unwrap()], 0, "\n");
    assert_eq!(stderr, "the input is empty\n");
    too_large.set_len((1 << 30) + 1).unwrap();
    let stderr = check(&["shape", empty.to_str().unwrap()], 2, "");
    assert!(stderr.contains("empty.json is larger than 1 GB\nhint: pass a part of it"), "{stderr}");

    let stderr = check(&["shape", "/nonexistent/rows.json"], 2, "");
    assert!(stderr.contains("can't read /nonexistent/rows.json: "), "{stderr}");
    let stderr = check(&["shape", file, "--strategy", "all"], 2, "");
    assert!(stderr.contains("unknown strategy `all`"), "{stderr}");
}

#[test]
fn a_file_is_scanned_for_personal_data() {
    let folder = TestFolder::new("scanned");
    let file = folder.path().join("mail.txt");
    std::fs::write(&file, "write to ann@example.com, not to 1700000000").unwrap();
    let file = file.to_str().unwrap();
    let told = check_ok(&["privacy", "scan", file]);
    assert!(told.contains("email") && told.contains("write to [ann@example.com], not to"), "{told}");
    let machine = parsed(&check_ok(&["privacy", "scan", file, "--json"]));
    let expected =
        json!([{"kind": "email", "span": {"start": 9, "end": 24}, "confidence": 96, "rule": "email"}]);
    assert_eq!((&machine["findings"], &machine["bytes"]), (&expected, &json!(43)));
    let stderr = check(&["privacy", "scan", "/nonexistent/mail.txt"], 2, "");
    assert!(stderr.contains("can't read /nonexistent/mail.txt: "), "{stderr}");
}

#[test]
fn codes_are_explained() {
    let told = check_ok(&["explain", "1201"]);
    assert!(told.starts_with("GM-1201  Time limit") && told.contains("What to do: "), "{told}");
    assert_eq!(told, check_ok(&["explain", "gm-1201"]));
    let all = check_ok(&["explain"]);
    assert!(all.lines().count() > 30 && all.contains("GM-4003  "), "{all}");
    let rule = check_ok(&["explain", "GC-114"]);
    assert!(rule.starts_with("GC-114  Uses the network") && rule.contains("What to do: "), "{rule}");
    assert!(all.contains("\nGC-114  Uses the network"), "{all}");
    let machine = parsed(&check_ok(&["explain", "--json", "GM-1101"]));
    assert_eq!((&machine["code"], &machine["title"]), (&json!("GM-1101"), &json!("Syntax error")));
}

#[test]
fn shells_get_completions_and_readers_get_manual_pages() {
    for (shell, mark) in
        [("bash", "complete -F _gristmill"), ("zsh", "#compdef gristmill"), ("fish", "complete -c gristmill")]
    {
        let script = check_ok(&["completions", shell]);
        assert!(script.contains(mark) && script.contains("explain"), "{shell}");
    }
    assert!(check_ok(&["man"]).contains(".TH gristmill 1"));
    let folder = TestFolder::new("man");
    check_ok(&["man", "--output-dir", folder.path().to_str().unwrap()]);
    for page in ["gristmill.1", "gristmill-run.1", "gristmill-tools-call.1"] {
        assert!(folder.path().join(page).exists(), "{page}");
    }
}

#[test]
fn the_help_shows_commands_in_groups_and_color_only_where_it_is_wanted() {
    let help = check_ok(&["--help"]);
    for heading in ["Run:", "Servers:", "Agents:", "Data:", "Maintenance:", "Options:"] {
        assert!(help.contains(&format!("\n{heading}\n")), "{heading}\n{help}");
    }
    assert!(help.contains("  list            List servers and their status\n"), "{help}");
    assert!(!help.contains('\x1b'));
    let failing = ["run", "-c", "1 / 0"];
    let stderr = |extra: &[&str], variable: Option<&str>| {
        let mut command = command(&[extra, &failing[..]].concat());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        if let Some(variable) = variable {
            command.env(variable, "1");
        }
        text(&command.stdin(Stdio::null()).output().unwrap().stderr)
    };
    let colored = "\x1b[1;31merror[GM-1102], line 1\x1b[0m";
    assert!(stderr(&["--color", "always"], Some("NO_COLOR")).contains(colored));
    assert!(stderr(&[], Some("CLICOLOR_FORCE")).contains(colored));
    for plain in [stderr(&[], None), stderr(&["--color=never"], Some("CLICOLOR_FORCE"))] {
        assert!(plain.contains("error[GM-1102], line 1\n") && !plain.contains('\x1b'), "{plain}");
    }
}
