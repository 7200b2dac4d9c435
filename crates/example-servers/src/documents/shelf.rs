//! The documents: 50 specs, 70 notes, 40 policies, 39 reports and one transcript.

use super::phrases::{Issue, Phrases, Topic};
use super::transcript::{SPEAKERS, transcript};
use super::{TRANSCRIPT_DATE, TRANSCRIPT_ID, TRANSCRIPT_TITLE};
use crate::{calendar, noise};

pub const FOLDERS: [&str; 5] = ["meetings", "specs", "notes", "policies", "reports"];

/// The transcript's place among the ids.
const TRANSCRIPT_NUMBER: usize = 107;

#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// `DOC-0001` and so on.
    pub id: String,
    pub title: String,
    /// One of [`FOLDERS`].
    pub folder: &'static str,
    pub author: String,
    /// `YYYY-MM-DD`.
    pub created_on: String,
    /// What it is about.
    pub tags: Vec<&'static str>,
    pub text: String,
}

impl Document {
    /// How many words it has.
    pub fn words(&self) -> usize {
        self.text.split_whitespace().count()
    }
}

/// All of them, in order of ids.
pub fn documents() -> Vec<Document> {
    let topics = Topic::all();
    let issues: Vec<(&Topic, &Issue)> =
        topics.iter().flat_map(|topic| topic.issues.iter().map(move |issue| (topic, issue))).collect();
    let mut written: Vec<Document> = Vec::new();
    written.extend(issues.iter().map(|(topic, issue)| spec(topic, issue)));
    let mut phrases = Phrases::read();
    written.extend((0..70).map(|week| notes(week, &issues, &mut phrases)));
    written.extend((0..40).map(policy));
    written.extend((0..39).map(|month| report(month, &issues)));
    let meeting = Document {
        id: TRANSCRIPT_ID.to_owned(),
        title: format!("{TRANSCRIPT_TITLE}: transcript"),
        folder: "meetings",
        author: SPEAKERS[0].1.to_owned(),
        created_on: TRANSCRIPT_DATE.to_owned(),
        tags: vec!["transcript", "planning", "release"],
        text: transcript(),
    };
    written.insert((TRANSCRIPT_NUMBER - 1).min(written.len()), meeting);
    for (document, n) in written.iter_mut().zip(1u64..) {
        document.id = format!("DOC-{n:04}");
        if document.folder != "meetings" {
            let days = noise::below(51, n, 0, 500).cast_signed();
            document.created_on = calendar::date_of(calendar::today() - 10 - days);
        }
    }
    written
}

fn document(
    folder: &'static str,
    title: String,
    author: &str,
    tags: Vec<&'static str>,
    body: &str,
) -> Document {
    let text = format!("# {title}\n\n{body}");
    let author = author.to_owned();
    Document { id: String::new(), title, folder, author, created_on: String::new(), tags, text }
}

fn author(n: u64) -> &'static str {
    noise::pick(SPEAKERS, 53, n, 0).1
}

fn spec(topic: &Topic, issue: &Issue) -> Document {
    let title = format!("Spec: {}", issue.thing.trim_start_matches("the "));
    let body = format!(
        "Area: {}\n\n## Problem\n\nToday {}. The reason is that {}.\n\n## Proposal\n\nWe {}. The other way, to {}, was \
         looked at as well; it is cheaper at first, but it leaves the cause in place.\n\n## How we know that it works\n\n\
         We watch {}. It is read on the first Monday of each month, and the spec is closed when it has halved and stayed \
         there for two months.\n\n## Rollout\n\nOne shop for a week behind a switch, then six pilot shops, then everyone. \
         The switch is removed a month later.\n\n## Not part of this\n\nAnything that changes what is stored. If that \
         turns out to be needed, it gets a spec of its own.\n",
        topic.title, issue.problem, issue.cause, issue.one, issue.two, issue.measure
    );
    let author =
        SPEAKERS.iter().find(|speaker| speaker.0 == topic.owner).map_or(SPEAKERS[0].1, |speaker| speaker.1);
    document("specs", title, author, vec!["spec", "autumn release"], &body)
}

