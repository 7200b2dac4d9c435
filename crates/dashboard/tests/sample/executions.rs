//! Sample executions, approvals and the playground.

use gristmill_dashboard::pages::*;
use gristmill_dashboard::parts::{Pager, Tone};
use gristmill_dashboard::plots::{Bar, ColumnPair, CurvePoint, Span, SpanKind};
use gristmill_dashboard::{Moment, Text};

use super::{NOW, Voice, minutes_ago};

const PROGRAM: &str = r#"# Which customers are overdue, and who reminds them?
from servers import crm, mail

overdue = [c for c in crm.list_customers(limit=500) if c["days_overdue"] > 30]
for customer in overdue:
    owner = crm.get_owner(id=customer["owner_id"])
    mail.send(to=owner["email"], subject=f"Overdue: {customer['name']}", body="""Please call them.
Thanks!""")
print(len(overdue), "reminders")
return {"reminded": len(overdue)}"#;

pub fn line(voice: &Voice<'_>, id: &str, outcome: Outcome, minutes: i64, summary: &str) -> ExecutionLine {
    let failed = outcome == Outcome::Failed;
    ExecutionLine {
        id: voice.say(id),
        started: minutes_ago(minutes),
        outcome,
        error_code: failed.then(|| voice.say("GM-2101")),
        summary: voice.say(summary),
        session: (minutes % 2 == 0).then(|| SessionRef {
            handle: voice.say("abcdefghijkmnpqrstuv"),
            name: (minutes % 4 == 0).then(|| voice.say("mail-triage")),
        }),
        caller: voice.say("claude-code"),
        calls: 3 + minutes.unsigned_abs() % 40,
        calls_failed: u64::from(failed),
        duration_ms: 84.0 + 37.5 * minutes as f64,
        tokens_saved: 18_400 - 700 * minutes,
    }
}

fn lines(voice: &Voice<'_>) -> Vec<ExecutionLine> {
    vec![
        line(voice, "ex_2", Outcome::Ok, 2, "orders = shop.list_orders(status=\"open\")"),
        line(
            voice,
            "ex_3",
            Outcome::Ok,
            9,
            "rows = db.query(sql=\"select region, sum(total) from sales group by 1\")",
        ),
        line(voice, "ex_4", Outcome::Failed, 14, "# Which customers are overdue, and who reminds them?"),
        line(voice, "ex_5", Outcome::Canceled, 27, "for page in range(1, 900): issues.list(page=page)"),
        line(voice, "ex_6", Outcome::Ok, 33, "import weekly_report; return weekly_report.run(week=46)"),
        line(voice, "ex_7", Outcome::Lost, 58, "files.search(pattern=\"**/*.rs\")"),
    ]
}

pub fn overview(voice: &Voice<'_>) -> Overview {
    let hours: Vec<i64> = (0..48).collect();
    let wave = |hour: i64| ((hour * 37) % 23 + (hour % 12) * 3) as f64;
    let mut saved = 0.0;
    let saved_curve = hours.iter().map(|hour| {
        saved += wave(*hour) * 4_100.0;
        CurvePoint { at: Moment(NOW.0 - (47 - hour) * 1_800_000), value: saved }
    });
    let outcomes = hours.iter().map(|hour| ColumnPair {
        at: Moment(NOW.0 - (47 - hour) * 1_800_000),
        good: wave(*hour) as u64,
        bad: (*hour as u64 * 7) % 11 / 6 * 3,
    });
    let bar = |label: &str, value, tone| Bar { label: voice.say(label), value, tone };
    Overview {
        period: Period::Day,
        running: vec![line(voice, "ex_1", Outcome::Running, 0, "reports = [drive.read(id=i) for i in ids]")],
        queued: Some(1),
        executions: 1_284,
        failed: 31,
        p50_ms: Some(212.0),
        p95_ms: Some(1_940.0),
        tokens_saved: 4_812_300,
        money_saved: Some(Money { amount: 14.44, currency: voice.say("$"), price_per_million: 3.0 }),
        outcomes: outcomes.collect(),
        saved_curve: saved_curve.collect(),
        against: vec![
            bar("With Gristmill", 388_200, Tone::Good),
            bar("Direct calls", 5_200_500, Tone::Quiet),
        ],
        recent: lines(voice),
        approvals: approvals(voice).waiting,
        anomalies: vec![Anomaly {
            tone: Tone::Warn,
            severity: voice.say("medium"),
            title: voice.say("Failures of shop.list_orders rose"),
            evidence: voice.say("14 of 20 calls failed in 5 minutes; usually 1 of 100."),
            action: voice.say("Check the server: gristmill logs shop"),
            at: minutes_ago(6),
            execution: Some(voice.say("ex_4")),
        }],
    }
}

