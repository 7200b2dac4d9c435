//! The kinds of data that are told apart.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What a finding is. The exact format, such as which country's number, is the finding's rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Email,
    Phone,
    /// A US Social Security number; every other number of a person is a [`Kind::NationalId`].
    Ssn,
    NationalId,
    CreditCard,
    Iban,
    BankAccount,
    IpAddress,
    MacAddress,
    DateOfBirth,
    PostalAddress,
    Passport,
    DrivingLicense,
    CryptoAddress,
    /// User name and password within a URL.
    UrlCredentials,
    Secret,
    PersonName,
    /// A pattern of the configuration, by its name.
    Custom(Arc<str>),
}

impl Kind {
    /// Every kind but the custom ones.
    pub const ALL: [Self; 17] = [
        Self::Email,
        Self::Phone,
        Self::Ssn,
        Self::NationalId,
        Self::CreditCard,
        Self::Iban,
        Self::BankAccount,
        Self::IpAddress,
        Self::MacAddress,
        Self::DateOfBirth,
        Self::PostalAddress,
        Self::Passport,
        Self::DrivingLicense,
        Self::CryptoAddress,
        Self::UrlCredentials,
        Self::Secret,
        Self::PersonName,
    ];

    /// The name in configuration and answers; for a custom kind, its own.
    pub fn name(&self) -> &str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Ssn => "ssn",
            Self::NationalId => "national_id",
            Self::CreditCard => "credit_card",
            Self::Iban => "iban",
            Self::BankAccount => "bank_account",
            Self::IpAddress => "ip_address",
            Self::MacAddress => "mac_address",
            Self::DateOfBirth => "date_of_birth",
            Self::PostalAddress => "postal_address",
            Self::Passport => "passport",
            Self::DrivingLicense => "driving_license",
            Self::CryptoAddress => "crypto_address",
            Self::UrlCredentials => "url_credentials",
            Self::Secret => "secret",
            Self::PersonName => "person_name",
            Self::Custom(name) => name,
        }
    }

    /// The kind with this name; any name that isn't ours is a custom kind.
    pub fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or_else(|| Self::Custom(name.into()))
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::named(&String::deserialize(deserializer)?))
    }
}
