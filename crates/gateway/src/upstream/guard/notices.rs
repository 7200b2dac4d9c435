//! How often people elsewhere are told that a call waits: so often that they still look.

use std::collections::HashMap;
use std::time::Instant;

use parking_lot::Mutex;

use crate::ids::Owner;
use crate::upstream::rate::Rate;

/// For one owner.
const PER_MINUTE: u64 = 20;

/// Owners that are counted one by one. Those beyond share.
const OWNERS_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct Notices(Mutex<HashMap<String, Rate>>);

impl Notices {
    /// Whether one more may be sent for this owner.
    pub fn take(&self, owner: &Owner) -> bool {
        let mut owners = self.0.lock();
        let has_room = owners.len() < OWNERS_MAX || owners.contains_key(&owner.0);
        let owner = if has_room { owner.0.clone() } else { String::new() };
        owners.entry(owner).or_insert_with(|| Rate::new(PER_MINUTE)).take(Instant::now()).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_owner_who_asks_without_end_silences_nobody_else() {
        let notices = Notices::default();
        let (one, other) = (Owner("a".to_owned()), Owner("b".to_owned()));
        let told = (0..100).filter(|_| notices.take(&one)).count();
        assert_eq!(told as u64, PER_MINUTE);
        assert!(notices.take(&other));
    }
}
