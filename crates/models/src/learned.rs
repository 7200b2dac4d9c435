//! What errors taught about models, remembered in memory and in the cache folder: the next start doesn't ask
//! twice. Losing it costs one refused request for each model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gristmill_files::{PrivateFile, ensure_private_folder};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use crate::parameters::{OutputLimit, Parameters};

/// The folder below the one of caches, and the file in it.
const FOLDER: &str = "models";
const FILE: &str = "parameters.json";
const VERSION: u64 = 1;
const HOLDS: &str = "what language models take";
/// More models than anyone asks; a name and four words each.
const MODELS_MAX: usize = 200;
const FILE_BYTES_MAX: u64 = 128 * 1024;
/// Of a provider, an address and a model's name together.
const NAME_BYTES_MAX: usize = 400;

/// See the module.
pub(crate) struct Learned {
    folder: Option<PathBuf>,
    known: Mutex<Option<BTreeMap<String, Parameters>>>,
}

impl Learned {
    /// Kept below a folder of caches, or in memory only.
    pub fn new(cache: Option<&Path>) -> Self {
        Self { folder: cache.map(|cache| cache.join(FOLDER)), known: Mutex::new(None) }
    }

    pub fn of(&self, model: &str) -> Option<Parameters> {
        let mut known = self.known.lock();
        known.get_or_insert_with(|| self.read()).get(model).copied()
    }

    /// Remembers it. A disk that can't be written to is no reason to fail.
    pub fn note(&self, model: &str, parameters: Parameters) {
        if model.len() > NAME_BYTES_MAX {
            return;
        }
        let mut known = self.known.lock();
        // Others may have learned something meanwhile.
        let mut all = self.read();
        all.extend(known.take().unwrap_or_default());
        if all.len() >= MODELS_MAX && !all.contains_key(model) {
            all.clear();
        }
        all.insert(model.to_owned(), parameters);
        self.write(&all);
        *known = Some(all);
    }

    fn read(&self) -> BTreeMap<String, Parameters> {
        let Some(folder) = &self.folder else { return BTreeMap::new() };
        let read = PrivateFile::new(folder.join(FILE), HOLDS).read(FILE_BYTES_MAX);
        let bytes = read.ok().flatten().map(|(bytes, _)| bytes).unwrap_or_default();
        let file: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        if file["version"] != VERSION {
            return BTreeMap::new();
        }
        let models = file["models"].as_object().into_iter().flatten();
        models.take(MODELS_MAX).filter_map(|(name, value)| Some((name.clone(), parsed(value)?))).collect()
    }

    fn write(&self, all: &BTreeMap<String, Parameters>) {
        let Some(folder) = &self.folder else { return };
        let models: Map<String, Value> =
            all.iter().map(|(name, parameters)| (name.clone(), written(*parameters))).collect();
        let text = json!({ "version": VERSION, "models": models }).to_string();
        if ensure_private_folder(folder, HOLDS).is_ok() {
            let _ = PrivateFile::new(folder.join(FILE), HOLDS).replace(text.as_bytes());
        }
    }
}

fn written(parameters: Parameters) -> Value {
    json!({
        "output_limit": parameters.output_limit.name(),
        "temperature": parameters.takes_temperature,
        "stream_options": parameters.takes_stream_options,
    })
}

fn parsed(value: &Value) -> Option<Parameters> {
    let limits = [OutputLimit::MaxTokens, OutputLimit::MaxCompletionTokens];
    Some(Parameters {
        output_limit: limits.into_iter().find(|limit| value["output_limit"] == limit.name())?,
        takes_temperature: value["temperature"].as_bool()?,
        takes_stream_options: value["stream_options"].as_bool()?,
    })
}

#[cfg(test)]
mod tests {
    use gristmill_testkit::TestFolder;

    use super::*;

    fn cold() -> Parameters {
        Parameters { takes_temperature: false, ..Parameters::new(OutputLimit::MaxCompletionTokens) }
    }

    #[test]
    fn what_was_learned_is_known_to_the_next_start_and_to_others() {
        let folder = TestFolder::new("models-learned");
        let first = Learned::new(Some(folder.path()));
        assert_eq!(first.of("a"), None);
        let second = Learned::new(Some(folder.path()));
        second.note("b", cold());
        first.note("a", Parameters::new(OutputLimit::MaxTokens));
        let next = Learned::new(Some(folder.path()));
        assert_eq!(next.of("a"), Some(Parameters::new(OutputLimit::MaxTokens)));
        assert_eq!(next.of("b"), Some(cold()));
    }

    #[test]
    fn a_file_that_is_damaged_or_a_folder_that_cannot_be_written_is_no_failure() {
        let folder = TestFolder::new("models-damaged");
        let path = folder.path().join("models/parameters.json");
        Learned::new(Some(folder.path())).note("a", cold());
        for damaged in [
            "",
            "{",
            "[]",
            r#"{"version":9,"models":{}}"#,
            r#"{"version":1,"models":{"a":{"temperature":3}}}"#,
        ] {
            std::fs::write(&path, damaged).expect("a test may do this");
            assert_eq!(Learned::new(Some(folder.path())).of("a"), None, "{damaged}");
        }
        let nowhere = Learned::new(Some(Path::new("/dev/null")));
        nowhere.note("a", cold());
        assert_eq!(nowhere.of("a"), Some(cold()));
        let memory = Learned::new(None);
        memory.note("a", cold());
        assert_eq!(memory.of("a"), Some(cold()));
    }

    #[test]
    fn it_does_not_grow_without_end() {
        let learned = Learned::new(None);
        for number in 0..=MODELS_MAX {
            learned.note(&number.to_string(), cold());
        }
        learned.note(&"x".repeat(NAME_BYTES_MAX + 1), cold());
        assert_eq!(learned.known.lock().as_ref().map(BTreeMap::len), Some(1));
    }
}
