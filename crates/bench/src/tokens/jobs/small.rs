//! A few calls with small answers, with the six example servers connected.

use serde_json::json;

use super::EXAMPLES;
use crate::tokens::direct::{items, text};
use crate::tokens::job::{Group, Job, find_in};

pub fn jobs() -> Vec<Job> {
    vec![
        weather_now_job(),
        marathon_job(),
        won_leads_job(),
        tickets_by_status_job(),
        note_on_lead_job(),
        plan_and_ideas_job(),
    ]
}

fn weather_now_job() -> Job {
    Job {
        name: "weather-now",
        group: Group::Small,
        task: "What is the weather like in Oslo right now?",
        servers: EXAMPLES,
        queries: vec![find_in("weather", "weather right now")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/weather-now.py"),
        direct: |direct| direct.call("weather", "current", json!({"city": "Oslo"})),
        closing: |now| {
            format!(
                "In Oslo it is {}, {} °C, with wind of {} km/h.",
                text(&now["condition"]),
                now["temp_c"],
                now["wind_kmh"]
            )
        },
    }
}

fn marathon_job() -> Job {
    Job {
        name: "marathon",
        group: Group::Small,
        task: "How long is a marathon of 26.2188 miles in kilometres?",
        servers: EXAMPLES,
        queries: vec![find_in("calculator", "convert units")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/marathon.py"),
        direct: |direct| {
            direct.call("calculator", "convert_units", json!({"value": 26.2188, "from": "mile", "to": "km"}))
        },
        closing: |length| format!("A marathon has {} kilometres.", length["value"]),
    }
}

fn won_leads_job() -> Job {
    Job {
        name: "won-leads",
        group: Group::Small,
        task: "Name the first five won leads of Petra Novak with their companies.",
        servers: EXAMPLES,
        queries: vec![find_in("crm", "list leads")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/won-leads.py"),
        direct: |direct| {
            let arguments = json!({"status": "won", "owner": "Petra Novak", "page_size": 5});
            direct.call("crm", "list_leads", arguments)
        },
        closing: |leads| {
            let named =
                |lead: &serde_json::Value| format!("{} ({})", text(&lead["name"]), text(&lead["company"]));
            format!(
                "These are the first five: {}.",
                items(&leads["records"]).iter().map(named).collect::<Vec<_>>().join(", ")
            )
        },
    }
}

fn tickets_by_status_job() -> Job {
    Job {
        name: "tickets-by-status",
        group: Group::Small,
        task: "How many tickets of each status are in the table tickets of the database?",
        servers: EXAMPLES,
        queries: vec![find_in("database", "query with SQL")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/tickets-by-status.py"),
        direct: |direct| {
            let sql = "SELECT status, count(*) AS tickets FROM tickets GROUP BY status ORDER BY status";
            direct.call("database", "query", json!({"sql": sql}))
        },
        closing: |answer| {
            let row = |row: &serde_json::Value| format!("{} {}", row["tickets"], text(&row["status"]));
            format!(
                "There are {} tickets.",
                items(&answer["rows"]).iter().map(row).collect::<Vec<_>>().join(", ")
            )
        },
    }
}

fn note_on_lead_job() -> Job {
    Job {
        name: "note-on-lead",
        group: Group::Small,
        task: "Note on the lead Amara Castellan in the CRM that she called back and wants an offer by Friday.",
        servers: EXAMPLES,
        queries: vec![find_in("crm", "search records by name"), find_in("crm", "add a note")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/note-on-lead.py"),
        direct: |direct| {
            let found =
                direct.call("crm", "search_records", json!({"type": "lead", "query": "Amara Castellan"}))?;
            let id = found["records"][0]["id"].clone();
            let note = "Called back; wants an offer by Friday.";
            let added = direct.call("crm", "add_note", json!({"record_id": id, "text": note}))?;
            Ok(added["record_id"].clone())
        },
        closing: |lead| format!("The note is on {}.", text(lead)),
    }
}

fn plan_and_ideas_job() -> Job {
    Job {
        name: "plan-and-ideas",
        group: Group::Small,
        task: "What do the files plan.md and ideas.md say in the first place?",
        servers: EXAMPLES,
        queries: vec![find_in("filesystem", "search files by name"), find_in("filesystem", "read a file")],
        definitions: &[],
        first_look: None,
        program: include_str!("../programs/plan-and-ideas.py"),
        direct: |direct| {
            let find = |name: &str| ("filesystem", "search_files", json!({"pattern": name}));
            let found = direct.calls(vec![find("plan.md"), find("ideas.md")])?;
            let read = |found: &serde_json::Value| {
                ("filesystem", "read_file", json!({"path": found["matches"][0]["path"], "limit": 5}))
            };
            let files = direct.calls(found.iter().map(read).collect())?;
            Ok(files.iter().map(|file| file["text"].clone()).collect())
        },
        closing: |texts| {
            let first = |file: &serde_json::Value| {
                let mut lines = text(file).lines();
                lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default().to_owned()
            };
            format!("They begin with: {}.", items(texts).iter().map(first).collect::<Vec<_>>().join("; "))
        },
    }
}
