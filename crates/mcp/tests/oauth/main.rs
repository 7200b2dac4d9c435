//! Logins against a login server that really checks: the way in, renewals, and servers that mean ill.

#[path = "../support/login_server.rs"]
mod login_server;

mod going_out;
mod hostile;
mod login;
mod renewal;
mod world;
