//! `execute_code` and `execute_python`: what a program may be given, and what comes back.

use serde_json::{Value, json};

use crate::cases;
use crate::client::{legacy, members, modern, text_of, without_id};
use crate::gateways::{Place, shared, shared_modern};

cases![
    the_result_what_was_printed_both_or_neither_come_back,
    both_eras_answer_the_same,
    execute_python_is_execute_code_under_another_name,
    the_context_becomes_variables,
    a_failed_program_tells_its_code_line_traceback_and_hint,
    a_syntax_error_tells_its_line,
    what_was_already_called_is_named_after_a_failure_in_the_middle,
    many_calls_before_a_failure_are_counted_by_name,
    an_unknown_tool_in_a_program_names_the_nearest,
    an_unknown_import_names_what_there_is,
    an_unknown_argument_names_the_nearest_and_all_others,
    arguments_of_a_wrong_kind_are_refused_with_what_is_right,
    arguments_as_other_products_call_them_are_understood,
    an_unknown_tool_of_ours_names_the_nearest_and_all_others,
    a_servers_tool_called_directly_says_how_to_use_it_in_a_program,
    programs_of_one_session_share_files,
    programs_that_keep_their_variables_go_on_with_them_and_hear_when_they_are_lost,
    no_variables_are_kept_where_the_configuration_says_so,
    a_session_is_invisible_to_others_and_to_programs_without_one,
    a_session_runs_one_program_at_a_time,
    variables_of_another_gateway_or_from_before_a_reset_are_not_gone_on_with,
    a_name_that_is_no_sessions_is_refused,
    a_time_limit_stops_the_program_and_says_how_to_raise_it,
    a_time_limit_out_of_range_is_refused_with_the_range,
    a_call_may_ask_for_a_stricter_level_and_for_no_looser_one,
    what_is_too_long_is_kept_whole_and_a_program_goes_on_from_it,
    an_answer_takes_a_thousand_tokens_if_nothing_else_is_said,
    an_image_comes_back_as_an_image,
    a_failure_is_told_even_where_the_output_is_cut,
];

fn run(code: &str) -> Value {
    shared().structured("execute_code", json!({"code": code}))
}

fn a_call_may_ask_for_a_stricter_level_and_for_no_looser_one() {
    let at = |level: &str| shared().structured("execute_code", json!({"code": "40 + 2", "level": level}));
    assert_eq!(at("hardened"), json!({"status": "ok", "result": 42}));
    let looser = at("development");
    assert_eq!(looser["status"], "failed");
    assert_eq!(looser["error"]["code"], "GM-2002");
    let text = looser["error"].to_string();
    assert!(text.contains("level development is looser than yours, production"), "{text}");
}

fn the_result_what_was_printed_both_or_neither_come_back() {
    let nothing = "the program printed nothing and set no `result`";
    for (code, structured, text) in [
        ("40 + 2", json!({"status": "ok", "result": 42}), "42"),
        (
            "result = {'a': [1, None]}",
            json!({"status": "ok", "result": {"a": [1, null]}}),
            r#"{"a":[1,null]}"#,
        ),
        ("'as it is'", json!({"status": "ok", "result": "as it is"}), "as it is"),
        ("print('hi')", json!({"status": "ok", "output": "hi\n"}), "hi"),
        ("print('hi')\n[1]", json!({"status": "ok", "result": [1], "output": "hi\n"}), "hi\n[1]"),
        ("x = 1", json!({"status": "ok", "notes": [nothing]}), &format!("Note: {nothing}")),
    ] {
        let expected = json!({
            "content": [{"type": "text", "text": text}], "structuredContent": structured, "isError": false,
        });
        assert_eq!(without_id(shared().call("execute_code", json!({"code": code}))), expected, "{code}");
    }
}

fn both_eras_answer_the_same() {
    for code in
        ["print('hi')\n{'a': 1.5}", "x = 1\nx / 0", "await callMCPTool('evaluate', {'expression': '2*21'})"]
    {
        let older = without_id(shared().call("execute_code", json!({"code": code})));
        let mut newer = without_id(shared_modern().call("execute_code", json!({"code": code})));
        assert_eq!(newer["resultType"].take(), "complete");
        newer.as_object_mut().expect("an object").remove("resultType");
        assert_eq!(newer, older, "{code}");
    }
}

