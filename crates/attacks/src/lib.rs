//! Hostile programs, and what would notice if one of them got through.
//!
//! The programs are in `programs/`, one file for each attack, in Python or JavaScript, in the folder of its
//! class; README.md describes the format. A [`Range`] is what they are after: canaries, a listener, a secret. It looks at the host, never
//! at what a program says of itself, and its own eyes are tested first ([`Range::controls`]).
//!
//! `gristmill doctor --attack` and the tests run the same attacks with the same eyes.

mod attack;
mod controls;
mod oracles;
mod range;
mod verdict;

pub use attack::{Attack, BadHeader, Language, all};
pub use controls::Control;
pub use range::{OutOfTime, Patience, Range, SECRET_VALUE, SECRET_VARIABLE};
pub use verdict::{Problem, Verdict};
