use super::*;
use crate::levels::Level;

/// A call of `crm.update_record` by a person on this machine.
pub(super) fn asked<'a>() -> Asked<'a> {
    Asked {
        kind: AskedKind::Tool,
        server: "crm",
        name: "update_record",
        hints: Hints::default(),
        arguments: Arguments::none(),
        token: None,
        token_limits: None,
        client: None,
        session: None,
        level: Level::Production,
    }
}

fn destructive<'a>() -> Asked<'a> {
    Asked { hints: Hints { destructive: Some(true), ..Hints::default() }, ..asked() }
}

fn reading<'a>() -> Asked<'a> {
    Asked { hints: Hints { read_only: Some(true), ..Hints::default() }, ..asked() }
}

fn of_preset(preset: Preset) -> Policy {
    Policy::new(PolicySettings { preset, ..PolicySettings::default() })
}

/// Rules of the user's, each written on the line of its number.
fn of_user(rules: Vec<Rule>) -> PolicySettings {
    let line = |(number, rule)| (rule, format!("gristmill.toml:{number}"));
    PolicySettings { user: rules.into_iter().enumerate().map(line).collect(), ..PolicySettings::default() }
}

fn decision(policy: &Policy, asked: &Asked<'_>) -> Decision {
    policy.decide(asked).decided.decision
}

#[test]
fn each_preset_decides_about_reads_writes_and_destruction() {
    use Decision::{Allow, Ask, Deny};
    let hardened = || Asked { level: Level::Hardened, ..asked() };
    let resource = || Asked { kind: AskedKind::Resource, name: "file:///x", ..asked() };
    let check = |preset, expected: [Decision; 5]| {
        let requests = [reading(), resource(), asked(), destructive(), hardened()];
        let policy = of_preset(preset);
        assert_eq!(requests.map(|asked| decision(&policy, &asked)), expected, "{preset}");
    };
    check(Preset::Trusting, [Allow, Allow, Allow, Allow, Allow]);
    check(Preset::Careful, [Allow, Allow, Allow, Ask, Allow]);
    check(Preset::Strict, [Allow, Allow, Ask, Ask, Deny]);
    assert_eq!(Policy::default().preset(), Preset::Careful);
}

