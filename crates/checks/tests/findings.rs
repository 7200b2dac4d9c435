//! What is found in programs, and what isn't.

use gristmill_checks::{CheckReport, Guardrails, NoTools, Rule, Severity, check};
use gristmill_domain::Level;

fn report(code: &str) -> CheckReport {
    check(code, &NoTools, &Guardrails::default())
}

/// `GC-101:2` for each finding with its line.
fn found(code: &str) -> Vec<String> {
    report(code).findings.iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
}

fn expect(code: &str, expected: &[&str]) {
    assert_eq!(found(code), expected, "{code}");
}

#[test]
fn everyday_programs_have_no_findings() {
    for code in [
        "",
        "1 + 1",
        "import json, re, os.path\nprint(json.dumps({'a': re.compile('x').pattern}))",
        "rows = await callMCPTool('crm.list', {})\nresult = [r['name'] for r in rows]",
        "class A:\n    def __init__(self):\n        self.name = self.__class__.__name__\nA().__dict__",
        "from pathlib import Path\nPath('/workspace/x.txt').read_text()",
        "match x:\n    case {'a': [1, *rest]}:\n        print(rest)",
        "async with asyncio.TaskGroup() as group:\n    group.create_task(f())",
        "try:\n    x = 1\nexcept ValueError, TypeError:\n    pass",
        "print(f'{x!r:>{10}} {\"nested\"}')",
        "type Row = dict[str, int]\ndef f[T](x: T) -> T:\n    return x",
        "print(t'{name}')",
        "pattern.eval(x); model.compile(y); self.exec(z)",
    ] {
        expect(code, &[]);
    }
}

#[test]
fn each_dangerous_construct_is_found_with_its_rule_and_line() {
    for (code, expected) in [
        ("x = 1\n().__class__.__bases__[0].__subclasses__()", "GC-101:2 GC-101:2"),
        ("f.__globals__", "GC-101:1"),
        ("__builtins__['open']", "GC-101:1"),
        ("getattr(x, '__subclasses__')", "GC-102:1"),
        ("'{0.__class__.__init__.__globals__}'.format(x)", "GC-102:1"),
        ("import sys\nsys._getframe(1)", "GC-103:2"),
        ("from sys import _getframe as g", "GC-103:1"),
        ("import inspect as i\ni.currentframe()", "GC-103:2"),
        ("gen.gi_frame.f_back.f_globals", "GC-103:1 GC-103:1 GC-103:1"),
        ("exec(code)", "GC-104:1"),
        ("eval('1+' + x)", "GC-104:1"),
        ("eval('1+1')", "GC-105:1"),
        ("import base64\nexec(base64.b64decode(x))", "GC-106:2"),
        ("import ctypes", "GC-107:1"),
        ("from ctypes import CDLL", "GC-107:1"),
        ("__import__('ctypes')", "GC-107:1"),
        ("import os\nos.system('ls')", "GC-108:2"),
        ("from os import system", "GC-108:1"),
        ("os.execv('/bin/sh', [])", "GC-108:1"),
        ("import subprocess", "GC-108:1"),
        ("__import__(name)", "GC-109:1"),
        ("import importlib\nimportlib.import_module(name)", "GC-109:2"),
        ("import sys\nsys.modules['os'] = x", "GC-109:2"),
        ("import gc\ngc.get_objects()", "GC-110:2"),
        ("import pickle\npickle.loads(data)", "GC-111:2"),
        ("import yaml\nyaml.load(text)", "GC-111:2"),
        ("import types\ntypes.CodeType(1)", "GC-112:2"),
        ("import sys\nsys.settrace(f)", "GC-113:2"),
        ("import socket", "GC-114:1"),
        ("from http import client", "GC-114:1"),
        ("open('/etc/passwd')", "GC-115:1"),
        ("x = 1  # \u{202e}", "GC-116:1"),
        ("import numpy as np", "GC-203:1"),
    ] {
        expect(code, &expected.split(' ').collect::<Vec<_>>());
    }
}

