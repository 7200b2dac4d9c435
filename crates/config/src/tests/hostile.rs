//! Files that mean harm, or are not files at all.

use std::fs;
use std::time::{Duration, Instant};

use super::super::document::SERVERS_MAX;
use super::super::format::Format;
use super::super::read_file::{FILE_BYTES_MAX, FileText, ReadError};
use super::{World, document, said};

const FORMATS: [Format; 3] = [Format::Toml, Format::Yaml, Format::Json];

#[test]
fn a_huge_file_is_not_read() {
    let world = World::new();
    let path = world.write("a.toml", &"#".repeat(FILE_BYTES_MAX as usize));
    assert_eq!(FileText::read(&path).unwrap().bytes.len() as u64, FILE_BYTES_MAX);
    let path = world.write("a.toml", &"#".repeat(FILE_BYTES_MAX as usize + 1));
    assert!(matches!(FileText::read(&path), Err(ReadError::TooLarge { .. })));
    assert!(matches!(FileText::read(std::path::Path::new("/dev/zero")), Err(ReadError::NotAFile)));
}

#[test]
fn what_is_not_a_file_is_not_waited_for() {
    let world = World::new();
    let pipe = world.path("home/project/gristmill.toml");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    assert_eq!(world.said(&world.load()), ["Error home/project/gristmill.toml isn't a regular file"]);
    fs::remove_file(&pipe).unwrap();
    fs::create_dir(&pipe).unwrap();
    assert_eq!(world.said(&world.load()), ["Error home/project/gristmill.toml isn't a regular file"]);
    fs::remove_dir(&pipe).unwrap();
    std::os::unix::fs::symlink("nowhere", &pipe).unwrap();
    let said = world.said(&world.load());
    assert_eq!(
        said,
        ["Error home/project/gristmill.toml can't be read: No such file or directory (os error 2)"]
    );
}

#[test]
fn a_link_to_a_file_is_read_like_a_file() {
    let world = World::new().file("dotfiles/g.toml", "[servers.a]\ncommand = 'x'\n");
    fs::create_dir_all(world.path("home/.config/gristmill")).unwrap();
    std::os::unix::fs::symlink(
        world.path("dotfiles/g.toml"),
        world.path("home/.config/gristmill/gristmill.toml"),
    )
    .unwrap();
    assert_eq!(world.load().config.servers.len(), 1);
}

#[test]
fn bytes_that_are_not_text_are_refused() {
    let world = World::new();
    let path = world.path("home/project/gristmill.toml");
    fs::write(&path, b"level = '\xff'").unwrap();
    assert!(matches!(FileText::read(&path).unwrap().text(), Err(ReadError::NotText(9))));
    let said = world.said(&world.load());
    assert_eq!(said[1], "Warning home/project/gristmill.toml isn't UTF-8 text (at byte 9)");
}

#[test]
fn deep_nesting_is_refused_and_not_followed() {
    for depth in [40, 200, 5_000, 100_000] {
        let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let map = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        let inline = format!("a = {}1{}", "{a=".repeat(depth), "}".repeat(depth));
        let block: String = (0..depth.min(600)).map(|n| format!("{}a:\n", " ".repeat(n))).collect();
        for (name, text) in [
            ("gristmill.json", list.clone()),
            ("gristmill.json", map.clone()),
            ("gristmill.yaml", list.clone()),
            ("gristmill.yaml", map),
            ("gristmill.yaml", block),
            ("gristmill.yaml", format!("{}a", "- ".repeat(depth))),
            ("gristmill.toml", format!("a = {list}")),
            ("gristmill.toml", inline),
            ("gristmill.toml", format!("[a{}]\n", ".a".repeat(depth))),
        ] {
            let said = said(&document(name, &text));
            assert_eq!(said.len(), 1, "{name} {depth}");
            assert!(said[0].contains("can't be parsed"), "{name} {depth}: {}", said[0]);
        }
    }
}

