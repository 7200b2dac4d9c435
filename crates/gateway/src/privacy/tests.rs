//! What a veil makes of texts and documents, and what a log has.

use futures_util::FutureExt;
use gristmill_domain::{Level, PrivacyMode, ServerSettings, TEXT_FINDINGS_MAX};
use serde_json::json;

use super::*;
use crate::ids::Owner;

const ADDRESS: &str = "ann@mill-brook.org";
const PHONE: u64 = 4_930_901_820;

fn privacy(mode: PrivacyMode) -> Privacy {
    let settings = PrivacySettings { mode, ..PrivacySettings::of(Level::Production) };
    Privacy::new(settings, Vault::open(None, None).unwrap()).unwrap()
}

fn server(name: &str, mode: PrivacyMode) -> ServerSettings {
    ServerSettings { privacy: Some(mode), ..ServerSettings::program(name, "x", &[]) }
}

#[tokio::test]
async fn a_large_document_has_the_tokens_of_a_small_one() {
    let (privacy, caller) = (privacy(PrivacyMode::Output), Caller::of(Owner::local()));
    let veil = privacy.veil_for(&caller);
    let (mut small, mut text) = (ADDRESS.to_owned(), format!("{} {ADDRESS}", "word ".repeat(50_000)));
    veil.text(&mut small).await;
    veil.text(&mut text).await;
    assert!(text.ends_with(&small) && small.starts_with("[EMAIL_"), "{small}");
    let mut value = json!({"rows": vec![json!({"to": ADDRESS, "id": 7}); 10_000]});
    assert!(veil.value(&mut value, Source::default()).await);
    assert_eq!(value["rows"][9_999], json!({"to": small, "id": 7}));
    assert_eq!(veil.count(), 1);
}

#[tokio::test]
async fn a_text_with_too_much_in_it_is_withheld_and_a_note_says_so() {
    let (privacy, caller) = (privacy(PrivacyMode::Output), Caller::of(Owner::local()));
    let of = |count: usize| format!("x {ADDRESS} ").repeat(count);
    let (veil, mut text) = (privacy.veil_for(&caller), of(TEXT_FINDINGS_MAX + 1));
    let mut value = json!({"list": [1, &text]});
    veil.text(&mut text).await;
    assert!(text.starts_with("[withheld:") && text.len() < 200, "{}", text.len());
    assert!(veil.value(&mut value, Source::default()).await);
    assert_eq!(value, text);
    assert_eq!((veil.count(), veil.has_too_much()), (0, true));
    assert!(veil.note().is_some_and(|note| note.contains("more than 100,000 findings")));
    let (veil, mut text) = (privacy.veil_for(&caller), of(1_000));
    veil.text(&mut text).await;
    assert_eq!((veil.count(), veil.has_too_much()), (1, false));
    assert!(text.starts_with("x [EMAIL_") && !text.contains('@'));
}

#[tokio::test]
async fn a_search_that_nobody_waits_for_is_not_begun() {
    let (privacy, caller) = (privacy(PrivacyMode::Output), Caller::of(Owner::local()));
    let veil = privacy.veil_for(&caller);
    let mut text = format!("{} {ADDRESS}", "word ".repeat(50_000));
    let mut value = json!([text]);
    let all = privacy.inner.search_room.take(usize::MAX).await;
    assert!(veil.text(&mut text).now_or_never().is_none(), "others take all the room");
    assert!(veil.value(&mut value, Source::default()).now_or_never().is_none());
    assert!(text.ends_with(ADDRESS) && value == json!([text]), "nothing was taken");
    drop(all);
    veil.text(&mut text).await;
    assert!(!text.contains(ADDRESS));
}

#[tokio::test]
async fn what_no_stricter_server_has_said_is_given_back_as_it_was() {
    let (privacy, caller) = (privacy(PrivacyMode::Off), Caller::of(Owner::local()));
    privacy.learn([&server("crm", PrivacyMode::Output)]);
    let veil = privacy.veil(&caller).expect("a server asks for it");
    let document = json!({
        "phone": PHONE, "to": ADDRESS, ADDRESS: 1, "api_key": "gh\"p_0123456789abcdefghijABCDEFGHIJ456789",
    });
    let mut value = document.clone();
    assert!(!veil.value(&mut value, Source::default()).await, "nothing is hidden");
    assert_eq!(value, document);
    assert_eq!((veil.count(), veil.note()), (0, None));
    let mut said = json!({ "phone": PHONE });
    privacy.veil_for(&caller).value(&mut said, Source { server: Some("crm"), ..Source::default() }).await;
    assert!(veil.value(&mut value, Source::default()).await);
    assert_eq!(value["phone"], said["phone"]);
    assert_eq!(value["to"], ADDRESS);
}

#[test]
fn a_log_is_as_strict_as_the_strictest_server_and_token() {
    let line = format!("no mail to {ADDRESS}");
    let mail = server("mail", PrivacyMode::Off);
    let is_hidden = |privacy: &Privacy| {
        let shown = privacy.without_values(&mail, &line);
        assert!(shown.as_ref().is_none_or(|shown| shown == "no mail to [EMAIL]"), "{shown:?}");
        shown.is_some()
    };
    assert!(is_hidden(&privacy(PrivacyMode::Output)));
    let open = privacy(PrivacyMode::Off);
    assert!(!is_hidden(&open));
    open.is_also_used_with(PrivacyMode::Off);
    assert!(!is_hidden(&open));
    open.is_also_used_with(PrivacyMode::Output);
    assert!(is_hidden(&open), "a token wants it");
    let open = privacy(PrivacyMode::Off);
    open.learn([&mail, &server("crm", PrivacyMode::Boundary)]);
    assert!(is_hidden(&open), "a server wants it");
}
