//! The names that are looked for.

use crate::rules::Rule;

/// Attributes that lead from any object into the interpreter. `__class__` alone is everyday Python.
pub(crate) const INTERNALS: [&str; 13] = [
    "__subclasses__",
    "__bases__",
    "__base__",
    "__mro__",
    "__globals__",
    "__builtins__",
    "__code__",
    "__closure__",
    "__getattribute__",
    "__reduce_ex__",
    "__loader__",
    "__spec__",
    "__self__",
];

/// Attributes of frames, and those that lead to one.
pub(crate) const FRAMES: [&str; 12] = [
    "gi_frame",
    "cr_frame",
    "ag_frame",
    "tb_frame",
    "f_globals",
    "f_locals",
    "f_builtins",
    "f_back",
    "f_code",
    "gi_code",
    "cr_code",
    "ag_code",
];

/// Functions by their whole names.
pub(crate) const FUNCTIONS: &[(&str, Rule)] = &[
    ("sys._getframe", Rule::Frames),
    ("sys._current_frames", Rule::Frames),
    ("sys._getframemodulename", Rule::Frames),
    ("inspect.currentframe", Rule::Frames),
    ("inspect.stack", Rule::Frames),
    ("inspect.trace", Rule::Frames),
    ("inspect.getouterframes", Rule::Frames),
    ("inspect.getinnerframes", Rule::Frames),
    ("os.system", Rule::Processes),
    ("os.popen", Rule::Processes),
    ("os.fork", Rule::Processes),
    ("os.forkpty", Rule::Processes),
    ("os.startfile", Rule::Processes),
    ("os.posix_spawn", Rule::Processes),
    ("os.posix_spawnp", Rule::Processes),
    ("os.kill", Rule::Processes),
    ("os.killpg", Rule::Processes),
    ("asyncio.create_subprocess_exec", Rule::Processes),
    ("asyncio.create_subprocess_shell", Rule::Processes),
    ("pty.spawn", Rule::Processes),
    ("importlib.reload", Rule::ImportMachinery),
    ("sys.modules", Rule::ImportMachinery),
    ("sys.meta_path", Rule::ImportMachinery),
    ("sys.path_hooks", Rule::ImportMachinery),
    ("sys.path_importer_cache", Rule::ImportMachinery),
    ("gc.get_objects", Rule::ObjectsInMemory),
    ("gc.get_referrers", Rule::ObjectsInMemory),
    ("gc.get_referents", Rule::ObjectsInMemory),
    ("pickle.load", Rule::ForeignData),
    ("pickle.loads", Rule::ForeignData),
    ("pickle.Unpickler", Rule::ForeignData),
    ("marshal.load", Rule::ForeignData),
    ("marshal.loads", Rule::ForeignData),
    ("shelve.open", Rule::ForeignData),
    ("dill.loads", Rule::ForeignData),
    ("jsonpickle.decode", Rule::ForeignData),
    ("yaml.unsafe_load", Rule::ForeignData),
    ("yaml.unsafe_load_all", Rule::ForeignData),
    ("yaml.full_load", Rule::ForeignData),
    ("yaml.UnsafeLoader", Rule::ForeignData),
    ("types.CodeType", Rule::CodeObjects),
    ("types.FunctionType", Rule::CodeObjects),
    ("types.LambdaType", Rule::CodeObjects),
    ("sys.settrace", Rule::Tracing),
    ("sys.setprofile", Rule::Tracing),
    ("sys.addaudithook", Rule::Tracing),
    ("threading.settrace", Rule::Tracing),
    ("sys.monitoring", Rule::Tracing),
];

/// Families of functions, by how their names begin.
pub(crate) const FUNCTION_STARTS: &[(&str, Rule)] = &[
    ("os.exec", Rule::Processes),
    ("os.spawn", Rule::Processes),
    ("importlib.machinery.", Rule::ImportMachinery),
    ("importlib._bootstrap", Rule::ImportMachinery),
    ("importlib.util.spec_from", Rule::ImportMachinery),
    ("importlib.util.module_from", Rule::ImportMachinery),
];