#[test]
fn the_first_line_that_fits_decides_and_names_itself() {
    let large = Condition::read("amount", ">1000").unwrap();
    let policy = Policy::new(of_user(vec![
        Rule {
            server: Some("crm".to_owned()),
            conditions: vec![large],
            reason: Some("too much at once".to_owned()),
            ..Rule::deciding(Decision::Deny)
        },
        Rule { tool: Some("update_*".to_owned()), ..Rule::deciding(Decision::Ask) },
    ]));
    let with = |arguments| Asked { arguments: Arguments::of(arguments), ..asked() };
    let large = policy.decide(&with(r#"{"amount": 1001}"#)).decided;
    assert_eq!((large.decision, &*large.why), (Decision::Deny, "too much at once"));
    assert_eq!((&*large.rule, &*large.origin), ("crm.* where amount >1000", "gristmill.toml:0"));
    let small = policy.decide(&with(r#"{"amount": 1000}"#)).decided;
    assert_eq!((small.decision, &*small.rule), (Decision::Ask, "*.update_*"));
    assert_eq!(&*small.why, "a rule asks about *.update_*");
    let decided = |decision| {
        let rule = Rule { server: Some("crm".to_owned()), ..Rule::deciding(decision) };
        Policy::new(of_user(vec![rule])).decide(&asked()).decided.why
    };
    assert_eq!(&*decided(Decision::Allow), "a rule allows crm.*");
    assert_eq!(&*decided(Decision::Deny), "a rule denies it");
    let other = policy.decide(&Asked { server: "mail", name: "send", ..asked() }).decided;
    assert_eq!((other.decision, &*other.rule), (Decision::Allow, "everything else of preset careful"));
}

#[test]
fn arguments_are_parsed_only_for_a_rule_that_looks_at_them() {
    let large = Condition::read("amount", ">1000").unwrap();
    let rule =
        Rule { server: Some("bank".to_owned()), conditions: vec![large], ..Rule::deciding(Decision::Deny) };
    let policy = Policy::new(of_user(vec![rule]));
    let asked = Asked { arguments: Arguments::of("{}"), ..asked() };
    decision(&policy, &asked);
    assert!(!asked.arguments.were_parsed());
    let asked = Asked { server: "bank", ..asked };
    decision(&policy, &asked);
    assert!(asked.arguments.were_parsed());
}

#[test]
fn rules_go_by_caller_session_and_level() {
    let check = |rule: Rule, asked: Asked<'_>, expected: bool| {
        let policy = Policy::new(of_user(vec![rule.clone()]));
        assert_eq!(decision(&policy, &asked) == Decision::Deny, expected, "{}", rule.words());
    };
    let deny = || Rule::deciding(Decision::Deny);
    let token = |name| Asked { token: Some(name), ..asked() };
    check(Rule { token: Some("ci-*".to_owned()), ..deny() }, token("ci-1"), true);
    check(Rule { token: Some("ci-*".to_owned()), ..deny() }, token("ann"), false);
    check(Rule { token: Some("*".to_owned()), ..deny() }, asked(), false);
    check(
        Rule { client: Some("claude*".to_owned()), ..deny() },
        Asked { client: Some("claude-code"), ..asked() },
        true,
    );
    check(
        Rule { session: Some("audit".to_owned()), ..deny() },
        Asked { session: Some("audit"), ..asked() },
        true,
    );
    check(Rule { session: Some("audit".to_owned()), ..deny() }, asked(), false);
    check(Rule { level: Some(Level::Hardened), ..deny() }, asked(), false);
    check(Rule { level: Some(Level::Production), ..deny() }, asked(), true);
    check(Rule { destructive_hint: Some(true), ..deny() }, destructive(), true);
    check(Rule { destructive_hint: Some(true), ..deny() }, asked(), false);
    let says = |open_world: bool| Asked {
        hints: Hints { open_world: Some(open_world), ..Hints::default() },
        ..asked()
    };
    let open = || Rule { open_world_hint: Some(true), ..deny() };
    check(open(), says(true), true);
    check(open(), says(false), false);
    // A tool that says nothing of it reaches the outside, as far as the protocol goes.
    check(open(), asked(), true);
    check(Rule { open_world_hint: Some(false), ..deny() }, says(false), true);
    check(Rule { open_world_hint: Some(false), ..deny() }, asked(), false);
}

#[test]
fn read_only_lets_reads_through_and_nothing_else_whatever_a_rule_allows() {
    let place = || "gristmill.toml:2".to_owned();
    let allow = || vec![Rule::deciding(Decision::Allow)];
    let everything = Policy::new(PolicySettings { read_only: Some(place()), ..of_user(allow()) });
    assert_eq!(decision(&everything, &asked()), Decision::Deny);
    assert_eq!(decision(&everything, &reading()), Decision::Allow);
    let some = Policy::new(PolicySettings {
        read_only_sessions: vec![("audit*".to_owned(), place())],
        read_only_tokens: vec![("ci".to_owned(), place())],
        ..of_user(allow())
    });
    assert_eq!(decision(&some, &Asked { session: Some("audit-3"), ..asked() }), Decision::Deny);
    assert_eq!(decision(&some, &Asked { token: Some("ci"), ..asked() }), Decision::Deny);
    assert_eq!(decision(&some, &asked()), Decision::Allow);
}

#[test]
fn a_project_makes_things_stricter_and_never_looser() {
    let both = |user: Decision, project: Decision| {
        let settings = PolicySettings {
            project: vec![(Rule::deciding(project), "project".to_owned())],
            ..of_user(vec![Rule::deciding(user)])
        };
        let decided = Policy::new(settings).decide(&asked()).decided;
        (decided.decision, decided.origin.to_string() == "project")
    };
    for user in Decision::ALL {
        for project in Decision::ALL {
            assert_eq!(both(user, project), (user.max(project), project > user), "{user} {project}");
        }
    }
}

#[test]
fn a_token_is_good_for_what_it_is_limited_to() {
    let limits = TokenLimits {
        servers: vec!["crm".to_owned(), "mail".to_owned()],
        tools: vec!["crm.get_*".to_owned(), "crm.update_*".to_owned()],
        ..TokenLimits::default()
    };
    let check = |limits: &TokenLimits, asked: Asked<'_>, expected: Option<&str>| {
        let asked = Asked { token: Some("ci"), token_limits: Some(limits), ..asked };
        let decided = Policy::default().decide(&asked).decided;
        let refused = (decided.decision == Decision::Deny).then_some(&*decided.why);
        assert_eq!(refused, expected);
        assert!(refused.is_none() || &*decided.rule == "token ci");
    };
    check(&limits, asked(), None);
    check(&limits, Asked { server: "bank", ..asked() }, Some("the access token isn't good for this server"));
    check(&limits, Asked { name: "delete", ..asked() }, Some("the access token isn't good for this tool"));
    check(&limits, Asked { kind: AskedKind::Resource, server: "mail", name: "x:y", ..asked() }, None);
    let reads = TokenLimits { read_only: true, ..TokenLimits::default() };
    check(&reads, reading(), None);
    check(&reads, asked(), Some("the access token is read-only, and this tool isn't marked read-only"));
    let hardened = TokenLimits { level: Some(Level::Hardened), ..TokenLimits::default() };
    let looser =
        "the access token needs a stricter isolation level than this call has; run the program with `level`";
    check(&hardened, asked(), Some(looser));
    check(&hardened, Asked { level: Level::Hardened, ..asked() }, None);
}

#[test]
fn a_token_for_some_tools_is_good_for_nothing_else_unless_it_names_servers() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let check = |limits: &TokenLimits, kind: AskedKind, server: &str, expected: Decision| {
        let asked = Asked { kind, server, name: "get_record", token_limits: Some(limits), ..reading() };
        assert_eq!(decision(&Policy::default(), &asked), expected, "{} {kind:?} {server}", limits.words());
    };
    use AskedKind::{Prompt, Resource, Tool};
    use Decision::{Allow, Deny};
    for read_only in [false, true] {
        let tools = TokenLimits { tools: names(&["crm.get_*"]), read_only, ..TokenLimits::default() };
        for (kind, server, expected) in [
            (Tool, "crm", Allow),
            (Tool, "mail", Deny),
            (Resource, "crm", Deny),
            (Resource, "mail", Deny),
            (Prompt, "crm", Deny),
            (Prompt, "mail", Deny),
        ] {
            check(&tools, kind, server, expected);
        }
        let both = TokenLimits { servers: names(&["crm", "wiki"]), ..tools };
        for (kind, server, expected) in [
            (Tool, "crm", Allow),
            (Tool, "wiki", Deny),
            (Resource, "crm", Allow),
            (Resource, "wiki", Allow),
            (Prompt, "wiki", Allow),
            (Resource, "mail", Deny),
            (Prompt, "mail", Deny),
        ] {
            check(&both, kind, server, expected);
        }
        let reads = TokenLimits { read_only, ..TokenLimits::default() };
        check(&reads, Resource, "mail", Allow);
        check(&reads, Prompt, "mail", Allow);
    }
}

#[test]
fn a_token_is_shown_servers_that_it_names_or_that_its_tools_may_be_of() {
    let check = |servers: &[&str], tools: &[&str], expected: [bool; 2]| {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let limits = TokenLimits { servers: names(servers), tools: names(tools), ..TokenLimits::default() };
        assert_eq!(["crm", "mail"].map(|server| limits.shows_server(server)), expected, "{}", limits.words());
    };
    check(&[], &[], [true, true]);
    check(&["crm"], &[], [true, false]);
    check(&[], &["crm.get_*"], [true, false]);
    check(&[], &["crm.get_*", "m*"], [true, true]);
    check(&[], &["*.get_*"], [true, true]);
    check(&[], &["crm_2.get"], [false, false]);
    check(&["mail"], &["crm.get_*"], [false, true]);
}

#[test]
fn a_line_with_only_a_budget_counts_and_leaves_the_decision_to_those_below() {
    let budgets = Budgets { calls_per_minute: Some(10), ..Budgets::default() };
    let policy = Policy::new(of_user(vec![
        Rule { name: Some("slow".to_owned()), budgets, ..Rule::default() },
        Rule { budgets, ..Rule::deciding(Decision::Ask) },
    ]));
    let verdict = policy.decide(&asked());
    let counted: Vec<&str> = verdict.counted.iter().map(|line| &*line.id).collect();
    assert_eq!((verdict.decided.decision, counted), (Decision::Ask, vec!["slow", "*"]));
}

#[test]
fn an_explanation_has_every_line_and_why_it_does_not_fit() {
    let large = Condition::read("amount", ">1000").unwrap();
    let policy = Policy::new(of_user(vec![
        Rule { server: Some("mail".to_owned()), ..Rule::deciding(Decision::Deny) },
        Rule { conditions: vec![large], ..Rule::deciding(Decision::Deny) },
    ]));
    let (lines, decided) = policy.explain(&destructive(), None);
    let outcomes: Vec<(String, Outcome)> = lines.into_iter().map(|line| (line.rule, line.outcome)).collect();
    let no = |why: &str| Outcome::No(why.to_owned());
    let expected = [
        ("mail.*", no("server doesn't fit")),
        ("* where amount >1000", no("no argument `amount` that fits `>1000`")),
        ("resources of preset careful", no("kind doesn't fit")),
        ("prompts of preset careful", no("kind doesn't fit")),
        ("reads of preset careful", no("read_only_hint doesn't fit")),
        ("destructive of preset careful", Outcome::Decides),
        ("everything else of preset careful", Outcome::NotReached),
    ];
    assert_eq!(outcomes, expected.map(|(rule, outcome)| (rule.to_owned(), outcome)));
    assert_eq!(decided.decision, Decision::Ask);
}

#[test]
fn a_table_of_a_hundred_lines_is_read_in_microseconds() {
    let rule =
        |number: usize| Rule { server: Some(format!("server-{number}-*")), ..Rule::deciding(Decision::Deny) };
    let policy = Policy::new(of_user((0..100).map(rule).collect()));
    let began = std::time::Instant::now();
    for _ in 0..1_000 {
        decision(&policy, &destructive());
    }
    // Generous: tests run unoptimized, beside others.
    assert!(began.elapsed() < std::time::Duration::from_millis(1_000), "{:?}", began.elapsed());
}

/// A request to a host.
fn request(arguments: &str) -> Asked<'_> {
    Asked { server: "http", name: "get", arguments: Arguments::of(arguments), ..asked() }
}

