//! Patterns for paths: `*` and `?` within a name, `**` over any number of folders.

/// More parts than this are no pattern that anybody writes.
const PARTS_MAX: usize = 64;

/// More characters are not, either.
const CHARS_MAX: usize = 1_024;

/// A pattern, taken apart.
#[derive(Clone, Debug)]
pub struct Glob {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    /// `**`
    Any,
    Name(Vec<char>),
}

impl Glob {
    /// Reads a pattern; `None` if it is too long. One that ends with a slash means all below.
    pub fn read(pattern: &str) -> Option<Self> {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        if pattern.chars().count() > CHARS_MAX {
            return None;
        }
        let whole = if pattern.ends_with('/') { format!("{pattern}**") } else { pattern.to_owned() };
        let part = |text: &str| if text == "**" { Part::Any } else { Part::Name(text.chars().collect()) };
        let parts: Vec<Part> = whole.split('/').filter(|part| !part.is_empty()).map(part).collect();
        (parts.len() <= PARTS_MAX).then_some(Self { parts })
    }

    /// Whether a path fits. Takes time in proportion to the product of both lengths, no more.
    pub fn fits(&self, path: &str) -> bool {
        let names: Vec<Vec<char>> = path.split('/').map(|name| name.chars().collect()).collect();
        // fits[n]: the parts so far fit the first n names.
        let mut fits = vec![false; names.len() + 1];
        fits[0] = true;
        for part in &self.parts {
            let mut next = vec![false; names.len() + 1];
            match part {
                Part::Any => {
                    let first = fits.iter().position(|fits| *fits);
                    first.into_iter().for_each(|first| next[first..].fill(true));
                }
                Part::Name(pattern) => {
                    for (number, name) in names.iter().enumerate() {
                        next[number + 1] = fits[number] && name_fits(pattern, name);
                    }
                }
            }
            fits = next;
        }
        fits[names.len()]
    }
}

fn name_fits(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(c) if *c == '?' || *c == name[in_name] => (at, in_name) = (at + 1, in_name + 1),
            Some(_) | None => {
                // The last star takes one more character.
                let Some((star_at, taken)) = star else { return false };
                (at, in_name) = (star_at + 1, taken + 1);
                star = Some((star_at, taken + 1));
            }
        }
    }
    pattern[at..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_name_and_two_do_not() {
        for (pattern, path, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "b/a.txt", false),
            ("**/*.txt", "a.txt", true),
            ("**/*.txt", "b/c/a.txt", true),
            ("b/**", "b/c/d", true),
            ("b/", "b/c/d", true),
            ("b/**", "bc/d", false),
            ("**", "b/c/d", true),
            ("?.py", "a.py", true),
            ("?.py", "ab.py", false),
            ("?.py", "\u{e4}.py", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("a/*/c", "a/b/c", true),
            ("a/*/c", "a/b/b/c", false),
            ("a/**/c", "a/c", true),
            ("[a]", "[a]", true),
            ("./a", "a", true),
        ] {
            assert_eq!(Glob::read(pattern).unwrap().fits(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_time() {
        let glob = Glob::read(&"**/*a*a*a*a*a*a*a*a*a*a*a*b/".repeat(30)).unwrap();
        let path = vec!["a".repeat(200); 60].join("/");
        assert!(!glob.fits(&path));
        assert!(Glob::read(&"a".repeat(1_025)).is_none() && Glob::read(&"a/".repeat(100)).is_none());
    }
}
