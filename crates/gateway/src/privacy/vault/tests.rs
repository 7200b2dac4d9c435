use gristmill_privacy::{Form, Kind};
use gristmill_testkit::TestFolder;

use super::*;

const ANN: &str = "ann@example.com";

fn scope() -> Scope {
    Scope::Client { owner: Owner::local(), client: "agent".to_owned() }
}

fn email(value: &str) -> Wanted<'_> {
    Wanted { kind: &Kind::Email, value, form: Form::Plain, is_number: false, server: Some("crm") }
}

async fn token(vault: &Vault, value: &str) -> String {
    vault.tokens(&scope(), &[email(value)]).await.unwrap().remove(0)
}

async fn value(vault: &Vault, token: &str) -> Option<String> {
    let found = vault.values(&[scope()], &[token]).await.unwrap().remove(0);
    found.map(|kept| kept.value.to_string())
}

fn open(folder: &TestFolder) -> Vault {
    Vault::open(Some(Store::open(folder.path()).unwrap()), None).unwrap()
}

#[tokio::test]
async fn values_that_meet_in_one_code_get_another_one() {
    let folder = TestFolder::new("vault");
    let vault = open(&folder);
    let first = token(&vault, ANN).await;
    // Under the code of Ann there is Bob from now on.
    let of = vault.inner.row_of(&scope());
    let master = Arc::clone(&vault.inner.key.current().unwrap().unwrap().master);
    let (key, work_of) = (master.id(), of.clone());
    let done = vault.inner.store.change_vault(of, key, [0; 32], move |rows| {
        let keys = master.scope(&work_of, &rows.scope().salt).unwrap();
        let code = keys.code(&Kind::Email, ANN, 0);
        let sealed = keys.seal(code, &Kept::of(&email("bob@example.com"))).unwrap();
        rows.put(code.number(), "email", &sealed)
    });
    assert!(done.await.unwrap().unwrap().1);
    let beside = open(&folder);
    let second = token(&beside, ANN).await;
    assert_ne!(first, second);
    assert_eq!(value(&beside, &first).await.as_deref(), Some("bob@example.com"));
    assert_eq!(value(&beside, &second).await.as_deref(), Some(ANN));
    assert_eq!(token(&open(&folder), ANN).await, second);
}

#[tokio::test]
async fn more_than_fits_in_memory_is_found_all_the_same() {
    let folder = TestFolder::new("vault");
    let vault = open(&folder);
    let values: Vec<String> = (0..1_200).map(|number| format!("{number}{}", "x".repeat(40_000))).collect();
    let mut tokens = Vec::new();
    for some in values.chunks(100) {
        let wanted: Vec<Wanted<'_>> = some.iter().map(|value| email(value)).collect();
        tokens.extend(vault.tokens(&scope(), &wanted).await.unwrap());
    }
    assert!(vault.inner.memory.lock().bytes() < 40 << 20);
    for place in [0, 600, 1_199] {
        assert_eq!(value(&vault, &tokens[place]).await.as_ref(), Some(&values[place]));
        assert_eq!(token(&vault, &values[place]).await, tokens[place]);
    }
}