#[test]
fn a_name_that_means_something_else_is_no_finding() {
    for code in [
        "def eval(x):\n    return x\neval(y)",
        "os = Thing()\nos.system('x')",
        "import yaml\nyaml.load(text, Loader=yaml.SafeLoader)",
        "exec = conn.execute\nexec(sql)",
        "system('x')",
    ] {
        expect(code, &[]);
    }
}

#[test]
fn markdown_and_indentation_do_not_hide_anything() {
    expect("```python\nexec(x)\n```", &["GC-104:1"]);
    expect("Here it is:\n```\nimport ctypes\n```\n", &["GC-107:1"]);
    expect("    import os\n    os.system('x')", &["GC-108:2"]);
    expect("\u{feff}import os\r\nos.system('x')\r\n", &["GC-108:2"]);
}

#[test]
fn a_syntax_error_has_pythons_words_and_a_mark_under_it() {
    for (code, line, message, marked) in [
        ("x = 1\ny = = 2\n", 2, "invalid syntax: expected an expression", "y = = 2\n    ^"),
        ("if x\n    pass\n", 1, "expected ':'", "if x\n    ^"),
        ("print((1, 2)\nx = 3\n", 1, "'(' was never closed", "print((1, 2)\n     ^"),
        (
            "x = [1, 2)\n",
            1,
            "closing parenthesis ')' does not match opening parenthesis '['",
            "x = [1, 2)\n         ^",
        ),
        ("x = 1)\n", 1, "unmatched ')'", "x = 1)\n     ^"),
        ("def f():\nx = 3\n", 2, "expected an indented block after function definition", "x = 3\n^"),
        ("x = 1\n  y = 2\n", 2, "unexpected indent", "y = 2\n^"),
        ("try:\n    x = 3\ny = 3\n", 3, "expected 'except' or 'finally' block", "y = 3\n^"),
    ] {
        let report = report(code);
        let [finding] = report.findings.as_slice() else { panic!("{code}: {report:?}") };
        assert_eq!((finding.rule, finding.severity), (Rule::Syntax, Severity::Error), "{code}");
        assert_eq!((finding.line, finding.message.as_str()), (line, message), "{code}");
        assert_eq!(finding.marked(""), marked, "{code}");
    }
}

#[test]
fn what_the_guest_has_better_words_for_is_left_to_it() {
    for code in [
        "const x = 5;",
        "if (x) {\n  y = 1\n}",
        "x = a ? b : c",
        "print \"hello\"",
        "if x = 3:\n    pass",
        "x = null ===",
        "// a comment",
        "!pip install x",
        ">>> x = (",
        "x = “quoted”",
        "f(a b)",
        "x = 'abc\n",
        "return 5",
        "def f():\n    await g()",
        "    x = (\n    y = 1",
        "```\nx = (\n```",
        "from servers.my-server import x",
    ] {
        let report = report(code);
        assert_eq!(report.error(), None, "{code}");
        let told: Vec<_> = report.findings.iter().map(|finding| (finding.rule, finding.severity)).collect();
        assert!(told.is_empty() || told == [(Rule::Syntax, Severity::Medium)], "{code}: {told:?}");
    }
}

#[test]
fn a_program_too_long_or_too_deep_is_said_to_be_unchecked() {
    expect(&format!("x = '{}'", "a".repeat(300_000)), &["GC-002:1"]);
    expect(&format!("x = {}1", "-".repeat(100_000)), &["GC-002:1"]);
    expect(&format!("exec(x{})", ".y".repeat(50_000)), &["GC-002:1"]);
}

#[test]
fn the_deepest_program_that_is_checked_needs_little_stack() {
    let deep = format!("x = {}1", "-".repeat(290));
    let calls = format!("f{}", "(x)".repeat(70));
    let brackets = format!("x = {}1{}", "[".repeat(95), "]".repeat(95));
    let on_a_small_stack = std::thread::Builder::new()
        .stack_size(1024 * 1024)
        .spawn(move || [deep, calls, brackets].map(|code| found(&code)));
    let found = on_a_small_stack.expect("a thread").join().expect("it does not overflow");
    assert!(found.iter().all(Vec::is_empty), "{found:?}");
}

