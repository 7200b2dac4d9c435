use serde_json::json;

use super::super::*;
use super::*;

fn plain(profile: Profile) -> ShownTools {
    ShownTools::new(profile, SingleCalls::InPrograms, CodeWriting::ByCaller)
}

/// What a model is sent of a tool: its name, its description and its input schema.
fn model_tokens(profile: Profile) -> usize {
    let sent = plain(profile).definitions.into_iter().map(|tool| {
        json!({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]})
    });
    tokens::count(&Value::from(sent.collect::<Vec<_>>()).to_string())
}

#[test]
fn each_profile_keeps_its_budget_of_tokens() {
    let counted = [Profile::Minimal, Profile::Standard, Profile::Full].map(model_tokens);
    assert!(counted[0] <= 320, "minimal: {counted:?}");
    assert!(counted[1] <= 1_350, "standard: {counted:?}");
    assert!(counted[2] <= 1_650, "full: {counted:?}");
}

#[test]
fn the_documents_say_what_each_profile_takes() {
    let [minimal, standard, full] = [Profile::Minimal, Profile::Standard, Profile::Full]
        .map(|profile| gristmill_gateway::domain::grouped(profile.definition_tokens()));
    let said = format!("take {minimal}, {standard} and {full} tokens (o200k)");
    assert!(include_str!("../../../../../docs/serving.md").contains(&said), "docs/serving.md: {said}");
    let said = format!("Their definitions take {minimal} tokens");
    assert!(include_str!("../../../../../README.md").contains(&said), "README.md: {said}");
    let opted_in = ShownTools::new(Profile::Minimal, SingleCalls::ByCallTool, CodeWriting::ByGenerateCode);
    let call_tool = opted_in.definition_tokens(&call_tool::CALL_TOOL);
    let said = format!("`call_tool` takes {call_tool} more");
    assert!(include_str!("../../../../../docs/serving.md").contains(&said), "docs/serving.md: {said}");
    let generate_code = opted_in.definition_tokens(&generate_code::GENERATE_CODE);
    let said = format!("`generate_code` takes {generate_code} more");
    assert!(include_str!("../../../../../docs/serving.md").contains(&said), "docs/serving.md: {said}");
}

#[test]
fn each_tool_is_counted_as_a_model_is_shown_it() {
    let shown = plain(Profile::Minimal);
    let [code, search] =
        [&execute_code::EXECUTE_CODE, &search_tools::SEARCH_TOOLS].map(|tool| shown.definition_tokens(tool));
    // Together they are a list, with brackets and a comma.
    assert!((code + search).abs_diff(model_tokens(Profile::Minimal) as u64) <= 6, "{code} and {search}");
    assert!(code > search && search > 20, "{code} and {search}");
    assert_eq!(shown.definition_tokens(&execute_python::EXECUTE_PYTHON), 0, "it is not shown");
    assert_eq!(Profile::Minimal.definition_tokens(), code + search);
}

#[test]
fn the_tools_for_skills_keep_theirs() {
    let skill_tools = [
        &save_skill::SAVE_SKILL,
        &load_skill::LOAD_SKILL,
        &list_skills::LIST_SKILLS,
        &delete_skill::DELETE_SKILL,
    ];
    let sent = skill_tools.map(|tool| {
        json!({"name": tool.name, "description": tool.description.trim_end(), "input_schema": tool.shown_schema(Profile::Standard)})
    });
    let counted = tokens::count(&Value::from(sent.to_vec()).to_string());
    assert!(counted <= 230, "{counted}");
}

#[test]
fn the_tool_for_results_keeps_its_own() {
    let tool = &read_result::READ_RESULT;
    let sent = json!({"name": tool.name, "description": tool.description.trim_end(), "input_schema": tool.shown_schema(Profile::Standard)});
    let counted = tokens::count(&sent.to_string());
    assert!(counted <= 130, "{counted}");
}

