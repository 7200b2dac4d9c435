//! Finds what is unusual in a stream of executions and calls, says why, and decides when somebody is told.
//!
//! Pure: events in, findings out. No I/O, no runtime, and no clock: time comes with the events.
//!
//! ```
//! use gristmill_watch::{Settings, Watch};
//!
//! let mut watch = Watch::new(Settings::default());
//! // for each event: watch.executed(&executed), watch.called(&called)
//! let memory = serde_json::to_string(watch.memory()).unwrap(); // survives a restart
//! let watch = Watch::restore(Settings::default(), serde_json::from_str(&memory).unwrap());
//! # let _ = watch;
//! ```
//!
//! Everything is compared with its own past: a caller with its own busiest minutes and hours, a tool with its own
//! answers. Two ideas carry all detectors:
//!
//! - *peaks* (`history/burst.rs`): the sum of a sliding window against the highest such sum of each of the last 14
//!   active days. Sums are cut at the threshold before they are learned, so that one incident can't hide the next.
//! - *trails* (`history/trail.rs`): the last 40 outcomes against the usual share of bad ones. A trail is unusual if
//!   chance would bring it once in ten million tries. Outcomes are learned when they leave the trail.
//!
//! Memory is bounded by `limits.rs`, whatever names arrive: tables have a size and forget what was not seen for
//! longest; windows, trails and histograms have a fixed size. What is forgotten starts cold, and a cold start is
//! silent or judged by higher, absolute thresholds. docs/watching.md has the detectors, their figures and limits.

mod limits;
mod settings;

mod anomaly;
mod event;

mod history;

mod detect;

mod memory;
mod watch;

pub mod alerts;

pub use anomaly::{Anomaly, Fact, Kind, Severity, Subject};
pub use event::{CallOutcome, Called, Executed, Outcome};
pub use memory::Memory;
pub use settings::Settings;
pub use watch::Watch;
