//! Models against a scripted provider on the loopback address: what is sent, what is heard, what is tried again,
//! and what a hostile provider can't do.

mod answers;
mod hostile;
mod learning;
mod trying;
mod world;
