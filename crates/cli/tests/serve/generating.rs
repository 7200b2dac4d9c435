//! `generate_code`: the client's own model writes, and its user is asked.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{Manners, legacy, modern, text_of};
use crate::gateways::{Place, Served};
use crate::support::gristmill;

cases![
    it_is_shown_only_to_whoever_asked_for_it,
    the_clients_own_model_writes_a_program_and_one_that_only_reads_runs,
    a_program_that_writes_runs_only_after_the_users_yes,
    a_client_that_cant_be_asked_gets_the_program_and_no_run,
    a_model_that_declines_leaves_the_nearest_tools,
];

const READ: &str =
    "from servers.filesystem import read_file\nresult = (await read_file(path='in.txt'))['text']";
const WRITE: &str =
    "from servers.filesystem import write_file\nawait write_file(path='a.txt', text='x')\nresult = 'done'";

/// A gateway in front of a file system with one file.
fn world(name: &str, manners: Manners) -> Served {
    let place = Place::new(name);
    let root = place.home().path().join("root");
    std::fs::create_dir(&root).expect("a folder");
    std::fs::write(root.join("in.txt"), "one").expect("a file");
    let args = json!(["example-server", "filesystem", "--root", root]);
    place
        .server("filesystem", json!({"command": gristmill(), "args": args}))
        .serve(manners, &["--generate-code"])
}

fn is_written(served: &Served) -> bool {
    served.home().path().join("root/a.txt").exists()
}

fn lends_its_model() -> Manners {
    legacy().can(json!({"sampling": {}, "elicitation": {}}))
}

/// Answers the next request for a message with a program.
fn write_next(served: &Served, code: &str) -> Value {
    let asked = served.next_question();
    assert_eq!(asked["method"], "sampling/createMessage", "{asked:#}");
    let content = json!({"type": "text", "text": format!("```python\n{code}\n```")});
    let result = json!({"role": "assistant", "content": content, "model": "m", "stopReason": "endTurn"});
    served.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}));
    asked["params"].clone()
}

fn it_is_shown_only_to_whoever_asked_for_it() {
    let named = |served: &Served| {
        let tools = served.result("tools/list", json!({}))["tools"].take();
        tools.as_array().expect("tools").iter().any(|tool| tool["name"] == "generate_code")
    };
    assert!(!named(&Place::new("generate-hidden").serve(modern(), &[])));
    assert!(named(&Place::new("generate-shown").serve(modern(), &["--generate-code"])));
    let configured = Place::new("generate-configured").setting("serve", json!({"generate_code": true}));
    assert!(named(&configured.serve(modern(), &[])));
}

fn the_clients_own_model_writes_a_program_and_one_that_only_reads_runs() {
    let served = world("generate-reads", lends_its_model());
    let id = served.begin_call("generate_code", json!({"task": "read the text file in.txt", "run": true}));
    let prompt = write_next(&served, READ);
    assert_eq!(prompt["messages"][0]["content"]["text"], "Task: read the text file in.txt");
    let system = prompt["systemPrompt"].as_str().expect("words");
    assert!(system.contains("from servers.filesystem import read_file"), "{system}");
    let ran = served.called("generate_code", id);
    let told = &ran["structuredContent"];
    assert_eq!((&told["status"], &told["result"]), (&json!("ok"), &json!("one")), "{ran:#}");
    assert_eq!(told["calls"]["only_reads"], true, "{ran:#}");
    assert!(text_of(&ran).contains("import read_file"), "{ran:#}");
    assert!(!served.has_question(), "nobody was asked");
}

fn a_program_that_writes_runs_only_after_the_users_yes() {
    let served = world("generate-writes", lends_its_model());
    for (answer, status) in [("no", "needs_consent"), ("once", "ok")] {
        let id = served.begin_call("generate_code", json!({"task": "write x to a.txt", "run": true}));
        write_next(&served, WRITE);
        let question = served.next_question();
        let message = question["params"]["message"].as_str().expect("words");
        assert!(message.contains("It writes with filesystem.write_file."), "{message}");
        assert!(message.contains("await write_file(path='a.txt', text='x')"), "{message}");
        assert!(!is_written(&served), "it waits");
        let said = json!({"action": "accept", "content": {"answer": answer}});
        served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said}));
        if answer == "once" {
            // The policy's own question, as for every program.
            let question = served.next_question();
            let message = question["params"]["message"].as_str().expect("words");
            assert!(message.contains("call filesystem.write_file?"), "{message}");
            served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": said}));
        }
        let ran = served.called("generate_code", id);
        assert_eq!(ran["structuredContent"]["status"], status, "{ran:#}");
    }
    assert!(is_written(&served));
}

fn a_client_that_cant_be_asked_gets_the_program_and_no_run() {
    let served = world("generate-alone", legacy().can(json!({"sampling": {}})));
    let id = served.begin_call("generate_code", json!({"task": "write x to a.txt", "run": true}));
    write_next(&served, WRITE);
    let ran = served.called("generate_code", id);
    let told = &ran["structuredContent"];
    assert_eq!(told["status"], "needs_consent", "{ran:#}");
    assert!(told["code"].as_str().is_some_and(|code| code.contains("write_file")), "{ran:#}");
    assert!(!is_written(&served) && !served.has_question());
}

fn a_model_that_declines_leaves_the_nearest_tools() {
    let served = world("generate-declined", lends_its_model());
    let id = served.begin_call(
        "generate_code",
        json!({"task": "read the text file in.txt and translate it into Portuguese"}),
    );
    let asked = served.next_question();
    let refused = json!({"code": -1, "message": "the user said no"});
    served.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": refused}));
    let ran = served.called("generate_code", id);
    assert_eq!((&ran["isError"], &ran["structuredContent"]["status"]), (&json!(true), &json!("not_written")));
    assert!(text_of(&ran).contains("nearest tools: filesystem."), "{ran:#}");
}
