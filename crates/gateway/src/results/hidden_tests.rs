//! Personal data in stored results, where a model reads them.

use gristmill_domain::result_path::Slice;
use gristmill_domain::shape::Strategy;
use gristmill_domain::{Level, TEXT_FINDINGS_MAX};
use gristmill_testkit::TestFolder;
use serde_json::json;

use super::*;
use crate::privacy::{Privacy, PrivacySettings, Vault};

const NAME: &str = "Ada Lovelace";
const ADDRESS: &str = "ada@mill-brook.org";

async fn open(folder: &TestFolder) -> (Results, Veil) {
    let store = Store::open(folder.path()).unwrap();
    let results = Results::open(store, folder.path().join("results"), ResultSettings::default());
    let settings = PrivacySettings::of(Level::Production);
    let privacy = Privacy::new(settings, Vault::open(None, None).unwrap()).unwrap();
    (results.await.unwrap(), privacy.veil_for(&Caller::of(Owner::local())))
}

async fn put(results: &Results, kind: ResultKind, content: &str) -> String {
    let bytes = content.as_bytes().to_vec();
    results.put(&Owner::local(), Origin::default(), kind, None, bytes).await.unwrap().handle
}

async fn read(results: &Results, veil: Option<&Veil>, handle: &str, path: &str) -> String {
    let budget = (Strategy::Auto, 2_000);
    let part = results.read(&Owner::local(), handle, path, Slice::default(), budget, veil).await.unwrap();
    let shaped = part.shaped;
    match shaped.value.as_str() {
        Some(text) => assert_eq!(text, shaped.text),
        None => assert_eq!(shaped.value.to_string(), shaped.text),
    }
    shaped.text
}

#[tokio::test]
async fn a_part_that_is_read_by_its_path_is_known_by_the_names_on_its_way() {
    let folder = TestFolder::new("results-hidden");
    let (results, veil) = open(&folder).await;
    let document = json!({
        "rows": [{"customer_name": NAME, "ssn": 536_904_399, "id": 7}],
        "contacts": [{"name": NAME, "email": ADDRESS}],
        "products": [{"name": "Blue Shoes", "price": 20}],
    });
    let handle = put(&results, ResultKind::Json, &document.to_string()).await;
    for path in ["rows[0].customer_name", "rows[0]", "rows", "contacts[0].name", "contacts", ""] {
        assert!(read(&results, None, &handle, path).await.contains(NAME), "{path}");
        let shown = read(&results, Some(&veil), &handle, path).await;
        assert!(!shown.contains(NAME) && shown.contains("[PERSON_NAME_"), "{path}: {shown}");
    }
    let shown = read(&results, Some(&veil), &handle, "rows[0].ssn").await;
    assert!(shown.contains("[SSN_"), "{shown}");
    assert_eq!(read(&results, Some(&veil), &handle, "rows[0].id").await, "7");
    assert_eq!(read(&results, Some(&veil), &handle, "products[0].name").await, "Blue Shoes");
}

#[tokio::test]
async fn a_stored_text_that_is_json_is_read_as_that() {
    let folder = TestFolder::new("results-hidden");
    let (results, veil) = open(&folder).await;
    let text = json!({"customer_name": NAME}).to_string();
    let stored = [
        put(&results, ResultKind::Text, &text).await,
        put(&results, ResultKind::Json, &json!(text).to_string()).await,
    ];
    for handle in stored {
        let shown = read(&results, Some(&veil), &handle, "").await;
        assert!(!shown.contains(NAME) && shown.contains("[PERSON_NAME_"), "{shown}");
    }
}

#[tokio::test]
async fn what_is_condensed_of_a_large_result_has_tokens_that_are_kept() {
    let folder = TestFolder::new("results-hidden");
    let (results, veil) = open(&folder).await;
    let row = |at: usize| json!({"id": at, "customer_name": NAME, "email": ADDRESS, "text": "x".repeat(400)});
    let rows: Vec<_> = (0..5_000).map(row).collect();
    let handle = put(&results, ResultKind::Json, &json!({ "rows": rows }).to_string()).await;
    let budget = (Strategy::Auto, 500);
    let owner = Owner::local();
    let condensed = |veil| results.condensed(&owner, &handle, budget, veil);
    let (_, open) = condensed(None).await.unwrap().unwrap();
    assert!(open.text.contains(NAME) && open.text.contains(ADDRESS));
    let (_, hidden) = condensed(Some(&veil)).await.unwrap().unwrap();
    assert!(!hidden.text.contains(NAME) && !hidden.text.contains(ADDRESS), "{}", hidden.text);
    assert!(hidden.text.contains("[EMAIL_") && crate::tokens::count(&hidden.text) <= 500, "{}", hidden.text);
    let mut address = ADDRESS.to_owned();
    veil.text(&mut address).await;
    assert!(hidden.text.contains(&address), "the same token as anywhere: {address} {}", hidden.text);
}

#[tokio::test]
async fn what_has_too_much_in_it_is_withheld_under_its_handle_and_a_smaller_part_is_not() {
    let folder = TestFolder::new("results-hidden");
    let (results, veil) = open(&folder).await;
    let (text, owner) = (format!("x {ADDRESS} ").repeat(TEXT_FINDINGS_MAX + 1), Owner::local());
    let budget = (Strategy::Auto, 500);
    for (kind, content) in [(ResultKind::Text, text.clone()), (ResultKind::Json, json!([text]).to_string())] {
        let handle = put(&results, kind, &content).await;
        let (_, condensed) = results.condensed(&owner, &handle, budget, Some(&veil)).await.unwrap().unwrap();
        assert!(condensed.text.contains("[withheld:") && condensed.text.len() < 200, "{}", condensed.text);
    }
    assert!(veil.note().is_some_and(|note| note.contains("too much personal data")));
    let handle = put(&results, ResultKind::Text, &text).await;
    assert!(read(&results, Some(&veil), &handle, "").await.starts_with("[withheld:"));
    let slice = Slice { offset: 0, limit: Some(100) };
    let part = results.read(&owner, &handle, "", slice, budget, Some(&veil)).await.unwrap();
    assert!(part.shaped.text.starts_with("x [EMAIL_"), "{}", part.shaped.text);
}
