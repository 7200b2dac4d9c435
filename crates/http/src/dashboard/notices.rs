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
}

impl Done {
    const ALL: [Done; 6] = [
        Done::AllowedOnce,
        Done::AllowedSession,
        Done::AllowedAlways,
        Done::Denied,
        Done::AnsweredAlready,
        Done::NotStored,
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
        }
    }
}

/// What a word in an address means.
pub(super) fn notice(word: &str) -> Option<Notice> {
    let (tone, text) = Done::ALL.into_iter().find(|done| done.as_str() == word)?.notice();
    Some(Notice { tone, text: text.into() })
}
