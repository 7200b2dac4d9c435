//! The table `cluster`.

use gristmill_gateway::EngineId;
use gristmill_gateway::domain::Level;
use gristmill_gateway::ids::Owner;
use gristmill_gateway::ports::{RemoteProgram, RunWhere};

use super::World;
use crate::commands::show;
use crate::{ClusterSettings, Severity};

const TABLE: &str = "[cluster]\nnats = ['tls://a.example.com:4222', 'tls://b.example.com']\nname = 'team'\nnode = 'gateway-1'\n\
                     nkey = '${file:gateway-1.nk}'\nca = 'ca.pem'\ncertificate = '~/me.pem'\nkey = '/etc/me.key'\n\
                     run = 'anywhere'\ntakes = 4\nlabels = ['eu', 'eu', 'big']\nstate_key = '${file:state.key}'\n\
                     [[cluster.place]]\nengines = ['native']\nrun = 'nodes'\nlabels = ['gpu']\n\
                     [[cluster.place]]\nlevels = ['production']\ntokens = ['ci-*']\nsessions = ['heavy-*']\nrun = 'nodes'\n\
                     [[cluster.place]]\nsessions = ['heavy-*']\nrun = 'here'\n";
const SMALL: &str = "[cluster]\nnats = 'nats://127.0.0.1:4222'\n";

fn settings(table: &str) -> ClusterSettings {
    let world = World::new().user(table);
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new(), "{table}");
    loaded.config.cluster.settings.expect("a cluster")
}

#[test]
fn every_key_is_read_and_shown_with_its_reference_unresolved() {
    let world = World::new().user(TABLE);
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let cluster = loaded.config.cluster.settings.as_ref().expect("a cluster");
    let urls: Vec<&str> = cluster.urls.iter().map(crate::BusUrl::as_str).collect();
    assert_eq!(urls, ["tls://a.example.com:4222", "tls://b.example.com"]);
    assert_eq!((cluster.name.as_str(), cluster.node.as_deref()), ("team", Some("gateway-1")));
    let nkey = cluster.nkey.as_ref().expect("a reference");
    assert_eq!((nkey.as_plain(), nkey.written().as_str()), (None, "${file:gateway-1.nk}"));
    assert_eq!(cluster.ca, Some(world.path("home/.config/gristmill/ca.pem")));
    let certificate = cluster.client_certificate.as_ref().expect("a certificate");
    assert_eq!(certificate.certificate, world.path("home/me.pem"));
    assert_eq!((cluster.run, cluster.takes), (RunWhere::Anywhere, 4));
    assert_eq!(cluster.labels, ["eu", "big"]);
    let state_key = cluster.state_key.as_ref().expect("a reference");
    assert_eq!((state_key.as_plain(), state_key.written().as_str()), (None, "${file:state.key}"));
    assert_eq!(cluster.places.len(), 3);
    let toml = show::as_toml(&loaded.config);
    for line in [
        "[cluster]\nnats = [\"tls://a.example.com:4222\",\"tls://b.example.com\"] # ",
        "nkey = \"${file:gateway-1.nk}\" # ",
        "run = \"anywhere\" # ",
        "\n[[cluster.place]]\nengines = [\"native\"]\nrun = \"nodes\"\nlabels = [\"gpu\"]\n",
    ] {
        assert!(toml.contains(line), "{line}\n{toml}");
    }
    assert_eq!(settings(&toml_of_cluster(&toml)).places, cluster.places, "what is shown can be written");
    let json = show::as_json(&loaded.config);
    assert_eq!(json["cluster"]["takes"]["value"], 4);
    assert_eq!(json["cluster"]["place"]["value"][0]["labels"][0], "gpu");
}

/// The part of what is shown that is about the cluster.
fn toml_of_cluster(toml: &str) -> String {
    let (_, rest) = toml.split_once("\n[cluster]\n").expect("the table");
    let (cluster, _) = rest.split_once("\n[guardrails]\n").expect("what follows");
    format!("[cluster]\n{cluster}")
}

#[test]
fn without_a_word_programs_run_here_and_none_of_others_are_taken() {
    let config = World::new().load().config;
    assert!(config.cluster.settings.is_none() && config.cluster.shown().is_empty());
    assert!(!show::as_toml(&config).contains("[cluster]"));
    assert_eq!(show::as_json(&config)["cluster"], serde_json::json!({}));
    let small = settings(SMALL);
    assert_eq!((small.name.as_str(), small.node.as_ref(), small.nkey.as_ref()), ("gristmill", None, None));
    assert_eq!((small.run, small.takes, small.uses_nodes()), (RunWhere::Here, 0, false));
}

#[test]
fn the_first_rule_that_fits_a_program_decides() {
    let cluster = settings(TABLE);
    assert!(cluster.uses_nodes());
    let program =
        |engine: EngineId, level: Level, token: Option<&str>, session: Option<&str>| RemoteProgram {
            engine,
            level,
            owner: Owner::local(),
            token: token.map(str::to_owned),
            session: session.map(str::to_owned),
            execution: None,
        };
    let check = |program: RemoteProgram, run: RunWhere, labels: &[&str]| {
        let (found, needed) = cluster.place_of(&program);
        assert_eq!((found, needed.iter().map(String::as_str).collect::<Vec<_>>()), (run, labels.to_vec()));
    };
    let (python, production) = (EngineId::Python, Level::Production);
    check(program(EngineId::Native, production, Some("ci-1"), Some("heavy-1")), RunWhere::Nodes, &["gpu"]);
    check(program(python, production, Some("ci-1"), Some("heavy-1")), RunWhere::Nodes, &[]);
    check(program(python, Level::Hardened, Some("ci-1"), Some("heavy-1")), RunWhere::Here, &[]);
    check(program(python, production, None, Some("heavy-1")), RunWhere::Here, &[]);
    check(program(python, production, Some("ci-1"), None), RunWhere::Anywhere, &[]);
    check(program(python, production, Some("other"), Some("notes")), RunWhere::Anywhere, &[]);
}

