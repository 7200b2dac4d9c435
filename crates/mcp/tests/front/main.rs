//! The front of our own server, against real sockets and pipes: every kind of bad input gets a clear
//! error, and the next request works.

mod access;
mod bad_input;
mod client;
mod connections;
mod handler;
mod server;
mod sessions;
mod shutdown;
mod stdio;
