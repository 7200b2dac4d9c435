//! How fast text is scanned, and that the time grows with its length and nothing else:
//! `cargo bench -p gristmill-privacy --bench speed`, with `-- ordinary` for the first two alone. Made without a framework: a median of a few runs is enough here.

use std::hint::black_box;
use std::time::Instant;

use gristmill_privacy::{Detector, Settings};

const MEGABYTE: usize = 1_000_000;

/// What tools answer: prose, records, logs and code, without anything that is found.
const ORDINARY: &str = r#"The quarterly report was uploaded on 2024-03-14 and approved after two reviews; see the
section about delivery times for what changed since version 4.2.1 of the handbook.
{"id": 48213, "status": "open", "title": "Export fails for large tables", "labels": ["bug", "export"],
 "created_at": "2024-03-14T09:26:53Z", "comments": 12, "milestone": {"number": 7, "state": "open"}}
2024-03-14T09:26:53.589Z INFO worker[2231]: finished batch 1182 in 341 ms, 20480 rows, 0 errors
fn main() -> Result<(), Error> { let table = read("data/sales.csv")?; println!("{}", table.rows()); Ok(()) }
commit 3f2c9a7e1b5d8046c7a9e2f4b6d81035ca7e9f12 - tests: cover tables with more than 4096 columns
src/analysis/readers/csv.rs:118: the header has 12 columns, line 40417 has 13; order 7741902 was left out
"#;

const HIT: &str = "Please write to ann.lee@example.com about it.\n";

const HITS: [&str; 8] = [
    HIT,
    "You can call +44 20 7946 0958 until five.\n",
    "The card 4111 1111 1111 1111 was declined.\n",
    "Transfer it to GB82 WEST 1234 5698 7654 32 today.\n",
    "SSN: 536-22-1234 was on the form.\n",
    "Seen from 84.23.11.9 at night.\n",
    "Dear Anna,\nthank you for the letter.\n",
    "password = \"tr0ub4dor-3\"\n",
];

fn main() {
    let settings = Settings::default();
    let detector = timed("a detector", || Detector::new(&settings)).expect("the default settings work");
    timed("first scan", || detector.scan("Dear Anna, write to ann.lee@example.com"));
    timed("first phone number, with the numbering plans loaded", || detector.scan("or +44 20 7946 0958"));
    timed("first phone number without a country code", || detector.scan("or 212-555-0123"));

    let ordinary = repeated(ORDINARY, 20 * MEGABYTE);
    report(&detector, "text without hits", &ordinary);
    report(&detector, "one hit for each kilobyte", &with_hits(16 * MEGABYTE));

    if std::env::args().any(|argument| argument == "ordinary") {
        return;
    }
    println!(
        "\nall times are of this thread alone (CPU time)\nhostile inputs: 5 MB, 10 MB, and how many times as long the second takes"
    );
    for (name, piece) in [
        ("@", "@"),
        ("digits", "7"),
        ("one long word", "a"),
        ("a.a.a.", "a."),
        ("a@a@a@", "a@"),
        ("a@a.a@a.", "a@a."),
        ("short numbers", "12 34 56 "),
        ("numbers after words", "tel 12 34 56 "),
        ("cards", "4111 1111 1111 1111 "),
        ("phones", "+44 20 7946 0958 "),
        ("unassigned phones", "+999 123 456 789 "),
        ("percent", "%41"),
        ("base64", "YW5uQGV4YW1wbGUuY29tIGFu"),
        ("colons", "a:b:"),
        ("hex and hyphens", "ab-12-"),
        ("keywords", "password token dob "),
        ("eyJ.eyJ.", "eyJhbGciOiJIUzI1NiJ9."),
        ("-----BEGIN", "-----BEGIN PRIVATE KEY-----\n"),
        ("Mr. A", "Mr. A "),
        ("1 A Street", "1 A Street "),
        ("IBAN heads", "GB82 "),
        ("long UTF-8", "身"),
    ] {
        let half = time_once(&detector, &repeated(piece, 5 * MEGABYTE));
        let whole = time_once(&detector, &repeated(piece, 10 * MEGABYTE));
        println!(
            "  {name:<20} {:>9.1} ms {:>9.1} ms   x{:.1}   {:>6.0} MB/s",
            half * 1e3,
            whole * 1e3,
            whole / half,
            10.0 / whole
        );
    }
}

fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let made = black_box(work());
    println!("{name}: {:.2} ms", started.elapsed().as_secs_f64() * 1e3);
    made
}

fn repeated(piece: &str, bytes: usize) -> String {
    piece.repeat(bytes / piece.len() + 1)
}

fn with_hits(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 2_000);
    let mut hits = HITS.iter().cycle();
    let filler = &ORDINARY.repeat(2)[..1_000];
    while text.len() < bytes {
        text.push_str(filler);
        text.push('\n');
        text.push_str(hits.next().copied().unwrap_or(HIT));
    }
    text
}

fn report(detector: &Detector, name: &str, text: &str) {
    let found = detector.scan(text);
    let mut rules: Vec<&str> = found.iter().map(|found| found.rule).collect();
    let count = rules.len();
    rules.sort_unstable();
    rules.dedup();
    let seconds = time(detector, text);
    println!("{name}: {:.0} MB/s, {count} findings {rules:?}", text.len() as f64 / 1e6 / seconds);
}

/// The shortest of three runs, in seconds.
fn time(detector: &Detector, text: &str) -> f64 {
    (0..3).map(|_| time_once(detector, text)).fold(f64::MAX, f64::min)
}

fn time_once(detector: &Detector, text: &str) -> f64 {
    let started = cpu_seconds();
    black_box(detector.scan(black_box(text)));
    cpu_seconds() - started
}

/// How long this thread has run. Others share the machine, and waiting for them says nothing about us.
fn cpu_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = spent.and_then(|spent| spent.split(' ').next()?.parse::<u64>().ok());
    match nanoseconds {
        Some(nanoseconds) => nanoseconds as f64 / 1e9,
        None => std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |passed| passed.as_secs_f64()),
    }
}
