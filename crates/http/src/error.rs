//! What cannot be served with.

/// Nothing was served.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error(
        "`{0}` is not an origin; write it as http://localhost:3000, https://app.example.com or http://localhost:*"
    )]
    Origin(String),
    #[error("`{0}` is not a host; write it as example.com or example.com:8770")]
    Host(String),
    #[error("tokens are required, but there's no place to store them")]
    NoTokens,
}
