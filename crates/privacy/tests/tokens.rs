//! Tokens: written, found again in any text, and never taken for personal data.

use std::time::{Duration, Instant};

use gristmill_privacy::{Code, Detector, Form, FoundToken, Kind, Settings, find_tokens, mint, placeholder};

const FORMS: [Form; 3] = [Form::Plain, Form::Email, Form::Phone];

/// What may stand around tokens, also what looks like the beginning of one.
const AROUND: &[&str] = &[
    "",
    " ",
    "[",
    "]",
    "[[",
    "[EMAIL_",
    "[EMAIL",
    "_",
    "email-",
    "email",
    "+999",
    "+",
    "@",
    "é",
    "身份证号",
    "🙂",
    "x",
    "Dear ",
    "phone: ",
    "password=",
    "\"",
    ",",
    "ssn ",
    "mailto:",
    "name: ",
    "passport no ",
    "token.invalid",
    "dob ",
    " 221 Baker Street, ",
    "\n",
];

/// A small generator: the same inputs in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn of<T: Clone>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.next() % all.len() as u64).unwrap()].clone()
    }

    fn code(&mut self) -> Code {
        let mut mac = [0; 32];
        for byte in &mut mac {
            *byte = (self.next() >> 24) as u8;
        }
        Code::of_mac(&mac)
    }

    fn kind(&mut self) -> Kind {
        match self.next() % 4 {
            0 => Kind::named("Employee id."),
            1 => Kind::named("2fa"),
            _ => self.of(&Kind::ALL),
        }
    }
}

fn detector() -> Detector {
    Detector::new(&Settings { confidence_min: 1, ..Settings::default() }).expect("they work")
}

fn read(kind: &Kind, code: Code, form: Form) -> FoundToken {
    let label = (form == Form::Plain).then(|| kind.label().into_owned());
    FoundToken { form, label, code }
}

#[test]
fn a_token_has_the_form_that_is_asked_for() {
    let code = Code::of_number(123_456_789_012).unwrap();
    let minted = FORMS.map(|form| mint(&Kind::Email, code, form));
    assert_eq!(minted, ["[EMAIL_du9jugsw]", "email-du9jugsw@token.invalid", "+999123456789012"]);
    assert_eq!(mint(&Kind::named("employee id"), code, Form::Plain), "[EMPLOYEE_ID_du9jugsw]");
    for (form, text) in FORMS.iter().zip(&minted) {
        assert_eq!(FoundToken::read(text), Some(read(&Kind::Email, code, *form)));
        assert_eq!(FoundToken::read(&format!("{text} ")), None);
        assert_eq!(FoundToken::read(&format!(" {text}")), None);
    }
}

#[test]
fn a_token_is_found_in_any_text_around_it() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..50_000 {
        let (kind, code, form) = (random.kind(), random.code(), random.of(&FORMS));
        let (before, after) = (random.of(AROUND), random.of(AROUND));
        let token = mint(&kind, code, form);
        let text = format!("{before}{token}{after}");
        let expected = vec![(before.len()..before.len() + token.len(), read(&kind, code, form))];
        assert_eq!(find_tokens(&text), expected, "{text}");
        assert!(expected[0].1.fits(&kind));
    }
}

#[test]
fn what_only_looks_like_a_token_is_none() {
    for text in [
        "[EMAIL]",
        "[EMAIL_]",
        "[EMAIL_k3v9q2a]",
        "[EMAIL_k3v9q2abc]",
        "[EMAIL_K3V9Q2AB]",
        "[email_k3v9q2ab]",
        "[EMAIL_k3v9q2al]",
        "[EMAIL_k3v9q2a0]",
        "[EMAIL_99999999]",
        "[_k3v9q2ab]",
        "[9_k3v9q2ab]",
        "[EMAIL k3v9q2ab]",
        "[EMAIL_k3v9q2ab",
        "EMAIL_k3v9q2ab]",
        "[A_LABEL_THAT_IS_LONGER_THAN_ANY_OF_OURS_k3v9q2ab]",
        "email-k3v9q2ab@token.invali",
        "email_k3v9q2ab@token.invalid",
        "email-k3v9q2a@token.invalid",
        "+99912345678901",
        "+9991234567890123",
        "+999 123456789012",
        "999123456789012",
    ] {
        assert_eq!(find_tokens(text), [], "{text}");
    }
    let token = FoundToken::read("[EMAIL_k3v9q2ab]").unwrap();
    assert!(token.fits(&Kind::Email) && !token.fits(&Kind::Phone));
}

#[test]
fn the_detector_never_reports_a_token_or_a_part_of_one() {
    let detector = detector();
    let mut random = Random(0x1234_5678_9ABC_DEF1);
    for _ in 0..20_000 {
        let mut text = String::new();
        let mut tokens = Vec::new();
        for _ in 0..1 + random.next() % 4 {
            text.push_str(random.of(AROUND));
            let token = mint(&random.kind(), random.code(), random.of(&FORMS));
            tokens.push(text.len()..text.len() + token.len());
            text.push_str(&token);
        }
        text.push_str(random.of(AROUND));
        for found in detector.scan(&text) {
            let is_apart =
                tokens.iter().all(|token| found.span.end <= token.start || token.end <= found.span.start);
            assert!(is_apart, "{text:?} {found:?}");
        }
    }
}

