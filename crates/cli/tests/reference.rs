//! docs/reference/cli.md and docs/reference/config.md, made from the definitions that the binary uses.
//!
//! A test compares them; with UPDATE_REFERENCE=1 it writes them instead.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command};
use gristmill_cli::{GROUPS, command};
use serde_json::Value;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference");

#[test]
fn the_reference_pages_are_what_the_binary_has() {
    let mut outdated = Vec::new();
    for (name, expected) in [("cli.md", cli()), ("config.md", config())] {
        let path = Path::new(FOLDER).join(name);
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::create_dir_all(FOLDER).expect("a folder");
            std::fs::write(&path, &expected).expect("a page");
        }
        if std::fs::read_to_string(&path).ok().as_deref() != Some(expected.as_str()) {
            outdated.push(name);
        }
    }
    assert!(outdated.is_empty(), "{outdated:?} are outdated: run this test with UPDATE_REFERENCE=1");
}

#[test]
fn every_command_and_flag_has_words() {
    let mut silent = Vec::new();
    for (path, command) in all_commands() {
        if command.get_about().is_none() {
            silent.push(path.clone());
        }
        let arguments = shown_arguments(&command);
        silent.extend(
            arguments
                .iter()
                .filter(|arg| arg.get_help().is_none())
                .map(|arg| format!("{path} {}", arg.get_id())),
        );
    }
    assert_eq!(silent, Vec::<String>::new());
}

fn cli() -> String {
    let mut page = String::from(
        "# Command-line reference\n\nMade from the binary's own definitions; `gristmill help COMMAND` prints the same. \
         Every command also takes `--color auto|always|never` and `--help`.\n\n",
    );
    let commands = all_commands();
    for (group, names) in GROUPS {
        let links: Vec<String> = names.iter().map(|name| format!("[`{name}`](#gristmill-{name})")).collect();
        writeln!(page, "- **{group}:** {}", links.join(", ")).expect("memory");
    }
    for (_, names) in GROUPS {
        for name in names {
            let prefix = format!("gristmill {name}");
            let own = commands
                .iter()
                .filter(|(path, _)| *path == prefix || path.starts_with(&format!("{prefix} ")));
            own.for_each(|(path, command)| write_command(&mut page, path, command));
        }
    }
    page.push_str(
        "\n## Environment\n\n| variable | what it sets |\n|---|---|\n\
         | `NO_COLOR`, `CLICOLOR_FORCE` | no color; color even in pipes |\n\
         | `VISUAL`, `EDITOR` | the editor of `gristmill config edit` |\n\
         | `GRISTMILL_…` | see [configuration.md](../configuration.md#variables) |\n\n\
         ## Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | ok |\n| 1 | the program failed |\n\
         | 2 | wrong usage or configuration |\n| 3 | a limit was reached |\n| 4 | internal or system error |\n",
    );
    page
}

/// Every command that is shown, and those below it, each after its parent.
fn all_commands() -> Vec<(String, Command)> {
    let mut root = command();
    root.build();
    let mut found = Vec::new();
    collect("gristmill", &root, &mut found);
    found
}

fn collect(path: &str, command: &Command, found: &mut Vec<(String, Command)>) {
    // Our own `help` is a command; below a command it is clap's.
    let is_shown =
        |below: &&Command| !below.is_hide_set() && (path == "gristmill" || below.get_name() != "help");
    for below in command.get_subcommands().filter(is_shown) {
        let path = format!("{path} {}", below.get_name());
        found.push((path.clone(), below.clone()));
        collect(&path, below, found);
    }
}

fn shown_arguments(command: &Command) -> Vec<&Arg> {
    let everywhere = ["help", "version", "color"];
    let shown = |arg: &&Arg| !arg.is_hide_set() && !everywhere.contains(&arg.get_id().as_str());
    command.get_arguments().filter(shown).collect()
}

fn write_command(page: &mut String, path: &str, command: &Command) {
    let depth = if path.matches(' ').count() == 1 { "##" } else { "###" };
    let about = command.get_long_about().or(command.get_about()).map(ToString::to_string).unwrap_or_default();
    writeln!(page, "\n{depth} {path}\n\n{}", paragraphs(&about)).expect("memory");
    if command.has_subcommands() {
        return;
    }
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    writeln!(page, "\n```text\n{usage}\n```").expect("memory");
    let arguments = shown_arguments(command);
    if !arguments.is_empty() {
        page.push_str("\n| argument | what it does |\n|---|---|\n");
        for argument in arguments {
            writeln!(page, "| `{}` | {} |", spelled(argument), words(argument)).expect("memory");
        }
    }
    if let Some(after) = command.get_after_help() {
        writeln!(page, "\n```text\n{}\n```", after.to_string().trim()).expect("memory");
    }
}