pub fn overview_of_nothing() -> Overview {
    Overview {
        period: Period::Week,
        running: vec![],
        queued: None,
        executions: 0,
        failed: 0,
        p50_ms: None,
        p95_ms: None,
        tokens_saved: 0,
        money_saved: None,
        saved_curve: vec![],
        outcomes: vec![],
        against: vec![],
        recent: vec![],
        approvals: vec![],
        anomalies: vec![],
    }
}

pub fn list(voice: &Voice<'_>) -> Executions {
    Executions {
        filter: ExecutionFilter {
            text: voice.say("overdue"),
            outcome: voice.say("failed"),
            session: voice.say("mail-triage"),
            tool: voice.say("mail.send"),
            gateway: voice.say("build-box"),
            since: voice.say("24h"),
        },
        gateways: vec![(voice.say("build-box"), voice.say("stdio, process 17"))],
        lines: lines(voice),
        pager: Pager { older: Some(voice.say("ex_7")), newer: Some(voice.say("ex_2")) },
    }
}

pub fn list_of_nothing(voice: &Voice<'_>) -> Executions {
    let filter = ExecutionFilter { text: voice.say("nowhere"), ..ExecutionFilter::default() };
    Executions { filter, lines: vec![], pager: Pager::default(), gateways: vec![] }
}

fn spans(voice: &Voice<'_>) -> Vec<Span> {
    let stage = |label: &str, start_ms, duration_ms| Span {
        kind: SpanKind::Stage,
        label: voice.say(label),
        start_ms,
        duration_ms,
        ok: true,
        note: Text::default(),
    };
    let call = |server: &str, tool: &str, line, start_ms, duration_ms| Span {
        kind: SpanKind::Call { server: voice.say(server), tool: voice.say(tool), line: Some(line) },
        label: voice.say(&format!("{server}.{tool}")),
        start_ms,
        duration_ms,
        ok: true,
        note: Text::default(),
    };
    let refused =
        Span { ok: false, note: voice.say("mailbox is over quota"), ..call("mail", "send", 7, 471.0, 138.0) };
    vec![
        stage("admit", 0.0, 0.4),
        stage("check", 0.4, 2.1),
        stage("prepare", 2.5, 3.0),
        stage("checkout", 5.5, 0.8),
        stage("run", 6.3, 602.7),
        call("crm", "list_customers", 4, 8.0, 214.0),
        call("crm", "get_owner", 6, 226.0, 41.0),
        call("mail", "send", 7, 268.0, 160.0),
        call("crm", "get_owner", 6, 430.0, 40.0),
        refused,
        stage("answer", 609.0, 4.2),
    ]
}

pub fn failed(voice: &Voice<'_>) -> Execution {
    let kept = |text: &str| Kept { text: Some(voice.say(text)), bytes: 4_000_000 };
    Execution {
        line: line(
            voice,
            "ex_4",
            Outcome::Failed,
            14,
            "# Which customers are overdue, and who reminds them?",
        ),
        language: voice.say("python"),
        level: voice.say("production"),
        code: Some(voice.say(PROGRAM)),
        error: Some(ExecutionError {
            code: voice.say("GM-2101"),
            line: Some(7),
            message: voice.say("ToolError: mail.send: mailbox is over quota"),
            hint: Some(voice.say("Catch ToolError, or free space in the mailbox.")),
            traceback: Some(voice.say("line 7, in <program>\n    mail.send(to=owner[\"email\"], …)")),
        }),
        findings: voice.list(&["loop-with-writes:5"]),
        notes: voice.list(&["1 call was answered from the cache"]),
        limits_hit: voice.list(&["output_bytes_max"]),
        stdout: kept("12 customers are overdue\nreminding 1 of 12…"),
        stderr: kept("DeprecationWarning: get_owner"),
        result: Some(kept("{\n  \"reminded\": 1\n}")),
        stored: vec![Stored { handle: voice.say("res_9fk2"), kind: voice.say("json"), bytes: 4_000_000 }],
        spans_are_placed: true,
        spans: spans(voice),
        tokens: TokenAccount { used: 412, inside: 21_800, direct: 24_100 },
        decisions: vec![
            decision(voice, "crm", "list_customers", Verdict::Allow, "reads"),
            decision(voice, "mail", "send", Verdict::Ask, "writes-ask"),
        ],
        trace_id: Some(voice.say("4bf92f3577b34da6a3ce929d0e0e4736")),
        gateway: Some(voice.say("stdio, process 17")),
        as_test: Some(voice.say("#!/bin/sh\nset -eu\n")),
        cpu_ms: 48.0,
        memory_peak_bytes: 41_200_000,
    }
}

