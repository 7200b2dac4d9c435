//! What is let through, and where tokens become values again, in files of people.

use std::fs;

use gristmill_gateway::privacy::{Kind, RestoreRule};

use super::World;
use crate::edit_policy::Writing;
use crate::edit_privacy::{PrivacyDone, allow_values, put_restore_rule};

type Done = (Result<PrivacyDone, String>, String);

/// What becomes of a file; none is made of an empty one.
fn edited(
    name: &str,
    before: &str,
    edit: impl Fn(&std::path::Path, Writing) -> Result<PrivacyDone, crate::edit::EditError>,
) -> Done {
    let world = World::new();
    let path = world.write(name, before);
    let planned = edit(&path, Writing::Not).map_err(|error| error.to_string());
    assert_eq!(fs::read_to_string(&path).unwrap(), before, "nothing is written yet");
    let done = edit(&path, Writing::Now).map_err(|error| error.to_string());
    assert_eq!(done.as_ref().ok(), planned.as_ref().ok());
    let again = edit(&path, Writing::Now);
    if done.is_ok() {
        assert_eq!(again.unwrap(), PrivacyDone::AsItWas);
    }
    let root = format!("{}/", path.parent().unwrap().display());
    (done.map_err(|error| error.replace(&root, "")), fs::read_to_string(&path).unwrap())
}

fn allow(name: &str, before: &str, values: &[&str]) -> Done {
    edited(name, before, |path, writing| allow_values(path, values, writing))
}

fn rule() -> RestoreRule {
    RestoreRule {
        kinds: vec![Kind::Email],
        to: "mail.send_*".to_owned(),
        fields: vec!["to".to_owned(), "cc".to_owned()],
        allow: true,
    }
}

fn restore(name: &str, before: &str) -> Done {
    edited(name, before, |path, writing| put_restore_rule(path, &rule(), writing))
}

#[test]
fn values_are_let_through_and_comments_stay() {
    let check = |before: &str, after: &str| {
        let done = allow("gristmill.toml", before, &["a@example.com"]);
        assert_eq!(done, (Ok(PrivacyDone::Added), after.to_owned()), "{before}");
    };
    let table = "[privacy.allow]\nvalues = [\"a@example.com\"]\n";
    check("", table);
    check("level = \"production\" # mine\n", &format!("level = \"production\" # mine\n\n{table}"));
    check(
        "[privacy]\nmode = \"boundary\" # all\n\n[history]\nkeep = \"1d\"\n",
        &format!("[privacy]\nmode = \"boundary\" # all\n\n{table}\n[history]\nkeep = \"1d\"\n"),
    );
    check(
        "[privacy.allow]\nvalues = [\"b\"] # ours\n",
        "[privacy.allow]\nvalues = [\"b\", \"a@example.com\"] # ours\n",
    );
    check(
        "[privacy.allow]\nvalues = [\n  \"b\", # why\n  # end\n]\n",
        "[privacy.allow]\nvalues = [\n  \"b\", # why\n  # end\n  \"a@example.com\",\n]\n",
    );
    check(
        "[privacy.allow]\nvalues = [\n  \"b\" # why\n]\n",
        "[privacy.allow]\nvalues = [\n  \"b\", # why\n  \"a@example.com\",\n]\n",
    );
    check(
        "[privacy]\nallow = { globs = [\"*\"] }\n",
        "[privacy]\nallow = { globs = [\"*\"], values = [\"a@example.com\"] }\n",
    );
    check(
        "privacy = { mode = \"off\", allow = { values = [\"b\"] } }\n",
        "privacy = { mode = \"off\", allow = { values = [\"b\", \"a@example.com\"] } }\n",
    );
    check(
        "privacy = { mode = \"off\" }\n",
        "privacy = { mode = \"off\", allow = { values = [\"a@example.com\"] } }\n",
    );
    check("# how\nprivacy = \"off\"\n", &format!("\n# how\n[privacy]\nmode = \"off\"\n\n{table}"));
}

#[test]
fn a_value_that_is_there_is_not_written_twice() {
    let before = "[privacy.allow]\nvalues = [\"A@Example.com\"]\n";
    let done = allow("gristmill.toml", before, &["a@example.com"]);
    assert_eq!(done, (Ok(PrivacyDone::AsItWas), before.to_owned()));
    let (done, after) = allow("gristmill.toml", before, &["a@example.com", "b", "B"]);
    assert_eq!(done, Ok(PrivacyDone::Added));
    assert_eq!(after, "[privacy.allow]\nvalues = [\"A@Example.com\", \"b\"]\n");
}