fn paragraphs(text: &str) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn spelled(argument: &Arg) -> String {
    let takes_value = argument.get_action().takes_values();
    let names: Vec<&str> =
        argument.get_value_names().into_iter().flatten().map(|name| name.as_str()).collect();
    let value = names.join(" ");
    if argument.is_positional() {
        let id = argument.get_id().as_str().to_uppercase();
        return if value.is_empty() { id } else { value };
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let name = short.into_iter().chain(long).collect::<Vec<_>>().join(", ");
    if takes_value { format!("{name} {value}") } else { name }
}

fn words(argument: &Arg) -> String {
    let mut text = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| value.get_name().to_owned())
        .collect();
    if argument.get_action().takes_values() && !values.is_empty() && values.len() < 12 {
        text.push_str(&format!(" [possible: {}]", values.join(", ")));
    }
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        text.push_str(&format!(" [default: {}]", defaults.join(", ")));
    }
    text.replace('|', "\\|").replace('\n', " ")
}

fn config() -> String {
    let schema = gristmill_config::schema::schema();
    let mut page = String::from(
        "# Configuration reference\n\nMade from `gristmill config schema`. How the files work together: \
         [configuration.md](../configuration.md).\n\nFor completion in your editor, save the schema and name it in the \
         file:\n\n```sh\ngristmill config schema > gristmill.schema.json\n```\n\n```json\n{ \"$schema\": \
         \"./gristmill.schema.json\" }\n```\n",
    );
    let mut write_table = |heading: &str, table: &Value| {
        writeln!(page, "\n## {heading}\n").expect("memory");
        if let Some(words) = table["description"].as_str() {
            writeln!(page, "{words}.\n").expect("memory");
        }
        page.push_str("| key | type | what it is |\n|---|---|---|\n");
        for (key, property) in table["properties"].as_object().into_iter().flatten() {
            let words = property["description"].as_str().unwrap_or_default();
            let default = property.get("default").map(|value| format!(" [default: {}]", plain(value)));
            let default = default.unwrap_or_default();
            writeln!(page, "| `{key}` | {} | {words}{default} |", type_of(property)).expect("memory");
        }
    };
    write_table("Top level", &schema);
    for table in ["limits", "sessions", "history", "results", "audit", "llm", "cluster"] {
        write_table(&format!("[{table}]"), &schema["properties"][table]);
    }
    write_table("[[cluster.place]]", &schema["properties"]["cluster"]["properties"]["place"]["items"]);
    let policy = &schema["properties"]["policy"]["anyOf"][1];
    write_table("[policy]", policy);
    write_table("[[policy.rules]]", &policy["properties"]["rules"]["items"]);
    let privacy = &schema["properties"]["privacy"]["anyOf"][1];
    write_table("[privacy]", privacy);
    write_table("[privacy.allow]", &privacy["properties"]["allow"]);
    write_table("[[privacy.restore]]", &privacy["properties"]["restore"]["items"]);
    let server = &schema["$defs"]["server"];
    write_table("[servers.NAME]", server);
    write_table("[servers.NAME.limits]", &server["properties"]["limits"]);
    write_table("[servers.NAME.oauth]", &server["properties"]["oauth"]);
    page
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn type_of(property: &Value) -> String {
    if let Some(values) = property["enum"].as_array() {
        return values.iter().map(|value| format!("`{}`", plain(value))).collect::<Vec<_>>().join(", ");
    }
    if let Some(definition) = property["$ref"].as_str() {
        let name = definition.rsplit('/').next().unwrap_or_default();
        return if name == "secrets" { "table of text".to_owned() } else { name.to_owned() };
    }
    let name = |value: &Value| match value.as_str() {
        Some("object") => "table".to_owned(),
        Some("array") => "list".to_owned(),
        Some("string") => "text".to_owned(),
        Some(name) => name.to_owned(),
        None => String::new(),
    };
    match property["type"].as_array() {
        Some(types) => types.iter().map(name).collect::<Vec<_>>().join(" or "),
        None => name(&property["type"]),
    }
}
