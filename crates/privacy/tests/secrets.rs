//! Keys, tokens and passwords. Keys are put together here, so that no file holds the whole of one.

use gristmill_privacy::{Detector, Kind, Settings};

fn detector() -> Detector {
    Detector::new(&Settings::default()).expect("the default settings work")
}

fn check(text: &str, kind: &Kind, value: &str, rule: &str) {
    let findings = detector().scan(text);
    let found: Vec<_> =
        findings.iter().map(|found| (&found.kind, &text[found.span.clone()], found.rule)).collect();
    assert_eq!(found, [(kind, value, rule)], "{text}");
}

/// Characters without a pattern, of an alphabet.
fn body(alphabet: &str, length: usize) -> String {
    let letters: Vec<char> = alphabet.chars().collect();
    (0..length).map(|at| letters[(at * 7 + at * at * 3 + 5) % letters.len()]).collect()
}

const ALPHANUMERIC: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

#[test]
fn keys_are_found_by_their_prefix() {
    let upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let hex = "0123456789abcdef";
    let cases = [
        ("AKIA", body(upper, 16), "secret-aws"),
        ("AIza", body(ALPHANUMERIC, 35), "secret-google"),
        ("ghp_", body(ALPHANUMERIC, 36), "secret-github"),
        ("github_pat_", body(ALPHANUMERIC, 82), "secret-github"),
        ("glpat-", body(ALPHANUMERIC, 20), "secret-gitlab"),
        ("xoxb-", body(ALPHANUMERIC, 40), "secret-slack"),
        ("sk_live_", body(ALPHANUMERIC, 24), "secret-stripe"),
        ("sk-proj-", body(ALPHANUMERIC, 64), "secret-openai"),
        ("sk-ant-api03-", body(ALPHANUMERIC, 93), "secret-anthropic"),
        ("hf_", body(ALPHANUMERIC, 34), "secret-hugging-face"),
        ("npm_", body(ALPHANUMERIC, 36), "secret-npm"),
        ("pypi-", body(ALPHANUMERIC, 100), "secret-pypi"),
        ("SK", body(hex, 32), "secret-twilio"),
        ("dop_v1_", body(hex, 64), "secret-digitalocean"),
        ("sgp_", body(ALPHANUMERIC, 40), "secret-sourcegraph"),
        ("EAAM", body(ALPHANUMERIC, 150), "secret-facebook"),
        ("ABSK", body(ALPHANUMERIC, 120), "secret-aws"),
    ];
    for (prefix, body, rule) in cases {
        let key = format!("{prefix}{body}");
        check(&format!("use {key} for it"), &Kind::Secret, &key, rule);
        check(&format!("KEY=\"{key}\""), &Kind::Secret, &key, rule);
    }
    let key = format!("SG.{}.{}", body(ALPHANUMERIC, 22), body(ALPHANUMERIC, 43));
    check(&key, &Kind::Secret, &key, "secret-sendgrid");
}

#[test]
fn prefixes_within_words_and_placeholders_are_no_keys() {
    for text in [
        "task-force-of-the-whole-organization",
        "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "AKIA",
        "ghp_short",
    ] {
        assert_eq!(detector().scan(text), [], "{text}");
    }
}

#[test]
fn web_tokens_and_private_keys_are_found_whole() {
    let token =
        format!("eyJ{}.eyJ{}.{}", body(ALPHANUMERIC, 33), body(ALPHANUMERIC, 60), body(ALPHANUMERIC, 43));
    check(&format!("Authorization: Bearer {token}"), &Kind::Secret, &token, "secret-jwt");
    let dashes = "-----";
    let key = format!(
        "{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{}\n{dashes}END RSA PRIVATE KEY{dashes}",
        body(ALPHANUMERIC, 600)
    );
    check(&format!("a\n{key}\nb"), &Kind::Secret, &key, "secret-private-key");
    let public = format!("{dashes}BEGIN PUBLIC KEY{dashes}\nAAAA\n{dashes}END PUBLIC KEY{dashes}");
    assert_eq!(detector().scan(&public), []);
}

#[test]
fn credentials_in_urls_are_found_without_the_url() {
    check("postgres://app:s3cr%t@db.local/x", &Kind::UrlCredentials, "app:s3cr%t", "url-credentials");
    assert_eq!(detector().scan("https://app:$PASSWORD@db.local/ and https://example.com:8080/a@b"), []);
}

#[test]
fn passwords_and_keys_are_found_where_a_name_announces_them() {
    check("password = \"hunter2-Blue\"", &Kind::Secret, "hunter2-Blue", "secret-password");
    check("DB_PASSWORD=tr0ub4dor", &Kind::Secret, "tr0ub4dor", "secret-password");
    check("the password is Tr0ub4dor.", &Kind::Secret, "Tr0ub4dor", "secret-password");
    let key = body(ALPHANUMERIC, 40);
    check(&format!("api_key: {key}"), &Kind::Secret, &key, "secret-assigned");
    check(&format!("\"clientSecret\": \"{key}\""), &Kind::Secret, &key, "secret-assigned");
    check(&format!("Authorization: Bearer {key}"), &Kind::Secret, &key, "secret-assigned");
}

#[test]
fn programs_that_handle_passwords_stay() {
    for text in [
        "password: string;",
        "password = os.environ[\"DB_PASSWORD\"]",
        "password = get_password(user)",
        "password=${DB_PASSWORD}",
        "password: ********",
        "let token = self.next_token();",
        "token: CancellationToken",
        "api_key = config.api_key",
        "Enter your password: ",
        "secret: null",
        "def set_password(self, password: str) -> None:",
    ] {
        assert_eq!(detector().scan(text), [], "{text}");
    }
}

#[test]
fn a_secret_of_azure_is_known_by_its_middle() {
    let key = format!("{}8Q~{}", body(ALPHANUMERIC, 3), body(ALPHANUMERIC, 33));
    check(&format!("({key})"), &Kind::Secret, &key, "secret-azure");
    check(&format!("it is {key}."), &Kind::Secret, &key, "secret-azure");
    assert_eq!(detector().scan(&format!("ab8Q~{}", body(ALPHANUMERIC, 12))), []);
}
