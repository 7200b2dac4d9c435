//! Globs over paths, in time that grows with pattern times path and no faster.

const PATTERN_BYTES_MAX: usize = 512;

/// `*` and `?` within a name, `**` across folders.
pub struct Glob {
    parts: Vec<Vec<char>>,
    name_only: bool,
}

impl Glob {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Result<Self, String> {
        if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
            return Err(format!("the pattern must have 1 to {PATTERN_BYTES_MAX} bytes, such as *.md"));
        }
        let parts = pattern.trim_start_matches("./").split('/').map(|part| part.chars().collect()).collect();
        Ok(Self { parts, name_only: !pattern.contains('/') })
    }

    /// Whether a path fits.
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<Vec<char>> = path.split('/').map(|part| part.chars().collect()).collect();
        let looked_at = if self.name_only { &parts[parts.len() - 1..] } else { &parts[..] };
        let any_folders = |part: &Vec<char>| *part == ['*', '*'];
        fits(&self.parts, looked_at, any_folders, |pattern, part| {
            fits(
                pattern,
                part,
                |character| *character == '*',
                |wanted, found| *wanted == '?' || wanted == found,
            )
        })
    }
}

/// Whether the pattern covers all items. Only the last star is ever tried again: an earlier one
/// that took more could not reach further.
fn fits<T>(
    pattern: &[T],
    items: &[T],
    is_star: impl Fn(&T) -> bool,
    is_like: impl Fn(&T, &T) -> bool,
) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while i < items.len() {
        if pattern.get(p).is_some_and(&is_star) {
            star = Some((p, i));
            p += 1;
        } else if pattern.get(p).is_some_and(|wanted| is_like(wanted, &items[i])) {
            p += 1;
            i += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            i = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_fit_as_people_expect() {
        let check = |pattern: &str, path: &str, expected: bool| {
            let fits = Glob::new(pattern).expect(pattern).matches(path);
            assert_eq!(fits, expected, "{pattern} on {path}");
        };
        check("*.md", "README.md", true);
        check("*.md", "notes/plan.md", true);
        check("notes/*.md", "notes/plan.md", true);
        check("notes/*.md", "notes/old/plan.md", false);
        check("notes/**/*.md", "notes/old/deep/plan.md", true);
        check("notes/**/*.md", "notes/plan.md", true);
        check("**/plan.md", "plan.md", true);
        check("pl?n.*", "plan.md", true);
        check("*", "anything", true);
        check("**", "a/b", true);
        check("a*b*c", "axxbyyc", true);
        check("a*b*c", "axxbyy", false);
    }

    #[test]
    fn a_pattern_of_many_stars_ends_quickly() {
        let glob = Glob::new(&format!("{}b", "a*".repeat(200))).expect("a pattern");
        assert!(!glob.matches(&"a".repeat(255)));
    }
}
