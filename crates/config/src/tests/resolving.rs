//! Which files are found, and which of them wins.

use std::fs;
use std::path::PathBuf;

use gristmill_gateway::domain::{Level, LimitName, Transport};

use super::super::Flags;
use super::super::Platform;
use super::super::locations::{self, Role};
use super::super::origin::Origin;
use super::super::resolved::Approval;
use super::World;

fn commands(loaded: &super::Loaded) -> Vec<(String, String)> {
    let command = |server: &super::super::ConfiguredServer| match &server.settings.transport {
        Transport::Stdio { command, .. } => command.written(),
        Transport::Http { url, .. } => url.written(),
        Transport::Hosts(_) => "hosts".to_owned(),
    };
    loaded.config.servers.iter().map(|server| (server.settings.name.clone(), command(server))).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn without_any_file_there_are_the_defaults() {
    let world = World::new();
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert!(loaded.config.servers.is_empty());
    assert_eq!((loaded.config.level, loaded.config.level_origin), (Level::Production, Origin::Default));
    assert_eq!(loaded.config.data_folder, Some(world.path("home/.local/share/gristmill")));
}

#[test]
fn each_source_is_stronger_than_the_one_before() {
    let world = World::new()
        .user("level = 'development'\nlimits = { wall_time = '10s', tool_calls = 5, memory = '128M', open_files = 9 }\n")
        .project("limits = { wall_time = '11s', tool_calls = 6, memory = '129M' }\n")
        .variable("GRISTMILL_LIMIT_TOOL_CALLS", "7")
        .variable("GRISTMILL_LIMIT_MEMORY", "130M");
    world.approve("home/project/gristmill.toml");
    let flags = Flags { limits: vec![("memory".to_owned(), "131M".to_owned())], ..Flags::default() };
    let loaded = world.load_with(&flags);
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    let limits = &loaded.config.limits;
    let values = [LimitName::OpenFiles, LimitName::WallTime, LimitName::ToolCalls, LimitName::Memory];
    assert_eq!(values.map(|name| limits.get(name)), [9, 11_000, 7, 131 << 20]);
    let origins = values.map(|name| loaded.config.limit_origins[&name].clone());
    let file = |name: &str, line| Origin::File { path: world.path(name), line };
    assert_eq!(
        origins,
        [
            file("home/.config/gristmill/gristmill.toml", 2),
            file("home/project/gristmill.toml", 1),
            Origin::Variable("GRISTMILL_LIMIT_TOOL_CALLS".to_owned()),
            Origin::Flag,
        ]
    );
    assert_eq!(loaded.config.level, Level::Development);
    let world = world.variable("GRISTMILL_LEVEL", "production");
    assert_eq!(world.load().config.level, Level::Production);
    let flags = Flags { level: Some(Level::Development), ..Flags::default() };
    assert_eq!(world.load_with(&flags).config.level, Level::Development);
}

#[test]
fn an_approved_project_replaces_servers_and_says_so() {
    let world = World::new()
        .user("[servers.a]\ncommand = 'user-a'\n[servers.b]\ncommand = 'user-b'\n")
        .project("[servers.a]\ncommand = 'project-a'\n");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert_eq!(commands(&loaded), pairs(&[("a", "project-a"), ("b", "user-b")]));
    assert_eq!(
        world.said(&loaded),
        [
            "Note home/project/gristmill.toml:1: `a` overrides the server with the same name in home/.config/gristmill/gristmill.toml"
        ]
    );
    let origin = loaded.config.server("b").map(|server| server.origin.to_string());
    assert_eq!(origin, Some(format!("{}:3", world.path("home/.config/gristmill/gristmill.toml").display())));
}

#[test]
fn a_project_is_found_from_below_and_its_programs_start_in_its_folder() {
    let world = World::new().project("[servers.a]\ncommand = './run'\n").within("home/project/deep/down");
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    let Some(Transport::Stdio { cwd, .. }) =
        loaded.config.server("a").map(|server| server.settings.transport.clone())
    else {
        panic!("no server");
    };
    assert_eq!(cwd, Some(world.path("home/project")));
}

#[test]
fn the_search_ends_at_the_repository_and_below_the_home() {
    // Above the repository, though below the home.
    let world = World::new().file("home/gristmill.toml", "").within("home/project/deep");
    assert_eq!(locations::find(&world.surroundings, None).found, []);
    // No repository, below the home: up to the home, but not the home itself.
    let world = World::new()
        .file("home/gristmill.toml", "")
        .file("home/notes/.mcp.json", "{}")
        .within("home/notes/deep");
    let found = locations::find(&world.surroundings, None).found;
    assert_eq!(found.into_iter().map(|l| l.path).collect::<Vec<_>>(), [world.path("home/notes/.mcp.json")]);
    // Neither: only the current folder, since anybody may own the others.
    let world = World::new().file("shared/gristmill.toml", "").within("shared/mine");
    assert_eq!(locations::find(&world.surroundings, None).found, []);
}

#[test]
fn of_several_files_in_a_folder_the_first_is_read_and_the_others_are_named() {
    let world = World::new()
        .project("")
        .file("home/project/gristmill.json", "{}")
        .file("home/project/.mcp.json", "{}");
    world.approve("home/project/gristmill.toml");
    assert_eq!(
        world.said(&world.load()),
        [
            "Warning home/project/gristmill.json is ignored because home/project/gristmill.toml exists",
            "Warning home/project/.mcp.json is ignored because home/project/gristmill.toml exists",
        ]
    );
}

#[test]
fn a_named_file_is_the_only_one_and_trusted() {
    let world = World::new()
        .user("[servers.a]\ncommand = 'user'\n")
        .project("[servers.b]\ncommand = 'project'\n")
        .file("home/project/other.yaml", "servers:\n  c:\n    command: named\n");
    let flags = Flags { config: Some(PathBuf::from("other.yaml")), ..Flags::default() };
    let loaded = world.load_with(&flags);
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert_eq!(commands(&loaded), pairs(&[("c", "named")]));
    let world = world.variable("GRISTMILL_CONFIG", "other.yaml");
    assert_eq!(commands(&world.load()), pairs(&[("c", "named")]));
    let flags = Flags { config: Some(PathBuf::from("missing.toml")), ..Flags::default() };
    let loaded = world.load_with(&flags);
    assert_eq!(
        world.said(&loaded),
        ["Error home/project/missing.toml can't be read: No such file or directory (os error 2)"]
    );
    assert!(loaded.into_result().is_err());
}

#[test]
fn folders_follow_the_platform() {
    let mut world = World::new().variable("XDG_CONFIG_HOME", "relative/is/ignored");
    let home = world.path("home");
    assert_eq!(world.surroundings.config_folders(), [home.join(".config/gristmill")]);
    world.surroundings.platform = Platform::MacOs;
    let library = home.join("Library/Application Support/gristmill");
    assert_eq!(world.surroundings.config_folders(), [library.clone(), home.join(".config/gristmill")]);
    assert_eq!(world.surroundings.data_folder(), Some(library));
    let world = world.variable("XDG_CONFIG_HOME", "/xdg/config").variable("XDG_DATA_HOME", "/xdg/data");
    assert_eq!(world.surroundings.config_folders(), [PathBuf::from("/xdg/config/gristmill")]);
    assert_eq!(world.surroundings.data_folder(), Some(PathBuf::from("/xdg/data/gristmill")));
    let world = world.variable("GRISTMILL_DATA_DIR", "/data");
    assert_eq!(world.surroundings.data_folder(), Some(PathBuf::from("/data")));
}

#[test]
fn the_users_file_is_not_a_project_when_we_are_in_its_folder() {
    let world = World::new().user("[servers.a]\ncommand = 'x'\n").within("home/.config/gristmill");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), Vec::<String>::new());
    assert_eq!(loaded.config.files.iter().map(|file| file.role).collect::<Vec<_>>(), [Role::User]);
}