#[test]
fn a_crowd_of_values_is_refused() {
    let numbers = "0,".repeat(60_000);
    for (name, text) in [
        ("gristmill.json", format!("{{\"a\": [{numbers}]}}")),
        ("gristmill.yaml", format!("a: [{numbers}]")),
        ("gristmill.toml", format!("a = [{numbers}]")),
    ] {
        assert!(said(&document(name, &text))[0].contains("it holds more than 50000 values"), "{name}");
    }
}

#[test]
fn a_crowd_of_servers_and_of_mistakes_is_bounded() {
    let many: String = (0..SERVERS_MAX + 5).map(|n| format!("[servers.s{n}]\ncommand = 'x'\n")).collect();
    let document = document("gristmill.toml", &many);
    assert_eq!(document.servers.len(), SERVERS_MAX);
    assert_eq!(said(&document).len(), 1);
    let wrong: String = (0..10_000).map(|n| format!("k{n} = 1\n")).collect();
    assert_eq!(said(&super::document("gristmill.toml", &wrong)).len(), 200);
}

#[test]
fn a_crowd_of_notes_hides_no_mistake() {
    let notes: String = (0..500).map(|n| format!("\"n{n}\": 1,")).collect();
    let text = format!("{{{notes} \"mcpServers\": {{\"a\": {{\"command\": 1}}}}}}");
    let document = document("mcp.json", &text);
    assert_eq!(document.servers.len(), 0);
    let errors: Vec<_> = said(&document).into_iter().filter(|said| said.starts_with("Error")).collect();
    assert_eq!(errors, ["Error mcp.json:1: `mcpServers.a.command` must be text, not a number"]);
    let wrong: String = (0..300).map(|n| format!("[servers.s{n}]\ncommand = 'x'\nquux = 1\n")).collect();
    let document = super::document("gristmill.toml", &wrong);
    assert_eq!((document.servers.len(), document.problems.len()), (0, 200));
}

#[test]
fn names_cannot_command_the_terminal() {
    let text = serde_json::json!({"\u{1b}[2J\nError: all is well": 1, "x".repeat(5_000): 1}).to_string();
    for said in said(&document("gristmill.json", &text)) {
        assert!(!said.contains(['\u{1b}', '\n']), "{said}");
        assert!(said.len() < 1_000, "{said}");
    }
}

#[test]
fn no_value_of_a_file_is_in_a_message() {
    let text = r#"{"servers": {"a": {"command": "x", "env": {"A": {"b": "hunter2"}}, "accept": 1, "limits": {"call": "hunter2"}}, "b": {"url": "hunter2"}}, "hunter": 1}"#;
    for said in said(&document("gristmill.json", text)) {
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// Small cuts, doublings and swaps of a good file: nothing panics, hangs or takes long.
#[test]
fn broken_files_never_panic() {
    let seeds = [
        "level: hardened\nservers:\n  a:\n    command: x\n    args: [1, 'b', \"c\\n\"]\n  b: {url: https://x}\n? - x\n: - y\n--- |\n  x\n... \n%YAML 1.2\n!!str &a *a <<: >-\n",
        "level = 'x'\n[servers.a]\ncommand = \"x\"\nargs = [1, 'b']\n[[x]]\na.b = {c = 1979-05-27T07:32:00Z}\n\"\"\"\n",
        "{\"level\": \"x\", // c\n\"servers\": {\"a\": {\"command\": \"\\u00e9\\ud83d\", \"args\": [1.5e3, null, true,]}, /* d */}}",
    ];
    let began = Instant::now();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for round in 0..6_000 {
        let mut text: Vec<char> = seeds[round % seeds.len()].chars().collect();
        for _ in 0..=random(6) {
            let (from, to) = (random(text.len()), random(text.len()));
            match random(4) {
                0 => text.truncate(from.max(1)),
                1 => text.swap(from, to),
                2 => {
                    let piece: Vec<char> = text[from.min(to)..from.max(to)].to_vec();
                    text.splice(to..to, piece);
                }
                _ => text.insert(
                    from,
                    ['\t', '\r', '\n', ':', '-', '[', '{', '"', '\u{0}', '\u{feff}', '*', '|'][random(12)],
                ),
            }
        }
        let text: String = text.into_iter().collect();
        for format in FORMATS {
            drop(format.parse(&text));
        }
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}
