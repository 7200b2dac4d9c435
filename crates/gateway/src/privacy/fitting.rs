//! Whether an argument is made for a kind of value: then it may have one without a rule of its own.

use gristmill_privacy::Kind;
use serde_json::Value;

use super::places::Place;

/// What an argument is called, or what its name ends with, if it announces a kind.
const FITTING: &[(Kind, &[&str])] = &[
    (
        Kind::Email,
        &[
            "email",
            "emails",
            "emailaddress",
            "emailaddresses",
            "mail",
            "to",
            "cc",
            "bcc",
            "from",
            "recipient",
            "recipients",
            "attendee",
            "attendees",
            "invitee",
            "invitees",
            "sender",
            "replyto",
            "address",
            "addresses",
            "assignee",
            "user",
            "username",
            "login",
            "participant",
            "participants",
            "contact",
            "owner",
        ],
    ),
    (
        Kind::Phone,
        &["phone", "phones", "phonenumber", "mobile", "cell", "tel", "telephone", "fax", "to", "recipient"],
    ),
    (Kind::Iban, &["iban"]),
    (Kind::BankAccount, &["account", "accountnumber", "routingnumber", "sortcode", "iban"]),
    (Kind::CreditCard, &["card", "cardnumber", "creditcard", "pan"]),
    (Kind::Ssn, &["ssn", "socialsecuritynumber", "taxid", "nationalid"]),
    (Kind::NationalId, &["nationalid", "taxid", "personalid", "idnumber", "ssn"]),
    (Kind::IpAddress, &["ip", "ipaddress", "ips", "host", "address"]),
    (Kind::MacAddress, &["mac", "macaddress"]),
    (Kind::DateOfBirth, &["dob", "birthday", "birthdate", "dateofbirth", "born"]),
    (
        Kind::PostalAddress,
        &[
            "address",
            "street",
            "addressline",
            "postaladdress",
            "streetaddress",
            "mailingaddress",
            "shippingaddress",
            "deliveryaddress",
            "billingaddress",
            "homeaddress",
            "workaddress",
        ],
    ),
    (Kind::Passport, &["passport", "passportnumber"]),
    (Kind::DrivingLicense, &["license", "licence", "drivinglicense", "licensenumber"]),
    (Kind::CryptoAddress, &["wallet", "address", "walletaddress", "to"]),
    (
        Kind::PersonName,
        &[
            "name",
            "firstname",
            "lastname",
            "fullname",
            "displayname",
            "surname",
            "givenname",
            "familyname",
            "middlename",
            "personname",
            "customername",
            "clientname",
            "contactname",
            "recipientname",
            "sendername",
            "employeename",
            "patientname",
            "holdername",
            "authorname",
            "assigneename",
            "ownername",
            "customer",
            "recipient",
            "assignee",
            "author",
            "owner",
            "contact",
        ],
    ),
];

/// Formats of a JSON Schema that announce a kind.
const FORMATS: &[(&str, Kind)] = &[
    ("email", Kind::Email),
    ("idn-email", Kind::Email),
    ("ipv4", Kind::IpAddress),
    ("ipv6", Kind::IpAddress),
    ("phone", Kind::Phone),
];

/// Names that say enough only where they stand alone: `file_name` and `ip_address` are something else.
const ALONE: &[&str] = &[
    "name",
    "address",
    "addresses",
    "host",
    "user",
    "login",
    "owner",
    "account",
    "contact",
    "license",
    "licence",
];

/// By the name of an argument that the tool's schema has, and by its format.
pub(super) fn fits(kind: &Kind, name: &str, place: &Place<'_>) -> bool {
    let formats = || place.schemas.iter().filter_map(|schema| schema.get("format").and_then(Value::as_str));
    if FORMATS.iter().any(|(format, of)| of == kind && formats().any(|is| is == *format)) {
        return true;
    }
    let announcing = FITTING.iter().find(|(of, _)| of == kind).map(|(_, words)| *words).unwrap_or_default();
    let words = words(name);
    let ends = (0..words.len()).map(|from| (from, words[from..].concat()));
    // `customerEmail` ends with a word that is long enough to mean it.
    let is_meant = |(from, end): (usize, String)| {
        announcing.contains(&end.as_str()) && (from == 0 || end.len() > 3 && !ALONE.contains(&end.as_str()))
    };
    place.is_declared && ends.into_iter().any(is_meant)
}

/// `customerEmail` and `customer_email` have two.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_new = true;
    let mut was_small = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            is_new = true;
            continue;
        }
        if is_new || was_small && letter.is_uppercase() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
        (is_new, was_small) = (false, letter.is_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn takes(kind: &Kind, name: &str) -> bool {
        let schema = json!({"type": "string"});
        fits(kind, name, &Place { schemas: vec![&schema], is_declared: true })
    }

    #[test]
    fn an_argument_takes_what_its_name_or_format_announces() {
        for name in ["to", "customer_email", "customerEmail", "replyTo", "reply-to", "EmailAddress"] {
            assert!(takes(&Kind::Email, name), "{name}");
        }
        for name in ["expression", "text", "query", "photo", "body", "goto", "x.to", "ip_address", ""] {
            assert!(!takes(&Kind::Email, name), "{name}");
        }
        for name in ["name", "customer_name", "firstName", "primaryContactName", "assignee"] {
            assert!(takes(&Kind::PersonName, name), "{name}");
        }
        for name in ["filename", "file_name", "hostName", "username", "table_name", "tablename"] {
            assert!(!takes(&Kind::PersonName, name), "{name}");
        }
        assert!(takes(&Kind::Phone, "phoneNumber") && takes(&Kind::Iban, "source_iban"));
        assert!(!takes(&Kind::CreditCard, "to"));
        assert!(!takes(&Kind::Secret, "password"));
    }

    #[test]
    fn a_name_that_the_schema_does_not_have_announces_nothing() {
        let schema = json!({"format": "email"});
        let undeclared = Place { schemas: vec![&schema], is_declared: false };
        assert!(fits(&Kind::Email, "x", &undeclared), "its format does");
        assert!(!fits(&Kind::Phone, "phone", &undeclared));
        assert!(!fits(&Kind::Email, "to", &Place::default()));
    }
}
