//! Which language a program is in: as its caller says, or as it looks.

use gristmill_checks::{Language, detect};
use gristmill_domain::one_line;
use gristmill_domain::skills::SkillLanguage;
use gristmill_protocol::EngineId;

/// What is shown of a name that no language has.
const NAME_CHARS_MAX: usize = 40;

/// Names that callers use for languages, with the engines that run them.
const NAMES: [(&str, EngineId); 8] = [
    ("python", EngineId::Python),
    ("py", EngineId::Python),
    ("typescript", EngineId::TypeScript),
    ("ts", EngineId::TypeScript),
    ("javascript", EngineId::TypeScript),
    ("js", EngineId::TypeScript),
    ("mjs", EngineId::TypeScript),
    // As records have it.
    ("native", EngineId::Native),
];

/// A language that nothing here runs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("language is `{}`; it can be python, typescript or javascript", one_line(.0, NAME_CHARS_MAX))]
pub struct UnknownLanguage(pub String);

/// The engine for a language by its name, or by the extension of a file.
pub fn engine_named(language: &str) -> Result<EngineId, UnknownLanguage> {
    let folded = language.trim().to_ascii_lowercase();
    let found = NAMES.iter().find(|(name, _)| *name == folded).map(|(_, engine)| *engine);
    found.ok_or_else(|| UnknownLanguage(language.to_owned()))
}

/// Whether a language's name, or a file's extension, is one of JavaScript's, whose programs have no types to check.
pub fn is_javascript(language: &str) -> bool {
    matches!(language.trim().to_ascii_lowercase().as_str(), "javascript" | "js" | "mjs" | "cjs")
}

/// The engine for a program, told from its text. What isn't clear is Python.
pub fn engine_of_code(code: &str) -> EngineId {
    match detect(code) {
        Some(Language::TypeScript) => EngineId::TypeScript,
        Some(Language::Python) | None => EngineId::Python,
    }
}

/// The engine that is named, or else the one that the text is for.
pub fn engine_for(language: Option<&str>, code: &str) -> Result<EngineId, UnknownLanguage> {
    match language {
        Some(language) => engine_named(language),
        None => Ok(engine_of_code(code)),
    }
}

/// What runs the skills of a language.
pub fn engine_of_skill(language: SkillLanguage) -> EngineId {
    match language {
        SkillLanguage::Python => EngineId::Python,
        SkillLanguage::TypeScript => EngineId::TypeScript,
    }
}

/// The language of the skills that programs of an engine import.
pub fn skill_language(engine: EngineId) -> SkillLanguage {
    match engine {
        EngineId::Python | EngineId::Native => SkillLanguage::Python,
        EngineId::TypeScript => SkillLanguage::TypeScript,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_comes_before_what_the_text_looks_like() {
        assert_eq!(engine_for(Some("javascript"), "x = 1"), Ok(EngineId::TypeScript));
        assert_eq!(engine_for(Some("Python"), "const x = 1"), Ok(EngineId::Python));
        assert_eq!(engine_for(None, "const x: number = 1"), Ok(EngineId::TypeScript));
        assert_eq!(engine_for(None, "x = [1, 2]"), Ok(EngineId::Python));
        assert_eq!(engine_for(None, "x = [1, 2]\n y = sum(x)"), Ok(EngineId::Python));
        let unknown = engine_for(Some("ruby"), "puts 1").map_err(|error| error.to_string());
        assert_eq!(unknown, Err("language is `ruby`; it can be python, typescript or javascript".to_owned()));
    }
}
