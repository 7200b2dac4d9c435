//! The table `llm`, and the variables that say which language model is asked.

use gristmill_gateway::domain::{ModelProvider, ModelSettings, OwnedVariable, VariableOwner};

use super::World;
use crate::commands::{approve, show};

const TABLE: &str = "[llm]\nprovider = 'azure'\nmodel = 'gpt-5'\nurl = 'https://me:hunter2@x.openai.azure.com/?key=q7q7'\napi_key = '${AZURE_KEY}'\ndeployment = 'mine'\napi_version = '2024-10-21'\ntemperature = 0.2\nmax_tokens = 4000\ntimeout = '90s'\ninput_price = 1.25\noutput_price = 10\n";

#[test]
fn every_key_is_read_and_shown_without_secrets() {
    let default = World::new().load().config;
    assert_eq!(default.llm.settings, ModelSettings::default());
    let loaded = World::new().user(TABLE).load();
    assert!(loaded.problems.is_empty(), "{:?}", loaded.problems);
    let settings = &loaded.config.llm.settings;
    assert_eq!((settings.enabled, settings.provider), (true, ModelProvider::Azure));
    assert_eq!((settings.temperature, settings.output_tokens_max), (Some(0.2), Some(4000)));
    assert_eq!((settings.timeout_ms, settings.input_price), (Some(90_000), Some(1.25)));
    assert_eq!(settings.output_price, Some(10.0));
    let toml = show::as_toml(&loaded.config);
    let lines = ["provider = \"azure\" # ", "api_key = \"${AZURE_KEY}\" # ", "max_tokens = 4000 # "];
    assert!(lines.iter().all(|line| toml.contains(line)), "{toml}");
    assert!(toml.contains("url = \"https://…@x.openai.azure.com/?…\" # "), "{toml}");
    let json = show::as_json(&loaded.config);
    assert_eq!(json["llm"]["deployment"]["value"], "mine");
    assert_eq!(json["llm"]["input_price"]["value"], 1.25);
    let written_down = World::new().user("[llm]\nprovider = 'openai'\napi_key = 'sk-12345678'\n").load();
    for shown in [
        show::as_toml(&written_down.config),
        show::as_json(&written_down.config).to_string(),
        format!("{:?}", written_down.config),
        toml,
    ] {
        assert!(
            !shown.contains("sk-12345678") && !shown.contains("hunter2") && !shown.contains("q7q7"),
            "{shown}"
        );
    }
}

#[test]
fn what_cannot_be_meant_is_an_error() {
    for wrong in [
        "enabled = 'yes'",
        "provider = 'gpt'",
        "model = ''",
        "url = 'api.openai.com'",
        "api_key = '${vault:x}'",
        "temperature = 3",
        "temperature = 'warm'",
        "max_tokens = 1",
        "timeout = '2h'",
        "input_price = -1",
        "modell = 'x'",
    ] {
        let world = World::new().user(&format!("[llm]\n{wrong}\n"));
        let said = world.said(&world.load());
        assert!(said.len() == 1 && said[0].starts_with("Error"), "{wrong}: {said:?}");
    }
}

#[test]
fn a_project_cannot_say_which_model_is_asked_in_its_file() {
    let world = World::new().user("[llm]\nprovider = 'openai'\n").project(TABLE);
    world.approve("home/project/gristmill.toml");
    let loaded = world.load();
    assert!(world.said(&loaded).iter().any(|line| line.contains("`llm`")));
    assert_eq!(loaded.config.llm.settings.provider, ModelProvider::OpenAi);
    assert_eq!((&loaded.config.llm.settings.url, &loaded.config.llm.settings.api_key), (&None, &None));
}

#[test]
fn variables_are_known_by_who_set_them_and_a_projects_wait_for_approval() {
    let world = World::new()
        .user("level = 'production'\n")
        .file("home/.config/gristmill/.env", "OPENAI_API_KEY=mine\nOPENAI_MODEL=mine\n")
        .project("level = 'production'\n")
        .file("home/project/.env", "OPENAI_MODEL=theirs\nOPENAI_BASE_URL=https://theirs.example\n")
        .variable("LLM_PROVIDER", "openai");
    let found = |world: &World, name: &str| world.load().config.llm.variable(&world.surroundings, name);
    let variable = |value: &str, owner: VariableOwner| Some(OwnedVariable { value: value.to_owned(), owner });
    let (mine, theirs) = (VariableOwner::User, VariableOwner::Project);
    assert_eq!(found(&world, "OPENAI_BASE_URL"), None);
    assert_eq!(found(&world, "OPENAI_MODEL"), variable("mine", mine));
    world.approve("home/project/gristmill.toml");
    assert_eq!(found(&world, "OPENAI_BASE_URL"), None, "the file was approved without its .env");
    world.approve("home/project/.env");
    assert_eq!(found(&world, "OPENAI_BASE_URL"), variable("https://theirs.example", theirs));
    assert_eq!(found(&world, "OPENAI_MODEL"), variable("theirs", theirs));
    assert_eq!(found(&world, "OPENAI_API_KEY"), variable("mine", mine));
    assert_eq!(found(&world, "LLM_PROVIDER"), variable("openai", mine));
    let world = world.variable("OPENAI_MODEL", "now");
    assert_eq!(found(&world, "OPENAI_MODEL"), variable("now", mine));
}

#[test]
fn an_approval_shows_whom_a_projects_variables_would_ask() {
    let world = World::new().project("level = 'production'\n").file(
        "home/project/.env",
        "A=1\nOPENAI_API_KEY=sk-theirs\nOPENAI_BASE_URL='https://theirs.example'\n",
    );
    let text = approve::prepare(&world.surroundings, None).expect("a project").text;
    let expected = "# language models: OPENAI_API_KEY is set\n# language models: OPENAI_BASE_URL is https://theirs.example\n";
    assert!(text.ends_with(expected), "{text}");
}