fn decision(voice: &Voice<'_>, server: &str, tool: &str, verdict: Verdict, rule: &str) -> Decision {
    Decision {
        server: voice.say(server),
        tool: voice.say(tool),
        verdict,
        rule: voice.say(rule),
        answer: voice.say("approved once"),
        calls: 12,
    }
}

pub fn running(voice: &Voice<'_>) -> Execution {
    Execution {
        line: line(voice, "ex_1", Outcome::Running, 0, "reports = [drive.read(id=i) for i in ids]"),
        error: None,
        result: None,
        stored: vec![],
        code: None,
        stderr: Kept::default(),
        ..failed(voice)
    }
}

pub fn approvals(voice: &Voice<'_>) -> Approvals {
    let argument = |name: &str, value: &str| Argument { name: voice.say(name), value: voice.say(value) };
    let mail = Approval {
        id: voice.say("ap_1"),
        server: voice.say("mail"),
        tool: voice.say("send"),
        rule: voice.say("writes-ask"),
        why: voice.say("It sends data out, and the session has read private data."),
        caller: voice.say("claude-code, session mail-triage"),
        asked: minutes_ago(1),
        until: Some(minutes_ago(-4)),
        scope: voice.say("calls of mail.send in session mail-triage until it ends"),
        marks: voice.list(&["external", "writes"]),
        arguments: vec![
            argument("to", "grace@example.com"),
            argument("subject", "Overdue: Initech"),
            argument("body", "Dear Grace,\n\nInitech is 42 days overdue. Please call them.\n\nThanks!"),
        ],
        execution: Some(voice.say("ex_1")),
        can_always: true,
    };
    let delete = Approval {
        id: voice.say("ap_2"),
        server: voice.say("files"),
        tool: voice.say("delete"),
        why: voice.say("It is destructive."),
        marks: voice.list(&["destructive"]),
        arguments: vec![argument("path", "/reports/2025-Q4.parquet")],
        can_always: false,
        until: None,
        ..mail.clone()
    };
    let answered = |verdict, reason: &str, minutes| AnsweredApproval {
        server: voice.say("mail"),
        tool: voice.say("send"),
        verdict,
        reason: voice.say(reason),
        why: voice.say("it sends data out"),
        caller: voice.say("ada"),
        asked: minutes_ago(minutes),
    };
    Approvals {
        waiting: vec![mail, delete],
        answered: vec![
            answered(ApprovalVerdict::Session, "fine for today", 40),
            answered(ApprovalVerdict::Denied, "wrong customer", 95),
            answered(ApprovalVerdict::Over, "", 600),
        ],
    }
}

pub fn playground(voice: &Voice<'_>) -> Playground {
    let tool =
        |name: &str, summary: &str| PlaygroundTool { name: voice.say(name), summary: voice.say(summary) };
    Playground {
        code: voice.say(PROGRAM),
        languages: voice.list(&["python"]),
        language: voice.say("python"),
        sessions: voice.list(&["mail-triage", "research"]),
        session: voice.say("research"),
        tools: vec![
            tool("crm.list_customers", "List customers, with their balance"),
            tool("crm.get_owner", "Who looks after a customer"),
            tool("mail.send", "Send a message"),
            tool("files.search", "Find files by pattern"),
        ],
        task: Some(voice.say("customers with a balance above 1000")),
        written: Some(PlaygroundWritten {
            by: voice.say("Written by openai gpt-5, 1,240 tokens, $0.0042. Look at it, then run it."),
            calls: voice.list(&["crm.list_customers (reads, allowed)"]),
            notes: voice.list(&["Assumed: the balance is in euros"]),
        }),
        run: Some(PlaygroundRun { execution: running(voice) }),
    }
}

pub fn playground_of_nothing(voice: &Voice<'_>) -> Playground {
    let code = voice.say("");
    let (tools, sessions) = (vec![], vec![]);
    Playground { code, tools, sessions, task: None, written: None, run: None, ..playground(voice) }
}
