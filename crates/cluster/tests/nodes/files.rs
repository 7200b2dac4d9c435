//! A program's files go to its node and come back.

use std::fs;

use gristmill_gateway::WorkspaceChoice;
use gristmill_testkit::TestFolder;
use gristmill_testkit::scripted_worker::{Step, Text, script};
use serde_json::json;

use crate::stage::{Stage, trials};

trials![
    a_program_finds_its_files_and_what_it_writes_comes_back,
    what_it_removes_is_removed,
    a_large_file_goes_and_comes_whole,
    what_a_program_that_failed_has_written_comes_back,
    what_is_written_between_words_comes_back,
    a_throw_away_workspace_stays_there,
    what_a_killed_gateway_left_beside_the_workspace_goes_with_the_next_program,
];

fn a_program_finds_its_files_and_what_it_writes_comes_back() {
    let stage = Stage::new(1, 1);
    fs::write(stage.workspace().join("in.txt"), "from home").unwrap();
    fs::write(stage.workspace().join("untouched.txt"), "as it was").unwrap();
    let report = stage.run(
        &script()
            .step(Step::WriteFile { file: "out.txt".to_owned(), text: "from the node".into() })
            .step(Step::TellFile("in.txt".to_owned())),
    );
    assert_eq!((report.error, report.result), (None, Some(json!("from home"))));
    assert_eq!(fs::read_to_string(stage.workspace().join("out.txt")).unwrap(), "from the node");
    assert_eq!(fs::read_to_string(stage.workspace().join("untouched.txt")).unwrap(), "as it was");
    let names: Vec<_> = fs::read_dir(stage.workspace().parent().unwrap()).unwrap().flatten().collect();
    let left =
        names.iter().filter(|name| name.file_name().to_string_lossy().starts_with(".arriving")).count();
    assert_eq!(left, 0, "the stage is removed");
}

fn what_it_removes_is_removed() {
    let stage = Stage::new(1, 1);
    fs::write(stage.workspace().join("old.txt"), "old").unwrap();
    let report = stage.run(&script().step(Step::RemoveFile("old.txt".to_owned())).done(&json!(1)));
    assert_eq!(report.error, None);
    assert!(!stage.workspace().join("old.txt").exists());
}

fn a_large_file_goes_and_comes_whole() {
    let stage = Stage::new(1, 1);
    let large: String = (0..400_000).map(|number| format!("{number:08x}")).collect();
    fs::write(stage.workspace().join("large.txt"), &large).unwrap();
    let text = Text::repeated("", "another line of what comes back\n", 100_000, "end");
    let whole = text.whole();
    let report = stage
        .run(&script().step(Step::WriteFile { file: "back.txt".to_owned(), text }).done(&json!("written")));
    assert_eq!(report.error, None);
    assert_eq!(fs::read_to_string(stage.workspace().join("back.txt")).unwrap(), whole);
    assert_eq!(fs::read_to_string(stage.workspace().join("large.txt")).unwrap(), large);
}

fn what_a_program_that_failed_has_written_comes_back() {
    let stage = Stage::new(1, 1);
    let report = stage.run(
        &script()
            .step(Step::WriteFile { file: "half.txt".to_owned(), text: "half".into() })
            .print("x")
            .step(Step::Exit(3)),
    );
    assert!(report.error.is_some());
    assert_eq!(fs::read_to_string(stage.workspace().join("half.txt")).unwrap(), "half");
}

fn what_is_written_between_words_comes_back() {
    let writes = || {
        let text = "between".into();
        script().print("nothing so far").step(Step::WriteFile { file: "out.txt".to_owned(), text })
    };
    for (program, is_ok) in [(writes().done(&json!(1)), true), (writes().step(Step::Stall), false)] {
        let stage = Stage::new(1, 1);
        let mut request = stage.request(&program);
        let mut limits = stage.gateway().limits().clone();
        limits.set_text("wall_time", "2s").expect("a limit");
        request.limits = Some(limits);
        let report = stage.finish(stage.start(request));
        assert_eq!(report.error.is_none(), is_ok, "{:?}", report.error);
        assert_eq!(fs::read_to_string(stage.workspace().join("out.txt")).unwrap(), "between");
    }
}

fn a_throw_away_workspace_stays_there() {
    let stage = Stage::new(1, 1);
    let writes =
        script().step(Step::WriteFile { file: "a.txt".to_owned(), text: "a".into() }).done(&json!(1));
    let execution = stage.start(stage.request_of("a", &writes));
    let report = stage.finish(execution);
    assert_eq!((report.error, report.notes), (None, Vec::new()));
}

fn what_a_killed_gateway_left_beside_the_workspace_goes_with_the_next_program() {
    let (stage, session) = (Stage::new(1, 1), TestFolder::new("session"));
    let workspace = session.path().join("workspace");
    // One that nobody holds, and one that somebody does.
    let [left, held] = ['1', '2'].map(|digit| session.path().join(format!(".arriving-{digit:0>32}")));
    for folder in [&workspace, &left, &held] {
        fs::create_dir(folder).unwrap();
        fs::write(folder.join("half.txt"), "half of it").unwrap();
    }
    let lock = fs::File::open(&held).unwrap();
    lock.lock().unwrap();
    let program =
        script().step(Step::WriteFile { file: "out.txt".to_owned(), text: "x".into() }).done(&json!("done"));
    let mut request = stage.request(&program);
    request.workspace = WorkspaceChoice::Kept(workspace);
    assert_eq!(stage.finish(stage.start(request)).error, None);
    assert_eq!((left.exists(), held.exists()), (false, true));
}
