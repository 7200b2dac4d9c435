//! Marked servers behind a real client: the question names the three, in both eras.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{Client, Manners, legacy, members, modern};
use crate::gateways::{Place, Served};
use crate::support::gristmill;

cases![
    an_older_client_is_asked_before_the_third_of_the_three,
    a_modern_client_is_asked_before_the_third_of_the_three,
    a_hardened_gateway_refuses_the_third_of_the_three,
    another_session_that_reads_a_result_has_read_what_it_was_made_from,
    a_client_that_is_handed_a_marked_skill_has_read_what_it_was_made_from,
];

const BOTH: &str =
    "this session has read untrusted data from `web` and private data from `crm`, and `mail` is external";

fn place(name: &str) -> Place {
    let server = |marks: &str| json!({"command": gristmill(), "args": ["example-server", "calculator"], "marks": [marks]});
    Place::new(name)
        .server("web", server("untrusted"))
        .server("crm", server("private"))
        .server("mail", server("external"))
}

fn world(name: &str, manners: Manners) -> Served {
    place(name).serve(manners, &[])
}

fn uses(servers: &[&str]) -> String {
    let one = |server: &&str| {
        format!("from servers.{server} import evaluate\nawait evaluate(expression='6 * 7')\n")
    };
    servers.iter().map(one).collect()
}

fn program(code: &str) -> Value {
    json!({"code": format!("{code}result = 'sent'")})
}

fn check_question(params: &Value) {
    let message = params["message"].as_str().expect("words");
    assert!(message.contains("call mail.evaluate?"), "{message}");
    assert!(message.contains(&format!("Asked because {BOTH}.")), "{message}");
}

fn an_older_client_is_asked_before_the_third_of_the_three() {
    let served = world("flow-older", legacy().can(json!({"elicitation": {}})));
    let read = served.structured("execute_code", program(&uses(&["web", "mail", "crm"])));
    assert_eq!((read["result"].clone(), served.has_question()), (json!("sent"), false), "{read:#}");
    // Another program of the same client.
    let id = served.begin_call("execute_code", program(&uses(&["mail"])));
    let question = served.next_question();
    check_question(&question["params"]);
    let answer = json!({"action": "accept", "content": {"answer": "session"}});
    served.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}));
    assert_eq!(served.called("execute_code", id)["structuredContent"]["result"], "sent");
    let again = served.structured("execute_code", program(&uses(&["mail"])));
    assert_eq!((again["result"].clone(), served.has_question()), (json!("sent"), false), "{again:#}");
}

fn a_modern_client_is_asked_before_the_third_of_the_three() {
    let served = world("flow-newer", modern().can(json!({"elicitation": {"form": {}}})));
    let arguments = program(&uses(&["web", "crm", "mail"]));
    let asked = served.result("tools/call", json!({"name": "execute_code", "arguments": arguments}));
    assert_eq!(asked["resultType"], "input_required", "{asked:#}");
    let key = members(&asked["inputRequests"])[0].to_owned();
    check_question(&asked["inputRequests"][&key]["params"]);
    let answer = json!({"action": "accept", "content": {"answer": "no"}});
    let params = json!({
        "name": "execute_code", "arguments": arguments, "requestState": asked["requestState"],
        "inputResponses": {key: answer},
    });
    let ran = served.result("tools/call", params);
    assert_eq!(ran["structuredContent"]["error"]["code"], "GM-3302", "{ran:#}");
}

fn a_hardened_gateway_refuses_the_third_of_the_three() {
    let place = place("flow-denied").setting("policy", json!({"flow": "deny"}));
    let served = place.serve(legacy().can(json!({"elicitation": {}})), &[]);
    let refused = served.structured("execute_code", program(&uses(&["web", "crm", "mail"])));
    assert_eq!((&refused["error"]["code"], served.has_question()), (&json!("GM-3301"), false), "{refused:#}");
    let message = refused["error"]["message"].as_str().expect("words");
    assert!(message.contains(BOTH) && message.contains("finish without it"), "{message}");
}

