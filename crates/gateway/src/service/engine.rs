//! Which engine a program gets: as its call says, its session, a rule, what it imports, and who asks.

use std::collections::BTreeSet;
use std::sync::Arc;

use gristmill_checks::{Imported, imported_of};
use gristmill_domain::{Code, Level, Limits, one_line};
use gristmill_protocol::EngineId;

use super::start::StartRequest;
use crate::execute::{Core, Purpose};
use crate::ids::Caller;
use crate::native_engine::{EngineChoice, NativeEngine};
use crate::report::Report;
use crate::request::ExecuteRequest;
use crate::session::SessionWishes;
use crate::skills::{NeededModule, SkillsView};

/// Modules that are named in one hint.
const MODULES_SHOWN: usize = 3;
const NAME_CHARS_MAX: usize = 40;

/// What is told of a program that can't import what another engine has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OtherEngine {
    /// What it imports of that, itself or by a skill.
    needed: Vec<Needed>,
    /// Why it didn't get that engine, and what to do.
    why: String,
}

/// One module, and the skill that imports it if the program doesn't do so itself.
#[derive(Debug, PartialEq, Eq)]
struct Needed {
    module: String,
    skill: Option<String>,
}

/// What a program came to.
pub(super) struct Chosen {
    pub engine: EngineId,
    /// In the native engine, for a skill: which.
    pub note: Option<String>,
    pub other: Option<OtherEngine>,
}

impl Chosen {
    fn plainly(engine: EngineId) -> Self {
        Self { engine, note: None, other: None }
    }
}

/// What a session keeps that is made for a program: no engine that is refused, or all that follow would fail.
pub(crate) fn kept_wishes(core: &Core, start: &StartRequest) -> SessionWishes {
    let level = start.request.limits.as_ref().map_or(core.limits.level(), Limits::level);
    let may = |native: &NativeEngine| native.bars(&start.caller, level).is_none();
    let is_kept =
        |choice: &EngineChoice| *choice != EngineChoice::Native || core.native.as_ref().is_some_and(may);
    SessionWishes { level: start.level, engine: start.engine.filter(is_kept) }
}

/// The engine of a program whose place is known. `choice` is what its call says, or its session.
pub(super) async fn choose(
    core: &Core,
    request: &ExecuteRequest,
    purpose: &Purpose,
    choice: Option<EngineChoice>,
    (caller, level): (&Caller, Level),
) -> Chosen {
    let (EngineId::Python, Some(native)) = (request.engine, &core.native) else {
        let is_wanted = request.engine == EngineId::Python && choice == Some(EngineChoice::Native);
        return Chosen::plainly(if is_wanted { EngineId::Native } else { request.engine });
    };
    let barred = native.bars(caller, level);
    // A rule gives it to those who may use it, and refuses nobody.
    let is_by_rule = barred.is_none() && native.is_for_session_of(caller);
    let choice = choice.or(is_by_rule.then_some(EngineChoice::Native));
    if choice == Some(EngineChoice::Native) {
        // Whoever may not is told so when it is admitted.
        return Chosen::plainly(EngineId::Native);
    }
    let Imported { modules, skills } = imported_of(&request.code, |module| core.has_only_natively(module));
    let own: Vec<String> = modules.into_iter().collect();
    let skills = of_skills(core, skills, purpose, caller).await;
    if own.is_empty() && skills.is_empty() {
        return Chosen::plainly(EngineId::Python);
    }
    let is_wanted = match choice {
        Some(EngineChoice::Auto) => true,
        Some(EngineChoice::Wasm | EngineChoice::Native) => false,
        // Whoever saved a skill chose its engine.
        None => native.is_automatic || !skills.is_empty(),
    };
    if is_wanted && barred.is_none() {
        let note = skills.first().filter(|_| own.is_empty());
        let note = note.map(|one| format!("the skill `{}` imports {}", one.skill, one.module));
        return Chosen { engine: EngineId::Native, note, other: None };
    }
    let why = match (barred, choice) {
        (Some(barred), _) => format!("{barred}; {}", barred.remedy()),
        (None, Some(EngineChoice::Wasm)) => {
            "it was to run in WebAssembly; say engine `native`, or leave it out".to_owned()
        }
        (None, _) => "run it again with engine `native`".to_owned(),
    };
    let own = own.into_iter().map(|module| Needed { module, skill: None });
    let skills =
        skills.into_iter().map(|NeededModule { module, skill }| Needed { module, skill: Some(skill) });
    Chosen {
        other: Some(OtherEngine { needed: own.chain(skills).collect(), why }),
        ..Chosen::plainly(EngineId::Python)
    }
}

/// What these skills need of what only the native engine has.
async fn of_skills(
    core: &Core,
    names: BTreeSet<String>,
    purpose: &Purpose,
    caller: &Caller,
) -> Vec<NeededModule> {
    if names.is_empty() {
        return Vec::new();
    }
    let view: Arc<SkillsView> = match (purpose, &core.skills) {
        (Purpose::Internal(frozen), _) => Arc::clone(&frozen.view),
        (Purpose::Asked(_), Some(skills)) => skills.view_for(caller).await,
        (Purpose::Asked(_), None) => return Vec::new(),
    };
    let mut needed = view.modules_needed_by(names);
    needed.retain(|one| core.has_only_natively(&one.module));
    needed
}

impl OtherEngine {
    /// Says it where an import has failed for it.
    pub fn tell(self, report: &mut Report) {
        let Some(error) = report.error.as_mut().filter(|error| error.code == Code::MissingModule) else {
            return;
        };
        let is_named = |one: &&Needed| {
            [format!("'{}'", one.module), format!("'{}.", one.module)]
                .iter()
                .any(|name| error.message.contains(name))
        };
        let failed: Vec<&Needed> = self.needed.iter().filter(is_named).collect();
        let Some(first) = failed.first() else { return };
        let mut modules: Vec<String> =
            failed.iter().map(|one| one_line(&one.module, NAME_CHARS_MAX)).collect();
        modules.dedup();
        modules.truncate(MODULES_SHOWN);
        let who = match &first.skill {
            Some(skill) => {
                format!("the skill `{skill}` needs {}, which is in the native engine", modules.join(", "))
            }
            None => format!("{} is in the native engine", modules.join(", ")),
        };
        error.hint = Some(format!("{who}: {}", self.why));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failed_import_of_its_modules_is_told_of_the_other_engine() {
        let hint_of = |message: &str, code: Code| {
            let mut report = Report::failed_by_us(message);
            report.error.as_mut().expect("an error").code = code;
            let needed = vec![Needed { module: "numpy".to_owned(), skill: Some("totals".to_owned()) }];
            OtherEngine { needed, why: "run it again with engine `native`".to_owned() }.tell(&mut report);
            report.error.expect("an error").hint
        };
        let expected = "the skill `totals` needs numpy, which is in the native engine: run it again with engine `native`";
        assert_eq!(hint_of("No module named 'numpy'", Code::MissingModule).as_deref(), Some(expected));
        assert_eq!(hint_of("No module named 'numpy.linalg'", Code::MissingModule).as_deref(), Some(expected));
        assert_ne!(hint_of("No module named 'numpyro'", Code::MissingModule).as_deref(), Some(expected));
        assert_ne!(hint_of("No module named 'numpy'", Code::Exception).as_deref(), Some(expected));
    }
}