fn execute_python_is_execute_code_under_another_name() {
    for arguments in
        [json!({"code": "word * 2", "context": {"word": "ab"}}), json!({"code": "1 +"}), json!({"cod": 1})]
    {
        let named = |tool: &str| {
            let answer = without_id(shared().call(tool, arguments.clone())).to_string();
            // Arguments that only one of the two has.
            [" language,", ", level", ", engine"]
                .iter()
                .fold(answer.replace("execute_python", "execute_code"), |text, own| text.replace(own, ""))
        };
        assert_eq!(named("execute_python"), named("execute_code"));
    }
    let refused = shared().call("execute_python", json!({"code": "1", "language": "python"}));
    assert!(text_of(&refused).contains("`language` is not an argument of execute_python"), "{refused}");
}

fn the_context_becomes_variables() {
    let context =
        json!({"rows": [{"n": 1}, {"n": 2}], "größe": 3, "none": null, "big": 12345678901234567890_u64});
    let code = "[sum(row['n'] for row in rows), größe, none, big + 1]";
    assert_eq!(
        shared().structured("execute_code", json!({"code": code, "context": context})),
        json!({"status": "ok", "result": [3, 3, null, 12345678901234567891_u64]})
    );
}

fn a_failed_program_tells_its_code_line_traceback_and_hint() {
    let code = "print('before')\ndef half(n):\n    return n / 0\nhalf(2)";
    let traceback = "Traceback (most recent call last):\n  File \"program.py\", line 4\n    half(2)\n    ~~~~^^^\n  File \"program.py\", line 3, in half\n    return n / 0\n           ~~^~~\nZeroDivisionError: division by zero";
    let error = json!({"code": "GM-1102", "message": "division by zero", "line": 3, "traceback": traceback});
    let answer = shared().call("execute_code", json!({"code": code}));
    assert_eq!(
        answer["structuredContent"],
        json!({"status": "failed", "error": error, "output": "before\n"}),
        "{answer:#}"
    );
    assert_eq!(answer["isError"], true);
    assert_eq!(text_of(&answer), format!("{traceback}\nerror[GM-1102], line 3\nOutput:\nbefore"));
    let refused = run("await callMCPTool('robot.echo', {})");
    let hint = refused["error"]["hint"].as_str().expect("a hint");
    assert!(!hint.is_empty() && refused["error"]["line"] == 1, "{refused:#}");
}

fn a_syntax_error_tells_its_line() {
    let failed = run("x = 1\nif x\n    y = 2");
    assert_eq!(
        (&failed["error"]["code"], &failed["error"]["line"]),
        (&json!("GM-1101"), &json!(2)),
        "{failed:#}"
    );
}

fn what_was_already_called_is_named_after_a_failure_in_the_middle() {
    let code = "from servers.calculator import evaluate\n\
        await evaluate(expression='1+1')\n\
        await evaluate(expression='2+2')\n\
        await evaluate(expression='2+')\n\
        await evaluate(expression='3+3')";
    let answer = shared().call("execute_code", json!({"code": code}));
    let structured = &answer["structuredContent"];
    let called = [
        "calculator.evaluate (line 2): ok",
        "calculator.evaluate (line 3): ok",
        // Why stands in the traceback.
        "calculator.evaluate (line 4): failed",
    ];
    assert_eq!(members(structured), ["status", "error", "tools_called"]);
    assert_eq!(structured["tools_called"], json!(called));
    assert_eq!(structured["error"]["hint"], "catch it with: except ToolError as error");
    let tail = format!("Already called; don't repeat blindly:\n- {}", called.join("\n- "));
    assert!(text_of(&answer).ends_with(&tail), "{answer:#}");
}

fn many_calls_before_a_failure_are_counted_by_name() {
    let code = "from servers import calculator, robot\n\
        await asyncio.gather(*[calculator.evaluate(expression=str(n)) for n in range(20)])\n\
        await robot.echo(text='hi')\n\
        await calculator.evaluate(expression='(')";
    assert_eq!(
        run(code)["tools_called"],
        json!(["calculator.evaluate: 20 ok, 1 failed", "robot.echo: 1 ok"])
    );
}

