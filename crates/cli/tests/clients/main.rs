//! Other clients' files: connected, disconnected, never harmed. The files beside this one are as people
//! have them, with comments, unknown keys and secrets, which all hold the word CANARY.

mod addresses;
mod connecting;
mod desk;
mod first_setup;
mod left_alone;
mod moving;
#[path = "../support/mod.rs"]
mod support;
