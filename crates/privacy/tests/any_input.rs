//! Whatever comes: no panic, spans on characters, in order, without overlaps.

use gristmill_privacy::{Detector, Settings};

const SEEDS: &[&str] = &[
    "Dear Ánna,\ncall +44 20 7946 0958 or (212) 555-0123.\nBest regards,\nJosé Álvarez\n",
    "ssn 536-22-1234 card 4111 1111 1111 1111 iban GB82 WEST 1234 5698 7654 32",
    "{\"password\": \"hunter2-Blue\", \"dob\": \"1985-07-30\", \"ip\": \"84.23.11.9\"}",
    "https://u:p4ss@h.example/?q=ann%40example.com 2a02:8108:50bf:c694::1 3c:22:fb:4e:1a:9d",
    "身份证号11010519491231002X 电话+8613812345678。 bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
    "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----",
    "221 Baker Street, London; address: Straße 5, 10115 Berlin; passport no C01X00T47",
    "dXNlcjogYW5uQGV4YW1wbGUuY29tLCBvaw== AB 12 34 56 C 131052-308T A123456(3)",
];

const PIECES: &[&str] = &[
    "@",
    "%",
    "%4",
    "%40",
    ":",
    "::",
    "://",
    "-",
    "--",
    "-----BEGIN ",
    "-----",
    ".",
    "..",
    "/",
    "+",
    "(",
    ")",
    " ",
    "\n",
    "\u{a0}",
    "é",
    "身",
    "🙂",
    "\0",
    "eyJ",
    "sk-",
    "0x",
    "1",
    "12",
    "999",
    "AB",
    "f",
    "z",
    "\"",
    "'",
    "=",
    "is ",
    "dob ",
    "mr ",
    "Mr. ",
    "street",
    "St",
    "address:",
    "token=",
    "\u{301}",
    "&#64;",
    "&",
    "\u{ff20}",
    "\u{200b}",
    ".0",
];

/// A small generator: the same inputs in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

fn mutated(random: &mut Random) -> String {
    let mut letters: Vec<char> = SEEDS[random.below(SEEDS.len())].chars().collect();
    for _ in 0..1 + random.below(12) {
        let at = random.below(letters.len() + 1);
        match random.below(4) {
            0 if at < letters.len() => {
                letters.remove(at);
            }
            1 => {
                let piece: Vec<char> = PIECES[random.below(PIECES.len())].chars().collect();
                letters.splice(at..at, piece);
            }
            2 => letters.truncate(at),
            _ => {
                let other: Vec<char> = SEEDS[random.below(SEEDS.len())].chars().collect();
                let from = random.below(other.len());
                let until = (from + random.below(20)).min(other.len());
                letters.splice(at..at, other[from..until].to_vec());
            }
        }
    }
    letters.into_iter().collect()
}

#[test]
fn any_input_is_read_without_a_panic_and_spans_are_sound() {
    let detector = Detector::new(&Settings { confidence_min: 1, ..Settings::default() }).expect("they work");
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..30_000 {
        let text = mutated(&mut random);
        let mut last = 0;
        for found in detector.scan(&text) {
            assert!(found.span.start >= last && found.span.end > found.span.start, "{text:?} {found:?}");
            assert!(text.get(found.span.clone()).is_some(), "{text:?} {found:?}");
            last = found.span.end;
        }
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
            detector.scan_json(&value, &gristmill_privacy::Origin::default());
        }
    }
}

#[test]
fn pieces_alone_and_repeated_are_read_without_a_panic() {
    let detector = Detector::new(&Settings { confidence_min: 1, ..Settings::default() }).expect("they work");
    for first in PIECES {
        for second in PIECES {
            detector.scan(&format!("{first}{second}"));
            detector.scan(&format!("{first}{second}").repeat(40));
        }
    }
}