fn an_unknown_tool_in_a_program_names_the_nearest() {
    let message = "there is no tool `calculator.evaluat`; did you mean calculator.evaluate?";
    let failed = run("await callMCPTool('calculator.evaluat', {'expression': '1'})");
    assert_eq!(
        (&failed["error"]["code"], &failed["error"]["message"], &failed["error"]["line"]),
        (&json!("GM-1401"), &json!(message), &json!(1))
    );
}

fn an_unknown_import_names_what_there_is() {
    let failed = run("from servers.calculator import evaluat");
    assert_eq!(
        failed["error"]["hint"], "servers.calculator has: convert_units, evaluate, statistics",
        "{failed:#}"
    );
}

fn an_unknown_argument_names_the_nearest_and_all_others() {
    let message = "`tiemout_s` is not an argument of execute_code; did you mean `timeout_s`? It takes: code (required), language, session, timeout_s, context, max_output_tokens, shape, keep_variables, background, busy, level, engine, dry_run, plan";
    assert_eq!(
        shared().call("execute_code", json!({"code": "1", "tiemout_s": 1})),
        json!({
            "content": [{"type": "text", "text": format!("error[GM-2002]: {message}")}],
            "structuredContent": {"status": "failed", "error": {"code": "GM-2002", "message": message}},
            "isError": true,
        })
    );
}

fn arguments_of_a_wrong_kind_are_refused_with_what_is_right() {
    for (arguments, words) in [
        (json!({}), "`code`"),
        (json!({"code": 7}), "`code` must be"),
        (json!({"code": " \n "}), "`code` is empty"),
        (
            json!({"code": "1", "language": "ruby"}),
            "`language` must be one of \"python\", \"typescript\", \"javascript\", not \"ruby\"",
        ),
        (json!({"code": "1", "context": [1]}), "`context` must be"),
        (json!({"code": "1", "background": "later"}), "`background` must be"),
        (json!({"code": "1", "max_output_tokens": 1}), "max_output_tokens is 1; it can be 50 to 100000"),
        (json!({"code": "1", "max_output_tokens": 1.5}), "`max_output_tokens` must be"),
    ] {
        let answer = shared().call("execute_code", arguments.clone());
        let error = &answer["structuredContent"]["error"];
        assert_eq!((&answer["isError"], &error["code"]), (&json!(true), &json!("GM-2002")), "{arguments}");
        assert!(error["message"].as_str().is_some_and(|said| said.contains(words)), "{arguments}: {error}");
    }
}

fn arguments_as_other_products_call_them_are_understood() {
    let served = shared();
    let given = json!({
        "code": "a + 1", "context": "{\"a\": 41}", "timeout_seconds": "20", "session_token": "spelled", "keep_variables": "false",
    });
    assert_eq!(served.structured("execute_code", given)["result"], 42);
    let written = json!({"filename": "a.csv", "content": "x\n1\n", "sessionToken": "spelled"});
    assert_eq!(served.structured("write_workspace_file", written)["path"], "a.csv");
    let analyzed = json!({"filename": "a.csv", "session": "spelled", "steps": "[{\"describe\": {}}]"});
    assert_eq!(served.structured("execute_analysis", analyzed)["status"], "ok");
    let validated =
        json!({"data": [{"a": 1}], "analysis_type": "filter", "field": "a", "operator": ">", "value": 0});
    assert_eq!(served.structured("execute_analysis", validated)["rows"], 1);
    let defined = served.structured("get_tool_definition", json!({"tool_name": "calculator.evaluate"}));
    assert_eq!(members(&defined["definitions"]), ["calculator.evaluate"]);
    // What is in doubt is still refused.
    let both = served.structured("execute_code", json!({"code": "1", "timeout_s": 5, "timeout_seconds": 20}));
    let message = both["error"]["message"].as_str().unwrap_or_default();
    assert!(message.contains("timeout_seconds"), "{both:#}");
}

