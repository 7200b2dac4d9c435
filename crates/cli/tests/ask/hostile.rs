//! Models that want something else, and tools whose words do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gristmill_gateway::ask::{AskEnding, AskRequest};
use gristmill_gateway::domain::{Code, Level, LimitName, Limits};
use gristmill_gateway::ports::{Ending, Written};
use gristmill_testkit::ScriptedModel;

use crate::world::{World, task, words};

#[test]
fn a_program_that_can_not_be_followed_is_asked_about() {
    let world = World::new("ask-dynamic");
    for code in [
        "result = await callMCPTool('files.' + 'write' + '_file', {'path': 'a.txt', 'text': 'x'})",
        "from servers import files\nresult = await getattr(files, 'write_file')(path='a.txt', text='x')",
        "import importlib\nm = importlib.import_module('servers.files')\nresult = await m.write_file(path='a.txt', text='x')",
    ] {
        let model = Arc::new(ScriptedModel::new("a").writes(code));
        let (asked, events) = world.ask(task("read the files", &model), false);
        assert_eq!(asked.ending, AskEnding::NoConsent, "{code}");
        assert!(!words(&events).contains(&"running"), "{code}");
    }
    assert_eq!(world.written("a.txt"), None);
}

/// The checks follow names; a program can reach the call behind them in ways that no check of its text sees.
#[test]
fn a_program_that_writes_though_it_seems_to_read_is_stopped_by_the_wall() {
    let world = World::new("ask-wall");
    world.put("in.txt", "one");
    let code = "from servers.files import read_file\n\
        call = read_file(path='in.txt')\n\
        call._payload = call._payload.replace('read' + '_file', 'write' + '_file')\n\
        call._payload = call._payload.replace('\"in.txt\"', '\"a.txt\", \"text\": \"x\"')\n\
        result = await call";
    let model = Arc::new(ScriptedModel::new("a").writes(code));
    let (asked, events) = world.ask(task("read in.txt", &model), false);
    let shown = words(&events);
    assert_eq!((asked.ending, world.written("a.txt")), (AskEnding::NoConsent, None), "{shown:?}");
    assert_eq!(shown[shown.len() - 2..], ["running", "consent"], "it ran, and then somebody was asked");
    assert!(asked.reasons[0].contains("wanted to write with files.write_file"), "{:?}", asked.reasons);
    let model = Arc::new(ScriptedModel::new("a").writes(code));
    let (asked, _) = world.ask(task("read in.txt", &model), true);
    assert_eq!((asked.ending, world.written("a.txt").as_deref()), (AskEnding::Finished, Some("x")));
}

#[test]
fn a_program_that_never_ends_is_ended_and_repaired() {
    let world = World::new("ask-endless");
    let model = Arc::new(ScriptedModel::new("a").writes("while True:\n    pass").writes("result = 1"));
    let mut limits = Limits::of(Level::Production);
    limits.set(LimitName::WallTime, 2_000).expect("in range");
    let request = AskRequest { program_limits: Some(limits), ..task("count", &model) };
    let (asked, _) = world.ask(request, false);
    assert_eq!((asked.ending, asked.attempts), (AskEnding::Finished, 2), "{:?}", asked.reasons);
    let told = &model.heard()[1].turns[2].text;
    assert!(told.contains(Code::WallTime.as_str()) || told.contains(Code::CpuTime.as_str()), "{told}");
}

#[test]
fn an_answer_of_ten_megabytes_is_no_program() {
    let world = World::new("ask-long");
    let long = format!("```python\n{}\n```", "x = 1\n".repeat(10 * 1024 * 1024 / 6));
    let model = Arc::new(ScriptedModel::new("a").says(&long).says(&long));
    let began = Instant::now();
    let (asked, _) = world.ask(task("count", &model), false);
    assert_eq!((asked.ending, asked.attempts), (AskEnding::NotWritten, 0));
    assert!(asked.reasons[0].contains("longer than 256 KB"), "{:?}", asked.reasons);
    assert!(model.heard()[1].turns[1].text.len() < 5_000, "it isn't sent back whole");
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_refusal_of_the_provider_leads_to_the_next() {
    let world = World::new("ask-refused");
    let written =
        Written { text: "```python\nresult = 1\n```".to_owned(), tokens: None, ending: Ending::Refused };
    let model = Arc::new(ScriptedModel::new("a").then(Ok(written)));
    let (asked, _) = world.ask(task("count", &model), false);
    assert_eq!(asked.ending, AskEnding::NotWritten);
    assert_eq!(asked.reasons, ["scripted a: it declined to write the program"]);
}

#[test]
fn whoever_goes_away_stops_the_program() {
    let world = World::new("ask-dropped");
    let code = "import asyncio\nawait asyncio.sleep(30)\nfrom servers.files import write_file\nawait write_file(path='late.txt', text='x')";
    let model = Arc::new(ScriptedModel::new("a").writes(code));
    let request = AskRequest { consent: gristmill_gateway::ask::ConsentRule::Yes, ..task("wait", &model) };
    world.runtime.block_on(async {
        let mut asking = world.gateway().ask(request);
        while let Some(event) = asking.next_event().await {
            if matches!(event, gristmill_gateway::ask::AskEvent::Running { .. }) {
                break;
            }
        }
        drop(asking);
        let ended = async {
            while world.gateway().service().running() > 0 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), ended).await.expect("it ends at once");
    });
    assert_eq!(world.written("late.txt"), None);
}
