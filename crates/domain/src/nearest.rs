//! "Did you mean": the known names closest to a wrong one.

/// The values whose keys are closest to `wanted`, best first; none that is far off.
pub fn nearest<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = (&'a str, &'a str)>,
    count: usize,
) -> Vec<&'a str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(64).collect();
    let mut scored: Vec<(usize, &str)> = candidates
        .filter_map(|(key, value)| {
            let key: Vec<char> = key.to_lowercase().chars().take(64).collect();
            let distance = distance(&wanted, &key);
            let contained = !wanted.is_empty() && wanted.len() >= 3 && contains(&key, &wanted);
            let near = distance <= (wanted.len().max(key.len())) / 3 + usize::from(wanted.len() > 2);
            (near || contained).then_some((if contained { distance.min(2) } else { distance }, value))
        })
        .collect();
    scored.sort();
    scored.truncate(count);
    scored.into_iter().map(|(_, value)| value).collect()
}

fn contains(text: &[char], part: &[char]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Edits between two words, a swap of neighbours counting as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut table = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let change = usize::from(a[i - 1] != b[j - 1]);
                let mut best = (table[(i - 1) * width + j] + 1)
                    .min(table[i * width + j - 1] + 1)
                    .min(table[(i - 1) * width + j - 1] + change);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(table[(i - 2) * width + j - 2] + 1);
                }
                best
            };
        }
    }
    table[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first_and_far_ones_not_at_all() {
        let known = ["timeout", "memory", "path", "file_path"];
        let check = |wanted: &str, expected: &[&str]| {
            assert_eq!(nearest(wanted, known.into_iter().map(|name| (name, name)), 2), expected, "{wanted}");
        };
        check("tiemout", &["timeout"]);
        check("Memory", &["memory"]);
        check("path", &["path", "file_path"]);
        check("zzzzzz", &[]);
    }
}
