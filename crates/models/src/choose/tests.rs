//! Which models are found in which environment.

use gristmill_gateway::domain::{SecretText, VariableOwner};
use gristmill_gateway::ports::Price;

use super::*;

const USER: VariableOwner = VariableOwner::User;
const PROJECT: VariableOwner = VariableOwner::Project;

type Variables<'a> = [(&'a str, &'a str, VariableOwner)];

fn environment<'a>(variable: &'a dyn Fn(&str) -> Option<OwnedVariable>) -> Environment<'a> {
    Environment { variable, secrets: SecretContext::default(), cache: None }
}

/// What would be asked, by provider, model and address; or what is missing.
fn chosen(settings: &ModelSettings, variables: &Variables<'_>) -> Vec<String> {
    let variable = |name: &str| {
        let found = variables.iter().find(|(known, ..)| *known == name);
        found.map(|(_, value, owner)| OwnedVariable { value: (*value).to_owned(), owner: *owner })
    };
    let environment = environment(&variable);
    let providers = match wanted(settings, &environment) {
        Ok(providers) => providers,
        Err(reason) => return vec![format!("- {reason}")],
    };
    let planner = Planner { settings, environment: &environment, is_open: providers.len() > 1 };
    let shown = |provider: ModelProvider| match planner.plan(provider) {
        Ok(plan) => format!("{} {} {}", plan.endpoint.provider, plan.endpoint.model, plan.endpoint.url),
        Err(reason) => format!("- {provider}: {reason}"),
    };
    providers.into_iter().map(shown).collect()
}

fn of_user<'a>(variables: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str, VariableOwner)> {
    variables.iter().map(|(name, value)| (*name, *value, USER)).collect()
}

#[test]
fn without_anything_set_it_is_said_what_to_set() {
    assert_eq!(
        chosen(&ModelSettings::default(), &[]),
        [
            "- azure: AZURE_OPENAI_ENDPOINT isn't set",
            "- openai: OPENAI_API_KEY isn't set",
            "- anthropic: ANTHROPIC_API_KEY isn't set",
            "- compatible: neither OPENAI_BASE_URL nor OLLAMA_HOST is set",
        ]
    );
}

#[test]
fn everything_that_is_set_is_a_candidate_in_order() {
    let all = of_user(&[
        ("AZURE_OPENAI_ENDPOINT", "https://x.openai.azure.com/"),
        ("AZURE_OPENAI_API_KEY", "key-of-azure"),
        ("AZURE_OPENAI_DEPLOYMENT", "mine"),
        ("AZURE_OPENAI_API_VERSION", "2025-01-01-preview"),
        ("OPENAI_API_KEY", "key-of-openai"),
        ("ANTHROPIC_API_KEY", "key-of-anthropic"),
        ("OLLAMA_HOST", "127.0.0.1"),
    ]);
    assert_eq!(
        chosen(&ModelSettings::default(), &all),
        [
            "azure mine https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2025-01-01-preview",
            "openai gpt-5 https://api.openai.com/v1/responses",
            "anthropic claude-sonnet-4-5 https://api.anthropic.com/v1/messages",
            "- compatible: no model is named; set LLM_MODEL, or `model` in [llm]",
        ]
    );
}

#[test]
fn a_named_provider_is_the_only_one() {
    let keys = of_user(&[
        ("LLM_PROVIDER", "Claude"),
        ("OPENAI_API_KEY", "key-of-openai"),
        ("ANTHROPIC_API_KEY", "key-of-anthropic"),
    ]);
    let anthropic = ["anthropic claude-sonnet-4-5 https://api.anthropic.com/v1/messages"];
    assert_eq!(chosen(&ModelSettings::default(), &keys), anthropic);
    let provider = ModelProvider::OpenAiChat;
    let settings = ModelSettings { provider, model: Some("gpt-4o".to_owned()), ..ModelSettings::default() };
    assert_eq!(chosen(&settings, &keys), ["openai-chat gpt-4o https://api.openai.com/v1/chat/completions"]);
    let other = of_user(&[("LLM_PROVIDER", "gemini"), ("OPENAI_API_KEY", "key-of-openai")]);
    assert_eq!(
        chosen(&ModelSettings::default(), &other),
        ["- LLM_PROVIDER is `gemini`, which can't be asked; set `provider` in [llm]"]
    );
}

#[test]
fn a_named_model_is_asked_of_whom_it_belongs_to() {
    let keys = [
        ("OPENAI_API_KEY", "key-of-openai"),
        ("ANTHROPIC_API_KEY", "key-of-anthropic"),
        ("OLLAMA_HOST", "127.0.0.1"),
    ];
    let asked = |model: &'static str| {
        let mut variables = of_user(&keys);
        variables.push(("LLM_MODEL", model, USER));
        let chosen = chosen(&ModelSettings::default(), &variables);
        chosen.into_iter().filter(|line| !line.starts_with('-')).collect::<Vec<_>>()
    };
    let local = |model: &str| format!("compatible {model} http://127.0.0.1:11434/v1/chat/completions");
    assert_eq!(
        asked("claude-opus-4-5"),
        [
            "anthropic claude-opus-4-5 https://api.anthropic.com/v1/messages".to_owned(),
            local("claude-opus-4-5")
        ]
    );
    assert_eq!(asked("o3"), ["openai o3 https://api.openai.com/v1/responses".to_owned(), local("o3")]);
    assert_eq!(asked("qwen3-coder"), [local("qwen3-coder")]);
}