fn about_url(pattern: &str, decision: Decision) -> Rule {
    let conditions = vec![Condition::read("url", pattern).unwrap()];
    Rule { server: Some("http".to_owned()), conditions, ..Rule::deciding(decision) }
}

#[test]
fn a_rule_about_urls_is_not_passed_by_another_spelling() {
    use Decision::{Allow, Deny};
    let to = |path: &str| format!("{{\"url\": \"https://h.example{path}\"}}");
    let forbids = Policy::new(of_user(vec![
        about_url("https://h.example/admin/*", Deny),
        about_url("https://h.example/*", Allow),
    ]));
    let permits =
        Policy::new(of_user(vec![about_url("https://h.example/public/*", Allow), about_url("*", Deny)]));
    let check = |path: &str, expected: Decision| {
        let arguments = to(path);
        for policy in [&forbids, &permits] {
            assert_eq!(decision(policy, &request(&arguments)), expected, "{path}");
            let (explained, decided) = policy.explain(&request(&arguments), None);
            let deciding = explained.iter().find(|line| line.outcome == Outcome::Decides);
            assert_eq!(deciding.map(|line| line.rule.as_str()), Some(&*decided.rule), "{path}");
        }
    };
    check("/public/x", Allow);
    check("/public/a%2Fb?c=%2F", Allow);
    for hidden in [
        "/admin/x",
        "/%61dmin/x",
        "/public%2F..%2Fadmin%2Fx",
        "/public/..%2Fadmin/x",
        "/public/..%252Fadmin/x",
        "/public/..%5Cadmin/x",
        "//admin/x",
        "/public/..;/admin/x",
    ] {
        check(hidden, Deny);
    }
    // Another server's argument of this name is its own affair.
    let arguments = to("/public%2F..%2Fadmin%2Fx");
    let rule = Rule { server: None, ..about_url("https://h.example/admin/*", Deny) };
    let other = Asked { server: "crawler", ..request(&arguments) };
    assert_eq!(decision(&Policy::new(of_user(vec![rule])), &other), Allow);
}

