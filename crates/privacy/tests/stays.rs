//! What must stay: work goes on with it, and it is nobody's.

use gristmill_privacy::{Detector, Settings};

fn check(text: &str) {
    let detector = Detector::new(&Settings::default()).expect("the default settings work");
    let findings = detector.scan(text);
    let found: Vec<_> = findings.iter().map(|found| (&text[found.span.clone()], found.rule)).collect();
    assert_eq!(found, [], "{text}");
}

#[test]
fn numbers_that_only_look_like_phones_stay() {
    for text in [
        "1700000000",
        "1700000000000",
        "2024-01-15T10:30:00.123456Z",
        "20240115103000",
        "id: 2125550123",
        "order 212-555-0123",
        "user_id=9876543210",
        "v1.22.333.4444",
        "version 10.0.19041.1234",
        "$1,234,567.89",
        "price 1.299,00",
        "3.14159265358979",
        "40.712776, -74.005974",
        "ISBN 978-0-306-40615-7",
        "0-306-40615-2",
        "#1234567890",
        "10:30:00 11:45:00",
        "1-2-3-4-5-6-7-8-9-10",
        "0123456789 9876543210",
        "12345678901234567890123456789",
        "2024-01-15 2024-02-16",
        "15.01.2024",
        "192.168.0.0/16 mask 255.255.255.0",
        "127.0.0.1:8080 0.0.0.0 ::1",
        "1.2.3.4",
        "1 2 3 4 5 6 7 8 9 10 11 12 13 14",
        "10.1000/182",
        "1234/5678/9012",
    ] {
        check(text);
    }
}

#[test]
fn hashes_ids_code_and_paths_stay() {
    for text in [
        "550e8400-e29b-41d4-a716-446655440000",
        "d41d8cd98f00b204e9800998ecf8427e",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "aa:bb:cc:dd:ee:ff:00:11:22:33:44:55:66:77:88:99",
        "/usr/lib/python3.12/site-packages/x_1234567890.py",
        "C:\\Users\\build\\123456789\\out.txt",
        "std::fs::File a::b de::Ad::be",
        "@decorator and icon@2x.png and react@18.2.0",
        "git@github.com:org/repo.git",
        "let x = 0x7fff5fbff8c0;",
        "fn f(a: u8) -> [u8; 32]",
        "https://example.com/a/b?page=2&id=1234567890#L120-L130",
        "arn:aws:iam::123456789012:role/x",
        "Dear all, hello world, Hi there!",
        "name: String, customer: Option<Customer>",
        "The best thing about Street View is the map.",
        "address: 0x7fff5fbff8c0",
        "date_of_birth: Option<Date>",
        "passport.initialize(options123)",
        "born from an idea in 2019",
        "100% of 50%25 %d %s %zz",
        "T-1234567890 and ABC-12345-DEF",
        "call 5 times, then dial 3",
    ] {
        check(text);
    }
}

#[test]
fn addresses_that_name_no_machine_stay() {
    for text in
        ["::ffff:127.0.0.1", "10.0.0.0/8 and 192.168.4.0/24", "2001:db8::256.1.1.1", "section 8.2.4.44", "::"]
    {
        check(text);
    }
}

#[test]
fn lists_tables_and_decimals_are_no_phone_numbers() {
    for text in [
        "0644 0755 0600",
        "0123    01234",
        "+35236450.6",
        "516 466 638 people",
        "chmod 0644 a, then 012 034 056",
        "12-34-5678-final.pdf",
    ] {
        check(text);
    }
}

#[test]
fn programs_that_speak_of_addresses_and_passwords_stay() {
    for text in [
        "self.network_address = IPv4Address(addr)",
        "address: An integer representation of an IPv6 IP address.",
        "password = auth[2]",
        "getpass(prompt='Password: ', stream=None):",
        "token=\"sha256~XXXXXXXXXX_PUT_YOUR_TOKEN_HERE_XXXX1\"",
    ] {
        check(text);
    }
}

#[test]
fn a_general_word_goes_with_a_countrys_own_way_of_writing() {
    check("my tax id 911-89-1234");
}

#[test]
fn steps_of_a_list_are_nobody() {
    check("jobs:\n  - name: Install Rust\n    run: rustup\n- name: Property Tests\n");
}
