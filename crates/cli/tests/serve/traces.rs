//! Traces and metrics as a collector gets them, read by a decoder of the test's own.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::cases;
use crate::client::legacy;
use crate::gateways::Place;

cases![
    a_collector_gets_an_execution_with_its_stages_and_calls_in_one_trace,
    a_collector_gets_spans_of_the_callers_trace_unless_that_is_not_sampled,
    a_collector_that_is_not_there_holds_nobody_up,
    a_collector_gets_the_figures_of_the_gateway_at_its_end,
];

const MARK: &str = "m4rk-of-a-program";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

/// A collector, and what it was sent.
struct Collector {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

/// Its head and its body.
type Request = (String, Vec<u8>);

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream);
                while let Some(request) = read_request(&mut reader) {
                    kept.lock().expect("no panic").push(request);
                    let _ = reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                }
            }
        });
        Self { url, requests }
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.requests.lock().expect("no panic");
        requests
            .iter()
            .filter(|request| is_to(request, "traces"))
            .flat_map(|(_, body)| spans_in(body))
            .collect()
    }

    /// Those that were sent last.
    fn metrics(&self) -> BTreeMap<String, Metric> {
        let requests = self.requests.lock().expect("no panic");
        let last = requests.iter().rfind(|request| is_to(request, "metrics")).expect("metrics");
        metrics_in(&last.1)
    }
}

/// Whether it is of one kind; all are well.
fn is_to((head, body): &Request, signal: &str) -> bool {
    assert!(
        ["traces", "metrics"].iter().any(|of| head.starts_with(&format!("POST /v1/{of} HTTP/1.1"))),
        "{head}"
    );
    assert!(head.to_lowercase().contains("content-type: application/x-protobuf"), "{head}");
    assert!(!body.windows(4).any(|bytes| bytes == b"m4rk"), "a program's data is in it");
    head.starts_with(&format!("POST /v1/{signal} "))
}

fn read_request(reader: &mut impl BufRead) -> Option<Request> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some((head, body))
}

/// A field of a message: its number, and its bytes or its number's value.
enum Field<'a> {
    Bytes(u64, &'a [u8]),
    Number(u64, u64),
}

fn fields(mut message: &[u8]) -> Vec<Field<'_>> {
    fn varint(message: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = message.split_first().expect("a byte");
            *message = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        match tag & 7 {
            0 => found.push(Field::Number(tag >> 3, varint(&mut message))),
            1 => {
                let (bytes, rest) = message.split_at(8);
                message = rest;
                let value = u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
                found.push(Field::Number(tag >> 3, value));
            }
            2 => {
                let length = usize::try_from(varint(&mut message)).expect("a length");
                let (bytes, rest) = message.split_at(length);
                message = rest;
                found.push(Field::Bytes(tag >> 3, bytes));
            }
            other => panic!("wire type {other}"),
        }
    }
    found
}

fn inner(message: &[u8], number: u64) -> Vec<&[u8]> {
    let fields = fields(message).into_iter();
    fields
        .filter_map(|field| matches!(field, Field::Bytes(found, _) if found == number).then_some(field))
        .map(bytes)
        .collect()
}

fn bytes(field: Field<'_>) -> &[u8] {
    match field {
        Field::Bytes(_, bytes) => bytes,
        Field::Number(..) => panic!("a number"),
    }
}

fn number(message: &[u8], wanted: u64) -> Option<u64> {
    fields(message).into_iter().find_map(|field| match field {
        Field::Number(found, value) if found == wanted => Some(value),
        Field::Number(..) | Field::Bytes(..) => None,
    })
}

