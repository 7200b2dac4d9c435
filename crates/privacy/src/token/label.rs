//! The kind within a token.

use std::borrow::Cow;

use crate::kind::Kind;

/// Longer names of custom kinds are cut.
pub(super) const LABEL_BYTES_MAX: usize = 32;

impl Kind {
    /// As tokens name it: `EMAIL`, `PERSON_NAME`. The name of a custom kind in capitals, with `_` for what is
    /// neither a letter nor a digit.
    pub fn label(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Email => "EMAIL",
            Self::Phone => "PHONE",
            Self::Ssn => "SSN",
            Self::NationalId => "NATIONAL_ID",
            Self::CreditCard => "CREDIT_CARD",
            Self::Iban => "IBAN",
            Self::BankAccount => "BANK_ACCOUNT",
            Self::IpAddress => "IP_ADDRESS",
            Self::MacAddress => "MAC_ADDRESS",
            Self::DateOfBirth => "DATE_OF_BIRTH",
            Self::PostalAddress => "POSTAL_ADDRESS",
            Self::Passport => "PASSPORT",
            Self::DrivingLicense => "DRIVING_LICENSE",
            Self::CryptoAddress => "CRYPTO_ADDRESS",
            Self::UrlCredentials => "URL_CREDENTIALS",
            Self::Secret => "SECRET",
            Self::PersonName => "PERSON_NAME",
            Self::Custom(name) => return Cow::Owned(cleaned(name)),
        })
    }
}

/// What stands for a value that isn't kept anywhere: `[EMAIL]`. It can't be restored.
pub fn placeholder(kind: &Kind) -> String {
    format!("[{}]", kind.label())
}

/// Whether this is the label of one of our own kinds.
pub(super) fn is_ours(label: &[u8]) -> bool {
    Kind::ALL.iter().any(|kind| kind.label().as_bytes() == label)
}

fn cleaned(name: &str) -> String {
    let mut label = String::new();
    for letter in name.chars() {
        match letter.is_ascii_alphanumeric() {
            true => label.push(letter.to_ascii_uppercase()),
            false if !label.is_empty() && !label.ends_with('_') => label.push('_'),
            false => {}
        }
        if label.len() == LABEL_BYTES_MAX {
            break;
        }
    }
    let label = label.trim_end_matches('_');
    match label.as_bytes().first() {
        None => "CUSTOM".to_owned(),
        Some(b'0'..=b'9') => format!("N{}", &label[..label.len().min(LABEL_BYTES_MAX - 1)]),
        Some(_) => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_the_name_in_capitals() {
        for kind in Kind::ALL {
            assert_eq!(kind.label(), kind.name().to_uppercase());
        }
        for (name, label) in [
            ("employee-id", "EMPLOYEE_ID"),
            ("  Kunden Nr. ", "KUNDEN_NR"),
            ("größe", "GR_E"),
            ("名前", "CUSTOM"),
            ("2nd factor", "N2ND_FACTOR"),
            ("a_very_long_name_that_nobody_would_want", "A_VERY_LONG_NAME_THAT_NOBODY_WOU"),
        ] {
            assert_eq!(Kind::named(name).label(), label, "{name}");
        }
        assert_eq!(placeholder(&Kind::Email), "[EMAIL]");
    }
}