#[test]
fn a_rule_comes_first_and_comments_stay() {
    let new = "[[privacy.restore]]\nkinds = [\"email\"]\nto = \"mail.send_*\"\nfields = [\"to\", \"cc\"]\nallow = true\n";
    let check = |before: &str, after: &str| {
        let done = restore("gristmill.toml", before);
        assert_eq!(done, (Ok(PrivacyDone::Added), after.to_owned()), "{before}");
    };
    check("", new);
    check(
        "[privacy]\nmode = \"boundary\"\n\n# none\n[[privacy.restore]]\nto = \"web\"\nallow = false\n",
        &format!(
            "[privacy]\nmode = \"boundary\"\n\n{new}\n# none\n[[privacy.restore]]\nto = \"web\"\nallow = false\n"
        ),
    );
    check(
        "[privacy]\nrestore = [{ to = \"web\", allow = false }] # all\n",
        "[privacy]\nrestore = [{ kinds = [\"email\"], to = \"mail.send_*\", fields = [\"to\", \"cc\"], allow = true }, { to = \"web\", allow = false }] # all\n",
    );
}

#[test]
fn json_keeps_its_comments() {
    let before = "{\n  // mine\n  \"privacy\": {\n    \"allow\": {\n      \"values\": [\"b\"], // ours\n    },\n  },\n}\n";
    let (done, after) = allow("gristmill.json", before, &["a"]);
    assert_eq!(done, Ok(PrivacyDone::Added));
    assert_eq!(after, before.replace("[\"b\"]", "[\"b\", \"a\"]"));
    let (done, after) = restore("gristmill.json", "{\"privacy\": \"boundary\" /* all */}\n");
    assert_eq!(done, Ok(PrivacyDone::Added));
    assert!(after.contains("/* all */") && after.contains("\"mode\": \"boundary\""), "{after}");
    assert_eq!(allow("gristmill.json", "", &["a"]).0, Ok(PrivacyDone::Added));
}

#[test]
fn yaml_is_left_alone_and_its_owner_is_told_what_to_write() {
    let check = |before: &str, values: &[&str], says: &str| {
        let (done, after) = allow("gristmill.yaml", before, values);
        let words = "gristmill.yaml was not changed: Gristmill reads YAML, but does not edit it";
        assert_eq!((done, after), (Err(format!("{words}\n{says}")), before.to_owned()));
    };
    check("level: hardened\n", &["a"], "add this:\nprivacy:\n  allow:\n    values: [\"a\"]");
    check(
        "privacy:\n    mode: boundary\n",
        &["a"],
        "add this below `privacy:` (line 1):\n    allow:\n      values: [\"a\"]",
    );
    check(
        "privacy:\n  allow:\n    values: [b]\n",
        &["a"],
        "put this in place of `values` (line 3):\n    values: [\"b\",\"a\"]",
    );
    check(
        "privacy: boundary\n",
        &["a"],
        "put this in place of `privacy` (line 1):\nprivacy:\n  mode: \"boundary\"\n  allow:\n    values: [\"a\"]",
    );
}

#[test]
fn what_is_no_privacy_table_is_left_alone() {
    for before in [
        "privacy = 3\n",
        "[[privacy]]\nmode = \"off\"\n",
        "privacy = [\n",
        "[privacy]\nallow = 3\n",
        "[privacy.allow]\nvalues = \"a\"\n",
        "[privacy]\nmod = \"off\"\n",
    ] {
        let (done, after) = allow("gristmill.toml", before, &["a"]);
        assert!(done.is_err() && after == before, "{before}: {done:?}");
    }
    for before in ["[privacy]\nrestore = 3\n", "[privacy.restore]\na = 1\n"] {
        let (done, after) = restore("gristmill.toml", before);
        assert!(done.is_err() && after == before, "{before}: {done:?}");
    }
    let long = "a".repeat(2_000);
    assert!(allow("gristmill.toml", "", &[&long]).0.is_err());
    assert!(allow("gristmill.toml", "", &[""]).0.is_err());
}