fn an_unknown_tool_of_ours_names_the_nearest_and_all_others() {
    let all = "execute_code, search_tools, get_tool_definition, get_execution, execute_analysis, write_workspace_file, read_workspace_file, list_workspace_files, read_result, save_skill, load_skill, list_skills, delete_skill, get_execution_stats, validate_code, sanitize_pii, restore_pii, execute_python";
    for (name, hint) in [
        ("execute_cod", format!("did you mean execute_code? tools: {all}")),
        ("qqqqqqqq", format!("tools: {all}")),
    ] {
        let error = json!({"code": "GM-1401", "message": format!("unknown tool `{name}`"), "hint": hint});
        let answer = shared().call(name, json!({}));
        assert_eq!(answer["structuredContent"], json!({"status": "failed", "error": error}));
        assert_eq!(answer["isError"], true);
    }
}

fn a_servers_tool_called_directly_says_how_to_use_it_in_a_program() {
    for name in ["evaluate", "calculator.evaluate"] {
        // Before any program has run the servers may not have been heard yet.
        run("import servers.calculator");
        let answer = shared().call(name, json!({"expression": "1"}));
        assert_eq!(
            text_of(&answer),
            format!(
                "error[GM-1401]: unknown tool `{name}`\nhint: it's a server's tool; use it in a program with execute_code: `from servers.calculator import evaluate`"
            )
        );
    }
}

fn programs_of_one_session_share_files() {
    let run =
        |code: &str| shared().structured("execute_code", json!({"code": code, "session": "shared-files"}));
    let made = json!({"status": "ok", "result": 4, "notes": ["new session `shared-files`"]});
    assert_eq!(run("open('a.txt', 'w').write('kept')"), made);
    assert_eq!(run("variable = open('a.txt').read(); variable"), json!({"status": "ok", "result": "kept"}));
    // Files are kept, variables are not.
    assert_eq!(run("'variable' in globals()"), json!({"status": "ok", "result": false}));
    run("1 / 0");
    assert_eq!(
        run("open('a.txt').read()"),
        json!({"status": "ok", "result": "kept"}),
        "after a failure, too"
    );
}

fn programs_that_keep_their_variables_go_on_with_them_and_hear_when_they_are_lost() {
    let run = |code: &str| {
        let arguments = json!({"code": code, "session": "kept", "keep_variables": true, "timeout_s": 2});
        shared().structured("execute_code", arguments)
    };
    assert_eq!(run("def twice(n): return 2 * n\ntwice(1)")["result"], json!(2));
    assert_eq!(run("state['n'] = twice(2)\nstate['n']"), json!({"status": "ok", "result": 4}));
    let lost =
        "the session's variables are gone: the program timed out; the next program starts without them";
    assert_eq!(run("await asyncio.sleep(60)")["notes"], json!([lost]));
    assert_eq!(run("'twice' in globals()"), json!({"status": "ok", "result": false}));
    // Without a session, the connection's is made for it.
    let served = Place::new("kept-variables").serve(legacy(), &[]);
    let run = |code: &str| {
        served.structured("execute_code", json!({"code": code, "keep_variables": true}))["result"].take()
    };
    assert_eq!([run("n = 1\n0"), run("n + 1")], [json!(0), json!(2)]);
}

fn no_variables_are_kept_where_the_configuration_says_so() {
    let served =
        Place::new("none-kept").setting("sessions", json!({"kept_interpreters": 0})).serve(modern(), &[]);
    let run = |code: &str| {
        let arguments = json!({"code": code, "session": "kept", "keep_variables": true});
        served.structured("execute_code", arguments)["result"].take()
    };
    assert_eq!(run("known = 1"), Value::Null);
    assert_eq!(run("'known' in globals()"), json!(false));
}

fn a_session_is_invisible_to_others_and_to_programs_without_one() {
    let served = Place::new("invisible").serve(legacy(), &[]);
    let write = json!({"code": "open('secret.txt', 'w').write('x')", "session": "one"});
    assert_eq!(served.structured("execute_code", write)["status"], "ok");
    let look = "import os\nos.listdir('.')";
    for arguments in [json!({"code": look}), json!({"code": look, "session": "other"})] {
        assert_eq!(served.structured("execute_code", arguments)["result"], json!([]));
    }
}