#[test]
fn unknown_variables_are_warned_of_and_wrong_ones_are_mistakes() {
    let world = World::new()
        .variable("GRISTMILL_LEVLE", "x")
        .variable("GRISTMILL_LIMIT_WALL_TIME", "soon")
        .variable("GRISTMILL_LIMIT_WAL_TIME", "1s")
        .variable("GRISTMILL_CACHE_DIR", "/c")
        .variable("GRISTMILL_SCRATCH_DIR", "/s")
        .variable("GRISTMILL_PYTHON_COMPONENT", "/p")
        .variable("GRISTMILL_BUILD_CACHE", "/b")
        .variable("GRISTMILL_NONSENSE_QQ", "1");
    let said = world.said(&world.load());
    assert_eq!(
        said[0],
        "Warning `GRISTMILL_LEVLE` isn't a variable Gristmill knows (did you mean `GRISTMILL_LEVEL`?); ignored"
    );
    assert!(
        said[1].starts_with(
            "Error `GRISTMILL_LIMIT_WAL_TIME` unknown limit `wal_time` (did you mean `wall_time`?)"
        ),
        "{said:?}"
    );
    assert_eq!(said[2], "Warning `GRISTMILL_NONSENSE_QQ` isn't a variable Gristmill knows; ignored");
    assert_eq!(
        said[3],
        "Error `GRISTMILL_LIMIT_WALL_TIME` `soon` isn't a time; write a number with ms, s, m, h or d, such as 2.5s"
    );
    assert_eq!(said.len(), 4);
}

