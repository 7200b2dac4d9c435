//! Every kind, with values from the public specification of its format.

use gristmill_privacy::{Detector, Kind, Settings};

fn detector() -> Detector {
    Detector::new(&Settings::default()).expect("the default settings work")
}

/// A text with one finding: its kind, its words, its rule.
fn check(text: &str, kind: Kind, value: &str, rule: &str) {
    let findings = detector().scan(text);
    let found: Vec<_> =
        findings.iter().map(|found| (found.kind.clone(), &text[found.span.clone()], found.rule)).collect();
    assert_eq!(found, [(kind, value, rule)], "{text}");
}

#[test]
fn email_addresses_are_found_in_every_surrounding() {
    for text in [
        "write to ann.lee+x@mail.example.co.uk.",
        "<ann.lee+x@mail.example.co.uk>",
        "mailto:ann.lee+x@mail.example.co.uk?subject=a",
        "{\"to\":\"ann.lee+x@mail.example.co.uk\"}",
        "'ann.lee+x@mail.example.co.uk'",
        "to=ann.lee+x@mail.example.co.uk&cc=",
        "联系ann.lee+x@mail.example.co.uk,",
    ] {
        let findings = detector().scan(text);
        let found: Vec<_> =
            findings.iter().map(|found| text[found.span.clone()].trim_start_matches("联系")).collect();
        assert_eq!(found, ["ann.lee+x@mail.example.co.uk"], "{text}");
    }
    check("o'neill@post.example.ie", Kind::Email, "o'neill@post.example.ie", "email");
    check("jörg@müller.example.de", Kind::Email, "jörg@müller.example.de", "email");
    for at in ["&#64;", "&#064;", "&#x40;", "&COMMAT;", "＠", "﹫"] {
        let address = format!("ann.lee+x{at}mail.example.com");
        check(&format!("联系: <a>{address}</a> today"), Kind::Email, &address, "email");
    }
    for wrong in ["a &amp; b", "a&#65;b.example.com", "＠ noon", "&#64;example"] {
        assert_eq!(detector().scan(wrong), [], "{wrong}");
    }
}

#[test]
fn phone_numbers_are_found_by_plan_and_by_writing() {
    let international = |text: &str, value: &str| check(text, Kind::Phone, value, "phone-international");
    international("ring +44 20 7946 0958 today", "+44 20 7946 0958");
    international("+44 (0)20 7946 0958", "+44 (0)20 7946 0958");
    international("+12125550123", "+12125550123");
    international("tel:+49-30-901820", "+49-30-901820");
    international("电话+8613812345678。", "+8613812345678");
    let national = |text: &str, value: &str| check(text, Kind::Phone, value, "phone-national");
    national("(212) 555-0123", "(212) 555-0123");
    national("212-555-0123 or", "212-555-0123");
    national("1-212-555-0123", "1-212-555-0123");
    national("020 7946 0958", "020 7946 0958");
    national("Tel. 030/901820", "030/901820");
    national("phone: 2125550123", "2125550123");
    national("mobile 06 12 34 56 78", "06 12 34 56 78");
    check("call me at 123-456-7890", Kind::Phone, "123-456-7890", "phone-unassigned");
}

#[test]
fn social_security_numbers_need_a_form_or_a_word() {
    check("536-22-1234", Kind::Ssn, "536-22-1234", "us-ssn");
    check("SSN 536221234", Kind::Ssn, "536221234", "us-ssn");
    check("my social security number is 536 22 1234", Kind::Ssn, "536 22 1234", "us-ssn");
    check("536221234 (SSN)", Kind::Ssn, "536221234", "us-ssn");
    check("ITIN: 912-70-1234", Kind::NationalId, "912-70-1234", "us-itin");
    for wrong in ["000-12-3456", "666-12-3456", "536-00-1234", "536-22-0000", "078-05-1120"] {
        assert_eq!(detector().scan(wrong), [], "{wrong}");
    }
}

