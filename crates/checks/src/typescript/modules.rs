//! Modules that JavaScript programs import by habit, and what to use instead.

use crate::modules::Advice;
use crate::rules::Rule;

/// What opens connections, by its import alone.
const NETWORK: &[&str] = &[
    "http",
    "https",
    "http2",
    "net",
    "tls",
    "dgram",
    "dns",
    "axios",
    "node-fetch",
    "undici",
    "got",
    "superagent",
    "ky",
    "request",
    "ws",
];
/// What is useless without a connection.
const CLIENTS: &[&str] = &[
    "socket.io-client",
    "redis",
    "ioredis",
    "mongodb",
    "mongoose",
    "pg",
    "mysql",
    "mysql2",
    "puppeteer",
    "playwright",
];
const PROCESSES: &[&str] = &["child_process", "cluster", "worker_threads"];
const MACHINERY: &[&str] = &["vm", "module", "inspector", "v8", "repl"];

const NO_NETWORK: &str = "the sandbox has no network; call a tool with callMCPTool";

const INSTEAD: &[(&[&str], &str)] = &[
    (NETWORK, NO_NETWORK),
    (CLIENTS, NO_NETWORK),
    (
        &["lodash", "lodash-es", "underscore", "ramda"],
        "use Object.groupBy, Map, Set and the methods of arrays; await analyze(rows, steps) groups and joins tables",
    ),
    (&["moment", "luxon", "date-fns"], "use Date and Intl"),
    (&["uuid", "nanoid"], "use crypto.randomUUID()"),
    (&["zod", "joi", "ajv", "yup"], "check values with typeof and Array.isArray"),
    (&["cheerio", "jsdom"], "the sandbox has no HTML parser; call a tool"),
    (
        &[
            "openai",
            "@anthropic-ai/sdk",
            "stripe",
            "@slack/web-api",
            "aws-sdk",
            "@octokit/rest",
            "googleapis",
        ],
        "the sandbox has no credentials or network; call a tool",
    ),
    (
        &["react", "react-dom", "vue", "express", "fastify", "koa"],
        "the sandbox runs programs, not pages or servers",
    ),
    (PROCESSES, "the sandbox has no processes; use Promise.all for parallel tool calls"),
    (MACHINERY, "write the code out"),
    (&["os", "process"], "the sandbox has no operating system"),
    (&["dotenv"], "the sandbox has no environment; pass values in `context`"),
    (&["fs-extra", "glob"], "use node:fs/promises, or listDirectory"),
    (&["xlsx", "exceljs", "pdfkit"], "write CSV, JSON or text instead"),
];

/// Modules whose import says enough.
const TELLING: &[(&[&str], Rule)] = &[
    (PROCESSES, Rule::Processes),
    (MACHINERY, Rule::ImportMachinery),
    (&["ffi", "ffi-napi", "koffi", "bindings"], Rule::NativeCode),
    (NETWORK, Rule::Network),
];

/// A module without `node:`, and the package that it is of.
pub(super) fn package_of(module: &str) -> &str {
    let module = module.strip_prefix("node:").unwrap_or(module);
    let parts = if module.starts_with('@') { 2 } else { 1 };
    module.match_indices('/').nth(parts - 1).map_or(module, |(at, _)| &module[..at])
}

/// Whether it is a file or a package of ours.
pub(super) fn is_ours(module: &str) -> bool {
    let trimmed = module.trim_start_matches(['.', '/', '@', '~']);
    let first = trimmed.split('/').next().unwrap_or(trimmed);
    matches!(first, "servers" | "skills" | "gristmill") || module.starts_with(['.', '/'])
}

pub(super) fn telling_rule(package: &str) -> Option<Rule> {
    TELLING.iter().find(|(names, _)| names.contains(&package)).map(|(_, rule)| *rule)
}

pub(super) fn advice(package: &str) -> Advice {
    let instead = INSTEAD.iter().find(|(names, _)| names.contains(&package)).map(|(_, advice)| *advice);
    Advice { instead, is_missing: instead.is_some() && telling_rule(package).is_none() }
}
