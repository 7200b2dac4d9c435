//! Imports against the lists of the configuration, and against what the sandbox doesn't have.

use ruff_text_size::TextRange;

use crate::finding::Findings;
use crate::guardrails::{Guardrails, ModuleLists};
use crate::rules::Rule;

/// What to use instead of modules that people import by habit. The guest's `missing.py` has the whole list.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["requests", "httpx", "aiohttp", "urllib3"],
        "the sandbox has no network; call a tool with callMCPTool, or await http.get(url) for hosts that the user allows",
    ),
    (
        &["websockets", "redis", "pymongo", "psycopg2", "sqlalchemy", "selenium", "playwright"],
        "the sandbox has no network; call a tool with callMCPTool",
    ),
    (
        &["numpy", "pandas", "scipy", "polars", "pyarrow", "sklearn", "duckdb", "torch", "tensorflow"],
        "await analyze(rows, steps) filters, groups and joins tables; for numbers use statistics, math or sqlite3",
    ),
    (&["bs4", "lxml", "html5lib"], "use html.parser or xml.etree.ElementTree"),
    (&["pydantic", "attrs", "attr"], "use dataclasses, or plain dicts"),
    (
        &["matplotlib", "seaborn", "plotly", "tkinter"],
        "the sandbox has no display; return the data as the result",
    ),
    (&["PIL", "cv2"], "the sandbox has no image library; call a tool"),
    (
        &["boto3", "openai", "anthropic", "stripe", "slack_sdk"],
        "the sandbox has no credentials or network; call a tool",
    ),
    (&["openpyxl", "xlsxwriter", "docx", "pypdf"], "write CSV, JSON or text instead"),
    (&["orjson", "ujson", "simplejson"], "use json"),
    (&["toml", "tomli"], "use tomllib"),
    (&["pytz", "arrow", "pendulum"], "use datetime, zoneinfo or dateutil"),
    (&["subprocess", "multiprocessing", "psutil"], "use asyncio.gather for parallel tool calls"),
    (
        &["ctypes", "cffi", "mmap", "fcntl", "pwd", "resource"],
        "use the standard library; the sandbox has no operating system",
    ),
    (&["pickle", "marshal", "shelve"], "use json"),
    (&["socket", "ssl", "ftplib", "smtplib"], "call a tool"),
];

/// In the list above, and in the guest all the same.
const THERE: [&str; 9] =
    ["pickle", "marshal", "shelve", "socket", "ftplib", "smtplib", "subprocess", "multiprocessing", "ssl"];

/// Packages of ours: tools and saved code.
const OURS: [&str; 3] = ["servers", "skills", "gristmill"];

/// Whether something was said about an import.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    Already,
    NotYet,
}

/// What is known of a module beside the lists.
pub(crate) struct Advice {
    pub instead: Option<&'static str>,
    pub is_missing: bool,
}

pub(crate) struct Modules<'a> {
    pub guardrails: &'a Guardrails,
}

impl Modules<'_> {
    /// What there is to say about one import.
    pub fn judge(&self, module: &str, range: TextRange, told: Told, findings: &mut Findings<'_>) {
        let top = module.split('.').next().unwrap_or(module);
        if module.is_empty() || OURS.contains(&top) {
            return;
        }
        let instead = INSTEAD.iter().find(|(names, _)| names.contains(&top)).map(|(_, advice)| *advice);
        let is_missing = told == Told::NotYet && instead.is_some() && !THERE.contains(&top);
        self.judge_as(module, &Advice { instead, is_missing }, range, findings);
    }

    /// The same, where it is known what to use instead.
    pub fn judge_as(&self, module: &str, advice: &Advice, range: TextRange, findings: &mut Findings<'_>) {
        let instead = advice.instead.map(str::to_owned);
        let top = module.split('.').next().unwrap_or(module);
        // Whoever added its package allowed it.
        let is_installed = self.guardrails.installed.contains(top);
        let allowed = &self.guardrails.allowed_modules;
        let is_allowed = is_installed || allowed.is_empty() || covers(allowed, module);
        if covers(&self.guardrails.denied_modules, module) {
            let key = self.key("denied_modules", |lists| covers(&lists.denied_modules, module));
            let message = format!("the module `{module}` is denied by `{key}`");
            findings.add(Rule::DeniedModule, range, message, instead);
        } else if !is_allowed {
            let key = self.key("allowed_modules", |lists| lists.allowed_modules.is_some());
            let message = format!("the module `{module}` isn't in `{key}`");
            let allowed = || format!("use one of: {}", allowed.join(", "));
            findings.add(Rule::ModuleNotAllowed, range, message, Some(instead.unwrap_or_else(allowed)));
        } else if advice.is_missing && !is_installed {
            findings.add(
                Rule::MissingModule,
                range,
                format!("the sandbox has no module `{module}`"),
                instead,
            );
        }
    }

    /// Where a list is configured: for every level, or for the one that the program runs at.
    fn key(&self, name: &str, is_there: impl Fn(&ModuleLists) -> bool) -> String {
        match self.guardrails.levels.iter().find(|(_, lists)| is_there(lists)) {
            Some((level, _)) => format!("guardrails.{level}.{name}"),
            None => format!("guardrails.{name}"),
        }
    }
}

/// Whether a list has the module, or one that it is part of.
fn covers(list: &[String], module: &str) -> bool {
    list.iter().any(|name| {
        module.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}
