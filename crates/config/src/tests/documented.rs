//! Every example of docs/configuration.md can be used as it stands.

use super::super::document::parse;
use super::super::read_file::FileText;
use super::{document, said};

const PAGE: &str = include_str!("../../../../docs/configuration.md");

fn examples(language: &str) -> Vec<&'static str> {
    let opening = format!("```{language}\n");
    let examples = PAGE.split(opening.as_str()).skip(1);
    examples.filter_map(|rest| rest.split_once("```").map(|(example, _)| example)).collect()
}

#[test]
fn the_examples_are_read_without_a_word() {
    let mut servers = Vec::new();
    for language in ["toml", "yaml", "json"] {
        for example in examples(language) {
            let document = document(&format!("gristmill.{language}"), example);
            assert_eq!(said(&document), Vec::<String>::new(), "{example}");
            servers.push(document.servers.into_iter().map(|(server, _)| server.name).collect::<Vec<_>>());
        }
    }
    assert_eq!(
        servers,
        [
            vec!["files", "crm"],
            vec!["tracker"],
            vec![],
            vec!["files", "crm"],
            vec!["files", "crm"],
            vec!["files", "crm"]
        ]
    );
}

#[test]
fn the_examples_fit_the_schema_and_mistakes_do_not() {
    let schema = crate::schema::schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let schema = jsonschema::validator_for(&schema).unwrap();
    let json = |language: &str, text: &str| {
        let path = format!("gristmill.{language}").into();
        let file = FileText { path, bytes: text.as_bytes().to_vec(), writable_by_others: false };
        parse(&file).unwrap().to_json()
    };
    for language in ["toml", "yaml", "json"] {
        for example in examples(language) {
            let errors: Vec<String> =
                schema.iter_errors(&json(language, example)).map(|error| error.to_string()).collect();
            assert_eq!(errors, Vec::<String>::new(), "{example}");
        }
    }
    for good in [
        "\"$schema\" = \"config.schema.json\"",
        "limits.wall_time = 10",
        "history.keep = \"1.5h\"",
        "privacy = \"boundary\"",
    ] {
        assert!(schema.is_valid(&json("toml", good)), "{good}");
    }
    for mistake in [
        "levle = \"production\"",
        "level = \"paranoid\"",
        "limits.wall_time = \"soon\"",
        "servers.a.args = []",
        "servers.a = { command = \"a\", url = \"http://b\" }",
        "servers.a = { command = \"a\", comand = \"b\" }",
        "sessions.max = 0",
        "privacy.mode = \"all\"",
        "privacy.restore = [{ to = \"mail\" }]",
        "privacy.patterns.A = \"a\"",
        "servers.a = { command = \"a\", privacy = \"none\" }",
    ] {
        assert!(!schema.is_valid(&json("toml", mistake)), "{mistake}");
    }
}

#[test]
fn the_page_names_every_key_of_a_server() {
    for key in super::super::server_entry::KEYS {
        assert!(PAGE.contains(&format!("`{key}`")), "{key}");
    }
}