fn a_session_runs_one_program_at_a_time() {
    let served = shared();
    let code = "from servers.robot import hold\nawait hold()";
    let id = served.begin_call("execute_code", json!({"code": code, "session": "busy"}));
    // The first one is in the session as soon as its call has arrived.
    until_held(1);
    let mut refused = served.call("execute_code", json!({"code": "1", "session": "busy", "busy": "refuse"}));
    assert_eq!(refused.get("_meta"), None, "nothing is in the history: {refused}");
    let refused = refused["structuredContent"].take();
    let error = json!({
        "code": "GM-2001",
        "message": "session `busy` is already running a program",
        "hint": "wait for it, or use another session",
    });
    assert_eq!(refused, json!({"status": "failed", "error": error}));
    let other = served.structured("execute_code", json!({"code": "1", "session": "not-busy"}));
    assert_eq!(other, json!({"status": "ok", "result": 1, "notes": ["new session `not-busy`"]}));
    run("from servers.robot import release\nawait release()");
    assert_eq!(served.called("execute_code", id)["structuredContent"]["status"], "ok");
    let after = served.structured("execute_code", json!({"code": "1", "session": "busy"}));
    assert_eq!(after, json!({"status": "ok", "result": 1}));
}

fn variables_of_another_gateway_or_from_before_a_reset_are_not_gone_on_with() {
    use crate::client::Client;
    let place = Place::new("kept-by-two");
    let [one, other] = [legacy(), modern()].map(|manners| Client::start(place.command(&[]), manners));
    place.home().ok(&["run", "--no-servers", "--session", "kept", "-c", "0"]);
    let run = |client: &Client, code: &str| {
        let arguments = json!({"code": code, "session": "kept", "keep_variables": true});
        client.structured("execute_code", arguments)
    };
    let gone = |why: &str| {
        json!({
            "status": "ok",
            "result": false,
            "notes": [format!("the session's variables were gone: {why}; this program started without them")],
        })
    };
    const LOOK: &str = "'n' in globals()";
    assert_eq!(run(&one, "n = 1\nn"), json!({"status": "ok", "result": 1}));
    let elsewhere = "another gateway kept them, or this one before it restarted";
    assert_eq!(run(&other, LOOK), gone(elsewhere));
    assert_eq!(run(&other, "n = 2\nn"), json!({"status": "ok", "result": 2}));
    assert_eq!(run(&one, LOOK), gone("another gateway has run a program in the session since"));
    // Told once.
    assert_eq!(run(&one, "n = 3\nn"), json!({"status": "ok", "result": 3}));
    place.home().ok(&["sessions", "reset", "kept"]);
    assert_eq!(run(&one, LOOK), gone("the session was reset"));
    assert_eq!(run(&one, LOOK), json!({"status": "ok", "result": false}));
    drop(one);
    let again = Client::start(place.command(&[]), legacy());
    assert_eq!(run(&again, LOOK), gone(elsewhere));
}

fn until_held(count: u64) {
    for _ in 0..1000 {
        if run("from servers.robot import held\nawait held()")["result"] == count {
            return;
        }
    }
    panic!("the call never came");
}

fn a_name_that_is_no_sessions_is_refused() {
    for name in ["", "a b", "../up", "a/b", "ünï", &"n".repeat(65)] {
        let refused = shared().structured("execute_code", json!({"code": "1", "session": name}));
        assert_eq!(refused["error"]["code"], "GM-2002", "{name}: {refused}");
    }
    for name in ["a", ".", "A-b_c.9", &"n".repeat(64)] {
        let ran = shared().structured("execute_code", json!({"code": "1", "session": name}));
        assert_eq!((&ran["status"], &ran["result"]), (&json!("ok"), &json!(1)), "{name}: {ran}");
    }
}

fn a_time_limit_stops_the_program_and_says_how_to_raise_it() {
    for code in ["await asyncio.sleep(30)", "while True: pass"] {
        let failed = shared().structured("execute_code", json!({"code": code, "timeout_s": 1}));
        let (error, hint) = (&failed["error"], failed["error"]["hint"].as_str().unwrap_or_default());
        assert_eq!(error["code"], "GM-1201", "{failed:#}");
        assert!(hint.contains("`timeout_s`") && hint.contains("120"), "{hint}");
    }
}

