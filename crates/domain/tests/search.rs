//! Search over a small catalogue, as a caller sees it.

use std::sync::Arc;

use gristmill_domain::catalogue::{Catalogue, Server, ServerOffer, Tool, ToolDefinition};
use gristmill_domain::search::{
    Detail, Hit, Index, Nearness, Parameter, Query, SearchError, ServerLine, meaning_text, render,
};
use serde_json::{Value, json};

// ---- worlds ----

fn tool(name: &str, description: &str) -> Value {
    json!({"name": name, "description": description, "inputSchema": {"type": "object"}})
}

fn offer(name: &str, category: Option<&str>, tools: &[Value]) -> ServerOffer {
    let parse = |tool: &Value| Arc::new(ToolDefinition::from_text(&tool.to_string()).expect("a tool"));
    ServerOffer {
        name: name.to_owned(),
        description: Some(format!("The {name} server.\nMore about it.")),
        category: category.map(str::to_owned),
        tools: tools.iter().map(parse).collect(),
        ..ServerOffer::default()
    }
}

fn index(offers: Vec<ServerOffer>) -> Index {
    Index::new(Arc::new(Catalogue::new(offers)))
}

fn office() -> Index {
    index(vec![
        offer(
            "git-hub",
            Some("code"),
            &[
                tool("create_issue", "Create a new issue in a repository."),
                tool("create_issue_link", "Link an issue to another issue."),
                tool("list_branches", "List branches of a repository."),
                tool("merge_pull_request", "Merge a pull request."),
            ],
        ),
        offer(
            "mail",
            Some("office"),
            &[
                tool("sendMessage", "Send an email to one or more recipients."),
                tool("deleteMessage", "Delete an email for good."),
                json!({"name": "search", "description": "Search the mailbox.", "inputSchema": {
                    "type": "object",
                    "properties": {
                        "folder": {"type": "string", "enum": ["inbox", "spam"]},
                        "text": {"type": "string", "description": "Words\nto look for."},
                    },
                    "required": ["text"],
                }}),
            ],
        ),
        offer("drive", None, &[tool("search", "Search all stored documents.")]),
    ])
}

fn signature(_: &Server, tool: &Tool) -> String {
    format!("{}(…)", tool.identifier)
}

fn names(index: &Index, query: &Query) -> Vec<String> {
    let answer = index.search(query, None, &signature).expect("an answer");
    answer.hits.into_iter().map(|hit| hit.tool).collect()
}

fn first(index: &Index, text: &str) -> String {
    names(index, &Query::new(text)).into_iter().next().unwrap_or_default()
}

fn count(text: &str) -> usize {
    text.split_whitespace().count()
}

// ---- finding ----

#[test]
fn the_exact_name_comes_first_in_any_spelling() {
    let office = office();
    for (text, expected) in [
        ("create_issue", "git-hub.create_issue"),
        ("createIssue", "git-hub.create_issue"),
        ("create issue", "git-hub.create_issue"),
        ("git-hub.create_issue", "git-hub.create_issue"),
        ("git_hub/create-issue", "git-hub.create_issue"),
        ("mcp__git-hub__create_issue", "git-hub.create_issue"),
        ("mail.search", "mail.search"),
        ("mail search", "mail.search"),
        ("delete_message", "mail.deleteMessage"),
        ("please call sendMessage for me", "mail.sendMessage"),
    ] {
        assert_eq!(first(&office, text), expected, "{text}");
    }
    assert_eq!(names(&office, &Query::new("search"))[..2], ["mail.search", "drive.search"]);
}

#[test]
fn words_that_say_nothing_do_not_change_the_order() {
    let index = index(vec![offer(
        "github",
        None,
        &[
            json!({
                "name": "create_issue_comment",
                "title": "Create issue",
                "description": "Create issue, create issue. Create issue.",
                "inputSchema": {"type": "object", "properties": {"create": {}, "issue": {}}},
            }),
            tool("create_issue", ""),
            tool("list_issues", "List issues."),
        ],
    )]);
    let plain = names(&index, &Query::new("create issue"));
    assert_eq!(plain[0], "github.create_issue");
    for text in ["create an issue", "Please create the issue.", "I want to create an issue!"] {
        assert_eq!(names(&index, &Query::new(text)), plain, "{text}");
    }
}

