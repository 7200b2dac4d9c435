//! What became of a form, in one sentence above the next page. The address has a word for it and no text, so that
//! nobody's link puts words on a page.

use gristmill_dashboard::Notice;
use gristmill_dashboard::parts::Tone;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Done {
    AllowedOnce,
    AllowedSession,
    AllowedAlways,
    Denied,
    AnsweredAlready,
    NotStored,
    Approved,
    ChangedMeanwhile,
    Dropped,
    SessionDeleted,
    SessionBusy,
    AskedAgain,
}

impl Done {
    const ALL: [Done; 12] = [
        Done::AllowedOnce,
        Done::AllowedSession,
        Done::AllowedAlways,
        Done::Denied,
        Done::AnsweredAlready,
        Done::NotStored,
        Done::Approved,
        Done::ChangedMeanwhile,
        Done::Dropped,
        Done::SessionDeleted,
        Done::SessionBusy,
        Done::AskedAgain,
    ];

    /// As the address has it.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Done::AllowedOnce => "allowed-once",
            Done::AllowedSession => "allowed-session",
            Done::AllowedAlways => "allowed-always",
            Done::Denied => "denied",
            Done::AnsweredAlready => "answered-already",
            Done::NotStored => "not-stored",
            Done::Approved => "approved",
            Done::ChangedMeanwhile => "changed-meanwhile",
            Done::Dropped => "dropped",
            Done::SessionDeleted => "session-deleted",
            Done::SessionBusy => "session-busy",
            Done::AskedAgain => "asked-again",
        }
    }

    fn notice(self) -> (Tone, &'static str) {
        match self {
            Done::AllowedOnce => (Tone::Good, "Allowed once."),
            Done::AllowedSession => (Tone::Good, "Allowed for the session."),
            Done::AllowedAlways => (Tone::Good, "Allowed from now on."),
            Done::Denied => (Tone::Good, "Denied. The program is told."),
            Done::AnsweredAlready => (Tone::Warn, "It was answered already, or doesn't wait any more."),
            Done::NotStored => (Tone::Bad, "The answer couldn't be stored. Run gristmill doctor."),
            Done::Approved => (Tone::Good, "Approved."),
            Done::ChangedMeanwhile => (Tone::Warn, "It has changed since it was shown. Look at it again."),
            Done::Dropped => (Tone::Good, "Dropped."),
            Done::SessionDeleted => (Tone::Good, "The session is deleted."),
            Done::SessionBusy => (Tone::Warn, "The session is in use or gone. Try again later."),
            Done::AskedAgain => (Tone::Good, "You'll be asked about this tool again."),
        }
    }
}

/// What a word in an address means.
pub(super) fn notice(word: &str) -> Option<Notice> {
    let (tone, text) = Done::ALL.into_iter().find(|done| done.as_str() == word)?.notice();
    Some(Notice { tone, text: text.into() })
}
