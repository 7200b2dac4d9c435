//! The transcript of a two-hour planning meeting, written by a small grammar: topics in order, each
//! with five threads, its decisions and its action items. Always the same, word for word.

use super::phrases::{Issue, Phrases, Topic};
use crate::{companies, noise};

/// The last line is spoken at 2:00:00.
const SECONDS: usize = 7_200;

/// First name, whole name, what they do.
pub const SPEAKERS: [(&str, &str, &str); 8] = [
    ("Marta", "Marta Lindqvist", "product"),
    ("Daniel", "Daniel Okoro", "engineering"),
    ("Priya", "Priya Raman", "data"),
    ("Tomas", "Tomas Varga", "support"),
    ("Hanna", "Hanna Weiss", "design"),
    ("Yusuf", "Yusuf Demir", "sales"),
    ("Claire", "Claire Fontaine", "finance"),
    ("Ben", "Ben Ashdown", "operations"),
];

const CHAIR: &str = "Marta";

/// What is said in a thread, in order: the part, and whether the one who brought it up says it.
const THREAD: [(&str, bool); 19] = [
    ("raise", true),
    ("detail", false),
    ("cause", true),
    ("react", false),
    ("figure", true),
    ("worry", false),
    ("first", true),
    ("question", false),
    ("answer", true),
    ("second", false),
    ("compare", false),
    ("account", false),
    ("cost", false),
    ("clarify", true),
    ("small", false),
    ("back", false),
    ("lean", false),
    ("agree", false),
    ("settle", true),
];

pub fn transcript() -> String {
    let mut writer =
        Writer { phrases: Phrases::read(), lines: Vec::new(), turn: 0, decisions: 0, actions: 0 };
    writer.open();
    let topics = Topic::all();
    for (index, topic) in topics.iter().enumerate() {
        writer.topic(index, topic);
    }
    writer.close();
    timed(&writer.lines)
}

struct Writer {
    phrases: Phrases,
    lines: Vec<(&'static str, String)>,
    turn: u64,
    decisions: usize,
    actions: usize,
}

impl Writer {
    fn open(&mut self) {
        self.say(CHAIR, "Good morning, everyone. It is nine, we have two hours and ten points, so let us begin. This is the planning for the autumn release, and the meeting is being recorded so that the transcript can go into the meeting record.".to_owned());
        self.say("Ben", "Good morning. Ben here, with two colleagues from the warehouse who will listen for the first half.".to_owned());
        self.say("Yusuf", "Morning. I have a customer call at eleven sharp, so I would be grateful if we stayed on time today.".to_owned());
        self.say(CHAIR, "We will try. The usual rules: one topic after the other, the owner begins, and at the end of each topic I read the decisions and the action items aloud, so that nobody has to guess afterwards.".to_owned());
    }

    fn topic(&mut self, index: usize, topic: &Topic) {
        let ordinal =
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"][index % 10];
        self.say(CHAIR, format!("Point {ordinal}: {}. {}", lower_first(topic.title), topic.opening));
        let owner = speaker(topic.owner);
        let report = self.phrases.next("report", &Issue::default(), "", "");
        self.say(owner, report);
        for (number, issue) in topic.issues.iter().enumerate() {
            self.thread(topic, number, issue);
        }
        self.say(
            CHAIR,
            format!("Good. Before we leave {}, I read what I wrote down.", lower_first(topic.title)),
        );
        for decision in &topic.decisions {
            self.decisions += 1;
            self.say(
                CHAIR,
                format!(
                    "For the record. Decision {}: {decision}. Is anyone against it? Then that is decided.",
                    self.decisions
                ),
            );
        }
        for (who, what, when) in &topic.actions {
            self.actions += 1;
            let text = format!("Action item {}: {who} will {what}, by {when}.", self.actions);
            self.say(CHAIR, text);
            self.say(speaker(who), noise::pick(ACCEPTANCES, 31, self.actions as u64, 0).to_owned());
        }
    }

