//! Every example of docs/configuration.md can be used as it stands.

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
            vec!["files", "crm"],
            vec!["files", "crm"],
            vec!["files", "crm"]
        ]
    );
}

#[test]
fn the_page_names_every_key_of_a_server() {
    for key in super::super::server_entry::KEYS {
        assert!(PAGE.contains(&format!("`{key}`")), "{key}");
    }
}
