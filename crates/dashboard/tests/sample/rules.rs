//! Sample policy, privacy, audit, settings and login.

use gristmill_dashboard::pages::*;
use gristmill_dashboard::parts::Tone;

use super::{Voice, minutes_ago};

pub fn policy(voice: &Voice<'_>) -> Policy {
    let rule = |name: &str, verdict, matches: &str, budget: &str| Rule {
        name: voice.say(name),
        verdict: Some(verdict),
        matches: voice.say(matches),
        source: voice.say("gristmill.toml:14"),
        budget: voice.say(budget),
    };
    Policy {
        rules: vec![
            rule("no-deletes", Verdict::Deny, "tools named delete or drop, on every server", ""),
            rule("writes-ask", Verdict::Ask, "tools that write, except on server files", "5 a minute"),
            rule("reads", Verdict::Allow, "tools that only read", ""),
        ],
        always: vec![AlwaysLine {
            id: voice.say("al_1"),
            server: voice.say("files"),
            tool: voice.say("write"),
            rule: voice.say("writes-ask"),
        }],
        what_if: WhatIf {
            tool: voice.say("mail.send"),
            arguments: voice.say("{\"to\": \"grace@example.com\"}"),
            level: voice.say("hardened"),
            read_both: true,
        },
        explained: Some(Explained {
            verdict: Verdict::Deny,
            rule: voice.say("flow"),
            steps: voice.list(&[
                "writes-ask matches: send writes",
                "The session has read untrusted data (web) and private data (crm)",
                "mail is external, and the level is hardened: denied",
            ]),
        }),
    }
}

pub fn policy_of_nothing() -> Policy {
    Policy { rules: vec![], always: vec![], what_if: WhatIf::default(), explained: None }
}

pub fn privacy(voice: &Voice<'_>) -> Privacy {
    let kind = |kind: &str, hidden| KindCount { kind: voice.say(kind), hidden };
    let scope =
        |scope: &str, tokens| VaultLine { scope: voice.say(scope), tokens, last_used: minutes_ago(7) };
    Privacy {
        mode: voice.say("boundary"),
        kinds: vec![
            kind("email", 8_412),
            kind("phone", 2_977),
            kind("person", 1_604),
            kind("iban", 311),
            kind("card", 12),
        ],
        servers: vec![ServerPrivacy { server: voice.say("crm"), mode: voice.say("boundary") }],
        vault: vec![scope("session mail-triage", 412), scope("claude-code without a session", 1)],
    }
}

pub fn privacy_of_nothing(voice: &Voice<'_>) -> Privacy {
    Privacy { mode: voice.say("off"), kinds: vec![], servers: vec![], vault: vec![] }
}

pub fn audit(voice: &Voice<'_>) -> Audit {
    let line = |number, kind: &str, what: &str, tone, outcome: &str| AuditLine {
        number,
        at: minutes_ago(14),
        kind: voice.say(kind),
        who: voice.say("ada via claude-code"),
        what: voice.say(what),
        tone,
        outcome: voice.say(outcome),
        execution: Some(voice.say("ex_4")),
    };
    Audit {
        chain: ChainState::Broken { event: 120_399, why: voice.say("its hash doesn't match") },
        events: 120_482,
        checkpoint: Some(minutes_ago(4)),
        filter: AuditFilter {
            text: voice.say("mail"),
            kind: voice.say("call"),
            caller: voice.say("claude-code"),
            since: voice.say("24h"),
        },
        lines: vec![
            line(120_482, "execution.ended", "ended after 1.2 s, 14 calls", Tone::Bad, "failed"),
            line(120_481, "call", "mail.send, 212 bytes", Tone::Good, "sent"),
            line(120_480, "approval", "mail.send, once", Tone::Good, "approved"),
            line(120_479, "finding", "loop-with-writes, line 5", Tone::Warn, "noted"),
        ],
    }
}

pub fn audit_of_nothing() -> Audit {
    Audit {
        chain: ChainState::NotChecked,
        events: 0,
        checkpoint: None,
        filter: AuditFilter::default(),
        lines: vec![],
    }
}

pub fn settings(voice: &Voice<'_>) -> Settings {
    let check = |tone, title: &str, detail: &str, fix: Option<&str>| Check {
        tone,
        title: voice.say(title),
        detail: voice.say(detail),
        fix: fix.map(|fix| voice.say(fix)),
    };
    let value = |name: &str, value: &str, source: &str| SettingLine {
        name: voice.say(name),
        value: voice.say(value),
        source: voice.say(source),
    };
    Settings {
        checks: vec![
            check(Tone::Good, "Sandbox", "namespaces, seccomp, landlock and cgroups are in force", None),
            check(Tone::Good, "Database", "step 14, 212 MB", None),
            check(Tone::Warn, "Server drive", "needs a login", Some("gristmill login drive")),
            check(
                Tone::Bad,
                "Server shop",
                "exited with 1 right after its start",
                Some("gristmill logs shop"),
            ),
        ],
        values: vec![
            value("limits.time_ms", "30000", "gristmill.toml"),
            value("privacy.mode", "boundary", "GRISTMILL_PRIVACY"),
            value("answer.tokens_max", "4000", "default"),
        ],
        gateways: vec![
            GatewayLine {
                id: voice.say("workstation"),
                pid: 4_711,
                role: voice.say("http://127.0.0.1:8931"),
                version: voice.say("0.1.0"),
                started: minutes_ago(180),
                is_this: true,
            },
            GatewayLine {
                id: voice.say("build-box"),
                pid: 17,
                role: voice.say("stdio"),
                version: voice.say("0.1.0"),
                started: minutes_ago(4_000),
                is_this: false,
            },
        ],
    }
}

pub fn settings_of_nothing() -> Settings {
    Settings { checks: vec![], values: vec![], gateways: vec![] }
}

pub fn login(voice: &Voice<'_>) -> Login {
    Login {
        code: None,
        problem: Some(voice.say("This code was used already. Run gristmill dashboard again.")),
    }
}

pub fn problem(voice: &Voice<'_>) -> Problem {
    Problem { what: voice.say("There is no execution ex_99"), next: voice.say("The history keeps 30 days.") }
}
