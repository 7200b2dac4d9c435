//! Keys and passwords: by their prefix, in a URL, or where a name says that one follows.

mod assigned;
mod azure;
mod prefixes;
mod private_key;
mod url;
mod web_token;

pub use assigned::{key, key_within, password, password_within};
pub use azure::azure_client_secret;
pub use prefixes::{at_word, starts_like_one};
pub use url::credentials;
