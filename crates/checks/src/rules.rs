//! The rules, each with an id that is never reused. docs/checks.md lists them.

use std::fmt;

use serde::{Serialize, Serializer};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Unusual, or wrong if that line is reached.
    Medium,
    /// Seldom there for a good reason.
    High,
    /// The program fails for certain.
    Error,
}

impl Severity {
    /// As it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $severity:ident $title:literal;)*) => {
        /// One thing that is looked for.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $title] $name,)*
        }

        impl Rule {
            /// All of them, in the order of their ids.
            pub const ALL: &[Rule] = &[$(Rule::$name,)*];

            /// As it is printed: `GC-101`.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)* }
            }

            /// How much it matters; of tools, where the line is certain to run.
            pub fn severity(self) -> Severity {
                match self { $(Rule::$name => Severity::$severity,)* }
            }

            /// What it finds, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Rule::$name => $title,)* }
            }
        }
    };
}

rules! {
    Syntax "GC-001" Error "The program has a syntax error";
    NotChecked "GC-002" High "Too long or nested too deeply to check";
    InternalAttribute "GC-101" High "Walks the language's internals: `__subclasses__`, `__globals__`, `__code__`, `__proto__`, `constructor.constructor`, ...";
    InternalName "GC-102" Medium "A string names one of these internals";
    Frames "GC-103" High "Reaches for stack frames: `sys._getframe`, `gi_frame`, `f_globals`, ...";
    ComputedCode "GC-104" High "`eval`, `exec`, `compile` or `new Function` of text that isn't a literal";
    LiteralCode "GC-105" Low "`eval`, `exec`, `compile` or `new Function` of literal text";
    HiddenCode "GC-106" High "Runs decoded text: base64, hex, zlib, marshal, `atob`, ...";
    NativeCode "GC-107" High "Native code: `ctypes`, `cffi`, `WebAssembly`";
    Processes "GC-108" High "Starts processes: `subprocess`, `os.system`, `child_process`, ...";
    ImportMachinery "GC-109" High "Changes or gets around imports: `sys.modules`, `importlib`, a computed `__import__` or `import()`";
    ObjectsInMemory "GC-110" High "Looks through memory: `gc.get_objects`, `gc.get_referrers`";
    ForeignData "GC-111" Medium "Loads data that can run code: `pickle`, `marshal`, `yaml.unsafe_load`, ...";
    CodeObjects "GC-112" High "Makes functions or code objects by hand";
    Tracing "GC-113" Medium "Traces or profiles the interpreter";
    Network "GC-114" Low "Uses the network, which the sandbox doesn't have";
    SystemFiles "GC-115" Medium "Names files of the system: `/etc`, `/proc`, `~/.ssh`, ...";
    HiddenText "GC-116" High "Invisible characters that change the order in which text is shown";
    DeniedModule "GC-201" High "Imports a module in `guardrails.denied_modules`";
    ModuleNotAllowed "GC-202" High "Imports a module that isn't in `guardrails.allowed_modules`";
    MissingModule "GC-203" Low "Imports a module that the sandbox doesn't have";
    UnknownServer "GC-301" Error "Names a server that isn't connected";
    UnknownTool "GC-302" Error "Names a tool that its server doesn't have";
    BadArguments "GC-303" Error "Calls a tool with arguments that don't fit its schema";
    NotAwaited "GC-304" Medium "Calls a tool and doesn't await it";
    WrongType "GC-305" Error "Gives a tool a value of the wrong type (type checker)";
    UndeclaredProperty "GC-306" Medium "Uses a property that a tool's answer, or a type, doesn't have (type checker)";
    UnknownName "GC-307" Low "Uses a name that looks misspelled (type checker)";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}
