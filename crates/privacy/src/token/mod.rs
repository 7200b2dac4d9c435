//! The text of tokens, which stand for values: `[EMAIL_k3v9q2ab]`.
//!
//! Pure text: which value a token stands for is known elsewhere. All forms of a token have the same code, so
//! programs can join, group and count by it. Tokens are found in linear time, and no finding covers one.

mod code;
mod find;
mod label;
mod outside;

pub use code::Code;
pub use find::{FoundToken, each_token, find_tokens};
pub use label::placeholder;

pub(crate) use find::is_within;
pub(crate) use outside::outside_tokens;

use crate::kind::Kind;

/// How a token is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// `[EMAIL_k3v9q2ab]`
    #[default]
    Plain,
    /// `email-k3v9q2ab@token.invalid`, where only an e-mail address will do.
    Email,
    /// `+999` and 12 digits, where only a phone number will do: no country has that code.
    Phone,
}

/// The token of a value of this kind.
pub fn mint(kind: &Kind, code: Code, form: Form) -> String {
    match form {
        Form::Plain => format!("[{}_{}]", kind.label(), code.letters()),
        Form::Email => format!("{}{}{}", find::EMAIL_START, code.letters(), find::EMAIL_END),
        Form::Phone => format!("{}{:012}", find::PHONE_START, code.number()),
    }
}
