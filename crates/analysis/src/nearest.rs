//! "Did you mean": the known name that is nearest to a wrong one.

/// Letters of a name that are looked at: a distance costs their product.
const LETTERS_MAX: usize = 64;

/// The nearest of the known names, if it is near enough to be meant.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = plain(name);
    let last_part = wanted.rsplit('.').next().unwrap_or_default().to_owned();
    known
        .into_iter()
        .map(|candidate| {
            let plain_candidate = plain(candidate);
            let is_part = plain_candidate.rsplit('.').next() == Some(last_part.as_str());
            (if is_part { 0 } else { distance(&wanted, &plain_candidate) }, candidate)
        })
        .filter(|(distance, candidate)| *distance <= (candidate.chars().count().max(name.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Small letters, and one mark between words.
fn plain(name: &str) -> String {
    name.chars()
        .take(LETTERS_MAX)
        .flat_map(char::to_lowercase)
        .map(|c| if c == '-' || c == ' ' { '_' } else { c })
        .collect()
}

/// How many letters must be changed, added, left out or exchanged with their neighbor.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let changed = last[j] + usize::from(a != b);
            let mut best = changed.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_finger_finds_the_name_and_a_strange_word_finds_none() {
        let known = ["price", "amount", "user.name"];
        assert_eq!(nearest("pirce", known), Some("price"));
        assert_eq!(nearest("Amount", known), Some("amount"));
        assert_eq!(nearest("name", known), Some("user.name"));
        assert_eq!(nearest("zebra", known), None);
    }
}
