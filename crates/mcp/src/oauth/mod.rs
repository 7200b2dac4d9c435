//! Logins to upstream servers: OAuth 2.1, as the Model Context Protocol wants it.
//!
//! `login` finds out where to log in, sends the user's browser there and stores what comes back.
//! A [`TokenSource`] hands out the token of one server and renews it. `logout` undoes a login.
//!
//! Discovery, registration and the login's URL with its PKCE challenge are rmcp's work. Ours are
//! the network underneath (addresses, caps, time limits, no redirects), the exchange of codes and
//! tokens (rmcp writes codes to its debug log, and measures time by itself), the file, and renewal
//! that happens once however many ask.
//!
//! Walls: a token goes to the server that it is for, a code or a refresh token to the token endpoint
//! that was found when the user logged in. Both are [`Secret`](crate::secret::Secret): no error, log
//! or `Debug` shows one. Whatever a server says is capped, and its words are cleaned before they are
//! repeated.

mod callback;
mod clock;
mod discovery;
mod error;
mod login;
mod logout;
mod requests;
mod settings;
mod token_requests;
mod token_source;
mod token_store;

pub use clock::Clock;
pub use error::{LoginError, LoginReason};
pub use login::{Granted, LoginRequest, login};
pub use logout::{LoggedOut, Revocation, logout};
pub use requests::RequestError;
pub use settings::{LoginNetwork, LoginSettings};
pub use token_source::TokenSource;
pub use token_store::{StoreError, StoredLoginSummary, TokenStore};
