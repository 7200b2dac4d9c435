//! Who may use this gateway over the network: named access tokens with scopes and an expiry, and the local
//! owner's own.
//!
//! Walls: a named token is shown once, when it is issued; what is kept is its hash. The local owner's is
//! in a file that nobody else can read. No protocol and no
//! socket here: whoever listens asks [`AccessTokens::check`] and gets a [`Caller`] or a refusal. A
//! store that cannot be read lets nobody in.

mod approval_links;
mod caller;
mod local_token;
mod token_error;
mod token_file;
mod token_text;
mod tokens;

pub use approval_links::{
    ApprovalLinks, BadLink, LINK_ANSWERS, LINK_KEY_FILE, LINK_PATH, LinkKeyError, webhook_signature,
};
pub use caller::{Caller, Scope, UnknownScope};
pub use local_token::{LocalToken, LocalTokenState};
pub use token_error::TokenError;
pub use token_file::TokenRecord;
pub use token_text::TokenText;
pub use tokens::{AccessTokens, IssuedToken, TokenRefused};
