//! Servers with a stricter mode than the gateway: what they say stays theirs, whoever repeats it.

use std::sync::Arc;

use gristmill_domain::{Level, PrivacyMode};
use gristmill_testkit::TestFolder;
use serde_json::{Value, json};

use super::personal_tests::{ADDRESS, World, refusal, token};
use super::tests::{program, tool_call};
use crate::ids::Caller;
use crate::ports::{PlannedWrites, ToolCall, ToolFailure, Write, Writes};
use crate::privacy::{Kind, PrivacySettings, RestoreRule, Source, Vault, Wipe};
use crate::store::Store;
use crate::upstream::DoorRequest;

/// `crm` and `mail` in modes of their own. An e-mail address may go into a text.
async fn world(gateway: PrivacyMode, crm: PrivacyMode, mail: PrivacyMode) -> World {
    let vault = Vault::open(None, None).unwrap();
    World::of(settings(gateway), &[("crm", crm), ("mail", mail)], vault, None).await
}

fn settings(mode: PrivacyMode) -> PrivacySettings {
    let restore = vec![RestoreRule {
        kinds: vec![Kind::Email],
        to: "mail.echo".to_owned(),
        fields: vec!["text".to_owned()],
        allow: true,
    }];
    PrivacySettings { mode, restore, ..PrivacySettings::of(Level::Production) }
}

#[tokio::test]
async fn no_server_repeats_to_a_program_what_another_one_keeps_from_it() {
    for gateway in [PrivacyMode::Off, PrivacyMode::Output] {
        let (world, caller) = (world(gateway, PrivacyMode::Boundary, PrivacyMode::Off).await, program());
        let found = world.call(&caller, "mail.find", json!({})).await.unwrap();
        assert_eq!(found["email"], ADDRESS, "nobody keeps it from the program so far");
        let address = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
        for (written, expected) in [
            (format!("for {address}"), format!("for {address}")),
            (format!("x{address}@@{address}="), format!("x{address}@@{address}=")),
        ] {
            let said = world.call(&caller, "mail.echo", json!({ "text": written })).await.unwrap();
            assert_eq!(said, json!(expected));
            assert!(world.heard().last().unwrap().contains(ADDRESS), "the server has the value");
        }
        let failed = world.call(&caller, "mail.fail", json!({ "email": address })).await.unwrap_err();
        assert!(!failed.to_string().contains(ADDRESS), "{failed}");
        let found = world.call(&caller, "mail.find", json!({})).await.unwrap();
        assert_eq!(found["email"], address, "what the CRM has said is hidden from now on");
        let elsewhere = Caller { session: None, ..Caller::of(crate::ids::Owner::of_token("t2")) };
        let found = world.call(&elsewhere, "mail.find", json!({})).await.unwrap();
        assert_eq!(found["email"], ADDRESS, "another caller has asked the mail server only");
    }
}

#[tokio::test]
async fn a_token_becomes_a_value_on_the_way_to_any_server_if_one_of_them_hides_values() {
    let (world, caller) = (world(PrivacyMode::Off, PrivacyMode::Boundary, PrivacyMode::Off).await, program());
    let address = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    world.heard();
    world.call(&caller, "mail.send", json!({"to": address, "body": "x"})).await.unwrap();
    assert_eq!(world.heard(), [format!("send {}", json!({"to": ADDRESS, "body": "x"}))]);
    let said = refusal(world.call(&caller, "mail.send", json!({"to": "x", "body": address})).await);
    assert!(said.contains("(rule `other-argument`)"), "{said}");
    refusal(world.call(&caller, "mail.send", json!({"to": "[EMAIL_aaaaaaaa]"})).await);
    assert_eq!(world.heard(), Vec::<String>::new());
}

#[tokio::test]
async fn without_any_mode_a_text_that_looks_like_a_token_goes_as_it_is() {
    let (world, caller) = (world(PrivacyMode::Off, PrivacyMode::Off, PrivacyMode::Off).await, program());
    let said = world.call(&caller, "mail.echo", json!({"text": "[EMAIL_aaaaaaaa]"})).await.unwrap();
    assert_eq!(said, json!("[EMAIL_aaaaaaaa]"));
}