#[test]
fn another_base_url_is_a_compatible_server_with_or_without_a_key() {
    let base = [("OPENAI_BASE_URL", "http://localhost:1234/v1"), ("OPENAI_MODEL", "qwen3")];
    let expected = "compatible qwen3 http://localhost:1234/v1/chat/completions";
    assert_eq!(chosen(&ModelSettings::default(), &of_user(&base))[3], expected);
    let with_key = of_user(&[base[0], base[1], ("OPENAI_API_KEY", "key-of-openai")]);
    let lines = chosen(&ModelSettings::default(), &with_key);
    assert_eq!(
        (lines[1].as_str(), lines[3].as_str()),
        ("- openai: OPENAI_BASE_URL leads to another server, which is asked as compatible", expected)
    );
    let named = of_user(&[base[0], base[1], ("OPENAI_API_KEY", "k-of-openai"), ("LLM_PROVIDER", "openai")]);
    assert_eq!(
        chosen(&ModelSettings::default(), &named),
        ["openai-chat qwen3 http://localhost:1234/v1/chat/completions"]
    );
}

#[test]
fn a_projects_address_never_gets_the_users_key() {
    for (address, key, provider, url) in [
        ("OPENAI_BASE_URL", "OPENAI_API_KEY", "openai", "https://evil.example"),
        ("OPENAI_BASE_URL", "OPENAI_API_KEY", "compatible", "https://evil.example"),
        ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "anthropic", "https://evil.example"),
        ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "azure", "https://evil.example"),
    ] {
        let variables = |key_owner: VariableOwner| {
            [
                (address, url, PROJECT),
                (key, "a-key-of-somebody", key_owner),
                ("LLM_MODEL", "m", PROJECT),
                ("LLM_PROVIDER", provider, PROJECT),
            ]
        };
        let refused = chosen(&ModelSettings::default(), &variables(USER));
        let expected = format!(
            "- {provider}: {address} is the project's, and {key} is yours; an address of a project's .env gets only a key of that .env"
        );
        assert_eq!(refused, [expected]);
        let own = chosen(&ModelSettings::default(), &variables(PROJECT));
        assert!(own.len() == 1 && own[0].contains("https://evil.example/"), "{own:?}");
    }
    let api_key = Some(SecretText::plain("a-key-of-the-user"));
    let provider = ModelProvider::Compatible;
    let settings = ModelSettings { provider, api_key, ..ModelSettings::default() };
    let host = [("OLLAMA_HOST", "https://evil.example", PROJECT), ("LLM_MODEL", "m", PROJECT)];
    assert!(chosen(&settings, &host)[0].contains("OLLAMA_HOST is the project's"));
}

#[test]
fn a_key_is_not_sent_in_the_clear() {
    let variables = of_user(&[
        ("OPENAI_BASE_URL", "http://box.example/v1"),
        ("OPENAI_API_KEY", "a-key-of-the-user"),
        ("LLM_MODEL", "m"),
        ("LLM_PROVIDER", "compatible"),
    ]);
    assert_eq!(
        chosen(&ModelSettings::default(), &variables),
        ["- compatible: a key isn't sent over http, except to this machine; use https"]
    );
    assert!(
        chosen(&ModelSettings::default(), &[variables[0], variables[2], variables[3]])[0]
            .starts_with("compatible")
    );
}

#[test]
fn the_settings_name_an_address_and_whose_it_is_follows() {
    let settings = |url: &str| ModelSettings {
        url: Some(url.to_owned()),
        model: Some("m".to_owned()),
        api_key: Some(SecretText::plain("a-key-of-the-user")),
        ..ModelSettings::default()
    };
    for (url, expected) in [
        ("https://api.openai.com/v1", "openai m https://api.openai.com/v1/responses"),
        ("https://api.anthropic.com", "anthropic m https://api.anthropic.com/v1/messages"),
        (
            "https://x.openai.azure.com",
            "azure m https://x.openai.azure.com/openai/deployments/m/chat/completions?api-version=2024-10-21",
        ),
        ("https://box.example", "compatible m https://box.example/v1/chat/completions"),
    ] {
        assert_eq!(chosen(&settings(url), &[]), [expected]);
    }
    let unclear = ModelSettings { url: None, ..settings("") };
    assert_eq!(chosen(&unclear, &[]), ["- `api_key` in [llm] needs `provider`, which says whose key it is"]);
}

#[test]
fn prices_are_listed_or_said_and_a_local_model_has_none() {
    let key = of_user(&[("OPENAI_API_KEY", "key-of-openai"), ("LLM_PROVIDER", "openai")]);
    let priced = |settings: &ModelSettings, variables: &Variables<'_>| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, ..)| *known == name);
            found.map(|(_, value, owner)| OwnedVariable { value: (*value).to_owned(), owner: *owner })
        };
        choose(settings, &environment(&variable)).models().first().and_then(|model| model.price())
    };
    assert_eq!(priced(&ModelSettings::default(), &key), Some(Price { input: 1.25, output: 10.0 }));
    let said = ModelSettings { input_price: Some(1.0), ..ModelSettings::default() };
    assert_eq!(priced(&said, &key), Some(Price { input: 1.0, output: 10.0 }));
    let local = of_user(&[("OLLAMA_HOST", ""), ("OPENAI_BASE_URL", "localhost:1"), ("LLM_MODEL", "gpt-5")]);
    assert_eq!(priced(&ModelSettings::default(), &local), None);
}

#[test]
fn nobody_is_asked_if_models_are_off() {
    let variable = |_: &str| Some(OwnedVariable { value: "x".to_owned(), owner: USER });
    let off = ModelSettings { enabled: false, ..ModelSettings::default() };
    let choice = choose(&off, &environment(&variable));
    assert!(choice.models().is_empty());
    assert_eq!(choice.reasons(), ["`enabled` in [llm] is false"]);
}