fn another_session_that_reads_a_result_has_read_what_it_was_made_from() {
    let served = place("flow-read").serve(legacy(), &["--profile", "full"]);
    let code = uses(&["web", "crm"]) + "result = [dict(n=n, text='x' * 50) for n in range(5_000)]";
    let ran = served.structured("execute_code", json!({"code": code, "session": "one"}));
    let handle = ran["result_handle"].as_str().unwrap_or_else(|| panic!("{ran:#}")).to_owned();
    let sent = |session: &str| {
        served.structured(
            "execute_code",
            json!({"code": program(&uses(&["mail"]))["code"], "session": session}),
        )
    };
    let before = sent("two");
    assert_eq!(before["result"], "sent", "{before:#}");
    let read = format!("text = open('/results/{handle}.json').read(50)\nresult = 1");
    let ran = served.structured("execute_code", json!({"code": read, "session": "two"}));
    assert_eq!(ran["result"], 1, "{ran:#}");
    let refused = sent("two");
    assert_eq!(refused["error"]["code"], "GM-3302", "{refused:#}");
    // The clock of files advances in steps.
    std::thread::sleep(std::time::Duration::from_millis(20));
    let other = sent("three");
    assert_eq!(other["result"], "sent", "{other:#}");
}

fn a_client_that_is_handed_a_marked_skill_has_read_what_it_was_made_from() {
    let place = place("flow-skills");
    // Each is a gateway of its own, in which no client has read anything yet.
    let client = || Client::start(place.command(&[]), legacy());
    let is_stopped = |client: &Client| {
        let ran = client.structured("execute_code", program(&uses(&["mail"])));
        let code = ran["error"]["code"].as_str();
        assert!(ran["result"] == "sent" || code == Some("GM-3302"), "{ran:#}");
        code.is_some()
    };
    let save = "save_skill('keep99', 'S = \"the deal\"', description='Of the deal')\nresult = 1";
    let code = uses(&["web", "crm"]) + save;
    let saved = client().structured("execute_code", json!({"code": code, "session": "one"}));
    assert_eq!(saved["result"], 1, "{saved:#}");

    let fresh = client();
    for (tool, arguments) in [
        ("list_skills", json!({})),
        ("search_tools", json!({"query": "deal"})),
        ("get_tool_definition", json!({"name": "skills.keep99"})),
        ("load_skill", json!({"name": "keep98"})),
    ] {
        let told = fresh.call(tool, arguments).to_string();
        let word = if tool == "get_tool_definition" { "the deal" } else { "keep99" };
        assert!(!told.contains(word), "{tool}: {told}");
    }
    assert!(!is_stopped(&fresh), "it was told nothing");
    for arguments in [json!({"name": "keep99"}), json!({"name": "keep99", "version": 1})] {
        let reader = client();
        let loaded = reader.structured("load_skill", arguments);
        assert!(loaded["code"].as_str().is_some_and(|code| code.contains("the deal")), "{loaded:#}");
        assert!(is_stopped(&reader));
        assert_eq!(reader.structured("list_skills", json!({}))["total"], 1, "which it has read");
        // The first session of its connection is its own.
        reader.structured("write_workspace_file", json!({"path": "a.txt", "content": "a"}));
        assert!(is_stopped(&reader));
    }

    let saver = client();
    saver.structured("execute_code", json!({"code": "state['n'] = 1"}));
    assert!(!is_stopped(&saver));
    let test = "from skills.keep99 import S\nraise Exception(S)";
    let refused = saver.call("save_skill", json!({"name": "other99", "code": "y = 1", "test": test}));
    assert!(refused.to_string().contains("the deal"), "{refused:#}");
    assert!(is_stopped(&saver), "the session that its programs go on in");
}
