//! Words of people who report, review and log, put together by number.

use crate::noise;

/// What does not work.
const FAULTS: [&str; 12] = [
    "Checkout button stays disabled after removing a coupon",
    "Search results jump when images load late",
    "Export to CSV drops the last row",
    "Order confirmation shows the wrong currency",
    "Session expires while the basket is open",
    "Product filter ignores the selected size",
    "Address form rejects apartment numbers with a slash",
    "Stock badge is out of date on category pages",
    "Password reset mail is sent twice",
    "Invoice PDF has no page numbers",
    "Payment page times out on slow connections",
    "Wishlist loses items after signing in",
];

const PLACES: [&str; 8] =
    ["Safari", "Firefox", "the mobile app", "Chrome", "staging", "production", "the admin area", "the API"];

const STEPS: [&str; 8] = [
    "Open the shop in a private window and put two articles into the basket.",
    "Apply a coupon, remove it again and go back to the basket.",
    "Sign in with an account that has more than one address.",
    "Switch the language to German and reload the page.",
    "Leave the tab alone for twenty minutes and go on.",
    "Filter by size and colour, then sort by price.",
    "Open the same page in a second tab and change the quantity there.",
    "Scroll to the end of the list before the pictures have loaded.",
];

const REMARKS: [&str; 10] = [
    "I can reproduce this with the latest release, but not with the one before.",
    "The network tab shows a 409 from the basket service, and nothing retries it.",
    "Three customers wrote to us about this on the same day.",
    "It looks as if the cache key does not include the currency.",
    "A restart of the worker helps for about an hour.",
    "The trace shows that the second request overtakes the first one.",
    "I have a branch with a failing test and will open a pull request.",
    "This also happens without any extension and on a fresh profile.",
    "Might be the same cause as the report of last week; the stack trace is alike.",
    "We should at least show a message instead of an empty page.",
];

const PEOPLE: [&str; 10] = [
    "mlindqvist",
    "jokafor",
    "petra-n",
    "svenh",
    "tarajoshi",
    "wgarnier",
    "inesfalk",
    "omar-reyes",
    "lea-dubois",
    "kmoreau",
];

pub fn title(seed: u64, number: u64) -> String {
    format!("{} on {}", noise::pick(FAULTS, seed, number, 50), noise::pick(PLACES, seed, number, 51))
}

/// A report as people write it into a form.
pub fn report(seed: u64, number: u64) -> String {
    let remark = |place: u64| noise::pick(REMARKS, seed, number, place);
    let step = |place: u64| noise::pick(STEPS, seed, number, place);
    format!(
        "### What happened\n{} {}\n\n### Steps\n1. {}\n2. {}\n3. {}\n\n### Expected\nThe page goes on as before and \
         says what it did.\n\n### Environment\n- {}\n- release 2026.{}.{}\n\n### Notes\n{} {}",
        remark(60),
        remark(61),
        step(62),
        step(63),
        step(64),
        noise::pick(PLACES, seed, number, 65),
        1 + noise::below(seed, number, 66, 6),
        noise::below(seed, number, 67, 20),
        remark(68),
        remark(69),
    )
}

/// What somebody says about it.
pub fn remark(seed: u64, number: u64, place: u64) -> String {
    format!(
        "{} {}",
        noise::pick(REMARKS, seed, number, 100 + place * 2),
        noise::pick(REMARKS, seed, number, 101 + place * 2)
    )
}

/// A person's short name.
pub fn login(seed: u64, number: u64, place: u64) -> &'static str {
    noise::pick(PEOPLE, seed, number, place)
}