#[test]
fn national_numbers_are_found_by_their_check_digits() {
    let cases = [
        ("NHS number: 943 476 5919", "943 476 5919", "uk-nhs"),
        ("NINO AB123456C", "AB123456C", "uk-nino"),
        ("AB 12 34 56 C", "AB 12 34 56 C", "uk-nino"),
        ("Steuer-ID 86095742719", "86095742719", "de-tax-id"),
        ("2 55 08 14 168 025 38", "2 55 08 14 168 025 38", "fr-nir"),
        ("185052A00608435", "185052A00608435", "fr-nir"),
        ("DNI 12345678Z", "12345678Z", "es-dni"),
        ("12345678-Z", "12345678-Z", "es-dni"),
        ("NIE X1234567L", "X1234567L", "es-nie"),
        ("RSSMRA85T10A562S", "RSSMRA85T10A562S", "it-codice-fiscale"),
        ("BSN: 111222333", "111222333", "nl-bsn"),
        ("85.07.30-033.28", "85.07.30-033.28", "be-national-number"),
        ("PESEL 44051401359", "44051401359", "pl-pesel"),
        ("811228-9874", "811228-9874", "se-personnummer"),
        ("19811228-9874", "19811228-9874", "se-personnummer"),
        ("010190 10046", "010190 10046", "no-fodselsnummer"),
        ("CPR 211062-5629", "211062-5629", "dk-cpr"),
        ("131052-308T", "131052-308T", "fi-hetu"),
        ("SVNR 1237 010180", "1237 010180", "at-svnr"),
        ("756.9217.0769.85", "756.9217.0769.85", "ch-ahv"),
        ("NIF do contribuinte: 123456789", "123456789", "pt-nif"),
        ("736028/5163", "736028/5163", "cz-rodne-cislo"),
        ("CNP 1800101221144", "1800101221144", "ro-cnp"),
        ("OIB: 94577840372", "94577840372", "hr-oib"),
        ("isikukood 37605030299", "37605030299", "ee-lt-code"),
        ("kimlik no 10000000146", "10000000146", "tr-kimlik"),
        ("PPS number 1234567T", "1234567T", "ie-pps"),
        ("529.982.247-25", "529.982.247-25", "br-cpf"),
        ("HEGG560427MVZRRL04", "HEGG560427MVZRRL04", "mx-curp"),
        ("130-692-544", "130-692-544", "ca-sin"),
        ("Aadhaar 2341 2341 2346", "2341 2341 2346", "in-aadhaar"),
        ("PAN: ABCPE1234F", "ABCPE1234F", "in-pan"),
        ("TFN 123 456 782", "123 456 782", "au-tfn"),
        ("2123 45670 1", "2123 45670 1", "au-medicare"),
        ("NRIC S1234567D", "S1234567D", "sg-nric"),
        ("A123456(3)", "A123456(3)", "hk-hkid"),
        ("900101-1234568", "900101-1234568", "kr-rrn"),
        ("我的身份证号是11010519491231002X。", "11010519491231002X", "cn-id"),
        ("my number 123456789018", "123456789018", "jp-my-number"),
        ("1-1017-00203-45-0", "1-1017-00203-45-0", "th-id"),
        ("8001015009087", "8001015009087", "za-id"),
    ];
    for (text, value, rule) in cases {
        check(text, Kind::NationalId, value, rule);
    }
}

#[test]
fn cards_need_an_issuer_a_length_and_luhn() {
    check("4111 1111 1111 1111", Kind::CreditCard, "4111 1111 1111 1111", "card-visa");
    check("card 5555555555554444,", Kind::CreditCard, "5555555555554444", "card-mastercard");
    check("3782-822463-10005", Kind::CreditCard, "3782-822463-10005", "card-amex");
    check("6011111111111117", Kind::CreditCard, "6011111111111117", "card-discover");
    check("paid with 30569309025904", Kind::CreditCard, "30569309025904", "card-diners");
    check("3530111333300000", Kind::CreditCard, "3530111333300000", "card-jcb");
    for gap in ["\u{200b}", "\u{2009}", "\u{2060}", "."] {
        let card = ["4111", "1111", "1111", "1111"].join(gap);
        check(&card, Kind::CreditCard, &card, "card-visa");
    }
    check("paid with 5555555555554444.0 today", Kind::CreditCard, "5555555555554444", "card-mastercard");
    let no_cards =
        ["5555555555554444.07", "5555555555554444.0.1", "4111.1111.1111.1112", "6304.0000.0000.0000"];
    for wrong in no_cards {
        assert_eq!(detector().scan(wrong), [], "{wrong}");
    }
    for wrong in ["4111111111111112", "order id 4111111111111111", "9111111111111111"] {
        assert_eq!(detector().scan(wrong), [], "{wrong}");
    }
}

#[test]
fn bank_numbers_are_found_by_checksum_or_word() {
    check("GB82 WEST 1234 5698 7654 32", Kind::Iban, "GB82 WEST 1234 5698 7654 32", "iban");
    check("IBAN:DE89370400440532013000.", Kind::Iban, "DE89370400440532013000", "iban");
    check("no tool `people.DE89370400440532013000`", Kind::Iban, "DE89370400440532013000", "iban");
    check("GET /accounts/GB82WEST12345698765432/balance", Kind::Iban, "GB82WEST12345698765432", "iban");
    check("routing number 021000021", Kind::BankAccount, "021000021", "us-routing");
    check("sort code 20-00-00", Kind::BankAccount, "20-00-00", "uk-sort-code");
    check("Account number: 12345678", Kind::BankAccount, "12345678", "bank-account");
    assert_eq!(detector().scan("GB82 WEST 1234 5698 7654 33"), []);
}