#[test]
fn the_label_of_a_token_says_nothing_about_what_follows() {
    let detector = Detector::new(&Settings::default()).expect("they work");
    for text in [
        "[PHONE_k3v9q2ab] 2125550123",
        "[SSN_k3v9q2ab] 536221234",
        "[PASSPORT_k3v9q2ab] C01X00T47",
        "[SECRET_k3v9q2ab]: hunter2-Blue",
        "[DATE_OF_BIRTH_k3v9q2ab] 1985-07-30",
        "[PERSON_NAME_k3v9q2ab]: Open Items",
        "email-k3v9q2ab@token.invalid: hunter2-Blue",
    ] {
        assert_eq!(detector.scan(text), [], "{text}");
    }
    for text in ["phone 2125550123", "password: hunter2-Blue"] {
        assert_eq!(detector.scan(text).len(), 1, "{text}");
    }
}

#[test]
fn tokens_in_encoded_text_are_no_findings() {
    let detector = detector();
    // `to: email-k3v9q2ab@token.invalid, thanks`
    let encoded = "dG86IGVtYWlsLWszdjlxMmFiQHRva2VuLmludmFsaWQsIHRoYW5rcw==";
    assert_eq!(detector.scan(encoded), []);
    assert_eq!(detector.scan("?to=email-k3v9q2ab%40token.invalid"), []);
    assert_eq!(detector.scan("?to=ann%40example.com").len(), 1);
}

#[test]
fn a_token_beside_a_value_does_not_hide_the_value_from_the_detector() {
    let detector = detector();
    for (text, value) in [
        ("password=hunter2-Blue[EMAIL_k3v9q2ab]", "hunter2-Blue"),
        ("[EMAIL_k3v9q2ab]ann@example.com", "ann@example.com"),
        ("ann@example.com[EMAIL_k3v9q2ab]", "ann@example.com"),
    ] {
        let found = detector.scan(text);
        assert!(found.iter().any(|found| &text[found.span.clone()] == value), "{text} {found:?}");
    }
    assert_eq!(detector.scan(&format!("password={}", placeholder(&Kind::Secret))), []);
}

fn hidden(detector: &Detector, text: &str, random: &mut Random) -> String {
    let mut hidden = String::new();
    let mut from = 0;
    for found in detector.scan(text) {
        hidden.push_str(&text[from..found.span.start]);
        hidden.push_str(&mint(&found.kind, random.code(), Form::Plain));
        from = found.span.end;
    }
    hidden + &text[from..]
}

#[test]
fn hiding_twice_is_hiding_once() {
    const VALUES: &[&str] = &[
        "ann@example.com",
        "+44 20 7946 0958",
        "(212) 555-0123",
        "536-22-1234",
        "4111 1111 1111 1111",
        "GB82 WEST 1234 5698 7654 32",
        "hunter2-Blue",
        "1985-07-30",
        "84.23.11.9",
        "2a02:8108:50bf:c694::1",
        "https://u:p4ss@h.example/?q=ann%40example.com",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq",
        "Dr. Jane Doe",
        "Best regards,\nJosé Álvarez\n",
        "221 Baker Street, London",
        "C01X00T47",
        "dXNlcjogYW5uQGV4YW1wbGUuY29tLCBvaw==",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    ];
    let detector = Detector::new(&Settings::default()).expect("they work");
    let mut random = Random(0xDEAD_BEEF_1234_5677);
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..1 + random.next() % 5 {
            text.push_str(random.of(AROUND));
            text.push_str(random.of(VALUES));
            text.push_str(random.of(&[", ", "\n", "; ", "\", \""]));
        }
        // Of two findings that overlap one is told at a time: whoever hides looks again until nothing is found.
        let once = (0..3).fold(text.clone(), |text, _| hidden(&detector, &text, &mut random));
        assert_eq!(detector.scan(&once), [], "{text:?}\n{once:?}");
    }
}

#[test]
fn time_grows_with_the_length_of_the_text_only() {
    let detector = Detector::new(&Settings::default()).expect("they work");
    for piece in ["[", "[EMAIL_", "[EMAIL_k3v9q2a", "email-k3v9q2ab@", "+999", "[EMAIL_k3v9q2ab]", "_"] {
        let text = piece.repeat(10_000_000 / piece.len());
        let started = Instant::now();
        find_tokens(&text);
        detector.scan(&text);
        // A tenth of this would do; what is quadratic takes hours.
        assert!(started.elapsed() < Duration::from_secs(30), "{piece} {:?}", started.elapsed());
    }
}