fn text(message: &[u8], number: u64) -> Option<String> {
    inner(message, number).first().map(|bytes| String::from_utf8(bytes.to_vec()).expect("UTF-8"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Debug)]
struct Span {
    trace: String,
    id: String,
    parent: Option<String>,
    name: String,
    kind: u64,
    nanos: (u64, u64),
    attributes: BTreeMap<String, String>,
    status: Option<u64>,
}

fn attributes(message: &[u8], field: u64) -> BTreeMap<String, String> {
    let read = |pair: &[u8]| {
        let value = inner(pair, 2)[0];
        let shown = text(value, 1).or_else(|| number(value, 3).map(|number| number.to_string()));
        (text(pair, 1).expect("a name"), shown.unwrap_or_default())
    };
    inner(message, field).into_iter().map(read).collect()
}

fn spans_in(request: &[u8]) -> Vec<Span> {
    let all = inner(request, 1);
    let resource = attributes(inner(all[0], 1)[0], 1);
    assert_eq!(resource["service.name"], "gristmill");
    let read = |span: &[u8]| Span {
        trace: hex(inner(span, 1)[0]),
        id: hex(inner(span, 2)[0]),
        parent: inner(span, 4).first().map(|bytes| hex(bytes)),
        name: text(span, 5).expect("a name"),
        kind: number(span, 6).expect("a kind"),
        nanos: (number(span, 7).expect("a start"), number(span, 8).expect("an end")),
        attributes: attributes(span, 9),
        status: inner(span, 15).first().and_then(|status| number(status, 3)),
    };
    all.into_iter().flat_map(|all| inner(all, 2)).flat_map(|scoped| inner(scoped, 2)).map(read).collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    spans.iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

fn code() -> String {
    format!("from servers import robot\nprint('{MARK}')\nawait robot.echo(text='{MARK}')\nresult = '{MARK}'")
}

fn a_collector_gets_an_execution_with_its_stages_and_calls_in_one_trace() {
    let collector = Collector::start();
    let served = Place::new("otlp").scripted("robot", &[]).serve(legacy(), &["--otlp", &collector.url]);
    let answer = served.call("execute_code", json!({"code": code()}));
    let failed = served.call("execute_code", json!({"code": format!("raise ValueError('{MARK}')")}));
    served.close_input();
    assert!(served.ended().success());
    let spans = collector.spans();
    let id = answer["_meta"]["gristmill/execution"].as_str().expect("an id");
    let of = |id: &str| {
        let is_it =
            |span: &&Span| span.attributes.get("gristmill.execution.id").is_some_and(|found| found == id);
        spans.iter().filter(is_it).find(|span| span.name == "execution").expect("the execution")
    };
    let execution = of(id);
    assert_eq!((execution.kind, &execution.parent, execution.status), (2, &None, Some(1)), "{execution:#?}");
    assert_eq!(execution.attributes["gristmill.client"], "test");
    let within: Vec<&Span> = spans.iter().filter(|span| span.trace == execution.trace).collect();
    for stage in ["place", "admit", "prepare", "check", "checkout", "run", "record"] {
        let span =
            within.iter().find(|span| span.name == stage).unwrap_or_else(|| panic!("no {stage}: {spans:#?}"));
        assert_eq!((span.kind, span.parent.as_deref()), (1, Some(execution.id.as_str())), "{span:#?}");
        assert!(span.nanos.0 >= execution.nanos.0 && span.nanos.1 <= execution.nanos.1, "{span:#?}");
    }
    let call = named(&spans, "tools/call echo");
    assert_eq!((call.kind, &call.trace, call.status), (3, &execution.trace, Some(1)));
    assert_eq!(call.parent.as_deref(), Some(named(&spans, "run").id.as_str()));
    let attribute = |name: &str| call.attributes.get(name).map(String::as_str);
    assert_eq!(attribute("mcp.method.name"), Some("tools/call"));
    assert_eq!(attribute("gen_ai.tool.name"), Some("echo"));
    assert_eq!(attribute("gen_ai.operation.name"), Some("execute_tool"));
    assert_eq!(attribute("gristmill.server"), Some("robot"));
    let failed = of(failed["_meta"]["gristmill/execution"].as_str().expect("an id"));
    assert_eq!((failed.status, failed.attributes["error.type"].as_str()), (Some(2), "GM-1102"));
    assert_ne!(failed.trace, execution.trace);
}

fn a_collector_gets_spans_of_the_callers_trace_unless_that_is_not_sampled() {
    let collector = Collector::start();
    let served =
        Place::new("otlp-caller").scripted("robot", &[]).serve(legacy(), &["--otlp", &collector.url]);
    for flags in ["01", "00"] {
        let meta = json!({"traceparent": format!("00-{TRACE}-{PARENT}-{flags}")});
        let params = json!({"name": "execute_code", "arguments": {"code": code()}, "_meta": meta});
        served.result("tools/call", params);
    }
    served.close_input();
    assert!(served.ended().success());
    let spans = collector.spans();
    let executions: Vec<&Span> = spans.iter().filter(|span| span.name == "execution").collect();
    assert_eq!(executions.len(), 1, "{spans:#?}");
    assert_eq!((executions[0].trace.as_str(), executions[0].parent.as_deref()), (TRACE, Some(PARENT)));
    assert!(spans.iter().all(|span| span.trace == TRACE), "{spans:#?}");
}

fn a_collector_that_is_not_there_holds_nobody_up() {
    let place = Place::new("otlp-gone").scripted("robot", &[]);
    let served = place.serve(legacy(), &["--otlp", "http://127.0.0.1:9"]);
    let answer = served.call("execute_code", json!({"code": code()}));
    assert_ne!(answer["isError"], true, "{answer:#}");
    served.close_input();
    assert!(served.ended().success());
    let log = served.home().ok(&["logs", "--level", "warn"]);
    assert!(log.contains(" otlp: the collector didn't take spans "), "{log}");
}

/// A metric: which field of it has its points, and those.
#[derive(Debug)]
struct Metric {
    unit: Option<String>,
    kind: u64,
    temporality: Option<u64>,
    is_monotonic: bool,
    points: Vec<Point>,
}

#[derive(Debug)]
struct Point {
    labels: BTreeMap<String, String>,
    nanos: (Option<u64>, Option<u64>),
    whole: Option<u64>,
    number: Option<f64>,
    count: Option<u64>,
    sum: Option<f64>,
    buckets: Vec<u64>,
    bounds: Vec<f64>,
}

const GAUGE: u64 = 5;
const SUM: u64 = 7;
const HISTOGRAM: u64 = 9;
const CUMULATIVE: u64 = 2;

fn packed(message: &[u8], number: u64) -> Vec<u64> {
    let eight = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    inner(message, number).into_iter().flat_map(|bytes| bytes.chunks(8).map(eight)).collect()
}

fn metrics_in(request: &[u8]) -> BTreeMap<String, Metric> {
    let all = inner(request, 1);
    let resource = attributes(inner(all[0], 1)[0], 1);
    assert_eq!(resource["service.name"], "gristmill");
    let read = |metric: &[u8]| {
        let kind = [GAUGE, SUM, HISTOGRAM].into_iter().find(|kind| !inner(metric, *kind).is_empty());
        let kind = kind.expect("a kind");
        let data = inner(metric, kind)[0];
        let point = |point: &[u8]| Point {
            labels: attributes(point, if kind == HISTOGRAM { 9 } else { 7 }),
            nanos: (number(point, 2), number(point, 3)),
            whole: number(point, 6).filter(|_| kind == SUM),
            number: number(point, 4).filter(|_| kind == GAUGE).map(f64::from_bits),
            count: number(point, 4).filter(|_| kind == HISTOGRAM),
            sum: number(point, 5).map(f64::from_bits),
            buckets: packed(point, 6),
            bounds: packed(point, 7 * u64::from(kind == HISTOGRAM)).into_iter().map(f64::from_bits).collect(),
        };
        let read = Metric {
            unit: text(metric, 3),
            kind,
            temporality: number(data, 2),
            is_monotonic: number(data, 3) == Some(1),
            points: inner(data, 1).into_iter().map(point).collect(),
        };
        (text(metric, 1).expect("a name"), read)
    };
    all.into_iter().flat_map(|all| inner(all, 2)).flat_map(|scoped| inner(scoped, 2)).map(read).collect()
}

fn a_collector_gets_the_figures_of_the_gateway_at_its_end() {
    let collector = Collector::start();
    let served =
        Place::new("otlp-metrics").scripted("robot", &[]).serve(legacy(), &["--otlp", &collector.url]);
    served.call("execute_code", json!({"code": code()}));
    served.call("execute_code", json!({"code": format!("raise ValueError('{MARK}')")}));
    served.close_input();
    assert!(served.ended().success());
    let metrics = collector.metrics();
    let executions = &metrics["gristmill_executions"];
    assert_eq!(
        (executions.kind, executions.temporality, executions.is_monotonic),
        (SUM, Some(CUMULATIVE), true)
    );
    let counted = |outcome: &str| {
        let point = executions.points.iter().find(|point| point.labels["outcome"] == outcome);
        point.and_then(|point| point.whole)
    };
    assert_eq!(
        (counted("ok"), counted("failed"), counted("limit")),
        (Some(1), Some(1), None),
        "{executions:#?}"
    );
    let (began, now) = executions.points[0].nanos;
    assert!(began.is_some() && began < now, "{executions:#?}");
    let calls = &metrics["gristmill_call_seconds"];
    assert_eq!(
        (calls.kind, calls.temporality, calls.unit.as_deref()),
        (HISTOGRAM, Some(CUMULATIVE), Some("s"))
    );
    let echo = calls.points.iter().find(|point| point.labels["tool"] == "echo").expect("the tool");
    assert_eq!((echo.count, echo.buckets.iter().sum::<u64>()), (Some(1), 1), "{echo:#?}");
    assert_eq!((echo.labels["server"].as_str(), echo.buckets.len()), ("robot", echo.bounds.len() + 1));
    assert!(echo.sum > Some(0.0) && echo.bounds.is_sorted() && echo.bounds[0] == 0.001, "{echo:#?}");
    let memory = &metrics["process_resident_memory_bytes"];
    assert_eq!((memory.kind, memory.unit.as_deref()), (GAUGE, Some("By")));
    assert!(memory.points[0].number > Some(1e6), "{memory:#?}");
}