#[test]
fn other_words_for_the_same_thing_find_the_tool() {
    let office = office();
    for (text, expected) in [
        ("open a new ticket", "git-hub.create_issue"),
        ("merge the PR", "git-hub.merge_pull_request"),
        ("combine a merge request", "git-hub.merge_pull_request"),
        ("remove mail", "mail.deleteMessage"),
        ("branching", "git-hub.list_branches"),
        ("look in my spam", "mail.search"),
    ] {
        assert_eq!(first(&office, text), expected, "{text}");
    }
}

#[test]
fn partial_and_misspelled_words_find_the_tool() {
    let office = office();
    assert_eq!(first(&office, "recip"), "mail.sendMessage");
    assert_eq!(first(&office, "brnaches"), "git-hub.list_branches");
    assert_eq!(first(&office, "mailbx"), "mail.search");
    assert_eq!(names(&office, &Query::new("zzzzzz")), Vec::<String>::new());
}

#[test]
fn a_long_description_does_not_drown_a_short_one() {
    let filler = "This also mentions weather and much else about many other things. ".repeat(100);
    let index =
        index(vec![offer("a", None, &[tool("everything", &filler), tool("now", "Current weather.")])]);
    assert_eq!(first(&index, "weather"), "a.now");
}

#[test]
fn the_name_of_a_server_finds_all_of_its_tools() {
    let weather = offer(
        "weather",
        None,
        &[
            tool("list_cities", "Lists the cities that have weather, with country and position."),
            tool("current", "Gets the weather of a city right now."),
            tool("forecast", "Gets the daily forecast of a city for up to 14 days, beginning tomorrow."),
            tool("history", "Gets the past weather of a city as daily rows."),
            tool("chart", "Draws the forecast of a city: highest temperature in red, lowest in blue."),
        ],
    );
    let crm = offer(
        "crm",
        None,
        &[
            tool("find_accounts", "Finds accounts by name."),
            tool("get_account", "Gets one account."),
            tool("update_account", "Updates one account."),
            tool("convert", "Converts a temperature."),
        ],
    );
    let index = index(vec![weather, crm]);
    let found = names(&index, &Query::new("weather"));
    let is_weather = |name: &String| name.starts_with("weather.");
    assert!(found.len() >= 5 && found[..5].iter().all(is_weather), "its own tools come first: {found:?}");
    assert_eq!(first(&index, "weather forecast"), "weather.forecast");
}

#[test]
fn ties_are_settled_by_name() {
    let twins = |name| offer(name, None, &[tool("b_thing", "Same words."), tool("a_thing", "Same words.")]);
    let expected = ["x.a_thing", "x.b_thing", "y.a_thing", "y.b_thing"];
    for offers in [vec![twins("x"), twins("y")], vec![twins("y"), twins("x")]] {
        assert_eq!(names(&index(offers), &Query::new("same words")), expected);
    }
}

// ---- filters ----

#[test]
fn a_server_filter_takes_any_spelling() {
    let office = office();
    for server in ["git-hub", "git_hub", "GitHub"] {
        let query = Query { servers: vec![server.to_owned()], ..Query::new("search list") };
        assert_eq!(names(&office, &query), ["git-hub.list_branches"], "{server}");
    }
}

#[test]
fn an_unknown_filter_is_an_error_that_names_what_there_is() {
    let office = office();
    let search = |query: &Query| office.search(query, None, &signature).expect_err("no such filter");
    let error = search(&Query { servers: vec!["githb".to_owned()], ..Query::new("x") });
    let expected =
        SearchError::UnknownServer { name: "githb".to_owned(), nearest: vec!["git-hub".to_owned()] };
    assert_eq!(error, expected);
    assert_eq!(error.to_string(), "there is no server `githb`; did you mean `git-hub`?");
    let error = search(&Query { servers: vec!["qqqqqqqq".to_owned()], ..Query::default() });
    assert_eq!(
        error.to_string(),
        "there is no server `qqqqqqqq`; search with an empty query to list all servers"
    );
    let error = search(&Query { category: Some("games".to_owned()), ..Query::default() });
    assert_eq!(error.to_string(), "no server has the category `games`; there are `code`, `office`");
}