#[test]
fn any_text_is_checked_without_a_panic() {
    let mut random = 7u64;
    let parts = [
        "(", ")", "{", "f'", "'", "\"\"\"", "\\", "\n", "    ", "def ", "x", "=", ":", "é", "\0", "\r",
        "```", "lambda", "*", "match x:", "\u{202e}",
    ];
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..30 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(parts[(random >> 33) as usize % parts.len()]);
        }
        for finding in report(&text).findings {
            finding.marked("  ");
        }
    }
}

#[test]
fn a_level_decides_what_is_refused_and_what_is_recorded() {
    let refused = |guardrails: &Guardrails, level, code: &str| {
        let report = check(code, &NoTools, guardrails);
        let refuses = report.findings.iter().any(|finding| guardrails.refuses(level, finding));
        (refuses, report.findings.iter().any(|finding| guardrails.records(level, finding)))
    };
    let (plain, strict) = (Guardrails::default(), Guardrails { strict_mode: true, ..Guardrails::default() });
    let (development, production, hardened) = (Level::Development, Level::Production, Level::Hardened);
    assert_eq!(refused(&plain, development, "exec(x)"), (false, false));
    assert_eq!(refused(&plain, production, "exec(x)"), (false, true));
    assert_eq!(refused(&plain, hardened, "exec(x)"), (true, true));
    assert_eq!(refused(&strict, development, "exec(x)"), (true, true));
    assert_eq!(refused(&strict, production, "eval('1')"), (false, true));
    assert_eq!(refused(&plain, development, "x = (("), (true, true));
}

#[test]
fn modules_are_held_to_the_lists_with_what_to_use_instead() {
    let denying = Guardrails {
        denied_modules: vec!["pickle".to_owned(), "os.path".to_owned()],
        ..Guardrails::default()
    };
    let allowing = Guardrails {
        allowed_modules: vec!["json".to_owned(), "xml.etree".to_owned()],
        ..Guardrails::default()
    };
    let told = |guardrails: &Guardrails, code: &str| {
        let report = check(code, &NoTools, guardrails);
        assert!(
            report.findings.iter().all(|finding| guardrails.refuses(Level::Development, finding)),
            "{code}"
        );
        report.findings.into_iter().map(|finding| (finding.rule.id(), finding.hint)).collect::<Vec<_>>()
    };
    assert_eq!(told(&denying, "import pickle"), [("GC-201", Some("use json".to_owned()))]);
    assert_eq!(told(&denying, "from os.path import join"), [("GC-201", None)]);
    assert_eq!(told(&denying, "__import__('pickle')"), [("GC-201", Some("use json".to_owned()))]);
    assert_eq!(told(&denying, "import os, picklejar"), []);
    assert_eq!(
        told(
            &allowing,
            "import json.decoder\nfrom xml.etree import ElementTree\nfrom servers.crm import x\nimport skills.y"
        ),
        []
    );
    assert_eq!(told(&allowing, "import csv"), [("GC-202", Some("use one of: json, xml.etree".to_owned()))]);
}

#[test]
fn the_page_lists_every_rule_as_it_is() {
    let page = include_str!("../../../docs/checks.md");
    for rule in Rule::ALL {
        let row = format!("| {} | {} | {} | {} |", rule.id(), rule.severity(), rule.title(), rule.advice());
        assert!(page.contains(&row), "docs/checks.md: {row}");
    }
    assert_eq!(page.matches("\n| GC-").count(), Rule::ALL.len());
    let mut ids: Vec<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
    ids.dedup();
    assert!(ids.is_sorted() && ids.len() == Rule::ALL.len(), "{ids:?}");
}