#[test]
fn addresses_of_machines_are_found() {
    check("from 84.23.11.9:443", Kind::IpAddress, "84.23.11.9", "ipv4");
    check("2a02:8108:50bf:c694::1", Kind::IpAddress, "2a02:8108:50bf:c694::1", "ipv6");
    check("[fe80::1ff:fe23:4567:890a]", Kind::IpAddress, "fe80::1ff:fe23:4567:890a", "ipv6");
    check("3c:22:fb:4e:1a:9d", Kind::MacAddress, "3c:22:fb:4e:1a:9d", "mac");
    check("3C-22-FB-4E-1A-9D", Kind::MacAddress, "3C-22-FB-4E-1A-9D", "mac");
    check("3c22.fb4e.1a9d", Kind::MacAddress, "3c22.fb4e.1a9d", "mac");
}

#[test]
fn documents_and_dates_of_birth_are_found_behind_their_words() {
    check("DOB: 1985-07-30", Kind::DateOfBirth, "1985-07-30", "date-of-birth");
    check("born on 30 July 1985 in", Kind::DateOfBirth, "30 July 1985", "date-of-birth");
    check("geboren am 30.07.1985", Kind::DateOfBirth, "30.07.1985", "date-of-birth");
    check("Date of birth: July 30, 1985", Kind::DateOfBirth, "July 30, 1985", "date-of-birth");
    check("passport no. C01X00T47", Kind::Passport, "C01X00T47", "passport");
    check("Driver's license: D1234567", Kind::DrivingLicense, "D1234567", "driving-license");
    check("MORGA657054SM9IJ", Kind::DrivingLicense, "MORGA657054SM9IJ", "uk-driving-license");
}

#[test]
fn postal_addresses_are_found_by_street_or_label() {
    let street = "221 Baker Street, Springfield, IL 62704";
    check(&format!("He moved to {street}."), Kind::PostalAddress, street, "address-street");
    check(
        "Address: Hauptstraße 5, 10115 Berlin",
        Kind::PostalAddress,
        "Hauptstraße 5, 10115 Berlin",
        "address-label",
    );
}