#[tokio::test]
async fn what_a_stricter_server_says_is_hidden_from_the_model_although_the_gateway_hides_nothing() {
    let (world, caller) = (world(PrivacyMode::Off, PrivacyMode::Output, PrivacyMode::Off).await, program());
    let found = world.call(&caller, "crm.find", json!({})).await.unwrap();
    assert_eq!(found["email"], ADDRESS, "the program may have it");
    let veil = world.privacy.veil(&caller).expect("a server asks for it");
    let mut text = format!("{ADDRESS}, <{ADDRESS}@x>, bob@elsewhere.org");
    veil.text(&mut text).await;
    assert!(!text.contains(ADDRESS) && text.contains("[EMAIL_"), "{text}");
    assert!(text.contains("bob@elsewhere.org"), "no server that hides anything has said it: {text}");
    let mut value = json!({"all": [found], ADDRESS: 1});
    veil.value(&mut value, Source::default()).await;
    assert!(!value.to_string().contains(ADDRESS), "{value}");
    assert!(veil.note().is_some_and(|note| note.contains("email")));
    let address = token(&value["all"][0], "email");
    world.heard();
    world.call(&caller, "mail.send", json!({"to": address, "body": "x"})).await.unwrap();
    assert!(world.heard()[0].contains(ADDRESS), "the model's token is good for every server");
}

#[tokio::test]
async fn a_wiped_vault_leaves_nothing_behind_in_memory() {
    let (world, caller) = (world(PrivacyMode::Off, PrivacyMode::Output, PrivacyMode::Off).await, program());
    world.call(&caller, "crm.find", json!({})).await.unwrap();
    let hides = async || {
        let mut text = format!("<{ADDRESS}@x>");
        world.privacy.veil(&caller).unwrap().text(&mut text).await;
        !text.contains(ADDRESS)
    };
    assert!(hides().await);
    world.privacy.vault().wipe(None, Wipe::All).await.unwrap();
    assert!(!hides().await);
}

#[tokio::test]
async fn only_arguments_that_a_tool_declares_are_made_for_a_value() {
    let (world, caller) = (world(PrivacyMode::Boundary, PrivacyMode::Off, PrivacyMode::Off).await, program());
    let address = token(&world.call(&caller, "crm.find", json!({})).await.unwrap(), "email");
    for argument in ["cc", "message.to", "x.to"] {
        let said = refusal(world.call(&caller, "mail.send", json!({"to": "x", argument: address})).await);
        assert!(said.contains("(rule `other-argument`)"), "{said}");
    }
    let said = refusal(world.call(&caller, "mail.echo", json!({"text": "x", "x.text": address})).await);
    assert!(said.contains("x%2Etext"), "{said}");
}

async fn write(world: &World, writes: &Writes, arguments: Value) -> Result<(), ToolFailure> {
    let call = ToolCall { writes: writes.clone(), ..tool_call("mail.send", arguments) };
    world.upstreams.pass(&program(), DoorRequest::CallTool(call)).await.map(drop)
}

#[tokio::test]
async fn a_plan_for_one_value_is_no_plan_for_another_although_neither_could_be_kept() {
    let folder = TestFolder::new("personal-plan");
    // Nothing is kept for a session that isn't there, as in a vault that is full.
    let vault = Vault::open(Some(Store::open(folder.path()).unwrap()), None).unwrap();
    let servers = [("crm", PrivacyMode::Off), ("mail", PrivacyMode::Off)];
    let world = World::of(settings(PrivacyMode::Output), &servers, vault, None).await;
    let held = Writes::held();
    write(&world, &held, json!({"to": ADDRESS})).await.unwrap();
    let Writes::Held(listed) = &held else { panic!("a dry run") };
    let listed: Vec<Write> = listed.listed().0;
    let shown = &listed[0].arguments;
    assert!(shown.contains("[EMAIL #") && !shown.contains(ADDRESS), "{shown}");
    let plan = Writes::Planned(Arc::new(PlannedWrites::new("p1".to_owned(), listed.clone())));
    for other in ["bob@elsewhere.org", "[EMAIL]"] {
        let refused = write(&world, &plan, json!({"to": other})).await.unwrap_err();
        assert!(refused.to_string().contains("isn't in the approved plan"), "{refused}");
    }
    assert!(!world.heard().iter().any(|heard| heard.starts_with("send")));
    write(&world, &plan, json!({"to": ADDRESS})).await.unwrap();
    assert!(world.heard().last().unwrap().contains(ADDRESS));
}
