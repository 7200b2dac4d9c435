//! Who is logged in to the dashboard: one-time links, and the sessions that they open.
//!
//! Walls: links and sessions are in memory only, and as hashes, so that nothing that is read out of here opens
//! anything. Their number is bounded, each ends by itself, and wrong codes are counted.

use std::time::{Duration, Instant, SystemTime};

use parking_lot::Mutex;

/// A link is opened at once, or not at all.
pub(super) const LINK_TIME: Duration = Duration::from_secs(5 * 60);

/// A working day. Whoever stays longer runs `gristmill dashboard` again.
pub(super) const SESSION_TIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Links that wait, and browsers that are logged in: of more, the oldest go.
const LINKS_MAX: usize = 8;
const SESSIONS_MAX: usize = 16;

/// Wrong codes within [`WRONG_TIME`] after which nobody can log in for as long.
const WRONG_MAX: usize = 10;
const WRONG_TIME: Duration = Duration::from_secs(60);

/// 256 bits.
const SECRET_BYTES: usize = 32;

/// What a browser or a link holds. `Debug` is left out on purpose.
pub(super) struct Secret(String);

impl Secret {
    fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        Ok(Self(blake3::Hash::from_bytes(bytes).to_hex().to_string()))
    }

    pub(super) fn reveal(&self) -> &str {
        &self.0
    }
}

/// Proves that a form comes from a page of this session. Follows from the cookie, which no page can read.
pub(super) fn csrf(cookie: &str) -> blake3::Hash {
    blake3::Hash::from_bytes(blake3::derive_key("gristmill dashboard form", cookie.as_bytes()))
}

/// Why nobody was logged in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoginRefused {
    /// Unknown, used or too old.
    Wrong,
    /// Too many were wrong: nothing is looked at for this long.
    TooMany(Duration),
    NoRandomness,
}

/// Since when the owner's token is what it is: what was opened with another one is over.
type Epoch = Option<SystemTime>;

struct Kept {
    hash: blake3::Hash,
    until: Instant,
    epoch: Epoch,
}

#[derive(Default)]
struct Open {
    links: Vec<Kept>,
    sessions: Vec<Kept>,
    wrong: Vec<Instant>,
}

/// See the module.
#[derive(Default)]
pub(super) struct Logins {
    open: Mutex<Open>,
}

impl Logins {
    /// A code that logs in once.
    pub(super) fn new_link(&self, now: Instant, epoch: Epoch) -> Result<Secret, getrandom::Error> {
        let secret = Secret::random()?;
        keep(&mut self.open.lock().links, LINKS_MAX, &secret, now, LINK_TIME, epoch);
        Ok(secret)
    }

    /// Takes a code; gives what the browser keeps.
    pub(super) fn log_in(&self, code: &str, now: Instant, epoch: Epoch) -> Result<Secret, LoginRefused> {
        let mut open = self.open.lock();
        open.wrong.retain(|at| now.saturating_duration_since(*at) < WRONG_TIME);
        if open.wrong.len() >= WRONG_MAX {
            let since = open.wrong.first().map_or(Duration::ZERO, |at| now.saturating_duration_since(*at));
            return Err(LoginRefused::TooMany(WRONG_TIME.saturating_sub(since)));
        }
        let hash = blake3::hash(code.as_bytes());
        let Some(at) = open.links.iter().position(|link| link.hash == hash) else {
            open.wrong.push(now);
            return Err(LoginRefused::Wrong);
        };
        let link = open.links.remove(at);
        if link.until <= now || link.epoch != epoch {
            return Err(LoginRefused::Wrong);
        }
        let secret = Secret::random().map_err(|_| LoginRefused::NoRandomness)?;
        keep(&mut open.sessions, SESSIONS_MAX, &secret, now, SESSION_TIME, epoch);
        Ok(secret)
    }

    pub(super) fn is_logged_in(&self, cookie: &str, now: Instant, epoch: Epoch) -> bool {
        let hash = blake3::hash(cookie.as_bytes());
        let mut open = self.open.lock();
        open.sessions.retain(|session| session.until > now && session.epoch == epoch);
        open.sessions.iter().any(|session| session.hash == hash)
    }

    pub(super) fn log_out(&self, cookie: &str) {
        let hash = blake3::hash(cookie.as_bytes());
        self.open.lock().sessions.retain(|session| session.hash != hash);
    }
}

fn keep(all: &mut Vec<Kept>, max: usize, secret: &Secret, now: Instant, time: Duration, epoch: Epoch) {
    all.retain(|kept| kept.until > now);
    if all.len() >= max {
        all.remove(0);
    }
    all.push(Kept { hash: blake3::hash(secret.reveal().as_bytes()), until: now + time, epoch });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_logs_in_once_and_not_for_long() {
        let (logins, now) = (Logins::default(), Instant::now());
        let link = logins.new_link(now, None).expect("randomness");
        assert_eq!(link.reveal().len(), 64);
        let cookie = logins.log_in(link.reveal(), now, None).expect("the link is good");
        assert!(logins.is_logged_in(cookie.reveal(), now, None));
        assert_eq!(logins.log_in(link.reveal(), now, None).err(), Some(LoginRefused::Wrong));
        let old = logins.new_link(now, None).expect("randomness");
        assert_eq!(logins.log_in(old.reveal(), now + LINK_TIME, None).err(), Some(LoginRefused::Wrong));
        assert!(!logins.is_logged_in(cookie.reveal(), now + SESSION_TIME, None), "it ends by itself");
    }

    #[test]
    fn logging_out_and_another_token_of_the_owner_end_a_session() {
        let (logins, now) = (Logins::default(), Instant::now());
        let log_in = |epoch| {
            let link = logins.new_link(now, epoch).expect("randomness");
            logins.log_in(link.reveal(), now, epoch).expect("the link is good")
        };
        let (one, other) = (log_in(None), log_in(None));
        logins.log_out(one.reveal());
        assert!(
            !logins.is_logged_in(one.reveal(), now, None) && logins.is_logged_in(other.reveal(), now, None)
        );
        assert!(!logins.is_logged_in(other.reveal(), now, Some(SystemTime::UNIX_EPOCH)));
        assert!(!logins.is_logged_in(other.reveal(), now, None), "it is gone");
    }

    #[test]
    fn after_many_wrong_codes_nobody_logs_in_for_a_while() {
        let (logins, now) = (Logins::default(), Instant::now());
        let link = logins.new_link(now, None).expect("randomness");
        for _ in 0..WRONG_MAX {
            assert_eq!(logins.log_in("guess", now, None).err(), Some(LoginRefused::Wrong));
        }
        let refused = logins.log_in(link.reveal(), now, None).err();
        assert_eq!(refused, Some(LoginRefused::TooMany(WRONG_TIME)));
        assert!(logins.log_in(link.reveal(), now + WRONG_TIME, None).is_ok(), "the link was not used up");
    }

    #[test]
    fn only_the_newest_links_and_sessions_are_kept() {
        let (logins, now) = (Logins::default(), Instant::now());
        let first = logins.new_link(now, None).expect("randomness");
        for _ in 0..LINKS_MAX {
            logins.new_link(now, None).expect("randomness");
        }
        assert_eq!(logins.log_in(first.reveal(), now, None).err(), Some(LoginRefused::Wrong));
        assert_ne!(csrf("a"), csrf("b"));
    }
}
