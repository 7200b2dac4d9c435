use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use gristmill_domain::PrivacyMode;
use gristmill_testkit::TestFolder;

use super::*;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn path(folder: &TestFolder) -> std::path::PathBuf {
    folder.path().join("access-tokens.json")
}

#[test]
fn a_token_opens_the_door_until_it_expires() {
    let folder = TestFolder::new("tokens-expire");
    let tokens = AccessTokens::open(folder.path());
    let issued = tokens.issue("laptop", [Scope::Search], Some(at(200)), at(100)).expect("issued");
    let record = TokenRecord {
        name: "laptop".to_owned(),
        scopes: BTreeSet::from([Scope::Search]),
        created: at(100),
        expires: Some(at(200)),
        limits: Arc::default(),
    };
    assert_eq!(issued.record, record);
    let caller = tokens.check(issued.text.reveal(), at(199)).expect("a caller");
    assert_eq!((caller.name.as_str(), caller.scopes), ("laptop", BTreeSet::from([Scope::Search])));
    assert!(!issued.text.reveal().contains(&caller.identity) && caller.identity.starts_with("laptop:"));
    let expired = TokenRefused::Expired { name: "laptop".to_owned() };
    assert_eq!(tokens.check(issued.text.reveal(), at(200)), Err(expired));
    assert_eq!(tokens.list(), Ok(vec![record]));
}

#[test]
fn what_is_revoked_elsewhere_is_refused_here_at_once() {
    let folder = TestFolder::new("tokens-revoke");
    let running = AccessTokens::open(folder.path());
    let elsewhere = AccessTokens::open(folder.path());
    let issued = elsewhere.issue("ci", Scope::ALL, None, at(0)).expect("issued");
    assert!(running.check(issued.text.reveal(), at(1)).is_ok());
    assert_eq!(elsewhere.revoke("ci"), Ok(issued.record.clone()));
    assert_eq!(running.check(issued.text.reveal(), at(1)), Err(TokenRefused::Unknown));
    let missing = TokenError::Missing { name: "ci".to_owned(), known: Vec::new() };
    assert_eq!(elsewhere.revoke("ci"), Err(missing));
}

#[test]
fn the_file_holds_no_token_and_is_the_owners_alone() {
    let folder = TestFolder::new("tokens-file");
    let tokens = AccessTokens::open(folder.path());
    let issued = tokens.issue("a", Scope::ALL, None, at(5)).expect("issued");
    let text = std::fs::read_to_string(path(&folder)).expect("written");
    let hash = blake3::hash(issued.text.reveal().as_bytes()).to_hex();
    assert!(text.contains(hash.as_str()), "{text}");
    assert!(!text.contains("gmt_") && !text.contains(&issued.text.reveal()[4..20]), "{text}");
    assert_eq!(std::fs::metadata(path(&folder)).expect("there").permissions().mode() & 0o777, 0o600);
    assert!(!format!("{issued:?}").contains(&issued.text.reveal()[4..20]));
}

#[test]
fn names_are_unique_and_plain_and_a_token_is_for_something_and_for_some_time() {
    let folder = TestFolder::new("tokens-names");
    let tokens = AccessTokens::open(folder.path());
    tokens.issue("a.b-c_9", [Scope::Execute], None, at(0)).expect("issued");
    let check = |name: &str, scopes: &[Scope], expires: Option<u64>, expected: TokenError| {
        let issued = tokens.issue(name, scopes.iter().copied(), expires.map(at), at(10));
        assert_eq!(issued.map(|_| ()), Err(expected), "{name}");
    };
    check("a.b-c_9", &Scope::ALL, None, TokenError::Taken { name: "a.b-c_9".to_owned() });
    for name in ["", "A", "a b", "ä", "a/b"] {
        check(name, &Scope::ALL, None, TokenError::Name { name: name.to_owned() });
    }
    check(&"x".repeat(65), &Scope::ALL, None, TokenError::Name { name: "x".repeat(64) });
    check("x", &[], None, TokenError::NoScope);
    check("x", &Scope::ALL, Some(10), TokenError::Past);
}

#[test]
fn a_broken_file_lets_nobody_in_and_says_what_to_do() {
    let folder = TestFolder::new("tokens-broken");
    let tokens = AccessTokens::open(folder.path());
    let issued = tokens.issue("a", Scope::ALL, None, at(0)).expect("issued");
    let good = std::fs::read_to_string(path(&folder)).expect("written");
    let check = |content: &str, says: &str| {
        gristmill_files::replace_private(&path(&folder), content.as_bytes()).expect("a test may do this");
        let refused = tokens.check(issued.text.reveal(), at(1)).expect_err("broken").to_string();
        assert!(refused.contains(says), "{refused}");
        let listed = tokens.list().expect_err("broken").to_string();
        assert_eq!(listed, refused);
        // Nothing is written over what could not be read.
        assert!(tokens.issue("b", Scope::ALL, None, at(0)).is_err());
        assert_eq!(std::fs::read_to_string(path(&folder)).expect("there"), content);
    };
    check("", "it is damaged");
    check("{}", "move it away and issue the tokens again");
    check(&good.replace("\"format\": 1", "\"format\": 2"), "format 2, this version reads 1");
    check(&good.replace("execute", "everything"), "it is damaged");
    check(&good.replace("\"a\"", "\"A\""), "a name that cannot be one");
    check(&good.replace("\"hash\": \"", "\"hash\": \"0"), "the hash of `a`");
    check(&format!("{{\"format\":1,\"tokens\":[{}]}}", "[".repeat(10_000)), "it is damaged");
    gristmill_files::replace_private(&path(&folder), good.as_bytes()).expect("a test may do this");
    assert!(tokens.check(issued.text.reveal(), at(1)).is_ok());
}