#[test]
fn a_category_narrows_to_its_servers() {
    let query = Query { category: Some("Office".to_owned()), ..Query::new("search") };
    assert_eq!(names(&office(), &query), ["mail.search"]);
}

// ---- browsing and pages ----

#[test]
fn an_empty_query_browses_servers_and_then_tools() {
    let office = office();
    let line = |server: &str, tools, category: Option<&str>| ServerLine {
        server: server.to_owned(),
        tools,
        category: category.map(str::to_owned),
        summary: format!("The {server} server."),
        are_skills: false,
    };
    let answer = office.search(&Query::new("  "), None, &signature).expect("an answer");
    let expected =
        [line("drive", 1, None), line("git-hub", 4, Some("code")), line("mail", 3, Some("office"))];
    assert_eq!((answer.servers.as_slice(), answer.total), (expected.as_slice(), 3));
    let query = Query { servers: vec!["mail".to_owned()], ..Query::default() };
    assert_eq!(names(&office, &query), ["mail.deleteMessage", "mail.search", "mail.sendMessage"]);
}

#[test]
fn pages_follow_each_other_without_gap() {
    let office = office();
    let page = |offset, limit| {
        let query = Query { servers: vec!["git-hub".to_owned()], offset, limit, ..Query::default() };
        names(&office, &query)
    };
    assert_eq!(page(0, 2), ["git-hub.create_issue", "git-hub.create_issue_link"]);
    assert_eq!(page(2, 5), ["git-hub.list_branches", "git-hub.merge_pull_request"]);
    assert_eq!(page(9, 5), Vec::<String>::new());
    assert_eq!(page(usize::MAX, usize::MAX), Vec::<String>::new());
}

// ---- what is told ----

