//! "Did you mean": the known names closest to a wrong one.

/// Longer names are compared by their beginnings: a distance costs the product of both lengths.
const CHARS_MAX: usize = 64;

/// The values whose keys are closest to `wanted`, best first; none that is far off.
pub fn nearest<'a>(
    wanted: &str,
    candidates: impl Iterator<Item = (&'a str, &'a str)>,
    count: usize,
) -> Vec<&'a str> {
    let wanted = comparable(wanted);
    let wanted_chars = wanted.chars().count();
    let mut scored: Vec<(usize, &str)> = candidates
        .filter_map(|(key, value)| {
            let key = comparable(key);
            let distance = strsim::osa_distance(&wanted, &key);
            let is_contained = wanted_chars >= 3 && key.contains(&wanted);
            let longer = wanted_chars.max(key.chars().count());
            let is_near = distance <= longer / 3 + usize::from(wanted_chars > 2);
            let score = if is_contained { distance.min(2) } else { distance };
            (is_near || is_contained).then_some((score, value))
        })
        .collect();
    scored.sort();
    scored.truncate(count);
    scored.into_iter().map(|(_, value)| value).collect()
}

fn comparable(name: &str) -> String {
    name.to_lowercase().chars().take(CHARS_MAX).collect()
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
