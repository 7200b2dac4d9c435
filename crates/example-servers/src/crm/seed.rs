//! The records at the start.

use serde_json::json;

use super::fields::{Kind, LEAD_STATUSES};
use super::records::Records;
use crate::{calendar, companies, documents, noise};

const CONTACTS: u64 = 1_200;
const LEADS: u64 = 900;
const MEETINGS: u64 = 60;

const OWNERS: [&str; 6] =
    ["Ines Falk", "Omar Reyes", "Petra Novak", "Sven Hofer", "Tara Joshi", "Will Garnier"];
const CITIES: [&str; 10] =
    ["Lisbon", "Ghent", "Turin", "Graz", "Leeds", "Bergen", "Lyon", "Porto", "Aarhus", "Cork"];
const INDUSTRIES: [&str; 6] = ["retail", "wholesale", "manufacturing", "crafts", "online trade", "logistics"];
const JOBS: [&str; 8] = [
    "Head of Operations",
    "Buyer",
    "Finance Manager",
    "Warehouse Manager",
    "IT Manager",
    "Managing Director",
    "Store Manager",
    "Office Manager",
];
const SOURCES: [&str; 5] = ["website", "trade fair", "referral", "newsletter", "phone call"];
const MEETINGS_ABOUT: [&str; 6] = [
    "Quarterly review with",
    "Onboarding of",
    "Price talks with",
    "Visit to",
    "Demo for",
    "Contract renewal of",
];

pub fn records() -> Records {
    let mut records = Records::default();
    add_accounts(&mut records);
    add_contacts(&mut records);
    add_leads(&mut records);
    add_meetings(&mut records);
    add_planning_meeting(&mut records);
    records
}

fn add_accounts(records: &mut Records) {
    for n in 1..=companies::COMPANIES {
        let tier = noise::pick(["bronze", "bronze", "bronze", "silver", "silver", "gold"], 91, n, 0);
        records.seed(
            Kind::Account,
            n,
            json!({
                "name": companies::company_name(n),
                "industry": noise::pick(INDUSTRIES, 91, n, 1),
                "city": noise::pick(CITIES, 91, n, 2),
                "tier": tier,
                "employees": 5 + noise::below(91, n, 3, 1_200),
                "owner": noise::pick(OWNERS, 91, n, 4),
            }),
        );
        let called =
            calendar::time_of(calendar::this_morning() - noise::below(91, n, 5, 200).cast_signed() * 86_400);
        records.seed_activity(
            &companies::account_id(n),
            "call",
            &called,
            "Called to ask how things are going.",
        );
    }
}

fn add_contacts(records: &mut Records) {
    for n in 1..=CONTACTS {
        let name = companies::person(92, n);
        records.seed(
            Kind::Contact,
            n,
            json!({
                "email": companies::email(&name, n),
                "name": name,
                "phone": companies::phone(92, n),
                "job_title": noise::pick(JOBS, 92, n, 5),
                "account_id": companies::account_id(1 + (n - 1) % companies::COMPANIES),
            }),
        );
    }
}

fn add_leads(records: &mut Records) {
    for n in 1..=LEADS {
        let name = companies::person(93, n);
        let created = calendar::date_of(calendar::today() - noise::below(93, n, 5, 500).cast_signed());
        records.seed(
            Kind::Lead,
            n,
            json!({
                "email": companies::email(&name, n),
                "name": name,
                "company": companies::company_name(1 + noise::below(93, n, 6, companies::COMPANIES)),
                "phone": companies::phone(93, n),
                "status": noise::pick(LEAD_STATUSES, 93, n, 7),
                "source": noise::pick(SOURCES, 93, n, 8),
                "value_cents": 50_000 + 1_000 * noise::below(93, n, 9, 5_000),
                "owner": noise::pick(OWNERS, 93, n, 10),
                "created_on": created,
            }),
        );
    }
}

fn add_meetings(records: &mut Records) {
    for n in 1..=MEETINGS {
        let company = 1 + noise::below(94, n, 0, companies::COMPANIES);
        let about = noise::pick(MEETINGS_ABOUT, 94, n, 1);
        let held = calendar::today() - 90 + n.cast_signed() * 3;
        records.seed(
            Kind::Meeting,
            n,
            json!({
                "name": format!("{about} {}", companies::company_name(company)),
                "held_on": calendar::date_of(held),
                "status": if held <= calendar::today() { "held" } else { "planned" },
                "attendees": format!("{}, {}", noise::pick(OWNERS, 94, n, 2), companies::person(94, n)),
                "account_id": companies::account_id(company),
                "document_id": "",
                "notes": "",
            }),
        );
    }
}

/// The one whose transcript the demo attaches.
fn add_planning_meeting(records: &mut Records) {
    records.seed(
        Kind::Meeting,
        42,
        json!({
            "name": documents::TRANSCRIPT_TITLE,
            "held_on": documents::TRANSCRIPT_DATE,
            "status": "planned",
            "attendees": documents::transcript_speakers(),
            "account_id": "",
            "document_id": documents::TRANSCRIPT_ID,
            "notes": "",
        }),
    );
}
