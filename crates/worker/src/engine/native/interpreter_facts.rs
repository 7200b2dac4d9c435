//! What is known of the interpreter that is configured: it is asked, in a process of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Its answer is one line of JSON.
const QUESTION: &str = "import json, sys, sysconfig
get = sysconfig.get_config_var
print(json.dumps({
    'version': list(sys.version_info[:2]),
    'full_version': sys.version.split()[0],
    'library': get('INSTSONAME') or get('LDLIBRARY') or '',
    'library_folder': get('LIBDIR') or '',
    'multiarch': get('MULTIARCH') or '',
    'library_kind': sys.platlibdir,
    'base': sys.base_prefix,
    'stdlib': [sysconfig.get_path('stdlib'), sysconfig.get_path('platstdlib')],
}))";

/// Older ones lack what the guest is written in.
const OLDEST: (u64, u64) = (3, 11);

/// One interpreter of the machine.
#[derive(Debug)]
pub struct InterpreterFacts {
    /// As people write it: `3.11.7`.
    pub version: String,
    /// As folders have it: `3.11`.
    pub short_version: String,
    /// Its shared library.
    pub library: PathBuf,
    /// Its standard library; the first has the text, the second what was compiled, and mostly they are one.
    pub stdlib: Vec<PathBuf>,
    /// How the folder above its standard library is called: `lib` or `lib64`.
    pub library_kind: String,
    /// Where the machine keeps shared libraries for this kind of processor, if that has a name of its own.
    pub multiarch: String,
}

impl InterpreterFacts {
    /// Asks it. It runs with nothing of the caller's environment.
    pub fn ask(python: &Path) -> Result<Self, String> {
        let shown = python.display();
        let asked = Command::new(python)
            .args(["-I", "-S", "-c", QUESTION])
            .env_clear()
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                format!(
                    "can't start {shown}: {error}; set `python` in [engines.native] to a Python 3.11 or newer"
                )
            })?;
        let told: Value = serde_json::from_slice(&asked.stdout).map_err(|_| {
            let said = String::from_utf8_lossy(&asked.stderr);
            let said = said.lines().last().unwrap_or("it said nothing").trim().to_owned();
            format!("{shown} doesn't work: {said}; set `python` in [engines.native] to another one")
        })?;
        Self::read(&told).map_err(|reason| format!("{shown}: {reason}"))
    }

    fn read(told: &Value) -> Result<Self, String> {
        let text = |key: &str| told[key].as_str().unwrap_or_default().to_owned();
        let number = |at: usize| told["version"][at].as_u64().unwrap_or_default();
        let (version, found) = (text("full_version"), (number(0), number(1)));
        if found < OLDEST {
            let (major, minor) = OLDEST;
            return Err(format!(
                "this is Python {version}; set `python` in [engines.native] to a Python {major}.{minor} or newer"
            ));
        }
        let stdlib = told["stdlib"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut stdlib: Vec<PathBuf> = stdlib.map(PathBuf::from).filter(|path| path.is_dir()).collect();
        stdlib.dedup();
        if stdlib.is_empty() {
            return Err("its standard library is nowhere".to_owned());
        }
        let library = text("library");
        let places = [
            PathBuf::from(text("library_folder")),
            PathBuf::from(text("library_folder")).join(text("multiarch")),
            PathBuf::from(text("base")).join("lib"),
        ];
        let library = places.iter().map(|place| place.join(&library)).find(|path| {
            let name = path.to_string_lossy();
            (name.ends_with(".so") || name.contains(".so.")) && path.is_file()
        });
        let Some(library) = library else {
            return Err(
                "it has no shared library (libpython3.X.so); on Debian and Ubuntu install the package \
                 libpython3-dev, or set `python` in [engines.native] to one that has, such as those of uv and \
                 python.org"
                    .to_owned(),
            );
        };
        Ok(Self {
            version,
            short_version: format!("{}.{}", found.0, found.1),
            library,
            stdlib,
            library_kind: text("library_kind"),
            multiarch: text("multiarch"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_cannot_be_used_is_refused_with_a_remedy() {
        let old = serde_json::json!({ "version": [3, 9], "full_version": "3.9.2" });
        assert!(InterpreterFacts::read(&old).unwrap_err().contains("3.11 or newer"));
        let here = std::env::temp_dir();
        let fixed = serde_json::json!({
            "version": [3, 12], "full_version": "3.12.1", "library": "libpython3.12.a",
            "library_folder": "/nowhere", "base": "/nowhere", "stdlib": [here, here],
        });
        let refused = InterpreterFacts::read(&fixed).unwrap_err();
        assert!(refused.contains("no shared library") && refused.contains("libpython3-dev"), "{refused}");
        let gone = InterpreterFacts::ask(Path::new("/nowhere/python3")).unwrap_err();
        assert!(gone.contains("can't start /nowhere/python3"), "{gone}");
    }
}