#[test]
fn crypto_addresses_are_found_by_their_checksums() {
    let cases = [
        ("1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa", "crypto-bitcoin"),
        ("3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy", "crypto-bitcoin"),
        ("bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "crypto-bitcoin"),
        ("bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0", "crypto-bitcoin"),
        ("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "crypto-ethereum"),
        ("rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh", "crypto-ripple"),
        ("TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", "crypto-tron"),
        ("DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L", "crypto-dogecoin"),
    ];
    for (address, rule) in cases {
        check(&format!("send it to {address}, now"), Kind::CryptoAddress, address, rule);
    }
    for wrong in [
        "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNb",
        "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mda",
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed",
    ] {
        assert_eq!(detector().scan(wrong), [], "{wrong}");
    }
}

#[test]
fn names_are_found_by_title_greeting_label_and_signature() {
    check("met Mr. John Smith there", Kind::PersonName, "John Smith", "name-title");
    check("Dear Anna,\nhow", Kind::PersonName, "Anna", "name-greeting");
    check("my name is Ludwig van Beethoven.", Kind::PersonName, "Ludwig van Beethoven", "name-label");
    check("Customer: Jane Doe\n", Kind::PersonName, "Jane Doe", "name-label");
    check("Best regards,\n\nJosé Álvarez\n", Kind::PersonName, "José Álvarez", "name-signature");
}

#[test]
fn encoded_text_is_looked_into_once() {
    let findings = detector().scan("token dXNlcjogYW5uQGV4YW1wbGUuY29tLCBvaw== end");
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!((findings[0].kind.clone(), findings[0].span.clone()), (Kind::Email, 6..42));
    // "<ann?lee>: ann@example.com" and "names at?? ann@example.com", in the alphabet for URLs.
    for encoded in ["PGFubj9sZWU-OiBhbm5AZXhhbXBsZS5jb20", "bmFtZXMgYXQ_PyBhbm5AZXhhbXBsZS5jb20="] {
        let found = detector().scan(encoded);
        assert_eq!(
            (found.len(), found[0].kind.clone(), found[0].span.start),
            (1, Kind::Email, 0),
            "{encoded}"
        );
    }
    let text = "https://x.example/?to=ann%40example.com&n=1";
    let findings = detector().scan(text);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(&text[findings[0].span.clone()], "ann%40example.com");
}

#[test]
fn a_word_makes_a_phone_number_of_any_countrys_way_of_writing() {
    check("call me at 0475 12 34 56 please", Kind::Phone, "0475 12 34 56", "phone-national");
    check("Phone:\n612 3344", Kind::Phone, "612 3344", "phone-unassigned");
    check("Telephone: 91234567", Kind::Phone, "91234567", "phone-unassigned");
    check("41-52-63-74 office", Kind::Phone, "41-52-63-74", "phone-unassigned");
    check("415 55 018 office", Kind::Phone, "415 55 018", "phone-unassigned");
    check("(71) 4233-6306 (fax)", Kind::Phone, "(71) 4233-6306", "phone-national");
}

#[test]
fn groups_behind_a_zero_are_a_phone_number_of_a_region_that_isnt_set() {
    let settings = Settings { phone_regions: vec!["us".to_owned()], ..Settings::default() };
    let findings = Detector::new(&settings).expect("a region").scan("write to 0670 311 82 45 then");
    let found: Vec<_> = findings.iter().map(|found| (found.span.clone(), found.rule)).collect();
    assert_eq!(found, [(9..23, "phone-elsewhere")]);
}

#[test]
fn an_extension_belongs_to_its_phone_number() {
    check("Fax: 212-555-0123x4587", Kind::Phone, "212-555-0123x4587", "phone-national");
    check("+44 20 7946 0958 ext. 12.", Kind::Phone, "+44 20 7946 0958 ext. 12", "phone-international");
    check("020 7946 0958-Fax", Kind::Phone, "020 7946 0958", "phone-national");
}

#[test]
fn parentheses_around_a_number_dont_belong_to_it() {
    check("seen (84.23.11.9) twice", Kind::IpAddress, "84.23.11.9", "ipv4");
    check("paid (4111 1111 1111 1111)", Kind::CreditCard, "4111 1111 1111 1111", "card-visa");
    check("(536-22-1234)", Kind::Ssn, "536-22-1234", "us-ssn");
    check("Ann (212-555-0123)", Kind::Phone, "212-555-0123", "phone-national");
    check("(212) 555-0123", Kind::Phone, "(212) 555-0123", "phone-national");
}

#[test]
fn a_card_of_an_unknown_issuer_needs_the_word() {
    check("my card 3502000000001237 is lost", Kind::CreditCard, "3502000000001237", "card");
    check("amount for cc 4222222222222", Kind::CreditCard, "4222222222222", "card-visa");
    assert_eq!(detector().scan("3502000000001237"), []);
}

#[test]
fn short_and_embedded_addresses_of_machines_are_found() {
    check("at 10.0.0.1, too", Kind::IpAddress, "10.0.0.1", "ipv4");
    check("eth0 172.16.4.9/24 up", Kind::IpAddress, "172.16.4.9/24", "ipv4");
    check("via ::ffff:10.1.2.3.", Kind::IpAddress, "::ffff:10.1.2.3", "ipv6");
    check("to 64:ff9b::198.51.100.7", Kind::IpAddress, "64:ff9b::198.51.100.7", "ipv6");
}

#[test]
fn a_message_about_a_failure_hides_nothing_in_it() {
    let card = |text: &str| check(text, Kind::CreditCard, "5105105105105100", "card-mastercard");
    card("ValueError: 5105105105105100");
    card("  File \"program.py\", line 3\n    pay('5105105105105100')");
    card("status 402, code declined: 5105105105105100");
    let address = |text: &str| check(text, Kind::IpAddress, "203.0.113.96", "ipv4");
    card("there is no tool `people.5105105105105100`");
    let spaced = "No module named 'servers.4853 6331 1435 0620'; there are: mail";
    check(spaced, Kind::CreditCard, "4853 6331 1435 0620", "card-visa");
    check("no module named 'servers.536-90-4399'", Kind::Ssn, "536-90-4399", "us-ssn");
    check(
        "no module named 'servers.+44 20 7946 0958'",
        Kind::Phone,
        "+44 20 7946 0958",
        "phone-international",
    );
    address("KeyError: '203.0.113.96'");
    address("order 17 from 203.0.113.96");
    address("there is no tool `people.203.0.113.96`");
}

#[test]
fn a_title_is_no_name() {
    check("Dear Ms. Lovelace,\nthank you", Kind::PersonName, "Lovelace", "name-title");
    check("Hello Dr Ada Lovelace,", Kind::PersonName, "Ada Lovelace", "name-title");
}