    fn thread(&mut self, topic: &Topic, number: usize, issue: &Issue) {
        let owner = speaker(topic.owner);
        let account = topic.account.filter(|_| number == 1 || number == 3).map(companies::company_name);
        for (place, (part, by_owner)) in THREAD.into_iter().enumerate() {
            // People do not say everything every time.
            let needless = match part {
                "account" => account.is_none(),
                "small" | "clarify" => number % 2 == 1,
                "cost" => number.is_multiple_of(2),
                "react" => number == 2 || number == 4,
                _ => false,
            };
            if needless {
                continue;
            }
            let before = self.lines.last().map_or("", |line| line.0);
            let who = if by_owner { owner } else { self.someone_else(before, owner) };
            let mut text =
                self.phrases.next(part, issue, account.as_deref().unwrap_or_default(), first_name(before));
            self.turn += 1;
            // Neither "Right. Right, …" nor an opener on what opens a thread.
            if place > 0 && noise::below(37, self.turn, 1, 5) < 2 && part != "small" {
                let opener = self.phrases.next("opener", issue, "", first_name(before));
                text = format!("{opener} {text}");
            }
            if noise::below(37, self.turn, 2, 10) == 0 && part != "small" && part != "settle" {
                let name = first_name(self.someone_else(who, before));
                let tail = self.phrases.next("tail", issue, "", name);
                text = format!("{text} {tail}");
            }
            self.say(who, text);
        }
    }

    fn close(&mut self) {
        let summary = format!(
            "That was point ten. We have {} decisions and {} action items, all of them read aloud, and they will be in the notes this afternoon.",
            self.decisions, self.actions
        );
        self.say(CHAIR, summary);
        self.say("Claire", "Thank you, Marta. On time, for once. I will believe the date in September when I have seen the pilot.".to_owned());
        self.say("Yusuf", "And I make my call at eleven. Thank you all, see you on Thursday.".to_owned());
        self.say(
            CHAIR,
            "Thank you, everyone. That is eleven o'clock, and I am stopping the recording here.".to_owned(),
        );
    }

    fn say(&mut self, who: &str, text: String) {
        self.lines.push((speaker(who), text));
    }

    fn someone_else(&mut self, one: &str, other: &str) -> &'static str {
        self.turn += 1;
        let start = noise::below(41, self.turn, 0, 8) as usize;
        let free = |place: &usize| SPEAKERS[*place].1 != one && SPEAKERS[*place].1 != other;
        let found = (start..start + 8).map(|place| place % 8).find(free).unwrap_or(start);
        SPEAKERS[found].1
    }
}

const ACCEPTANCES: [&str; 7] = [
    "Yes, that is mine, and the date is fine.",
    "Noted. I will tell you early if it slips.",
    "That works. I already began with it, to be honest.",
    "Okay. I need an hour of Daniel's time for it, but the date holds.",
    "Mine. Please put the date into the calendar as well, I live by the calendar.",
    "Fine, I take that. I will send a short note when it is done.",
    "Yes. If I am away, my deputy knows about it.",
];

fn speaker(name: &str) -> &'static str {
    SPEAKERS.iter().find(|it| it.0 == name || it.1 == name).map_or(SPEAKERS[0].1, |it| it.1)
}

fn first_name(name: &str) -> &str {
    name.split(' ').next().unwrap_or_default()
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

/// People speak evenly: the time of a line is its share of all words.
fn timed(lines: &[(&str, String)]) -> String {
    let words = |text: &str| text.split_whitespace().count();
    let total: usize = lines.iter().map(|line| words(&line.1)).sum();
    let last = lines.last().map_or(0, |line| words(&line.1));
    let mut spoken = 0;
    let mut text = String::new();
    for (who, said) in lines {
        let second = spoken * SECONDS / (total - last).max(1);
        text.push_str(&format!(
            "[{}:{:02}:{:02}] {who}: {said}\n",
            second / 3600,
            second / 60 % 60,
            second % 60
        ));
        spoken += words(said);
    }
    text
}
