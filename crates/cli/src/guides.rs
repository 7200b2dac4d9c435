//! The guides of docs/, inside the binary: `build.rs` has packed them.

use gristmill_gateway::domain::nearest;

const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/guides.zst"));

/// As in `build.rs`.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// One page.
pub struct Guide {
    /// Its file's name, without folder and ending.
    pub name: String,
    /// Markdown.
    pub text: String,
}

impl Guide {
    /// Its first heading, without marks.
    pub fn title(&self) -> &str {
        let heading = self.text.lines().find_map(|line| line.strip_prefix("# "));
        heading.unwrap_or(&self.name)
    }
}

/// Every guide, by name.
pub fn all() -> Vec<Guide> {
    // The build has made these bytes.
    let unpacked = zstd::bulk::decompress(PACKED, BYTES_MAX).unwrap_or_default();
    let pages = String::from_utf8(unpacked).unwrap_or_default();
    let page = |page: &str| {
        let (name, text) = page.split_once('\n')?;
        Some(Guide { name: name.to_owned(), text: text.to_owned() })
    };
    pages.split('\0').filter_map(page).collect()
}

/// The guide that somebody means: `policy`, `policy.md`, `docs/policy.md`, `how-to/secrets`.
pub fn find<'a>(guides: &'a [Guide], asked: &str) -> Option<&'a Guide> {
    let name = asked.trim_end_matches(".md").rsplit('/').next().unwrap_or(asked).to_lowercase();
    guides.iter().find(|guide| guide.name == name)
}

/// Names of guides and commands that are close to a wrong one.
pub fn close_to(asked: &str, guides: &[Guide], commands: &[&str]) -> Vec<String> {
    let guides = guides.iter().map(|guide| guide.name.as_str());
    let mut names: Vec<&str> = guides.chain(commands.iter().copied()).collect();
    names.sort_unstable();
    names.dedup();
    let found = nearest(asked, names.iter().map(|name| (*name, *name)), 3);
    found.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guide_has_a_name_of_its_own_and_a_title() {
        let guides = all();
        assert!(guides.len() > 30, "{}", guides.len());
        let mut names: Vec<&str> = guides.iter().map(|guide| guide.name.as_str()).collect();
        names.dedup();
        assert_eq!(names.len(), guides.len(), "two pages have one name");
        for guide in &guides {
            assert!(guide.text.starts_with("# "), "{}", guide.name);
        }
    }

    #[test]
    fn the_guides_take_little_of_the_binary() {
        assert!(PACKED.len() < 195_000, "{} bytes", PACKED.len());
    }

    #[test]
    fn a_guide_is_found_as_links_and_files_call_it() {
        let guides = all();
        for asked in ["policy", "policy.md", "docs/policy.md", "Policy"] {
            assert_eq!(find(&guides, asked).map(|guide| guide.name.as_str()), Some("policy"), "{asked}");
        }
        assert!(find(&guides, "how-to/secrets").is_some());
        assert!(find(&guides, "README").is_none() && find(&guides, "").is_none());
        assert_eq!(close_to("tutorail", &guides, &[]), ["tutorial"]);
    }
}
