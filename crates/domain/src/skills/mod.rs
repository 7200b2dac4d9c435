//! Skills: saved code, each a folder that people read, review and keep in git.
//!
//! Pure: what a skill is called, what its folder may hold, what its `SKILL.md` says. A skill may come
//! from anywhere, so everything in it is measured before it is used, and shown as foreign text.

mod facts;
mod files;
mod front_matter;
mod language;
mod line_diff;
mod name;
mod skill_md;
mod taken_names;

pub use facts::{CodeFacts, DEFAULT_EXPORT, FunctionFact, NeededTool, ToolDrift, drift, schema_hash};
pub use files::{FilesError, SKILL_FILE, SkillFiles, clean_text};
pub use front_matter::{FrontMatter, FrontMatterError};
pub use language::SkillLanguage;
pub use line_diff::line_diff;
pub use name::{NameError, SkillName};
pub use skill_md::{Described, SkillMd, described_by, usage_line};

/// The code of one skill: far more than anyone reads, far less than a program may be.
pub const CODE_BYTES_MAX: usize = 256 * 1024;
/// `SKILL.md` is meant to be read.
pub const SKILL_FILE_BYTES_MAX: usize = 64 * 1024;
/// All files of one skill: each version of it is kept whole.
pub const SKILL_BYTES_MAX: usize = 512 * 1024;
/// Files in one skill.
pub const SKILL_FILES_MAX: usize = 20;
/// Skills in one folder: each is mounted for every program, and searched.
pub const SKILLS_MAX: usize = 500;
/// Characters of a description that are kept: it is one line in every listing.
pub const DESCRIPTION_CHARS_MAX: usize = 500;
/// Tags of one skill, and the characters of one.
pub const TAGS_MAX: usize = 20;
/// See [`TAGS_MAX`].
pub const TAG_CHARS_MAX: usize = 40;
