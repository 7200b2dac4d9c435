//! Prompt: what a model is asked, turn by turn. Its words are files of their own, with a version in their names: a
//! change that may change programs is a new version.

use gristmill_domain::cut_chars;
use gristmill_protocol::EngineId;

use super::course::Course;
use super::limits::{TOLD_MAX, WORDS_CHARS_MAX};
use super::pick::Picked;
use crate::ports::{Prompt, Speaker, Turn};
use crate::tokens;

const SYSTEM: &str = include_str!("prompt_v1.md");
const PYTHON: &str = include_str!("prompt_v1_python.md");
const TYPESCRIPT: &str = include_str!("prompt_v1_typescript.md");

/// What stands in the place of tools where none were found.
const NO_TOOLS: &str = "(none: only compute)";

/// A conversation with one model.
pub(super) struct Conversation {
    prompt: Prompt,
}

impl Conversation {
    /// The task, the tools for it, and what was done about it already.
    pub fn begin(course: &Course, picked: &Picked) -> Self {
        let request = &course.request;
        let tools: Vec<&str> = picked.chosen.iter().map(|one| one.stub.as_str()).collect();
        let tools = if tools.is_empty() { NO_TOOLS.to_owned() } else { tools.join("\n") };
        let system = system_with(request.engine, &tools);
        let task = format!("Task: {}{}", course.sentence, already_made(&course.made));
        let output_tokens_max = request.limits.output_tokens;
        Self { prompt: Prompt { system, turns: vec![of_ours(task)], output_tokens_max } }
    }

    pub fn prompt(&self) -> &Prompt {
        &self.prompt
    }

    /// What it comes to (o200k).
    pub fn tokens(&self) -> usize {
        let turns: usize = self.prompt.turns.iter().map(|turn| tokens::count(&turn.text)).sum();
        tokens::count(&self.prompt.system) + turns
    }

    /// The model answered without a program.
    pub fn ask_for_a_program(&mut self, said: &str) {
        let words =
            "That is no program that can be run. Answer with the whole program in one fenced code block.";
        self.add(cut_chars(said.trim(), WORDS_CHARS_MAX), words.to_owned());
    }

    /// Its program was refused, or failed.
    pub fn repair(&mut self, engine: EngineId, code: &str, failure: &str, made: &[String]) {
        let said = format!("```{}\n{}\n```", engine.name(), code.trim_end());
        let made = already_made(made);
        let words = format!(
            "{failure}{made}\n\nRepair it. Answer with the whole corrected program in one fenced code block."
        );
        // Only the last one matters: earlier attempts and failures would fill the prompt.
        self.prompt.turns.truncate(1);
        self.add(said, words);
    }

    fn add(&mut self, said: String, words: String) {
        self.prompt.turns.push(Turn { speaker: Speaker::Model, text: said });
        self.prompt.turns.push(of_ours(words));
    }
}

fn of_ours(text: String) -> Turn {
    Turn { speaker: Speaker::Us, text }
}

fn system_with(engine: EngineId, tools: &str) -> String {
    let rules = match engine {
        EngineId::Python | EngineId::Native => PYTHON,
        EngineId::TypeScript => TYPESCRIPT,
    };
    // The tools last: nothing in their words is a place for ours.
    let ours = SYSTEM.replace("{language}", engine.language()).replace("{rules}", rules.trim_end());
    ours.trim_end().replace("{tools}", tools)
}

/// What must not be done twice.
fn already_made(made: &[String]) -> String {
    if made.is_empty() {
        return String::new();
    }
    let listed = made.iter().take(TOLD_MAX).map(|one| format!("\n- {one}")).collect::<String>();
    format!("\n\nAn earlier program has done this already; don't do it again unless it failed:{listed}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is ours in every prompt.
    const OWN_TOKENS_MAX: usize = 600;

    #[test]
    fn our_own_words_keep_their_budget_in_both_languages() {
        for engine in EngineId::ALL {
            let counted = tokens::count(&system_with(*engine, ""));
            assert!(counted <= OWN_TOKENS_MAX, "{engine}: {counted}");
            assert!(counted > 200, "{engine}: {counted}");
        }
    }

    #[test]
    fn nothing_in_a_tools_words_is_a_place_for_ours() {
        let system = system_with(EngineId::Python, "{rules} {language} {tools}");
        assert!(system.ends_with("Tools:\n{rules} {language} {tools}"), "{system}");
        assert!(!system[..system.len() - 40].contains('{'), "{system}");
    }

    #[test]
    fn a_repair_replaces_the_one_before() {
        let prompt =
            Prompt { system: String::new(), turns: vec![of_ours("Task: x".into())], output_tokens_max: 1 };
        let mut conversation = Conversation { prompt };
        conversation.ask_for_a_program("no");
        for failure in ["first", "second"] {
            conversation.repair(EngineId::Python, "x = 1\n", failure, &["a.b".to_owned()]);
        }
        let texts: Vec<&str> = conversation.prompt.turns.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!((texts.len(), texts[1]), (3, "```python\nx = 1\n```"));
        assert!(texts[2].starts_with("second\n\nAn earlier program has done this already"), "{}", texts[2]);
    }
}
