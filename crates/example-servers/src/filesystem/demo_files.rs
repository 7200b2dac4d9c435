//! The tree in memory: a small project with notes, figures and a log.

use crate::{calendar, noise};

/// Path and text, in no order.
pub fn demo_files() -> Vec<(&'static str, String)> {
    vec![
        ("README.md", README.to_owned()),
        ("config/settings.json", "{\n  \"region\": \"eu-west\",\n  \"retries\": 3,\n  \"log_level\": \"info\"\n}\n".to_owned()),
        ("data/sales.csv", sales()),
        ("logs/app.log", log()),
        ("notes/ideas.md", "# Ideas\n\n- Weekly figures by mail\n- A darker theme for the warehouse screens\n- Import from spreadsheets\n".to_owned()),
        ("notes/plan.md", "# Plan\n\n1. Count the stock twice\n2. Move the old orders into the archive\n3. Tell the shops a week ahead\n".to_owned()),
        ("notes/2026/june.md", "# June\n\nThe new scanner works in two of three halls. The third has no network by the gate.\n".to_owned()),
        ("src/main.py", "from report import build\n\nif __name__ == \"__main__\":\n    print(build(\"data/sales.csv\"))\n".to_owned()),
        ("src/report.py", REPORT.to_owned()),
    ]
}

const README: &str = "# Warehouse report\n\nReads data/sales.csv and prints what each region sold. Notes are in notes/, \
what happened on the server is in logs/.\n";

const REPORT: &str = "import csv\nfrom collections import defaultdict\n\n\ndef build(path):\n    totals = defaultdict(int)\n    \
with open(path) as rows:\n        for row in csv.DictReader(rows):\n            totals[row[\"region\"]] += int(row[\"cents\"])\n    \
return dict(totals)\n";

fn sales() -> String {
    let mut text = String::from("date,region,product,quantity,cents\n");
    for n in 0..730u64 {
        let date = calendar::date_of(calendar::today() - 365 + n.cast_signed() / 2);
        let region = noise::pick(["north", "south", "east", "west"], 61, n, 0);
        let quantity = 1 + noise::below(61, n, 1, 40);
        let cents = quantity * (250 + noise::below(61, n, 2, 4_000));
        text.push_str(&format!(
            "{date},{region},P-{:03},{quantity},{cents}\n",
            1 + noise::below(61, n, 3, 400)
        ));
    }
    text
}

fn log() -> String {
    let mut text = String::new();
    for n in 0..2_000u64 {
        let time = calendar::time_of(calendar::this_morning() - 2_000 * 45 + n.cast_signed() * 45);
        let request = noise::at(67, n, 0) >> 40;
        let ms = 4 + noise::below(67, n, 1, 240);
        let (level, event) = match noise::below(67, n, 2, 100) {
            0 => ("ERROR", "stock service did not answer within 2000 ms"),
            1..=4 => ("WARN", "retrying after a lost connection"),
            5..=30 => ("INFO", "order saved"),
            31..=60 => ("INFO", "stock level read"),
            _ => ("INFO", "page served"),
        };
        text.push_str(&format!("{time} {level} request={request:06x} ms={ms} {event}\n"));
    }
    text
}