fn a_time_limit_out_of_range_is_refused_with_the_range() {
    for (seconds, shown) in
        [(json!(0), "0"), (json!(-1), "-1"), (json!(100_000), "100000"), (json!(1e300), "1e300")]
    {
        let refused = shared().structured("execute_code", json!({"code": "1", "timeout_s": seconds}));
        let error = json!({
            "code": "GM-2002",
            "message": format!("timeout_s is {shown}; at level production it can be 1 to 120"),
            "hint": "split the work over several programs",
        });
        assert_eq!(refused, json!({"status": "failed", "error": error}));
    }
}

fn what_is_too_long_is_kept_whole_and_a_program_goes_on_from_it() {
    let code = "for n in range(3000): print('line', n)\n[{'id': n} for n in range(3000)]";
    let answer = shared().call("execute_code", json!({"code": code, "max_output_tokens": 300}));
    let structured = &answer["structuredContent"];
    assert_eq!(structured["status"], "ok");
    let handle = |name: &str| structured[name].as_str().expect("a handle").to_owned();
    let (result, output) = (handle("result_handle"), handle("output_handle"));
    let next = format!("r = json.load(open(\"/results/{result}.json\"))");
    assert!(text_of(&answer).contains(&next), "{answer:#}");
    let code =
        format!("{next}\nt = open('/results/{output}.txt').read()\n[len(r), r[-1], len(t.splitlines())]");
    assert_eq!(run(&code)["result"], json!([3000, {"id": 2999}, 3000]));
    let arguments = json!({"code": "'x ' * 3000", "max_output_tokens": 20_000});
    let whole = shared().structured("execute_code", arguments);
    assert_eq!(whole, json!({"status": "ok", "result": "x ".repeat(3000)}));
}

fn an_answer_takes_a_thousand_tokens_if_nothing_else_is_said() {
    let answer =
        shared().call("execute_code", json!({"code": "[{'id': n, 'name': 'grain'} for n in range(5000)]"}));
    for said in [text_of(&answer).to_owned(), answer["structuredContent"].to_string()] {
        let tokens = gristmill_gateway::tokens::count(&said);
        assert!((100..=1_000).contains(&tokens), "{tokens}: {said}");
    }
    let shape = json!({"code": "[{'id': n, 'name': 'grain'} for n in range(5000)]", "shape": "schema"});
    let shaped = shared().call("execute_code", shape);
    assert_ne!(text_of(&shaped), text_of(&answer));
}

fn an_image_comes_back_as_an_image() {
    let code = "result = {'chart': b'\\x89PNG\\r\\n\\x1a\\n' + bytes(100)}";
    let answer = shared().call("execute_code", json!({"code": code}));
    let image = &answer["content"][1];
    assert_eq!((&image["type"], &image["mimeType"]), (&json!("image"), &json!("image/png")), "{answer:#}");
    let data = image["data"].as_str().expect("base64");
    assert!(data.starts_with("iVBORw0KGgo") && !text_of(&answer).contains(data), "{answer:#}");
    let chart = &answer["structuredContent"]["result"]["chart"];
    assert_eq!((&chart["media_type"], &chart["bytes"]), (&json!("image/png"), &json!(108)));
    let path = chart["file"].as_str().expect("a path");
    assert!(path.starts_with("/results/") && path.ends_with(".png"), "{path}");
    let read = format!("open('{path}', 'rb').read()[:4].hex()");
    assert_eq!(run(&read)["result"], "89504e47");
}

fn a_failure_is_told_even_where_the_output_is_cut() {
    let arguments =
        json!({"code": "print('line\\n' * 3000)\nraise ValueError('this is why')", "max_output_tokens": 60});
    let answer = shared().call("execute_code", arguments);
    assert_eq!(answer["structuredContent"]["error"]["message"], "this is why");
    let text = text_of(&answer);
    assert!(text.contains("this is why") && text.contains("error[GM-1102], line 2"), "{answer:#}");
}
