//! Which tools of a server are offered at all. Those that aren't are as good as not there, but for their names,
//! which no other tool gets.

/// A longer one is no tool's name.
const CHARS_MAX: usize = 256;

/// What is offered: everything that is included, unless it is excluded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// Only these; `None` for all.
    pub include: Option<Vec<ToolPattern>>,
    /// Not these, whatever is included.
    pub exclude: Vec<ToolPattern>,
}

impl ToolRules {
    /// Whether it is said of a tool by name or pattern that it isn't offered.
    pub fn exclude(&self, tool: &str) -> bool {
        self.exclude.iter().any(|pattern| pattern.fits(tool))
    }

    /// Whether a tool is offered, by its own name.
    pub fn permit(&self, tool: &str) -> bool {
        let is_among = |patterns: &[ToolPattern]| patterns.iter().any(|pattern| pattern.fits(tool));
        self.include.as_deref().is_none_or(is_among) && !is_among(&self.exclude)
    }
}

/// A tool's name, or several: `*` stands for any characters, `?` for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPattern(String);

impl ToolPattern {
    /// `None` if it is empty or too long to be one.
    pub fn read(text: &str) -> Option<Self> {
        let length = text.chars().take(CHARS_MAX + 1).count();
        (1..=CHARS_MAX).contains(&length).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Takes time in proportion to the product of both lengths, no more.
    fn fits(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        // fits[n]: the pattern so far fits the first n characters.
        let mut fits = vec![false; name.len() + 1];
        fits[0] = true;
        for wanted in self.0.chars() {
            let mut next = vec![false; name.len() + 1];
            match wanted {
                '*' => {
                    let first = fits.iter().position(|fits| *fits);
                    first.into_iter().for_each(|first| next[first..].fill(true));
                }
                wanted => {
                    for (at, found) in name.iter().enumerate() {
                        next[at + 1] = fits[at] && (wanted == '?' || wanted == *found);
                    }
                }
            }
            fits = next;
        }
        fits[name.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Vec<ToolPattern> {
        texts.iter().map(|text| ToolPattern::read(text).expect(text)).collect()
    }

    #[test]
    fn what_is_excluded_is_not_offered_although_it_is_included() {
        let check = |include: Option<&[&str]>, exclude: &[&str], expected: &[&str]| {
            let rules = ToolRules { include: include.map(patterns), exclude: patterns(exclude) };
            let all = ["get_mail", "get/mail", "send_mail", "delete_mail"];
            let offered: Vec<&str> = all.into_iter().filter(|tool| rules.permit(tool)).collect();
            assert_eq!(offered, expected, "{rules:?}");
        };
        check(None, &[], &["get_mail", "get/mail", "send_mail", "delete_mail"]);
        check(Some(&["*"]), &["delete_*"], &["get_mail", "get/mail", "send_mail"]);
        check(Some(&["get?mail", "send_mail"]), &["send_mail"], &["get_mail", "get/mail"]);
        check(Some(&["get"]), &[], &[]);
        check(Some(&[]), &[], &[]);
        assert_eq!(ToolPattern::read(""), None);
        assert_eq!(ToolPattern::read(&"a".repeat(CHARS_MAX + 1)), None);
    }
}
