//! Fuzz targets: each takes any bytes for one thing that comes from a hostile peer, and says by a panic
//! that a promise was broken. For tests only; nothing of it is in the product.
//!
//! The same functions run twice: by the mutation driver here (`tests/fuzz.rs`, a few seconds each in CI,
//! on any compiler), and by libFuzzer with coverage (`fuzz/`, on demand).

mod drive;
mod finding;
mod mutate;
mod random;
mod seeds;
mod target;
mod targets;

pub use drive::{Budget, Summary, Told, drive};
pub use finding::{Finding, keep};
pub use mutate::Mutator;
pub use random::Random;
pub use seeds::{corpus_folder, seed_folder, seeds};
pub use target::{Reached, Target};
pub use targets::{ALL, by_name, run};
