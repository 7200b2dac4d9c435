//! What a person sees and is asked at a terminal, and what a pipe gets instead.
#![cfg(target_os = "linux")]

mod support;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gristmill_testkit::{Home, Ran};
use serde_json::{Value, json};
use support::gristmill;

/// A command on a terminal of this width, and what is typed into it. Both outputs are one.
fn on_terminal(home: &Home, columns: usize, typed: &str, arguments: &[&str]) -> Ran {
    shown(home, columns, typed, &home.command(arguments))
}

/// The same for a command that is made already.
fn shown(home: &Home, columns: usize, typed: &str, inner: &Command) -> Ran {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/support/on_terminal.py");
    let mut command = Command::new("python3");
    command.args([script, &columns.to_string(), typed]).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TERM", "xterm").env("NO_COLOR", "1").current_dir(home.work()).stdin(Stdio::null());
    Ran::of(command.output().expect("python3 runs"))
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn a_silent_server_costs_the_list_no_more_than_its_timeout() {
    let home = Home::new(gristmill(), "list-silent");
    home.add_example("calculator");
    for name in ["silent", "mute"] {
        home.ok(&["add", name, "--", "sh", "-c", "echo still loading >&2; sleep 100"]);
    }
    let began = Instant::now();
    let ran = home.run(&["list", "--timeout", "3s"]);
    let took = began.elapsed();
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    assert!(took < Duration::from_secs(10), "both at once, and no second attempt: {took:?}");
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("SERVER      STATUS  TOOLS"), "{}", ran.stdout);
    assert!(lines[1].starts_with("calculator  up          3"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("didn't answer within 3 s").count(), 2, "{}", ran.stdout);
    assert!(!ran.stdout.contains('\u{1b}') && ran.stderr.is_empty(), "once, and nothing beside it");
    let wrong = home.run(&["list", "--timeout", "soon"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("such as 10s"), "{}", wrong.stderr);
}

#[test]
fn servers_appear_on_a_terminal_as_they_answer() {
    let home = Home::new(gristmill(), "list-live");
    home.add_example("calculator");
    home.ok(&["add", "silent", "--", "sleep", "100"]);
    let ran = on_terminal(&home, 80, "", &["list", "--timeout", "3s"]);
    let frames: Vec<&str> = ran.stdout.split("\u{1b}[J").collect();
    assert!(frames.len() >= 3, "drawn again with each answer: {:?}", ran.stdout);
    let is_half = |frame: &&&str| frame.contains("calculator  up") && frame.contains("silent      starting");
    assert!(frames.iter().any(|frame| is_half(&frame)), "{:?}", ran.stdout);
    assert!(ran.stdout.contains("of 2 servers answered…"), "{:?}", ran.stdout);
    let last = frames.last().expect("a frame");
    assert!(last.contains("calculator  up") && last.contains("didn't answer within 3 s"), "{last:?}");
}

#[test]
fn a_person_sees_what_an_added_server_offers_and_approves_that() {
    let home = Home::new(gristmill(), "add-shown");
    let program = gristmill().to_str().expect("a path");
    let ran =
        on_terminal(&home, 100, "", &["add", "calculator", "--", program, "example-server", "calculator"]);
    let told = "calculator offers 3 tools: convert_units, evaluate, statistics";
    assert!(ran.code == Some(0) && ran.stdout.contains(told), "{:?}", ran.stdout);
    assert!(ran.stdout.contains("these are approved; later changes wait for"), "{:?}", ran.stdout);
    let known = home.ok(&["list", "--no-check"]);
    assert!(known.contains("calculator  idle") && !known.contains("not checked"), "{known}");
    // It's added all the same, as a script's is, whose server nobody reaches.
    let gone = on_terminal(&home, 100, "", &["add", "gone", "--", "/nonexistent/server"]);
    assert!(
        gone.code == Some(0) && gone.stdout.contains("gone was added, but doesn't answer"),
        "{:?}",
        gone.stdout
    );
    let piped = home.run(&["add", "other", "--", program, "example-server", "calculator"]);
    assert!(piped.code == Some(0) && !piped.stdout.contains("offers"), "{}", piped.stdout);
}

#[test]
fn a_server_that_is_down_fails_the_doctor() {
    let home = Home::new(gristmill(), "doctor-down");
    home.add_example("calculator");
    let well = home.run(&["doctor"]);
    assert_eq!(well.code, Some(0), "{}{}", well.stdout, well.stderr);
    home.ok(&["add", "gone", "--", "/nonexistent/server"]);
    let ill = home.run(&["doctor"]);
    assert_eq!(ill.code, Some(1), "{}{}", ill.stdout, ill.stderr);
    assert!(ill.stdout.contains(", but not every server is up (see above)"), "{}", ill.stdout);
    let checked = home.run(&["config", "check"]);
    assert_eq!(checked.code, Some(2), "{}", checked.stdout);
    assert!(
        checked.stdout.contains("`servers.gone.command` runs `/nonexistent/server`"),
        "{}",
        checked.stdout
    );
}

#[test]
fn a_session_is_deleted_only_after_a_yes() {
    let home = Home::new(gristmill(), "session-yes");
    home.ok(&["sessions", "create", "--name", "notes"]);
    let is_there = || home.run(&["sessions", "show", "notes"]).code == Some(0);
    let unasked = home.run(&["sessions", "end", "notes"]);
    assert_eq!(unasked.code, Some(2), "{}", unasked.stdout);
    assert!(unasked.stderr.contains("hint: pass --yes"), "{}", unasked.stderr);
    assert!(is_there(), "nobody was asked");
    let refused = on_terminal(&home, 80, "n\n", &["sessions", "remove", "notes"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stdout.contains("Delete 1 session with all files? [y/N]"), "{}", refused.stdout);
    assert!(is_there(), "the answer was no");
    let agreed = on_terminal(&home, 80, "y\n", &["sessions", "remove", "notes"]);
    assert_eq!(agreed.code, Some(0), "{}", agreed.stdout);
    assert!(!is_there());
}

#[test]
fn ids_are_known_by_their_beginnings() {
    let home = Home::new(gristmill(), "prefixes");
    let handle = home.ok(&["sessions", "create", "--name", "notes"]);
    let handle = handle.trim();
    std::fs::write(home.work().join("a.txt"), "kept").unwrap();
    home.ok(&["workspace", "put", "notes", "a.txt"]);
    assert_eq!(home.ok(&["workspace", "cat", &handle[..4], "a.txt"]), "kept");
    assert_eq!(parsed(&home.ok(&["sessions", "show", &handle[..5], "--json"]))["id"], json!(handle));
    let short = home.run(&["sessions", "show", &handle[..3]]);
    assert!(short.code == Some(2) && short.stderr.contains("at least 4 characters"), "{}", short.stderr);
    let missing = home.run(&["sessions", "show", "0000"]);
    assert!(missing.code == Some(2) && missing.stderr.contains("no session `0000`"), "{}", missing.stderr);
    // A program or a new file never ends up in a session that only begins alike.
    home.ok(&["workspace", "put", &handle[..6], "a.txt"]);
    assert_eq!(parsed(&home.ok(&["sessions", "list", "--json"])).as_array().map(Vec::len), Some(2));
    let code = "result = [{'row': n, 'text': 'x' * 20} for n in range(3000)]";
    home.ok(&["run", "--no-servers", "--max-output-tokens", "200", "-c", code]);
    let results = parsed(&home.ok(&["results", "list", "--json"]));
    let result = results[0]["handle"].as_str().expect("a result was stored").to_owned();
    assert!(home.ok(&["results", "get", &result[..4]]).contains("\"row\""));
    assert!(!home.ok(&["results", "show", &result[..4], "--shape", "table"]).is_empty());
    assert_eq!(home.ok(&["results", "remove", &result[..4]]), format!("removed {result}\n"));
}

#[test]
fn a_pipe_gets_no_hints_and_a_terminal_gets_them_last() {
    let home = Home::new(gristmill(), "hints");
    home.ok(&["run", "--no-servers", "-c", "1"]);
    assert_eq!(home.run(&["history"]).stderr, "");
    let seen = on_terminal(&home, 120, "", &["history"]).stdout;
    let (table, hint) = seen.split_once("hint: ").expect("a hint");
    assert!(table.starts_with("TIME") && hint.starts_with("`gristmill show "), "{seen}");
}

#[test]
fn times_are_local_unless_utc_is_asked_for() {
    let home = Home::new(gristmill(), "times");
    home.ok(&["sessions", "create", "--name", "notes"]);
    let hour = |flags: &[&str]| {
        let words = [&["sessions", "show", "notes"][..], flags].concat();
        let ran = Ran::of(home.command(&words).env("TZ", "JST-9").output().unwrap());
        let created = ran.stdout.lines().find(|line| line.starts_with("created")).expect("a time").to_owned();
        let hour: i32 = created.split([' ', ':']).find_map(|word| word.parse().ok()).expect("an hour");
        (hour, created.ends_with(" UTC"))
    };
    let ((local, is_utc), (utc, says_so)) = (hour(&[]), hour(&["--utc"]));
    assert_eq!(((local - utc).rem_euclid(24), is_utc, says_so), (9, false, true));
}

#[test]
fn forty_columns_are_enough_for_every_table() {
    let home = Home::new(gristmill(), "narrow");
    home.add_example("calculator");
    home.ok(&["sessions", "create", "--name", "a-session-with-a-long-name"]);
    home.ok(&["token", "new", "laptop"]);
    home.ok(&["run", "--no-servers", "-c", "print('a program with a rather long first line')"]);
    let commands: [&[&str]; 6] = [
        &["list", "--no-check"],
        &["sessions", "list"],
        &["token", "list"],
        &["history"],
        &["stats"],
        &["sessions", "show", "a-session-with-a-long-name"],
    ];
    for arguments in commands {
        let seen = on_terminal(&home, 40, "", arguments);
        assert_eq!(seen.code, Some(0), "{}", seen.stdout);
        for line in seen.stdout.lines().filter(|line| line.contains(' ')) {
            assert!(line.trim_end().chars().count() <= 40, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn connect_offers_the_clients_that_are_installed() {
    let home = Home::new(gristmill(), "connect-detects");
    let without_programs =
        |arguments: &[&str]| Ran::of(home.command(arguments).env("PATH", "/nowhere").output().unwrap());
    let none = without_programs(&["connect"]);
    assert_eq!(none.code, Some(2), "{}", none.stdout);
    assert!(none.stderr.contains("found no MCP client on this machine"), "{}", none.stderr);
    for file in [".cursor/mcp.json", ".gemini/settings.json"] {
        let file = home.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, "{}").unwrap();
    }
    let unasked = without_programs(&["connect"]);
    assert_eq!(unasked.code, Some(2), "{}", unasked.stdout);
    assert!(unasked.stderr.contains("installed here: cursor, gemini\n"), "{}", unasked.stderr);
    let first = on_terminal(&home, 100, "2\ny\n", &["connect"]);
    assert_eq!(first.code, Some(0), "{}", first.stdout);
    assert!(first.stdout.contains("Gemini CLI") && !first.stdout.contains("Windsurf"), "{}", first.stdout);
}

#[test]
fn backups_with_secrets_are_named_and_purged() {
    let home = Home::new(gristmill(), "purge");
    let file = home.path().join(".cursor/mcp.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let before = r#"{"mcpServers": {"notes": {"command": "npx", "env": {"NOTES_KEY": "CANARYnoteskey"}}}}"#;
    std::fs::write(&file, before).unwrap();
    let backups = || {
        let entries = std::fs::read_dir(file.parent().unwrap()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().contains("backup")).count()
    };
    home.ok(&["connect", "cursor", "--yes", "--move-servers"]);
    let ran = home.run(&["disconnect", "cursor", "--yes"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("`gristmill disconnect cursor --purge` deletes them"), "{}", ran.stderr);
    assert!(ran.stderr.contains("`gristmill remove notes --purge` removes one"), "{}", ran.stderr);
    assert_eq!(backups(), 2);
    // Afterwards, as the note says.
    assert_eq!(home.run(&["disconnect", "cursor", "--purge"]).code, Some(2), "nobody was asked");
    assert_eq!(backups(), 2);
    assert_eq!(home.ok(&["disconnect", "cursor", "--purge", "--yes"]).matches("deleted backup ").count(), 2);
    assert_eq!(backups(), 0);
    let env = home.config_file().with_file_name(".env");
    assert!(std::fs::read_to_string(&env).unwrap().contains("CANARYnoteskey"));
    let removed = home.ok(&["remove", "notes", "--purge"]);
    assert!(removed.contains("removed NOTES_KEY from "), "{removed}");
    assert!(!std::fs::read_to_string(&env).unwrap().contains("CANARY"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[test]
fn a_skill_whose_server_was_never_asked_is_not_checked_yet() {
    let home = Home::new(gristmill(), "skill-unchecked");
    let code = "\"\"\"Finds customers.\"\"\"\nfrom servers.crm import find\n\n\nasync def customers(q: str):\n    return await find(q=q)\n";
    std::fs::write(home.work().join("customers.py"), code).unwrap();
    home.ok(&["skills", "add", "customers.py"]);
    home.ok(&["add", "crm", "--", "sleep", "100"]);
    let listed = home.ok(&["skills", "list"]);
    assert!(listed.contains("needs crm.find: not checked yet"), "{listed}");
    assert!(!listed.contains("not there"), "{listed}");
}

#[test]
fn old_names_of_commands_and_flags_are_understood() {
    let home = Home::new(gristmill(), "old-names");
    home.ok(&["token", "new", "laptop"]);
    assert_eq!(home.ok(&["token", "revoke", "laptop"]), "revoked laptop\n");
    home.ok(&["sessions", "create", "--name", "notes", "--max-output-tokens", "500"]);
    assert_eq!(home.ok(&["sessions", "end", "notes", "--yes"]).matches("deleted notes").count(), 1);
    let help = home.run(&["sessions", "--help"]).stdout;
    assert!(help.contains("  remove ") && !help.contains("  end "), "{help}");
    let wrong = home.run(&["login", "nobody", "--timeout-s", "5"]);
    assert!(wrong.stderr.contains("no server `nobody`"), "{}", wrong.stderr);
}

#[test]
fn json_at_a_terminal_moves_nothing_and_means_the_same() {
    let home = Home::new(gristmill(), "terminal-json");
    home.ok(&["run", "--no-servers", "-c", "# pay\u{202e}load \u{9b}2J\u{200b}\n1"]);
    let piped = home.ok(&["history", "--json"]);
    assert!(piped.contains("pay\u{202e}load"), "a pipe gets what is there: {piped}");
    let shown = on_terminal(&home, 100, "", &["history", "--json"]).stdout;
    assert!(shown.contains("pay\\u202eload \\u009b2J\\u200b"), "{shown}");
    assert_eq!(parsed(&shown), parsed(&piped));
}

#[test]
fn a_program_asks_on_its_terminal_before_it_destroys_anything() {
    let home = Home::new(gristmill(), "approve-terminal");
    home.add_example("crm");
    let code = "from servers.crm import update_record\n\
                await update_record(type='meeting', id='MTG-0042', fields={'status': 'held'})\n\
                result = 'done'";
    let run = |typed: &str| on_terminal(&home, 100, typed, &["run", "-c", code]);
    let allowed = run("y\n");
    assert!(allowed.stdout.contains("May this program call crm.update_record?"), "{}", allowed.stdout);
    assert!(allowed.stdout.contains("its server marks it destructive"), "{}", allowed.stdout);
    assert!(allowed.code == Some(0) && allowed.stdout.contains("done"), "{}", allowed.stdout);
    let refused = run("\n");
    assert_eq!(refused.code, Some(1), "{}", refused.stdout);
    assert!(refused.stdout.contains("GM-3302"), "{}", refused.stdout);
}

#[test]
fn a_guide_goes_through_the_pager_and_fits_the_terminal() {
    let home = Home::new(gristmill(), "help-pager");
    let with_pager = |pager: &str, columns| {
        let mut command = home.command(&["help", "tutorial"]);
        shown(&home, columns, "", command.env("PAGER", pager))
    };
    let paged = with_pager("sed s/^/paged:/", 60);
    assert_eq!(paged.code, Some(0), "{}", paged.stdout);
    let lines: Vec<&str> = paged.stdout.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert!(lines.len() > 50 && lines.iter().all(|line| line.starts_with("paged:")), "{}", paged.stdout);
    // Code is left as it is, and a long word has a line of its own.
    let is_wide = |line: &&str| line.chars().count() > 60 && !line.starts_with("    ") && line.contains(' ');
    let wide: Vec<&str> =
        lines.iter().filter_map(|line| line.strip_prefix("paged:")).filter(is_wide).collect();
    assert_eq!(wide, Vec::<&str>::new());
    for (pager, why) in [("cat", "no pager"), ("no-such-pager-here", "one that is missing")] {
        let shown = with_pager(pager, 80);
        assert!(shown.code == Some(0) && shown.stdout.contains("====="), "{why}: {}", shown.stdout);
    }
}
