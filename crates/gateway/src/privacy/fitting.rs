//! Whether an argument is made for a kind of value: then it may have one without a rule of its own.

use gristmill_privacy::Kind;
use serde_json::Value;

/// Words at the end of an argument's name that announce a kind.
const FITTING: &[(Kind, &[&str])] = &[
    (
        Kind::Email,
        &[
            "email",
            "emails",
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
        &["address", "street", "addressline", "postaladdress", "shippingaddress", "billingaddress"],
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

/// By the name of an argument, as `message.to`, and by its schema.
pub(super) fn fits(kind: &Kind, field: &str, schema: Option<&Value>) -> bool {
    let format = schema.and_then(|schema| schema.get("format")).and_then(Value::as_str);
    if FORMATS.iter().any(|(name, of)| Some(*name) == format && of == kind) {
        return true;
    }
    let last = field.rsplit('.').next().unwrap_or_default();
    let plain: String =
        last.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    let words = FITTING.iter().find(|(of, _)| of == kind).map(|(_, words)| *words).unwrap_or_default();
    // `customerEmail` ends with a word that is long enough to mean it.
    words.iter().any(|word| plain == *word || word.len() > 3 && plain.ends_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_argument_takes_what_its_name_or_format_announces() {
        for field in ["to", "message.to", "customer_email", "customerEmail", "replyTo"] {
            assert!(fits(&Kind::Email, field, None), "{field}");
        }
        assert!(fits(&Kind::Email, "x", Some(&json!({"format": "email"}))));
        for field in ["expression", "text", "query", "photo", "body", ""] {
            assert!(!fits(&Kind::Email, field, None), "{field}");
        }
        assert!(!fits(&Kind::CreditCard, "to", None));
        assert!(!fits(&Kind::Secret, "password", None));
    }
}
