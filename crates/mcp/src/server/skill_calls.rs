//! `save_skill`, `load_skill`, `list_skills` and `delete_skill`.

use gristmill_gateway::answer::fit;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::domain::skills::SKILL_FILE;
use gristmill_gateway::executions::Owner;
use gristmill_gateway::skills::{ListQuery, SaveRequest, SkillError, SkillTest, Skills, Standing, listed};
use gristmill_gateway::upstream::Upstreams;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::answer::Answer;

/// A skill is read whole, within reason; a program reads all of it with `load_skill`.
const CODE_TOKENS_MAX: usize = 8_000;
const LIST_TOKENS_MAX: usize = 4_000;

/// What came of it, as an answer.
pub(super) fn told(outcome: Result<Answer, SkillError>) -> Answer {
    outcome.unwrap_or_else(|error| Answer::refused(error.code(), &error.to_string(), None))
}

fn kept(skills: Option<&Skills>) -> Result<&Skills, SkillError> {
    skills.ok_or(SkillError::ReadOnly("this gateway keeps none"))
}

fn read<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, SkillError> {
    let read = serde_json::from_value(Value::Object(arguments));
    read.map_err(|error| SkillError::Bad(format!("the arguments: {error}")))
}

#[derive(Deserialize)]
struct SaveArguments {
    name: String,
    code: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    test: Option<Value>,
    #[serde(default)]
    tags: Option<Vec<String>>,
}

/// Saves, for whoever asks.
pub(super) async fn save(
    skills: Option<&Skills>,
    arguments: Map<String, Value>,
    owner: &Owner,
) -> Result<Answer, SkillError> {
    let skills = kept(skills)?;
    let SaveArguments { name, code, description, test, tags } = read(arguments)?;
    let test = test.filter(|test| !test.is_null()).as_ref().map(SkillTest::from_json).transpose()?;
    let (in_project, by, owner) = (false, owner.0.clone(), Some(owner.clone()));
    let request = SaveRequest { name, code, description, tags, test, in_project, by, owner };
    let saved = skills.save(request).await?;
    let mut structured = json!({
        "status": "ok",
        "name": saved.name.as_str(),
        "version": saved.version,
        "use": saved.usage(),
    });
    if !saved.notes.is_empty() {
        structured["notes"] = json!(saved.notes);
    }
    Ok(Answer { text: saved.text(), structured, is_error: false })
}

#[derive(Deserialize)]
struct LoadArguments {
    name: String,
    #[serde(default)]
    version: Option<i64>,
}

/// Shows one.
pub(super) async fn load(
    skills: Option<&Skills>,
    arguments: Map<String, Value>,
) -> Result<Answer, SkillError> {
    let skills = kept(skills)?;
    let LoadArguments { name, version } = read(arguments)?;
    let view = skills.look_again().await;
    let unknown = || SkillError::Unknown { name: one_line(&name, 64), nearest: view.nearest(&name) };
    let skill = view.find(&name);
    if let Some(skill) = skill.filter(|skill| skill.standing == Standing::Waiting) {
        // Its name is anybody's words: a model is told no other spelling than its own.
        return Err(match skill.name.as_str() == name {
            true => SkillError::Waiting(name.clone()),
            false => unknown(),
        });
    }
    let (name, number, files) = match (version, skill) {
        (Some(version), _) => {
            let known = skills.version(&name, version).await?;
            (known.name, known.version, known.files)
        }
        (None, Some(skill)) => (skill.name.to_string(), skill.version, skill.files.clone()),
        (None, None) => return Err(unknown()),
    };
    let usage = files.get(SKILL_FILE).unwrap_or_default();
    let code = files.get(&format!("{name}.py")).unwrap_or_default();
    let usage = fit::beginning(usage, CODE_TOKENS_MAX / 4);
    let code = fit::ends(code, CODE_TOKENS_MAX);
    let text = format!("{}\n\n```python\n{}\n```", usage.text.trim_end(), code.text.trim_end());
    let structured = json!({"name": name, "version": number, "usage": usage.text, "code": code.text});
    Ok(Answer { text, structured, is_error: false })
}

/// Lists those there are, with what became of the tools that they need.
pub(super) async fn list(
    skills: Option<&Skills>,
    upstreams: Option<&Upstreams>,
    arguments: Map<String, Value>,
) -> Result<Answer, SkillError> {
    let skills = kept(skills)?;
    let query: ListQuery = read(arguments)?;
    let view = skills.look_closely().await;
    let snapshot = upstreams.map(|upstreams| upstreams.snapshot());
    let listed = listed(&view, &query, snapshot.as_ref().map(|snapshot| snapshot.lookup()));
    let (_, total) = listed.counts();
    let mut more = listed.remarks();
    let (mut shown, mut left) = (Vec::new(), LIST_TOKENS_MAX);
    for entry in listed.entries() {
        let tokens = gristmill_gateway::tokens::count(&entry);
        if tokens > left {
            more.insert(0, "Not all fit: use words, tags, or detail_level \"names\".".to_owned());
            break;
        }
        left -= tokens;
        shown.push(entry);
    }
    let headline = match total {
        0 => listed.why_none().unwrap_or_default(),
        total => format!("{} of {total} shown", shown.len()),
    };
    let text = [headline].iter().chain(&shown).chain(&more).cloned().collect::<Vec<_>>().join("\n");
    let mut structured = json!({"total": total, "skills": shown});
    if !more.is_empty() {
        structured["more"] = json!(more.join(" "));
    }
    Ok(Answer { text, structured, is_error: false })
}

#[derive(Deserialize)]
struct DeleteArguments {
    name: String,
}

/// Deletes; `by` is whoever asks.
pub(super) async fn delete(
    skills: Option<&Skills>,
    arguments: Map<String, Value>,
    by: &str,
) -> Result<Answer, SkillError> {
    let skills = kept(skills)?;
    let DeleteArguments { name } = read(arguments)?;
    let deleted = skills.delete(&name, by).await?;
    let text = format!(
        "deleted {} (v{}, {}); the user can bring it back with `gristmill skills rollback`",
        deleted.name,
        deleted.version,
        deleted.place.as_str()
    );
    let structured = json!({"status": "ok", "name": deleted.name.as_str()});
    Ok(Answer { text, structured, is_error: false })
}