#[test]
fn a_limit_outside_its_level_is_told_with_its_place() {
    let world = World::new().user("level = 'hardened'\nlimits = { wall_time = '60s' }\n");
    assert_eq!(
        world.said(&world.load()),
        [
            "Error home/.config/gristmill/gristmill.toml:2: `limits.wall_time` wall_time = 60 s is out of range for level hardened (100 ms to 10 s); pick a value in the range, or another --level"
        ]
    );
}

#[test]
fn env_files_answer_what_the_environment_does_not() {
    let world = World::new()
        .user("[servers.u]\ncommand = 'u'\n")
        .file("home/.config/gristmill/.env", "A=user\nB=user\nC=user\n")
        .project("[servers.p]\ncommand = 'p'\n")
        .file("home/project/.env", "B=project # why\nexport D='x y'\nE=\"a\\nb\"\nnonsense\n")
        .variable("C", "real");
    world.approve("home/project/gristmill.toml");
    world.approve("home/project/.env");
    let loaded = world.load();
    assert_eq!(world.said(&loaded), ["Warning home/project/.env:4: isn't `NAME=value`; the line is ignored"]);
    let of = |name: &str| {
        let variables = loaded.config.server(name).unwrap().variables.clone();
        ["A", "B", "C", "D", "E"].map(|name| variables.get(name).map(str::to_owned).unwrap_or_default())
    };
    assert_eq!(of("u"), ["user", "user", "", "", ""]);
    assert_eq!(of("p"), ["user", "project", "", "x y", "a\nb"]);
    assert!(std::env::var_os("D").is_none());
    assert_eq!(format!("{:?}", loaded.config.server("p").unwrap().variables), r#"{"A", "B", "D", "E"}"#);
}

#[test]
fn a_file_that_others_can_write_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new().user("");
    let path = world.path("home/.config/gristmill/gristmill.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(
        world.said(&world.load()),
        ["Warning home/.config/gristmill/gristmill.toml is writable by other users; run `chmod go-w` on it"]
    );
    assert_eq!(world.load().config.files[0].approval, Approval::Given);
}
