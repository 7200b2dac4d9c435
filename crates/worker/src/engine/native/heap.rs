//! Where what a child allocates will lie. `unsafe` lives here.
//!
//! Importing large packages leaves thousands of small holes all over the heap. The allocator would give them to
//! programs first, so that every few bytes cost a child a copy of another page that it shares with the zygote. If the
//! zygote takes the holes itself, children allocate from the heap's end, one thing beside the other. What lies free in the
//! heap also isn't counted by the limit on a program's memory, which holds for what is added.

/// Chunks as the allocator counts them: with their header, in steps.
const STEP: usize = 16;
const HEADER: usize = 8;

/// Up to here there is a list of free chunks for each size.
const SMALL_MAX: usize = 1040;

/// Larger holes are taken in pieces of this: whoever asks for more may be given pages of its own.
const PIECE_MAX: usize = 64 << 10;

/// Takes every hole between what is allocated, for good. To be called by the only thread of the process.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn take_holes() {
    // SAFETY: neither changes anything, and nobody else allocates meanwhile.
    let (end, last) = unsafe { (libc::sbrk(0), libc::mallinfo()) };
    let Ok(last_bytes) = usize::try_from(last.keepcost) else { return };
    let holes_end = (end as usize).saturating_sub(last_bytes);
    for chunk in chunks() {
        loop {
            // SAFETY: a block that nobody knows of is leaked, or given back at once.
            let block = unsafe { libc::malloc(chunk - HEADER) };
            if block.is_null() || block as usize >= holes_end {
                // SAFETY: it was allocated a moment ago; nothing may be freed as well.
                unsafe { libc::free(block) };
                break;
            }
        }
    }
}

/// Other allocators have other habits.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn take_holes() {}

/// Sizes to ask for, the largest first: what a large one leaves of a hole, smaller ones take.
fn chunks() -> impl Iterator<Item = usize> {
    let smaller = |chunk: &usize| match *chunk {
        0..=SMALL_MAX => Some(chunk - STEP).filter(|chunk| *chunk >= 2 * STEP),
        _ => Some(((chunk - chunk / 8) / STEP * STEP).max(SMALL_MAX)),
    };
    std::iter::successors(Some(PIECE_MAX), smaller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_size_is_asked_for_and_the_largest_first() {
        let chunks: Vec<usize> = chunks().collect();
        assert!(chunks.is_sorted_by(|one, next| one > next), "{chunks:?}");
        let small = (2..=SMALL_MAX / STEP).rev().map(|steps| steps * STEP);
        assert!(small.clone().all(|chunk| chunks.contains(&chunk)));
        assert_eq!((chunks.first(), chunks.last()), (Some(&PIECE_MAX), Some(&(2 * STEP))));
        assert!(chunks.len() < 200);
    }
}
