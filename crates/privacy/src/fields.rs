//! What the name of a field says about its value.

use crate::context::Topics;
use crate::documents;
use crate::keywords;
use crate::kind::Kind;
use crate::people;
use crate::postal;
use crate::secrets::{key_within, password_within};
use crate::sink::Sink;
use crate::topic::Topic;

/// Longer names and titles are read up to here.
const NAME_BYTES_MAX: usize = 200;

/// Words for people: `assignee.displayName`, `customer_name`.
const ROLES: &[&str] = &[
    "agent",
    "applicant",
    "approver",
    "assignee",
    "attendee",
    "author",
    "beneficiary",
    "billing",
    "buyer",
    "candidate",
    "cardholder",
    "child",
    "client",
    "committer",
    "contact",
    "creator",
    "customer",
    "doctor",
    "driver",
    "employee",
    "father",
    "from",
    "guest",
    "holder",
    "insured",
    "lead",
    "manager",
    "member",
    "mother",
    "owner",
    "parent",
    "participant",
    "passenger",
    "patient",
    "payee",
    "payer",
    "person",
    "profile",
    "recipient",
    "reporter",
    "requester",
    "resident",
    "reviewer",
    "seller",
    "sender",
    "shipping",
    "spouse",
    "student",
    "submitter",
    "supervisor",
    "teacher",
    "tenant",
    "to",
    "traveler",
    "user",
    "by",
];

/// Words that make a name a person's.
const QUALIFIERS: &[&str] =
    &["first", "last", "full", "given", "family", "middle", "maiden", "legal", "preferred", "birth"];

/// Names of fields that are a person's name in one word.
const NAMES: &[&str] = &[
    "surname",
    "forename",
    "firstname",
    "lastname",
    "fullname",
    "vorname",
    "nachname",
    "apellido",
    "apellidos",
    "realname",
];

/// What a field's value may be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Field {
    pub topics: Topics,
    name: Name,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Name {
    #[default]
    No,
    /// A person's name, however it is written.
    Certain,
    /// A person's name if it looks like one.
    Likely,
    /// A person, if the value looks like a whole name.
    Role,
}

impl Field {
    /// By its key, the key above it, and what a schema or its neighbor calls it.
    pub fn of(key: &str, parent: Option<&str>, title: Option<&str>) -> Self {
        let mut topics = Topics::default();
        add_topics(&mut topics, key);
        if let Some(title) = title {
            add_topics(&mut topics, title);
        }
        if let Some(parent) = parent
            && topics.is_empty()
        {
            add_topics(&mut topics, parent);
        }
        let own = name(key, parent);
        let titled = title.map_or(Name::No, |title| name(title, parent));
        Self { topics, name: if own == Name::No { titled } else { own } }
    }

    /// The same in an object that is about a person: a name of two words or more is theirs.
    pub fn of_person(self) -> Self {
        match self.name {
            Name::No => Self { name: Name::Role, ..self },
            Name::Certain | Name::Likely | Name::Role => self,
        }
    }

    /// Adds what a value is because of its field.
    pub fn find(self, value: &str, sink: &mut Sink<'_>) {
        let start = value.len() - value.trim_start().len();
        let trimmed = value.trim();
        let whole = start..start + trimmed.len();
        if trimmed.is_empty() || trimmed.len() > 256 {
            return;
        }
        if self.topics.has(Topic::Birth)
            && let Some(span) = documents::date(value, start)
        {
            sink.add(Kind::DateOfBirth, span, 92, "field-date-of-birth");
        }
        if self.topics.has(Topic::Passport) && is_code(trimmed, 6) {
            sink.add(Kind::Passport, whole.clone(), 88, "field-passport");
        }
        if self.topics.has(Topic::License) && is_code(trimmed, 5) {
            sink.add(Kind::DrivingLicense, whole.clone(), 86, "field-driving-license");
        }
        if self.topics.has(Topic::Account) && is_digits(trimmed) {
            sink.add(Kind::BankAccount, whole.clone(), 84, "field-bank-account");
        }
        let is_place = self.topics.has(Topic::Address) || self.topics.has(Topic::Street);
        if is_place && postal::within(trimmed) {
            sink.add(Kind::PostalAddress, whole.clone(), 84, "field-address");
        }
        if self.topics.has(Topic::Password)
            && !trimmed.contains(' ')
            && let Some(confidence) = password_within(trimmed, true)
        {
            sink.add(Kind::Secret, whole.clone(), confidence, "field-password");
        }
        if self.topics.has(Topic::Key)
            && let Some(confidence) = key_within(trimmed)
        {
            sink.add(Kind::Secret, whole.clone(), confidence, "field-secret");
        }
        if let Some(confidence) = self.name.confidence(trimmed) {
            sink.add(Kind::PersonName, whole, confidence, "field-name");
        }
    }
}

impl Name {
    fn confidence(self, value: &str) -> Option<u8> {
        // `Doe, Jane`
        let parts: Vec<&str> = value.splitn(2, ", ").collect();
        let read: Option<Vec<usize>> = parts
            .iter()
            .map(|part| {
                people::name(part, 0).filter(|(span, _)| span.end == part.len()).map(|(_, words)| words)
            })
            .collect();
        let words: usize = read.map_or(0, |words| words.into_iter().sum());
        let is_plain = value.len() < 60
            && value.split(' ').count() < 5
            && value.chars().all(|letter| letter.is_alphabetic() || " .'’-,".contains(letter));
        match self {
            Self::No => None,
            Self::Certain if is_plain => Some(if words > 0 { 90 } else { 70 }),
            Self::Likely if words > 0 => Some(if words > 1 { 82 } else { 68 }),
            Self::Role if words > 1 => Some(72),
            Self::Certain | Self::Likely | Self::Role => None,
        }
    }
}

fn add_topics(topics: &mut Topics, text: &str) {
    let text = text.get(..crate::bytes::boundary_before(text, NAME_BYTES_MAX)).unwrap_or_default();
    keywords::each(text, |keyword| topics.insert(keyword.topic));
}

fn name(key: &str, parent: Option<&str>) -> Name {
    let own = words(key);
    let is_role = |word: &String| {
        let word = word.strip_suffix('s').unwrap_or(word);
        ROLES.contains(&word)
    };
    let is_below_role = || parent.is_some_and(|parent| words(parent).last().is_some_and(is_role));
    let Some((last, before)) = own.split_last() else { return Name::No };
    match (last.as_str(), before.last()) {
        (last, _) if NAMES.contains(&last) => Name::Certain,
        ("name", Some(word)) if QUALIFIERS.contains(&word.as_str()) => Name::Certain,
        ("name", Some(word)) if is_role(word) && word != "user" => Name::Likely,
        ("name", Some(word)) if word == "display" && is_below_role() => Name::Likely,
        ("name", None) if is_below_role() => Name::Likely,
        (_, _) if is_role(last) => Name::Role,
        _ => Name::No,
    }
}

/// `customerName`, `customer_name` and `Customer name` as small words.
fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut was_small = false;
    let mut is_open = false;
    for letter in key.chars().take(NAME_BYTES_MAX) {
        if !letter.is_alphanumeric() {
            is_open = false;
            continue;
        }
        if !is_open || was_small && letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
        is_open = true;
    }
    words
}

fn is_code(value: &str, least: usize) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'-'));
    digits > 2 && is_plain && (least..=24).contains(&value.len())
}

fn is_digits(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    (6..=17).contains(&digits)
        && value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}
