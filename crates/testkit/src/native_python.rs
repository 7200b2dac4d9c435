//! The machine's own Python, for tests of the native engine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gristmill_gateway::{NativeEngine, NativeStart};

/// An interpreter of your choice, and a folder of packages for it with numpy and pandas.
const PYTHON_VARIABLE: &str = "NATIVE_PYTHON_FOR_TESTS";
const PACKAGES_VARIABLE: &str = "NATIVE_PACKAGES_FOR_TESTS";

/// Ends well if the interpreter can be an engine.
const QUESTION: &str = "import os, sys, sysconfig
get = sysconfig.get_config_var
name = get('INSTSONAME') or ''
places = [get('LIBDIR') or '', os.path.join(get('LIBDIR') or '', get('MULTIARCH') or ''), sys.base_prefix + '/lib']
is_shared = '.so' in name and any(os.path.isfile(os.path.join(place, name)) for place in places)
print(sys.executable)
sys.exit(0 if sys.version_info >= (3, 11) and is_shared else 1)";

/// The engine; none, with a word about it, where the machine has no interpreter that can be one.
pub fn native_python() -> Option<NativeEngine> {
    let chosen = std::env::var_os(PYTHON_VARIABLE).map(PathBuf::from);
    let candidates = chosen.into_iter().chain(["/usr/bin/python3", "python3"].map(PathBuf::from));
    let Some(python) = candidates.into_iter().find_map(|python| usable(&python)) else {
        eprintln!(
            "SKIPPED: no Python 3.11 or newer with a shared library; install libpython3-dev, or set {PYTHON_VARIABLE}"
        );
        return None;
    };
    let start = NativeStart { python, ..NativeStart::default() };
    // Where there are no namespaces, it is tested without.
    Some(NativeEngine { start, without_namespaces: true, ..NativeEngine::default() })
}

/// The same with numpy and pandas.
pub fn native_python_with_packages() -> Option<NativeEngine> {
    let Ok(packages) = std::env::var(PACKAGES_VARIABLE) else {
        eprintln!("SKIPPED: set {PACKAGES_VARIABLE} to a folder with numpy and pandas for {PYTHON_VARIABLE}");
        return None;
    };
    let mut native = native_python()?;
    native.start.packages = Some(packages);
    native.start.preload = ["numpy", "pandas"].map(str::to_owned).to_vec();
    native.modules = ["numpy", "pandas"].map(str::to_owned).into();
    Some(native)
}

fn usable(python: &Path) -> Option<String> {
    let asked = Command::new(python).args(["-c", QUESTION]).stdin(Stdio::null()).output().ok()?;
    let told = String::from_utf8_lossy(&asked.stdout).trim().to_owned();
    (asked.status.success() && told.starts_with('/')).then_some(told)
}
