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
    ($($name:ident $id:literal $severity:ident $title:literal $advice:literal;)*) => {
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

            /// What to do about it, in a few words.
            pub fn advice(self) -> &'static str {
                match self { $(Rule::$name => $advice,)* }
            }
        }
    };
}

rules! {
    Syntax "GC-001" Error "The program has a syntax error"
        "Fix the line";
    NotChecked "GC-002" High "Too long or nested too deeply to check"
        "Split the program or its long expressions, and pass data in the context or in a file";
    InternalAttribute "GC-101" High "Walks the language's internals: `__subclasses__`, `__globals__`, `__code__`, `__proto__`, `constructor.constructor`, ..."
        "Use the public methods of values";
    InternalName "GC-102" Medium "A string names one of these internals"
        "Leave it if the text is only data";
    Frames "GC-103" High "Reaches for stack frames: `sys._getframe`, `gi_frame`, `f_globals`, ..."
        "Pass what a function needs as its arguments";
    ComputedCode "GC-104" High "`eval`, `exec`, `compile` or `new Function` of text that isn't a literal"
        "For data, use json.loads, ast.literal_eval or JSON.parse; for code, write it out";
    LiteralCode "GC-105" Low "`eval`, `exec`, `compile` or `new Function` of literal text"
        "Write the code out";
    HiddenCode "GC-106" High "Runs decoded text: base64, hex, zlib, marshal, `atob`, ..."
        "Write the code out; decoding what isn't run is fine";
    NativeCode "GC-107" High "Native code: `ctypes`, `cffi`, `WebAssembly`"
        "Use the standard library: the sandbox has no native code";
    Processes "GC-108" High "Starts processes: `subprocess`, `os.system`, `child_process`, ..."
        "Use asyncio.gather or Promise.all for parallel tool calls: the sandbox has no processes";
    ImportMachinery "GC-109" High "Changes or gets around imports: `sys.modules`, `importlib`, a computed `__import__` or `import()`"
        "Import modules by their names";
    ObjectsInMemory "GC-110" High "Looks through memory: `gc.get_objects`, `gc.get_referrers`"
        "Keep what you need in variables";
    ForeignData "GC-111" Medium "Loads data that can run code: `pickle`, `marshal`, `yaml.unsafe_load`, ..."
        "Use json, or yaml.safe_load";
    CodeObjects "GC-112" High "Makes functions or code objects by hand"
        "Write functions out";
    Tracing "GC-113" Medium "Traces or profiles the interpreter"
        "Print what you want to know, and measure with time.perf_counter or performance.now";
    Network "GC-114" Low "Uses the network, which the sandbox doesn't have"
        "Call a tool, or set `allowed_hosts`";
    SystemFiles "GC-115" Medium "Names files of the system: `/etc`, `/proc`, `~/.ssh`, ..."
        "Use files in /workspace and /tmp";
    HiddenText "GC-116" High "Invisible characters that change the order in which text is shown"
        "Remove them";
    DeniedModule "GC-201" High "Imports a module in `guardrails.denied_modules`"
        "Use another module, or change the list";
    ModuleNotAllowed "GC-202" High "Imports a module that isn't in `guardrails.allowed_modules`"
        "Use a module of the list, or add this one";
    MissingModule "GC-203" Low "Imports a module that the sandbox doesn't have"
        "Use the standard library, or add the package with `gristmill python add`";
    UnknownServer "GC-301" Error "Names a server that isn't connected"
        "Fix the name, or connect the server; `gristmill list` shows those there are";
    UnknownTool "GC-302" Error "Names a tool that its server doesn't have"
        "Fix the name; `search_tools` finds tools";
    BadArguments "GC-303" Error "Calls a tool with arguments that don't fit its schema"
        "Fix the argument; `gristmill tools show` prints the tool's schema";
    NotAwaited "GC-304" Medium "Calls a tool and doesn't await it"
        "Write `await` in front of the call";
    WrongType "GC-305" Error "Gives a tool a value of the wrong type (type checker)"
        "Give the value the type that the message names";
    UndeclaredProperty "GC-306" Medium "Uses a property that a tool's answer, or a type, doesn't have (type checker)"
        "Use a property that is there";
    UnknownName "GC-307" Low "Uses a name that looks misspelled (type checker)"
        "Fix the name";
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
