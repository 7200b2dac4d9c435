//! Ten tools and one call: the job for which nobody needs a gateway.

use serde_json::json;

use crate::tokens::direct::text;
use crate::tokens::job::{Group, Job, find, find_in};

const TEN_TOOLS: &[&str] = &["calculator", "crm"];

pub fn jobs() -> Vec<Job> {
    vec![
        Job {
            name: "control-contact",
            group: Group::Control,
            task: "What are the mail address and the phone number of contact CON-0017 in the CRM?",
            servers: TEN_TOOLS,
            queries: vec![find_in("crm", "get one record")],
            definitions: &[],
            first_look: None,
            program: include_str!("../programs/control-contact.py"),
            direct: |direct| direct.call("crm", "get_record", json!({"type": "contact", "id": "CON-0017"})),
            closing: |contact| {
                format!(
                    "{} can be reached at {} and {}.",
                    text(&contact["name"]),
                    text(&contact["email"]),
                    text(&contact["phone"])
                )
            },
        },
        Job {
            name: "control-sum",
            group: Group::Control,
            task: "How much is 17.5 % of 2,348.60, added to the amount itself? Use the calculator.",
            servers: TEN_TOOLS,
            queries: vec![find("evaluate an expression")],
            definitions: &[],
            first_look: None,
            program: include_str!("../programs/control-sum.py"),
            direct: |direct| direct.call("calculator", "evaluate", json!({"expression": "2348.60 * 1.175"})),
            closing: |sum| format!("Together it is {}.", sum["value"]),
        },
    ]
}