#[test]
fn a_rule_may_be_written_as_the_url_is_sent() {
    use Decision::{Allow, Deny};
    let policy = Policy::new(of_user(vec![
        about_url("https://h.example/projects/group%2Fname/*", Allow),
        about_url("*", Deny),
    ]));
    let check = |url: &str, expected: Decision| {
        let arguments = format!("{{\"url\": \"https://h.example{url}\"}}");
        assert_eq!(decision(&policy, &request(&arguments)), expected, "{url}");
    };
    check("/projects/group%2Fname/issues", Allow);
    check("/projects/group%2fname/issues", Allow);
    check("/projects/group/name/issues", Deny);
    check("/projects/group%2Fother/issues", Deny);
}

#[test]
fn each_budget_counts_once_however_a_url_is_read() {
    let counts = Rule {
        decision: None,
        budgets: Budgets { calls_per_minute: Some(3), ..Budgets::default() },
        ..about_url("*", Decision::Allow)
    };
    let policy = Policy::new(of_user(vec![counts]));
    let arguments = r#"{"url": "https://h.example//a%2Fb"}"#;
    assert_eq!(policy.decide(&request(arguments)).counted.len(), 1);
}

#[test]
fn what_restricts_holds_under_the_name_that_programs_see_and_what_allows_under_the_own_one() {
    let call = |server, name| Asked { server, name, ..asked() };
    let decided = |rule: &Rule, asked: &Asked<'_>| {
        let others = Rule { decision: Some(Decision::Ask), ..Rule::default() };
        decision(&Policy::new(of_user(vec![rule.clone(), others])), asked)
    };
    let rule = |server: &str, tool: &str, decision| Rule {
        server: Some(server.to_owned()),
        tool: Some(tool.to_owned()),
        ..Rule::deciding(decision)
    };
    for (server, tool) in
        [("my_web", "send_mail"), ("my-web", "send-mail"), ("my_*", "send_*"), ("my-web", "import_")]
    {
        let name = if tool == "import_" { "import" } else { "send-mail" };
        assert_eq!(
            decided(&rule(server, tool, Decision::Deny), &call("my-web", name)),
            Decision::Deny,
            "{tool}"
        );
    }
    assert_eq!(
        decided(&rule("my_web", "send_mail", Decision::Allow), &call("my-web", "send-mail")),
        Decision::Ask
    );
    assert_eq!(
        decided(&rule("my-web", "send-mail", Decision::Allow), &call("my-web", "send-mail")),
        Decision::Allow
    );
    // The other way round it would be another tool's name.
    assert_eq!(
        decided(&rule("my-web", "send-mail", Decision::Deny), &call("my-web", "send_mail")),
        Decision::Ask
    );
    let resource = Asked { kind: AskedKind::Resource, name: "file:///x", ..asked() };
    assert_eq!(decided(&rule("crm", "file____x", Decision::Deny), &resource), Decision::Ask);
}
