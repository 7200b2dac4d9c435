//! The same promises for the tree in memory and for a folder on disk, and the ways out of it.

use super::*;

fn call(server: &Filesystem, tool: &str, arguments: Value) -> Result<Value, String> {
    match server.call(tool, arguments.as_object().unwrap_or(&Map::new()))? {
        Answer::Structured(value) => Ok(value),
        Answer::Text(text) => Ok(Value::from(text)),
        Answer::Image { .. } => Err("a picture".to_owned()),
    }
}

fn both(check: impl Fn(&Filesystem)) {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in demo_files::demo_files() {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    check(&Filesystem::new(None).expect("a tree"));
    check(&Filesystem::new(Some(folder.path())).expect("a tree"));
}

#[test]
fn files_are_listed_read_and_found() {
    both(|server| {
        let listed = call(server, "list_directory", json!({"path": "notes"})).expect("a list");
        let names: Vec<&Value> =
            listed["entries"].as_array().expect("entries").iter().map(|it| &it["name"]).collect();
        assert_eq!(names, ["2026", "ideas.md", "plan.md"]);
        assert_eq!(
            call(server, "read_file", json!({"path": "notes/plan.md", "offset": 2, "limit": 1})),
            Ok(json!({
                "path": "notes/plan.md", "text": "1. Count the stock twice\n", "lines": 1, "lines_total": 5,
                "next_offset": 3,
            }))
        );
        let found =
            call(server, "search_files", json!({"pattern": "*.md", "path": "notes"})).expect("matches");
        let paths: Vec<&Value> =
            found["matches"].as_array().expect("matches").iter().map(|it| &it["path"]).collect();
        assert_eq!(paths, ["notes/2026/june.md", "notes/ideas.md", "notes/plan.md"]);
        let few = call(server, "search_files", json!({"pattern": "**", "limit": 2})).expect("matches");
        assert_eq!((&few["total"], &few["truncated"]), (&json!(2), &json!(true)));
        assert_eq!(
            call(server, "directory_tree", json!({"path": "notes"})),
            Ok(json!("notes/\n  2026/\n    june.md\n  ideas.md\n  plan.md\n"))
        );
        assert_eq!(
            call(server, "read_file", json!({"path": "logs/app.log"})).map(|it| it["lines"].clone()),
            Ok(json!(2000))
        );
    });
}

#[test]
fn files_are_written_appended_and_moved() {
    both(|server| {
        let write = |path: &str, mode: &str| {
            call(server, "write_file", json!({"path": path, "text": "ab\n", "mode": mode}))
        };
        let size = |outcome: Result<Value, String>| outcome.map(|it| it["size_bytes"].clone());
        assert_eq!(size(write("new.txt", "new")), Ok(json!(3)));
        assert_eq!(
            write("new.txt", "new"),
            Err("new.txt exists already; use mode replace or append".to_owned())
        );
        assert_eq!(size(write("new.txt", "append")), Ok(json!(6)));
        assert_eq!(size(write("new.txt", "replace")), Ok(json!(3)));
        assert!(write("none/new.txt", "new").is_err_and(|error| error.starts_with("there is no")));

        let make = |path: &str| {
            call(server, "make_directory", json!({"path": path})).map(|it| it["created"].clone())
        };
        assert_eq!(make("a/b/c"), Ok(json!(true)));
        assert_eq!(make("a/b/c"), Ok(json!(false)));
        assert!(make("new.txt/x").is_err());

        let rename = |from: &str, to: &str, over: bool| {
            call(server, "move_file", json!({"from": from, "to": to, "overwrite": over}))
        };
        assert_eq!(
            rename("new.txt", "a/b/moved.txt", false),
            Ok(json!({"from": "new.txt", "to": "a/b/moved.txt"}))
        );
        assert_eq!(rename("a", "z", false), Ok(json!({"from": "a", "to": "z"})));
        assert_eq!(
            call(server, "read_file", json!({"path": "z/b/moved.txt"})).map(|it| it["text"].clone()),
            Ok(json!("ab\n"))
        );
        assert_eq!(rename("z", "z/b/z", false), Err("z cannot be moved into itself (z/b/z)".to_owned()));
        assert_eq!(
            rename("z/b/moved.txt", "README.md", false),
            Err("README.md exists already; set overwrite to replace a file".to_owned())
        );
        assert_eq!(
            rename("z/b/moved.txt", "README.md", true),
            Ok(json!({"from": "z/b/moved.txt", "to": "README.md"}))
        );
        assert_eq!(
            rename("README.md", "notes", true),
            Err("notes is a folder; give the new name as well".to_owned())
        );
        assert_eq!(rename("gone", "x", false), Err("there is no gone".to_owned()));
    });
}

#[test]
fn no_path_leads_out() {
    both(|server| {
        for path in ["../x", "/etc/passwd", "notes/../../x", "a\0b"] {
            for tool in ["list_directory", "read_file", "file_info", "make_directory"] {
                assert!(call(server, tool, json!({"path": path})).is_err(), "{tool} {path:?}");
            }
            assert!(call(server, "write_file", json!({"path": path, "text": ""})).is_err());
            assert!(call(server, "move_file", json!({"from": "README.md", "to": path})).is_err());
            assert!(call(server, "move_file", json!({"from": path, "to": "x"})).is_err());
        }
        for tool in ["read_file", "make_directory"] {
            assert_eq!(
                call(server, tool, json!({"path": "."})),
                Err("the path is the root itself; name something in it".to_owned())
            );
        }
    });
}

#[cfg(unix)]
#[test]
fn links_out_of_the_root_are_not_followed() {
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("secret.txt"), "secret").expect("a file");
    let folder = tempfile::tempdir().expect("a folder");
    let link = |target: &Path, name: &str| {
        std::os::unix::fs::symlink(target, folder.path().join(name)).expect("a link")
    };
    link(outside.path(), "out");
    link(&outside.path().join("secret.txt"), "secret.txt");
    link(&outside.path().join("made.txt"), "made.txt");
    link(Path::new("../"), "up");
    let server = Filesystem::new(Some(folder.path())).expect("a tree");

    for path in ["out/secret.txt", "secret.txt", "up/x", "made.txt"] {
        assert!(call(&server, "read_file", json!({"path": path})).is_err(), "{path}");
        assert!(call(&server, "write_file", json!({"path": path, "text": "x"})).is_err(), "{path}");
    }
    assert!(call(&server, "list_directory", json!({"path": "out"})).is_err());
    assert!(call(&server, "make_directory", json!({"path": "out/new"})).is_err());
    assert!(call(&server, "move_file", json!({"from": "out/secret.txt", "to": "x"})).is_err());
    assert_eq!(
        call(&server, "file_info", json!({"path": "out"})).map(|it| it["kind"].clone()),
        Ok(json!("other"))
    );
    let found = call(&server, "search_files", json!({"pattern": "**"})).expect("matches");
    assert_eq!(found["matches"], json!([]));
    let names: Vec<_> =
        std::fs::read_dir(outside.path()).expect("a folder").flatten().map(|it| it.file_name()).collect();
    assert_eq!(names, ["secret.txt"]);
    assert_eq!(std::fs::read_to_string(outside.path().join("secret.txt")).expect("a file"), "secret");
}

