//! Every bound on what is remembered, with its reason. Together they keep the memory below about 15 MB.

/// Callers are access tokens: more than this are few people's.
pub(crate) const CALLERS_MAX: usize = 256;
/// A session matters for the hour in which it loops or fails.
pub(crate) const SESSIONS_MAX: usize = 512;
/// Tools of all servers that are in use.
pub(crate) const TOOLS_MAX: usize = 1024;
pub(crate) const SERVERS_MAX: usize = 256;
/// Tools that one caller has used.
pub(crate) const TOOLS_OF_CALLER_MAX: usize = 512;
/// Servers that one caller has used.
pub(crate) const SERVERS_OF_CALLER_MAX: usize = 128;
/// When each finding was last told.
pub(crate) const TOLD_MAX: usize = 1024;
/// Names come from outside; what is longer is cut.
pub(crate) const NAME_BYTES_MAX: usize = 128;
/// Execution ids in evidence: enough to look at, few enough to read.
pub(crate) const EXECUTIONS_MAX: usize = 5;
/// Outcomes in a trail: enough to tell a share of one half from one fifth.
pub(crate) const TRAIL_MAX: usize = 40;
/// Slots of a sliding window: its sum is exact to one twelfth of its length.
pub(crate) const SLOTS: usize = 12;
/// Days of peaks: two weeks have every weekday twice.
pub(crate) const PEAK_DAYS_MAX: usize = 14;
/// Shapes of a tool's answers; a tool with more has no shape to speak of.
pub(crate) const SHAPES_MAX: usize = 32;
/// Programs of a session in ten minutes.
pub(crate) const PROGRAMS_MAX: usize = 64;
/// Savings of a caller's last executions.
pub(crate) const SAVINGS_MAX: usize = 20;
/// Denied calls that are told apart: more are one burst anyway.
pub(crate) const DENIED_MAX: usize = 32;

/// The beginning of a name, at most [`NAME_BYTES_MAX`] bytes.
pub(crate) fn cut(name: &str) -> &str {
    if name.len() <= NAME_BYTES_MAX {
        return name;
    }
    let mut end = NAME_BYTES_MAX;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}