#[test]
fn full_detail_tells_everything_about_a_tool() {
    let query = Query { detail: Detail::Full, limit: 1, ..Query::new("mail.search") };
    let answer = office().search(&query, None, &signature).expect("an answer");
    let parameter = |name: &str, required, text: &str| Parameter {
        name: name.to_owned(),
        required,
        text: text.to_owned(),
    };
    let expected = Hit {
        server: "mail".to_owned(),
        tool: "mail.search".to_owned(),
        signature: "search(…)".to_owned(),
        summary: "Search the mailbox.".to_owned(),
        description: Some("Search the mailbox.".to_owned()),
        parameters: vec![
            parameter("text", true, "Words to look for."),
            parameter("folder", false, r#"one of "inbox", "spam""#),
        ],
        score: answer.hits[0].score,
    };
    assert_eq!(answer.hits, [expected]);
}

#[test]
fn an_answer_is_rendered_in_three_details() {
    let office = office();
    let text = |detail| {
        let query = Query { detail, limit: 1, ..Query::new("search") };
        render(&office.search(&query, None, &signature).expect("an answer"), 1_000, &count)
    };
    let head = "1 of 2 shown\n";
    let hint = "More: offset 1; or use narrower words or a server filter.\n";
    assert_eq!(text(Detail::Names), format!("{head}mail.search\n{hint}"));
    let called = "mail.search: search(…)\n    Search the mailbox.\n";
    assert_eq!(text(Detail::Summary), format!("{head}{called}{hint}"));
    let parameters = "    - text: Words to look for.\n    - folder?: one of \"inbox\", \"spam\"\n";
    assert_eq!(text(Detail::Full), format!("{head}{called}{parameters}{hint}"));
}

#[test]
fn servers_are_rendered_with_their_counts() {
    let answer =
        office().search(&Query { limit: 2, ..Query::default() }, None, &signature).expect("an answer");
    let expected = "2 of 3 servers shown\ndrive (1 tool): The drive server.\n\
                    git-hub (servers.git_hub, 4 tools, code): The git-hub server.\nMore: offset 2; or search with words.\n";
    assert_eq!(render(&answer, 1_000, &count), expected);
}

#[test]
fn nothing_found_says_what_to_do() {
    let answer = office().search(&Query::new("zzzzzz"), None, &signature).expect("an answer");
    let expected = "0 of 0 shown\nNo matches. Try other words, or an empty query to list all servers: drive, git-hub, mail.\n";
    assert_eq!(render(&answer, 1_000, &count), expected);
}

#[test]
fn a_rendered_answer_keeps_its_budget_and_says_how_many_it_shows() {
    let office = office();
    for detail in [Detail::Names, Detail::Summary, Detail::Full] {
        let query = Query { servers: vec!["git-hub".to_owned()], detail, ..Query::default() };
        let answer = office.search(&query, None, &signature).expect("an answer");
        for budget in 4..80 {
            let text = render(&answer, budget, &count);
            assert!(count(&text) <= budget, "{budget}: {text}");
            let shown = text.lines().filter(|line| line.starts_with("git-hub.")).count();
            assert_eq!(text.lines().next(), Some(format!("{shown} of 4 shown").as_str()), "{budget}: {text}");
        }
    }
}

#[test]
fn where_one_hit_is_too_long_its_name_is_still_told() {
    let index = index(vec![offer("a", None, &[tool("talk", &"many words here ".repeat(200))])]);
    let query = Query { detail: Detail::Full, ..Query::new("talk") };
    let answer = index.search(&query, None, &signature).expect("an answer");
    assert_eq!(render(&answer, 8, &count), "1 of 1 shown\na.talk\n");
}

// ---- hostile input ----

#[test]
fn hostile_queries_and_catalogues_are_bounded_and_harmless() {
    let mut deep = json!({"type": "string", "description": "innermost"});
    for _ in 0..40 {
        deep = json!({"type": "object", "properties": {"x": deep}, "anyOf": [{"items": {}}]});
    }
    let wide: serde_json::Map<String, Value> =
        (0..5_000).map(|number| (format!("field{number}"), json!({"enum": [1, null, "é"]}))).collect();
    let index = index(vec![offer(
        "odd",
        None,
        &[
            json!({"name": "deep", "inputSchema": deep}),
            json!({"name": "wide", "inputSchema": {"properties": wide, "required": 7}}),
            json!({"name": "", "description": "nameless \u{1b}[31m\u{202e}red", "inputSchema": {"properties": []}}),
            json!({"name": "読む", "description": "ß".repeat(9_000)}),
            json!({"name": "long", "description": "word ".repeat(200_000)}),
        ],
    )]);
    let queries = ["", " ", "…", "\0", "ß", "読む", "a.b.c__d/e f", "__", "mcp__", "'", "x́"];
    let long = ["é".repeat(100_000), "a ".repeat(100_000), "a_b.".repeat(50_000), "create ".repeat(9_999)];
    for text in queries.into_iter().map(str::to_owned).chain(long) {
        for detail in [Detail::Names, Detail::Summary, Detail::Full] {
            let query = Query { detail, limit: usize::MAX, ..Query::new(text.as_str()) };
            let answer = index.search(&query, None, &signature).expect("an answer");
            assert!(render(&answer, 100_000, &count).len() < 60_000);
        }
    }
    let answer = index.search(&Query { detail: Detail::Full, ..Query::new("nameless") }, None, &signature);
    let hit = &answer.expect("an answer").hits[0];
    assert_eq!(hit.description.as_deref(), Some("nameless [31mred"));
}

#[test]
fn an_empty_catalogue_is_searched_like_any_other() {
    let index = index(Vec::new());
    let answer = index.search(&Query::new("anything"), None, &signature).expect("an answer");
    assert_eq!((answer.hits.len(), answer.total), (0, 0));
    let answer = index.search(&Query::default(), None, &signature).expect("an answer");
    assert_eq!((answer.servers.len(), answer.total), (0, 0));
}

// ---- meaning ----

/// As near as this for each tool that is named, far from all others.
fn nearness(index: &Index, near: &[(&str, f32)]) -> Nearness {
    let cosine = |(server, tool): (&Server, &Tool)| {
        let name = format!("{}.{}", server.folder, tool.stem);
        near.iter().find(|(known, _)| *known == name).map_or(0.02, |(_, cosine)| *cosine)
    };
    Nearness::new(index, index.tools().map(cosine).collect()).expect("one for each tool")
}

fn names_near(index: &Index, query: &Query, nearness: &Nearness) -> Vec<String> {
    let answer = index.search(query, Some(nearness), &signature).expect("an answer");
    answer.hits.into_iter().map(|hit| hit.tool).collect()
}

#[test]
fn what_is_near_is_found_without_any_of_its_words() {
    let office = office();
    let query = Query::new("zzzzz");
    assert!(names(&office, &query).is_empty());
    let near = nearness(&office, &[("mail.deleteMessage", 0.6), ("drive.search", 0.5)]);
    assert_eq!(names_near(&office, &query, &near), ["mail.deleteMessage", "drive.search"]);
    let far = nearness(&office, &[("mail.deleteMessage", 0.1)]);
    assert!(names_near(&office, &query, &far).is_empty(), "the nearest of all is still far");
    let filtered = Query { servers: vec!["drive".to_owned()], ..query };
    assert_eq!(names_near(&office, &filtered, &near), ["drive.search"]);
}

#[test]
fn a_name_wins_over_every_meaning() {
    let office = office();
    let near = nearness(&office, &[("drive.search", 0.99)]);
    for (text, expected) in [
        ("create_issue", "git-hub.create_issue"),
        ("mail.search", "mail.search"),
        ("please call sendMessage for me", "mail.sendMessage"),
        ("git-hub", "git-hub.create_issue"),
    ] {
        assert_eq!(names_near(&office, &Query::new(text), &near)[0], expected, "{text}");
    }
}

#[test]
fn words_and_meaning_decide_together() {
    let office = office();
    let query = Query::new("search");
    assert_eq!(names(&office, &query)[..2], ["mail.search", "drive.search"]);
    let query = Query::new("delete or merge something");
    let words = names(&office, &query);
    let near = nearness(&office, &[(words[1].as_str(), 0.7)]);
    assert_eq!(names_near(&office, &query, &near)[0], words[1], "{words:?}");
}

#[test]
fn what_was_used_before_comes_first_among_equals() {
    let office = office();
    let query = Query::new("zzzzz");
    let near = nearness(&office, &[("mail.deleteMessage", 0.6), ("mail.sendMessage", 0.58)]);
    assert_eq!(names_near(&office, &query, &near)[0], "mail.deleteMessage");
    let place = office.tools().position(|(_, tool)| tool.stem == "sendMessage").expect("the tool");
    let used = near.with_uses([(place, 0.5), (10_000, 1.0)]);
    assert_eq!(names_near(&office, &query, &used)[0], "mail.sendMessage");
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let office = office();
    assert!(Nearness::new(&office, vec![0.0; 3]).is_none());
    assert!(Nearness::new(&office, vec![f32::NAN; office.tools().len()]).is_none());
}

#[test]
fn a_place_by_a_few_words_of_many_counts_less_beside_what_is_near() {
    let office = office();
    let near = nearness(&office, &[("git-hub.list_branches", 0.62), ("git-hub.merge_pull_request", 0.38)]);
    for (text, expected) in [
        ("merge", "git-hub.merge_pull_request"),
        ("merge the spam inbox of recipients", "git-hub.list_branches"),
    ] {
        assert!(names(&office, &Query::new(text)).iter().any(|name| name == "git-hub.merge_pull_request"));
        assert_eq!(names_near(&office, &Query::new(text), &near)[0], expected, "{text}");
    }
}

#[test]
fn an_encoder_reads_the_names_the_beginning_and_the_arguments() {
    let description = format!("Creates one. {}", "word ".repeat(1_000));
    let schema = json!({"type": "object", "properties": {"repoName": {}, "is_open": {}}});
    let tool = json!({"name": "createIssue", "description": description, "inputSchema": schema});
    for (name, expected) in [
        ("git-hub", "git hub: create issue. Creates one. word"),
        ("acme__acme-mcp-server", "acme: create issue. Creates one. word"),
        ("mcp-server", "create issue. Creates one. word"),
    ] {
        let index = index(vec![offer(name, None, std::slice::from_ref(&tool))]);
        let (server, tool) = index.tools().next().expect("a tool");
        let text = meaning_text(Some(server), tool);
        assert!(text.starts_with(expected), "{text}");
        assert!(text.ends_with("repo name, is open"), "{text}");
        assert!(text.len() < 400);
        assert!(meaning_text(None, tool).starts_with("create issue. Creates"));
    }
}