#[test]
fn large_and_binary_files_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("big.txt"), vec![b'a'; FILE_BYTES_MAX + 1]).expect("a file");
    std::fs::write(folder.path().join("picture.png"), [0xFF, 0xFE, 0]).expect("a file");
    let server = Filesystem::new(Some(folder.path())).expect("a tree");
    assert_eq!(
        call(&server, "read_file", json!({"path": "big.txt"})),
        Err("big.txt has 4194305 bytes; at most 4194304 are read".to_owned())
    );
    assert_eq!(
        call(&server, "read_file", json!({"path": "picture.png"})),
        Err("picture.png is not UTF-8 text; only text can be read".to_owned())
    );
    assert!(Filesystem::new(Some(&folder.path().join("none"))).is_err());
}

#[test]
fn a_pattern_without_a_folder_means_a_name_anywhere() {
    let check = |pattern: &str, path: &str, expected: bool| {
        assert_eq!(glob(pattern).expect(pattern).fits(path), expected, "{pattern} on {path}");
    };
    check("*.md", "README.md", true);
    check("*.md", "notes/plan.md", true);
    check("notes/*.md", "notes/old/plan.md", false);
    check("notes/**/*.md", "notes/plan.md", true);
    check("**", "a/b", true);
    assert!(glob("").is_err() && glob(&"a".repeat(513)).is_err());
}
