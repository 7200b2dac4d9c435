//! Answers as Sentry's server gives them: text in Markdown.

use serde_json::{Map, Value};

use super::{Answered, number_of};
use crate::{arguments, calendar, noise};

const FAULTS: [&str; 8] = [
    "TimeoutError: payment provider did not answer",
    "KeyError: 'shipping_address'",
    "IntegrityError: duplicate key value violates unique constraint \"orders_number_key\"",
    "TypeError: Cannot read properties of undefined (reading 'price')",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "ValueError: invalid literal for int() with base 10: 'None'",
    "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "PermissionError: token is not valid for this basket",
];
const PLACES: [&str; 6] = [
    "shop.checkout.views in place_order",
    "shop.basket.prices in total",
    "shop.catalog.search in facets",
    "shop.payments.client in capture",
    "shop.mail.tasks in send",
    "shop.accounts.session in load",
];
const FOUND: u64 = 25;

pub fn call(tool: &str, given: &Map<String, Value>) -> Answered {
    match tool {
        "find_organizations" => Ok(Some(
            "# Organizations\n\n## **acme**\n\n**Web URL:** https://acme.sentry.io\n**Region URL:** https://de.sentry.io\n"
                .to_owned(),
        )),
        "search_issues" => issues(given).map(Some),
        "update_issue" => updated(given).map(Some),
        _ => Ok(None),
    }
}

/// One of the issues that a search finds.
struct Issue {
    number: u64,
    users: u64,
    events: u64,
    first_seen: i64,
    last_seen: i64,
}

impl Issue {
    fn new(seed: u64, number: u64) -> Self {
        let seen =
            |place: u64| calendar::this_morning() - noise::below(seed, number, place, 900_000).cast_signed();
        Self {
            number,
            users: noise::below(seed, number, 1, 400),
            events: 1 + noise::below(seed, number, 2, 9_000),
            first_seen: seen(3).min(seen(4)),
            last_seen: seen(3).max(seen(4)),
        }
    }
}

fn issues(given: &Map<String, Value>) -> Result<String, String> {
    let organization = arguments::text(given, "organizationSlug")?;
    let query = arguments::optional_text(given, "query")?.unwrap_or("is:unresolved");
    let project = arguments::optional_text(given, "projectSlugOrId")?.unwrap_or("shop");
    let limit = arguments::whole(given, "limit", 10, [1, 100])? as usize;
    let seed = number_of(&format!("{project} {query}"));
    let mut found: Vec<Issue> = (0..FOUND).map(|number| Issue::new(seed, number)).collect();
    match arguments::optional_text(given, "sort")?.unwrap_or("date") {
        "user" => found.sort_by_key(|issue| std::cmp::Reverse(issue.users)),
        "freq" => found.sort_by_key(|issue| std::cmp::Reverse(issue.events)),
        "new" => found.sort_by_key(|issue| std::cmp::Reverse(issue.first_seen)),
        _ => found.sort_by_key(|issue| std::cmp::Reverse(issue.last_seen)),
    }
    found.truncate(limit);
    let mut text = format!("# Search Results for \"{query}\"\n\nFound **{}** issues:\n\n", found.len());
    for (place, issue) in found.iter().enumerate() {
        let id = format!("{}-{}", project.to_uppercase(), 3_000 - issue.number * 7);
        text.push_str(&format!(
            "## {}. [{id}](https://{organization}.sentry.io/issues/{id})\n\n**{}**\n\n- **Status**: unresolved\n- **Users**: {}\n\
             - **Events**: {}\n- **First seen**: {}\n- **Last seen**: {}\n- **Culprit**: `{}`\n\n",
            place + 1,
            noise::pick(FAULTS, seed, issue.number, 0),
            issue.users,
            issue.events,
            calendar::time_of(issue.first_seen),
            calendar::time_of(issue.last_seen),
            noise::pick(PLACES, seed, issue.number, 5),
        ));
    }
    text.push_str("## Next Steps\n\n- Get more details about a specific issue with its ID.\n- Refine the query to narrow the list.\n");
    Ok(text)
}

fn updated(given: &Map<String, Value>) -> Result<String, String> {
    let id = arguments::optional_text(given, "issueId")?.unwrap_or("the issue");
    let change =
        arguments::optional_text(given, "assignedTo")?.or(arguments::optional_text(given, "status")?);
    Ok(format!("# Issue {id} Updated\n\n- **Now**: {}\n", change.unwrap_or("unchanged")))
}