fn notes(week: u64, issues: &[(&Topic, &Issue)], phrases: &mut Phrases) -> Document {
    let mut body = String::new();
    for place in 0..3 {
        let (topic, issue) = issues[noise::below(57, week, place, issues.len() as u64) as usize];
        body.push_str(&format!("## {}\n\n", issue.thing.trim_start_matches("the ")));
        for part in ["cause", "figure", "lean"] {
            body.push_str(&phrases.next(part, issue, "", topic.owner));
            body.push_str("\n\n");
        }
    }
    body.push_str("Next time: whatever is still open from the list above.\n");
    document("notes", format!("Team notes, week {}", week + 1), author(week), vec!["notes", "weekly"], &body)
}

const POLICIES: [(&str, &str); 20] = [
    ("Passwords and passkeys", "Every account has a second factor, and passkeys are preferred"),
    ("Laptops and phones", "Devices are encrypted and locked when nobody sits in front of them"),
    ("Leaving the company", "All access ends on the last working day, at six in the evening"),
    (
        "Personal data of customers",
        "We keep what an order needs and delete it three years after the last one",
    ),
    (
        "Backups",
        "Everything that a shop needs to sell is copied every hour and restored once a month as a trial",
    ),
    ("Changes to live systems", "Two people look at every change, and one of them did not write it"),
    ("Incidents", "Whoever sees it first says so, and nobody is blamed for a false alarm"),
    ("Suppliers with access", "Access is given for a purpose and a time, and ends by itself"),
    ("Travel", "The train is the default below five hours, and the cheapest fare is not always the best"),
    ("Expenses", "Receipts are handed in within a month, and anything under thirty euros needs no reason"),
    ("Working from home", "Two days a week are free to choose, and teams agree on one common day"),
    ("On call", "Nobody is on call for more than one week in four, and a bad night gives a free morning"),
    (
        "Hiring",
        "Three people talk to each candidate, and each writes down an opinion before hearing the others",
    ),
    ("Refunds", "Small refunds are paid at once, and a sample is checked afterwards"),
    ("Discounts", "A discount belongs to a group, and only one of a group applies"),
    ("Test data", "Test systems hold invented data only, without exception"),
    ("Records and how long we keep them", "Invoices ten years, orders three, log files ninety days"),
    ("Speaking with the press", "One person speaks for us, and everyone else is friendly and passes it on"),
    ("Open source", "We use it, we name it, and we give fixes back where we can"),
    ("Accessibility", "A colour never stands alone: there is always a word or a shape as well"),
];

fn policy(n: u64) -> Document {
    let (subject, rule) = POLICIES[(n % 20) as usize];
    let (kind, title) = match n < 20 {
        true => ("policy", format!("Policy: {subject}")),
        false => ("questions", format!("Questions and answers: {subject}")),
    };
    let body = match n < 20 {
        true => format!(
            "## The rule\n\n{rule}.\n\n## Who it is for\n\nEveryone who works for us, also for a short time and from \
             outside.\n\n## Exceptions\n\n{} can grant one in writing, for three months at most. It is listed at the end of \
             this page for as long as it lasts.\n\n## When it is looked at again\n\nOnce a year, or after an incident that \
             it should have prevented.\n",
            author(n)
        ),
        false => format!(
            "## What does it say, in short?\n\n{rule}.\n\n## What if I cannot keep to it?\n\nSay so early. {} would \
             rather grant an exception than find a secret.\n\n## Who checks it?\n\nYour own team, once a quarter, with the \
             list at the end of the policy.\n\n## Is there a form?\n\nNo.\n",
            author(n)
        ),
    };
    document("policies", title, author(n), vec![kind, "handbook"], &body)
}

fn report(month: u64, issues: &[(&Topic, &Issue)]) -> Document {
    let year = 2023 + (month + 2) / 12;
    let name = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ][((month + 2) % 12) as usize];
    let mut body = String::from("| measure | this month | month before |\n|---|---|---|\n");
    for place in 0..8 {
        let (_, issue) = issues[noise::below(59, month, place, issues.len() as u64) as usize];
        let now = 5 + noise::below(59, month, 20 + place, 300);
        let before = 5 + noise::below(59, month, 40 + place, 300);
        body.push_str(&format!("| {} | {now} | {before} |\n", issue.measure));
    }
    body.push_str("\nFigures that moved by more than a tenth were checked by hand. Nothing was left out.\n");
    document(
        "reports",
        format!("Monthly report, {name} {year}"),
        author(month),
        vec!["report", "figures"],
        &body,
    )
}