#[test]
fn a_file_that_others_could_have_written_lets_nobody_in() {
    let folder = TestFolder::new("tokens-mode");
    let tokens = AccessTokens::open(folder.path());
    let issued = tokens.issue("a", Scope::ALL, None, at(0)).expect("issued");
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path(&folder), permissions).expect("a test may do this");
    };
    set(0o620);
    let refused = tokens.check(issued.text.reveal(), at(1)).expect_err("not ours alone").to_string();
    assert!(refused.contains("run `chmod 600"), "{refused}");
    set(0o600);
    assert!(tokens.check(issued.text.reveal(), at(1)).is_ok());
}

#[test]
fn tokens_that_are_issued_at_the_same_time_are_all_there() {
    let folder = TestFolder::new("tokens-parallel");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let path = folder.path();
            // Each with a store of its own, as processes have.
            scope.spawn(move || {
                let tokens = AccessTokens::open(path);
                for round in 0..4 {
                    tokens.issue(&format!("t{number}-{round}"), Scope::ALL, None, at(0)).expect("issued");
                }
            });
        }
    });
    assert_eq!(AccessTokens::open(folder.path()).list().map(|all| all.len()), Ok(32));
}

#[test]
fn what_is_no_token_is_unknown() {
    let folder = TestFolder::new("tokens-none");
    let tokens = AccessTokens::open(folder.path());
    let foreign = AccessTokens::open(TestFolder::new("tokens-foreign").path())
        .issue("a", Scope::ALL, None, at(0))
        .expect("issued");
    for presented in ["", "gmt_", foreign.text.reveal(), &"x".repeat(1_000_000)] {
        assert_eq!(tokens.check(presented, at(1)), Err(TokenRefused::Unknown));
    }
}

#[test]
fn a_token_made_again_under_an_old_name_is_somebody_else() {
    let folder = TestFolder::new("access");
    let tokens = AccessTokens::open(folder.path());
    let identity = || {
        let issued = tokens.issue("laptop", [Scope::Execute], None, at(100)).expect("a token");
        tokens.check(issued.text.reveal(), at(100)).expect("a caller").identity
    };
    let first = identity();
    tokens.revoke("laptop").expect("revoked");
    assert_ne!(identity(), first);
}

#[test]
fn the_local_owners_token_opens_as_the_owner_until_it_is_removed() {
    let folder = TestFolder::new("tokens-local");
    let tokens = AccessTokens::open(folder.path());
    tokens.local().ensure().expect("made");
    let text = tokens.local().read().expect("readable").expect("made");
    assert_eq!(tokens.check(text.reveal(), at(1)), Ok(Caller::local()));
    assert_eq!(tokens.list(), Ok(Vec::new()), "it has a file of its own");
    tokens.local().remove().expect("removed");
    assert_eq!(tokens.check(text.reveal(), at(1)), Err(TokenRefused::Unknown));
}

#[test]
fn a_local_token_that_others_can_read_leaves_the_named_ones_as_they_are() {
    let folder = TestFolder::new("tokens-local-open");
    let tokens = AccessTokens::open(folder.path());
    tokens.local().ensure().expect("made");
    let text = tokens.local().read().expect("readable").expect("made");
    let named = tokens.issue("a", Scope::ALL, None, at(1)).expect("issued");
    let shared = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(tokens.local().path(), shared).expect("ours");
    assert!(matches!(tokens.check(text.reveal(), at(1)), Err(TokenRefused::Unreadable(_))));
    assert!(tokens.check(named.text.reveal(), at(1)).is_ok());
}

#[test]
fn a_limited_token_carries_its_limits_and_files_from_before_are_read() {
    let folder = TestFolder::new("tokens-limits");
    let tokens = AccessTokens::open(folder.path());
    let limits = TokenLimits {
        servers: vec!["crm".to_owned()],
        tools: vec!["crm.get_*".to_owned()],
        calls_per_minute: Some(60),
        read_only: true,
        privacy: Some(PrivacyMode::Boundary),
        ..TokenLimits::default()
    };
    let issued = tokens.issue_limited("ci", Scope::USUAL, limits.clone(), None, at(0)).expect("issued");
    let plain = tokens.issue("plain", Scope::USUAL, None, at(0)).expect("issued");
    let again = AccessTokens::open(folder.path());
    let caller = |issued: &IssuedToken| again.check(issued.text.reveal(), at(1)).expect("a caller");
    assert_eq!(caller(&issued).limits.as_deref(), Some(&limits));
    assert_eq!(caller(&plain).limits, None);
    let text = std::fs::read_to_string(path(&folder)).expect("written");
    assert_eq!(text.matches("\"limits\"").count(), 1, "a token without limits is written as it was before");
    std::fs::write(path(&folder), text.replace("\"read_only\"", "\"writes\"")).expect("written");
    assert!(
        again.check(issued.text.reveal(), at(1)).is_err(),
        "a limit that is not understood lets nobody in"
    );
}