/// Modules whose import says enough.
pub(crate) const MODULES: &[(&str, Rule)] = &[
    ("ctypes", Rule::NativeCode),
    ("_ctypes", Rule::NativeCode),
    ("cffi", Rule::NativeCode),
    ("subprocess", Rule::Processes),
    ("_posixsubprocess", Rule::Processes),
    ("multiprocessing", Rule::Processes),
    ("pty", Rule::Processes),
    ("imp", Rule::ImportMachinery),
    ("zipimport", Rule::ImportMachinery),
    ("socket", Rule::Network),
    ("ssl", Rule::Network),
    ("socketserver", Rule::Network),
    ("http.client", Rule::Network),
    ("http.server", Rule::Network),
    ("urllib.request", Rule::Network),
    ("ftplib", Rule::Network),
    ("smtplib", Rule::Network),
    ("requests", Rule::Network),
    ("httpx", Rule::Network),
    ("aiohttp", Rule::Network),
    ("urllib3", Rule::Network),
];

/// What turns something unreadable into text.
pub(crate) const DECODERS: [&str; 13] = [
    "b64decode",
    "b32decode",
    "b16decode",
    "b85decode",
    "a85decode",
    "urlsafe_b64decode",
    "decodebytes",
    "unhexlify",
    "fromhex",
    "decompress",
    "a2b_base64",
    "a2b_hex",
    "decode",
];

/// Beginnings of files that no program has to read.
pub(crate) const SYSTEM_FILES: [&str; 12] = [
    "/etc/",
    "/proc/",
    "/sys/",
    "/root/",
    "/home/",
    "/dev/mem",
    "/dev/kmem",
    "/var/run/",
    "/run/secrets",
    "~/.ssh",
    "~/.aws",
    "/.ssh/",
];

/// Characters that turn around what people see.
pub(crate) fn turns_text_around(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a name or a text may be one of [`INTERNALS`] or [`FRAMES`]. Most end here.
pub(crate) fn is_perhaps_internal(text: &str) -> bool {
    matches!(text.as_bytes(), [_, b'_', ..] | [_, _, b'_', ..])
}

/// Whether a text may begin like one of [`SYSTEM_FILES`].
pub(crate) fn is_perhaps_of_the_system(text: &str) -> bool {
    text.starts_with(['/', '~'])
}

/// Whether a module of this first name has some of [`FUNCTIONS`] or [`FUNCTION_STARTS`].
pub(crate) fn has_known_functions(first: &str) -> bool {
    matches!(
        first,
        "asyncio"
            | "dill"
            | "gc"
            | "importlib"
            | "inspect"
            | "jsonpickle"
            | "marshal"
            | "os"
            | "pickle"
            | "pty"
            | "shelve"
            | "sys"
            | "threading"
            | "types"
            | "yaml"
    )
}

/// Whether some of [`MODULES`] are in a module of this first name.
pub(crate) fn has_known_modules(first: &str) -> bool {
    matches!(first, "http" | "urllib")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::first_part;

    #[test]
    fn what_is_asked_first_leaves_out_nothing_that_is_looked_for() {
        for name in INTERNALS.iter().chain(&FRAMES) {
            assert!(is_perhaps_internal(name), "{name}");
        }
        for start in SYSTEM_FILES {
            assert!(is_perhaps_of_the_system(start), "{start}");
        }
        for (name, _) in FUNCTIONS.iter().chain(FUNCTION_STARTS) {
            assert!(name.contains('.') && has_known_functions(first_part(name)), "{name}");
        }
        for (name, _) in MODULES.iter().filter(|(name, _)| name.contains('.')) {
            assert!(has_known_modules(first_part(name)), "{name}");
        }
    }
}
