//! The files of one skill, by name: what its folder may hold, and the hash of it all.

use std::collections::BTreeMap;

use super::language::SkillLanguage;
use super::name::SkillName;
use super::{CODE_BYTES_MAX, SKILL_BYTES_MAX, SKILL_FILE_BYTES_MAX, SKILL_FILES_MAX};
use crate::visible_text::one_line;

/// What describes a skill, in its folder.
pub const SKILL_FILE: &str = "SKILL.md";

/// Long enough for any file that someone names.
const FILE_NAME_BYTES_MAX: usize = 100;

/// Texts by file name. Whatever is in it, it is bounded and has no path in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillFiles(BTreeMap<String, String>);

/// A folder that is no skill. The other skills are unaffected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    #[error("it has no {0}.py or {0}.ts")]
    NoCode(String),
    /// Nobody could tell which of them is meant.
    #[error("it has both {0}.py and {0}.ts; keep one")]
    TwoLanguages(String),
    /// Too large to be kept or read.
    #[error("{file} has {bytes} bytes; the limit is {bytes_max}")]
    Large { file: String, bytes: usize, bytes_max: usize },
    /// All of them together.
    #[error("it has {0} bytes; the limit is {SKILL_BYTES_MAX}")]
    LargeTogether(usize),
    #[error("it has more than {SKILL_FILES_MAX} files")]
    Many,
    /// A name that is a path, or hidden.
    #[error("`{0}` isn't a valid file name for a skill")]
    Name(String),
    #[error("{file} isn't text: {why}")]
    NotText {
        file: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// A text as it is kept: without a byte-order mark, with plain line ends. The error says what
/// cannot be in a text.
pub fn clean_text(text: &str) -> Result<String, &'static str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.contains('\0') {
        return Err("it contains a NUL character");
    }
    Ok(text.replace("\r\n", "\n").replace('\r', "\n"))
}

impl SkillFiles {
    /// Adds a file, or replaces it.
    pub fn put(&mut self, name: &str, text: &str) -> Result<(), FilesError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if name.is_empty()
            || name.len() > FILE_NAME_BYTES_MAX
            || name.starts_with('.')
            || !name.bytes().all(is_plain)
        {
            return Err(FilesError::Name(one_line(name, FILE_NAME_BYTES_MAX)));
        }
        let bytes_max = if name == SKILL_FILE { SKILL_FILE_BYTES_MAX } else { CODE_BYTES_MAX };
        if text.len() > bytes_max {
            return Err(FilesError::Large { file: name.to_owned(), bytes: text.len(), bytes_max });
        }
        let text = clean_text(text).map_err(|why| FilesError::NotText { file: name.to_owned(), why })?;
        self.0.insert(name.to_owned(), text);
        if self.0.len() > SKILL_FILES_MAX {
            return Err(FilesError::Many);
        }
        let together = self.0.values().map(String::len).sum();
        if together > SKILL_BYTES_MAX { Err(FilesError::LargeTogether(together)) } else { Ok(()) }
    }

    pub fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The code of a skill of that name.
    pub fn code(&self, name: &SkillName) -> Result<&str, FilesError> {
        let file = Self::code_file(name, self.language(name)?);
        self.get(&file).ok_or_else(|| FilesError::NoCode(name.as_str().to_owned()))
    }

    /// What the code of a skill of that name is written in.
    pub fn language(&self, name: &SkillName) -> Result<SkillLanguage, FilesError> {
        let has = |language: &SkillLanguage| self.get(&Self::code_file(name, *language)).is_some();
        let found: Vec<SkillLanguage> = SkillLanguage::ALL.into_iter().filter(has).collect();
        match found.as_slice() {
            [language] => Ok(*language),
            [] => Err(FilesError::NoCode(name.as_str().to_owned())),
            [_, ..] => Err(FilesError::TwoLanguages(name.as_str().to_owned())),
        }
    }

    /// What the code is called in a skill's folder.
    pub fn code_file(name: &SkillName, language: SkillLanguage) -> String {
        format!("{name}.{}", language.extension())
    }

    /// What a test that comes with the code is called.
    pub fn test_file(name: &SkillName, language: SkillLanguage) -> String {
        format!("test_{name}.{}", language.extension())
    }

    /// The tests in a language, by file name.
    pub fn tests(&self, language: SkillLanguage) -> impl Iterator<Item = (&str, &str)> {
        let is_test = move |name: &str| {
            let stem = name.strip_suffix(language.extension()).and_then(|name| name.strip_suffix('.'));
            stem.is_some_and(|stem| stem.starts_with("test_"))
        };
        self.iter().filter(move |(name, _)| is_test(name))
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, text)| (name.as_str(), text.as_str()))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Differs whenever a name or a text does.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for part in self.0.iter().flat_map(|(name, text)| [name, text]) {
            // With its length, so that no two lists of parts read alike.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_without_marks_and_foreign_line_ends() {
        assert_eq!(clean_text("\u{feff}a\r\nb\rc\n"), Ok("a\nb\nc\n".to_owned()));
        assert!(clean_text("a\0").is_err());
    }

    #[test]
    fn a_file_is_a_plain_name_of_bounded_size() {
        let mut files = SkillFiles::default();
        for name in ["", "..", "../x.py", "a/b.py", ".env", "a b", "a\n", "\u{e4}.py"] {
            assert!(matches!(files.put(name, ""), Err(FilesError::Name(_))), "{name:?}");
        }
        let large = "x".repeat(CODE_BYTES_MAX + 1);
        assert!(matches!(files.put("a.py", &large), Err(FilesError::Large { .. })));
        for number in 0..SKILL_FILES_MAX {
            files.put(&format!("f{number}.py"), "").expect("a file");
        }
        assert_eq!(files.put("one_more.py", ""), Err(FilesError::Many));
    }

    #[test]
    fn the_ending_of_its_file_says_which_language_a_skill_has() {
        let name = SkillName::new("totals").expect("a name");
        let mut files = SkillFiles::default();
        files.put("test_totals.ts", "1").expect("a file");
        assert_eq!(files.language(&name), Err(FilesError::NoCode("totals".to_owned())));
        files.put("totals.ts", "export const one = 1").expect("a file");
        files.put("test_totals.py", "2").expect("a file");
        assert_eq!(files.language(&name), Ok(SkillLanguage::TypeScript));
        assert_eq!(files.code(&name), Ok("export const one = 1"));
        let tests: Vec<_> = files.tests(SkillLanguage::TypeScript).collect();
        assert_eq!(tests, [("test_totals.ts", "1")]);
        files.put("totals.py", "one = 1").expect("a file");
        let told = files.code(&name).expect_err("two").to_string();
        assert_eq!(told, "it has both totals.py and totals.ts; keep one");
    }

    #[test]
    fn the_hash_tells_names_from_texts() {
        let of = |pairs: &[(&str, &str)]| {
            let mut files = SkillFiles::default();
            pairs.iter().for_each(|(name, text)| files.put(name, text).expect("a file"));
            files.hash()
        };
        assert_ne!(of(&[("a", "bc")]), of(&[("ab", "c")]));
        assert_ne!(of(&[("a", "b"), ("c", "")]), of(&[("a", "b")]));
        assert_eq!(of(&[("a", "1"), ("b", "2")]), of(&[("b", "2"), ("a", "1")]));
    }
}