#[test]
fn a_secret_in_the_file_is_an_error_that_does_not_repeat_it() {
    for secret in ["SUAB7SEED", "SUAB${REST}", "${REST:-SUAB7SEED}", "${A}${B}", "$${A}", ""] {
        for key in ["nkey", "state_key"] {
            let world = World::new().user(&format!("{SMALL}{key} = '{secret}'\n"));
            let said = world.said(&world.load());
            assert_eq!(said.len(), 1, "{secret}: {said:?}");
            assert!(said[0].contains(&format!("`cluster.{key}` must be a reference")), "{said:?}");
            assert!(!said[0].contains("SUAB"), "{said:?}");
        }
    }
    for nkey in ["${NKEY}", "${env:NKEY}", "${keyring:node}", "${cmd:pass show node}"] {
        assert!(settings(&format!("{SMALL}nkey = '{nkey}'\n")).nkey.is_some());
    }
}

#[test]
fn a_check_names_the_variable_of_a_key_that_is_not_set() {
    let world = World::new().user(&format!("{SMALL}nkey = '${{NKEY}}'\nstate_key = '${{file:state.key}}'\n"));
    let unmet = |world: &World| crate::needs::unmet(&world.load().config, &world.surroundings);
    let said: Vec<String> = unmet(&world).iter().map(ToString::to_string).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("gristmill.toml:1: `cluster.nkey` needs the variable `NKEY`"), "{said:?}");
    let set = world.file("home/.config/gristmill/.env", "NKEY=SUAB\n");
    assert!(unmet(&set).is_empty());
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    let check = |wrong: &str, expected: &str| {
        let world = World::new().user(wrong);
        let loaded = world.load();
        let said = world.said(&loaded);
        let errors = loaded.problems.iter().filter(|problem| problem.severity == Severity::Error).count();
        assert_eq!(errors, 1, "{wrong}: {said:?}");
        assert!(said.iter().any(|line| line.contains(expected)), "{wrong}: {said:?}");
    };
    check("[cluster]\nname = 'team'\n", "`cluster` needs `nats`");
    check("[cluster]\nnats = 'nats://nats.example.com'\n", "use `tls://`");
    check("[cluster]\nnats = ['nats://localhost', 'tls://me:hunter2@b']\n", "use `nkey`");
    check("[cluster]\nnats = []\n", "`cluster.nats` can't be empty");
    check("[cluster]\nnats = 4222\n", "`cluster.nats` must be text or a list of texts");
    check(&format!("{SMALL}nkeys = 'x'\n"), "unknown key (did you mean `nkey`?)");
    check(&format!("{SMALL}lables = ['x']\n"), "unknown key (did you mean `labels`?)");
    check(&format!("{SMALL}name = 'My Team'\n"), "use 1 to 32 lowercase letters");
    check(&format!("{SMALL}node = 'a.b'\n"), "use 1 to 48 lowercase letters");
    check(&format!("{SMALL}labels = ['EU']\n"), "`cluster.labels` isn't a valid name");
    check(&format!("{SMALL}run = 'node'\n"), "must be one of here, nodes, anywhere (did you mean `nodes`?)");
    check(&format!("{SMALL}takes = -1\n"), "from 0 to 1000");
    check(&format!("{SMALL}certificate = 'a.pem'\n"), "`cluster.certificate` needs `key`");
    check(&format!("{SMALL}key = 'a.key'\n"), "`cluster.key` needs `certificate`");
    check(&format!("{SMALL}ca = '${{CA}}'\n"), "can't contain references");
    check(&format!("{SMALL}[cluster.place]\nrun = 'here'\n"), "`cluster.place` must be a list of tables");
    let place = |keys: &str| format!("{SMALL}[[cluster.place]]\n{keys}");
    check(&place("engines = ['native']\n"), "`cluster.place[0]` needs `run`");
    check(&place("run = 'there'\n"), "must be one of here, nodes, anywhere");
    check(&place("engines = ['ruby']\nrun = 'nodes'\n"), "must be one of python, typescript, native");
    check(&place("levels = ['soft']\nrun = 'nodes'\n"), "`cluster.place[0].levels`");
    check(&place("tokens = []\nrun = 'nodes'\n"), "`cluster.place[0].tokens` can't be empty");
    check(&place("run = 'here'\nlabels = ['gpu']\n"), "only applies with `run = \"nodes\"`");
    check(&place("run = 'nodes'\ntoken = ['ci']\n"), "unknown key (did you mean `tokens`?)");
}

#[test]
fn a_project_hands_your_programs_to_nobody_even_if_it_is_approved() {
    let world = World::new().user("level = 'production'\n").project(TABLE);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert!(loaded.config.cluster.settings.is_none());
    assert!(world.said(&loaded).iter().any(|line| line.contains("`cluster`")), "{:?}", world.said(&loaded));
}