#[test]
fn the_tool_for_analysis_keeps_its_own() {
    let tool = &execute_analysis::EXECUTE_ANALYSIS;
    let sent = json!({"name": tool.name, "description": tool.description.trim_end(), "input_schema": tool.shown_schema(Profile::Standard)});
    let counted = tokens::count(&sent.to_string());
    assert!(counted <= 260, "{counted}");
}

#[test]
fn a_profile_shows_its_tools_in_a_fixed_order() {
    let names = |profile| plain(profile).names().collect::<Vec<_>>();
    assert_eq!(names(Profile::Minimal), ["execute_code", "search_tools"]);
    assert_eq!(
        names(Profile::Standard),
        [
            "execute_code",
            "search_tools",
            "get_tool_definition",
            "get_execution",
            "execute_analysis",
            "write_workspace_file",
            "read_workspace_file",
            "list_workspace_files",
            "read_result",
            "save_skill",
            "load_skill",
            "list_skills",
            "delete_skill",
            "get_execution_stats"
        ]
    );
    let full = names(Profile::Full);
    assert_eq!((full.len(), full.last()), (18, Some(&"execute_python")));
    let opted_in = ShownTools::new(Profile::Minimal, SingleCalls::ByCallTool, CodeWriting::ByGenerateCode);
    let expected = ["execute_code", "search_tools", "call_tool", "generate_code"];
    assert_eq!(opted_in.names().collect::<Vec<_>>(), expected);
}

#[test]
fn no_description_is_longer_than_clients_show() {
    for tool in ALL {
        assert!(tool.description.len() < 2_000, "{}", tool.name);
    }
}

#[test]
fn the_smallest_profile_shows_few_arguments_and_takes_the_others() {
    let shown = plain(Profile::Minimal);
    let properties = |at: usize| -> Vec<String> {
        let schema = &shown.definitions()[at]["inputSchema"];
        schema["properties"].as_object().into_iter().flat_map(|known| known.keys().cloned()).collect()
    };
    let mut listed = [properties(0), properties(1)];
    listed.iter_mut().for_each(|names| names.sort_unstable());
    assert_eq!(listed[0], ["code", "session", "shape"]);
    assert_eq!(listed[1], ["limit", "query", "server"]);
    let mut given = Map::from_iter([
        ("code".to_owned(), json!("1")),
        ("timeout_s".to_owned(), json!(9)),
        ("context".to_owned(), json!({"a": 1})),
        ("max_output_tokens".to_owned(), json!(200)),
        ("keep_variables".to_owned(), json!(true)),
        ("busy".to_owned(), json!("refuse")),
    ]);
    shown.find("execute_code").expect("it is shown").read(&mut given).expect("all of it is taken");
}

#[test]
fn what_can_be_imported_is_named_and_whoever_may_not_ask_for_the_engine_is_not_told_of_it() {
    let names = |count: usize| (1..=count).map(|number| format!("m{number}")).collect::<Vec<_>>();
    let shown = plain(Profile::Minimal).with_native(&names(2)).with_packages(&names(13));
    let properties = |definition: &Value| definition["inputSchema"]["properties"].clone();
    let of_program = |shown: &ShownTools| {
        let found = shown.definitions.iter().find(|definition| definition["name"] == "execute_code");
        properties(found.expect("it is there"))
    };
    let told = of_program(&shown);
    assert_eq!(told["engine"]["description"], "native can import m1, m2; auto picks it by imports.");
    let told_without = of_program(&plain(Profile::Minimal).with_native(&[]));
    assert_eq!(told_without["engine"]["description"], "native is the machine's own Python.");
    let expected = "Python can also import m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, ….";
    assert_eq!(told["code"]["description"], expected);
    assert_eq!(of_program(&plain(Profile::Minimal).with_packages(&[])), of_program(&plain(Profile::Minimal)));
    for definition in shown.definitions() {
        let mut tool: Tool = serde_json::from_value(definition.clone()).expect("a tool");
        hide_engine(&mut tool);
        let mut left = properties(definition);
        left.as_object_mut().expect("properties").shift_remove("engine");
        assert_eq!(tool.input_schema["properties"], left);
    }
}
