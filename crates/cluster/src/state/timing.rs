//! Who leads, as time tells it. One gateway may act on the state only while no other can have taken the lead.

use std::time::Duration;

/// The leader says that it's there if it has said nothing else for so long.
pub(super) const SAID_EVERY: Duration = Duration::from_millis(500);

/// After its last word was taken, counted from when that was sent, it acts for so long.
pub(super) const LEADS_FOR: Duration = Duration::from_secs(2);

/// After its last word was heard, and while the log could be asked for more, it's lost. Longer than [`LEADS_FOR`]: it
/// has stopped acting by then, however different the clocks run.
pub(super) const LOST_AFTER: Duration = Duration::from_secs(3);

/// Those that stand by don't all try in one moment.
pub(super) const APART: Duration = Duration::from_millis(400);

/// In silence, the log is asked whether it has more.
pub(super) const ASKED_EVERY: Duration = Duration::from_millis(500);

/// For how long somebody waits until a change is safe. A bus that has lost the server which led the log takes up to 14 s
/// to choose another.
pub(super) const SETTLED_WITHIN: Duration = Duration::from_secs(20);

/// What nobody waits for is taken along so often.
pub(super) const TAKEN_EVERY: Duration = Duration::from_millis(200);

/// And all files are looked at, for what commands on this machine have changed.
pub(super) const LOOKED_OVER_EVERY: Duration = Duration::from_secs(20);

/// What is stored beside the log is tried so long before it's tried anew.
pub(super) const TRIED_FOR: Duration = Duration::from_secs(30);

/// An entry is tried as long as the bus may be away; another gateway that leads ends that sooner.
pub(super) const APPENDED_WITHIN: Duration = Duration::from_secs(60 * 60);

/// A copy that can't be brought up to date is tried so long: the bus may be away, or the disk full.
pub(super) const APPLIED_WITHIN: Duration = Duration::from_secs(60);

/// How long a leader that ends waits for the bus.
pub(super) const LEFT_WITHIN: Duration = Duration::from_secs(10);
