//! `gristmill privacy vault`: listed by kind and count, wiped, and never shown.

use std::path::Path;
use std::process::{Output, Stdio};

use gristmill_gateway::ids::{Owner, SessionId};
use gristmill_gateway::marks::Scope;
use gristmill_gateway::privacy::{Vault, Wanted};
use gristmill_gateway::store::Store;
use gristmill_privacy::{Form, Kind};
use gristmill_testkit::TestFolder;
use serde_json::json;

use crate::{command, parsed, text};

const ANN: &str = "ann.planted@example.com";

fn run_in(data: &Path, arguments: &[&str]) -> Output {
    command(arguments).env("GRISTMILL_DATA_DIR", data).stdin(Stdio::null()).output().unwrap()
}

fn told(data: &Path, arguments: &[&str]) -> String {
    let output = run_in(data, arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}\n{}", text(&output.stderr));
    text(&output.stdout)
}

/// As a gateway does it.
fn keep(data: &Path, scope: &Scope, values: &[(&Kind, &str)]) -> Vec<String> {
    let wanted: Vec<Wanted<'_>> = values
        .iter()
        .map(|(kind, value)| Wanted { kind, value, form: Form::Plain, is_number: false, server: Some("crm") })
        .collect();
    in_runtime(async {
        let vault = Vault::open(Some(Store::open(data).unwrap()), None).unwrap();
        vault.tokens(scope, &wanted).await.unwrap()
    })
}

fn is_restored(data: &Path, scope: &Scope, token: &str) -> bool {
    in_runtime(async {
        let vault = Vault::open(Some(Store::open(data).unwrap()), None).unwrap();
        vault.values(std::slice::from_ref(scope), &[token]).await.unwrap()[0].is_some()
    })
}

fn in_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

#[test]
fn the_vault_is_listed_by_kind_and_count_and_wiped() {
    let folder = TestFolder::new("vault-commands");
    let data = folder.path();
    let id = told(data, &["sessions", "create", "--name", "notes"]);
    let session = Scope::Session(SessionId::read(id.trim()).unwrap());
    let client = Scope::Client { owner: Owner::local(), client: "agent".to_owned() };
    let kept = [(&Kind::Email, ANN), (&Kind::Email, "bob@example.com"), (&Kind::Phone, "+49 30 901820")];
    let tokens = keep(data, &session, &kept);
    let outside = keep(data, &client, &kept[..1]);

    let list = ["privacy", "vault", "list"];
    let table = told(data, &list);
    assert!(table.contains("session notes") && table.contains("client agent"), "{table}");
    assert!(!table.contains("planted") && !table.contains(&tokens[0]), "{table}");
    let mut machine = parsed(&told(data, &["privacy", "vault", "list", "--json"]));
    let line = machine.as_array_mut().unwrap().iter_mut().find(|line| line["kind"] == "phone").unwrap();
    let (bytes, used) = (line["bytes"].take(), line["used"].take());
    assert!(bytes.as_u64() > Some(64) && used.is_string(), "{bytes} {used}");
    let expected = json!({
        "owner": "local", "session": id.trim(), "session_name": "notes", "client": null, "kind": "phone",
        "values": 1, "bytes": null, "used": null, "readable": true,
    });
    assert_eq!(*line, expected);

    let refused = run_in(data, &["privacy", "vault", "wipe", "--session", "notes"]);
    assert_eq!(refused.status.code(), Some(2));
    let stderr = text(&refused.stderr);
    assert!(stderr.contains("this deletes 3 values for good") && stderr.contains("--yes"), "{stderr}");
    let wiped = told(data, &["privacy", "vault", "wipe", "--session", "notes", "--yes"]);
    assert_eq!(wiped, "deleted 3 values\n");
    assert!(!is_restored(data, &session, &tokens[0]) && is_restored(data, &client, &outside[0]));
    assert_eq!(told(data, &["privacy", "vault", "wipe", "--all", "--yes"]), "deleted 1 value\n");
    let empty = run_in(data, &list);
    assert_eq!(
        (text(&empty.stdout), text(&empty.stderr)),
        (String::new(), "The vault is empty.\n".to_owned())
    );

    let tokens = keep(data, &session, &kept);
    told(data, &["sessions", "remove", "notes", "--yes"]);
    assert!(!is_restored(data, &session, &tokens[0]));
    assert_eq!(told(data, &list), "");
}

#[test]
fn a_wipe_says_what_it_needs() {
    let folder = TestFolder::new("vault-usage");
    for (arguments, said) in [
        (&["wipe"][..], "--session <SESSION>|--all"),
        (&["wipe", "--all", "--session", "x"][..], "cannot be used with"),
        (&["wipe", "--session", "nowhere", "--yes"][..], "gristmill sessions list"),
    ] {
        let output = run_in(folder.path(), &[&["privacy", "vault"], arguments].concat());
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{stderr}");
        assert!(stderr.contains(said), "{arguments:?}\n{stderr}");
    }
}

#[test]
fn values_of_a_lost_key_are_named_with_what_to_do() {
    let folder = TestFolder::new("vault-key");
    let data = folder.path();
    let client = Scope::Client { owner: Owner::local(), client: String::new() };
    keep(data, &client, &[(&Kind::Email, ANN)]);
    std::fs::remove_file(data.join("vault.key")).unwrap();
    let output = run_in(data, &["privacy", "vault", "list"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(stdout.contains("no session") && stdout.contains("other key"), "{stdout}");
    let note = "note: 1 value can't be restored: made with another vault.key; put that file back";
    assert!(stderr.contains(note) && stderr.contains("gristmill privacy vault wipe --all"), "{stderr}");
}
