use std::io::Read;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gristmill_testkit::TestFolder;
use serde_json::json;

use super::*;
use crate::report::{LimitHit, SessionReport, ToolCalled};
use crate::results::ResultSettings;
use crate::store::Store;
use crate::tokens;

fn ok(result: Option<Value>, stdout: &str) -> Report {
    let refused = Report::refused(Code::Exception, String::new(), None, Duration::ZERO);
    Report { success: true, error: None, result, stdout: stdout.to_owned(), ..refused }
}

fn within(tokens_max: usize) -> AnswerBudget {
    AnswerBudget { tokens_max, ..AnswerBudget::default() }
}

async fn keeping(folder: &TestFolder, bytes_max: u64) -> Keeping {
    let settings = ResultSettings { bytes_max, ..ResultSettings::default() };
    let store = Store::in_memory().unwrap();
    let results = Results::open(store, folder.path().join("results"), settings).await.unwrap();
    let origin = Origin { session: None, execution: Some("e".to_owned()), ..Origin::default() };
    Keeping { results, owner: Owner::local(), origin, veil: None }
}

/// The bytes under a handle of an answer.
async fn kept(keep: &Keeping, handle: &Value) -> Vec<u8> {
    let found = keep.results.open_file(&keep.owner, handle.as_str().unwrap()).await.unwrap();
    let mut bytes = Vec::new();
    found.unwrap().1.read_to_end(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn what_fits_is_said_as_it_is() {
    for (report, text, structured) in [
        (ok(Some(json!({"a": [1, null]})), ""), r#"{"a":[1,null]}"#, json!({"result": {"a": [1, null]}})),
        (
            ok(Some(json!("as it is")), "hi\n"),
            "hi\nas it is",
            json!({"result": "as it is", "output": "hi\n"}),
        ),
        (
            ok(None, ""),
            "Note: the program printed nothing and set no `result`",
            json!({"notes": ["the program printed nothing and set no `result`"]}),
        ),
    ] {
        let answer = of_report(&report, &AnswerBudget::default(), None, None).await;
        let mut expected = json!({"status": "ok"});
        expected.as_object_mut().unwrap().extend(structured.as_object().unwrap().clone());
        assert_eq!((answer.text.as_str(), &answer.structured), (text, &expected));
        assert!(!answer.is_error && answer.files.is_empty());
    }
}

#[tokio::test]
async fn what_is_left_out_is_kept_whole_and_the_answer_goes_on_from_it() {
    let folder = TestFolder::new("answers");
    let keep = keeping(&folder, 1 << 30).await;
    let rows: Vec<Value> = (0..10_000).map(|number| json!({"id": number, "name": "grain"})).collect();
    let report =
        ok(Some(json!(rows)), &(0..5_000).map(|number| format!("line {number}\n")).collect::<String>());
    let answer = of_report(&report, &within(1_000), Some(&keep), None).await;
    let (result, output) = (&answer.structured["result_handle"], &answer.structured["output_handle"]);
    assert_eq!(kept(&keep, result).await, json!(rows).to_string().into_bytes());
    assert_eq!(kept(&keep, output).await, report.stdout.as_bytes());
    for line in [
        format!("r = json.load(open(\"/results/{}.json\"))", result.as_str().unwrap()),
        format!("t = open(\"/results/{}.txt\").read()", output.as_str().unwrap()),
    ] {
        assert!(answer.text.contains(&line), "{}", answer.text);
        assert!(answer.structured["notes"].to_string().contains("/results/"), "{}", answer.structured);
    }
    assert!(answer.tokens <= 1_000);
}

#[tokio::test]
async fn what_cannot_be_kept_is_said_with_what_to_do() {
    let report = ok(Some(json!("word ".repeat(5_000))), "");
    let answer = of_report(&report, &within(200), None, None).await;
    let said =
        "The result (24.4 KB) is condensed and not stored: return less, or write it to a file in /workspace.";
    assert!(answer.text.contains(said), "{}", answer.text);
    assert_eq!(answer.structured.get("result_handle"), None);

    let folder = TestFolder::new("answers-small");
    let keep = keeping(&folder, 10).await;
    let answer = of_report(&report, &within(300), Some(&keep), None).await;
    assert!(answer.text.contains("The result (24.4 KB) is condensed and couldn't be stored: "), "{answer:?}");
}

#[tokio::test]
async fn what_an_answer_names_is_kept_and_the_rest_is_said_not_to_be() {
    let folder = TestFolder::new("answers-room");
    let keep = keeping(&folder, 40_000).await;
    let report = ok(Some(json!("word ".repeat(6_000))), &"line\n".repeat(6_000));
    for tokens_max in [150, 1_000] {
        let answer = of_report(&report, &within(tokens_max), Some(&keep), None).await;
        let whole = kept(&keep, &answer.structured["result_handle"]).await;
        assert_eq!(whole, "word ".repeat(6_000).as_bytes());
        assert_eq!(answer.structured.get("output_handle"), None);
        assert!(answer.text.contains("The output (29.3 KB) is "), "{}", answer.text);
        assert!(answer.text.contains("39.1 KB"), "{}", answer.text);
    }
}

#[tokio::test]
async fn the_smallest_budget_says_that_something_is_not_kept_and_why() {
    let folder = TestFolder::new("answers-why");
    let keep = keeping(&folder, 1 << 10).await;
    let report = ok(Some(json!("word ".repeat(400_000))), "");
    for (keep, said) in [
        (None, "The result (1.9 MB) is cut and not stored: return less."),
        (Some(&keep), "The result (1.9 MB) is cut and not stored: at most 1 KB are."),
    ] {
        let answer = of_report(&report, &within(TOKENS_MIN), keep, None).await;
        assert!(answer.text.contains(said), "{}", answer.text);
        assert!(answer.structured["notes"].to_string().contains(said), "{}", answer.structured);
    }
}

#[tokio::test]
async fn bytes_become_files_and_images_go_along() {
    let folder = TestFolder::new("answers-bytes");
    let keep = keeping(&folder, 1 << 30).await;
    let png = b"\x89PNG\r\n\x1a\nrest".as_slice();
    let mark = |bytes: &[u8], said: &str| json!({"media_type": said, "bytes": bytes.len(), "base64": BASE64_STANDARD.encode(bytes)});
    let by_hand = json!([
        {"$file": 1},
        {"$file": {"media_type": "image/png", "bytes": 3, "base64": "no base64"}},
        {"$file": {"media_type": "image/png", "bytes": 9, "base64": "AAAA"}},
        {"$file": {"media_type": "image/png", "bytes": 3, "base64": "AAAA", "more": 1}},
    ]);
    let result = json!({
        "chart": {"$file": mark(png, "text/html")},
        "told": {"type": "image", "path": "/workspace/tool_files/a-1.png", "mime": "image/png", "bytes": 12, "$file": mark(png, "image/png")},
        "other": {"$file": mark(b"\xff\x00", "image/png")},
        "by_hand": by_hand,
    });
    let answer = of_report(&ok(Some(result), ""), &AnswerBudget::default(), Some(&keep), None).await;
    let shown = &answer.structured["result"];
    let path = shown["chart"]["file"].as_str().unwrap();
    assert_eq!(shown["chart"], json!({"file": path, "media_type": "image/png", "bytes": png.len()}));
    assert_eq!(
        shown["told"],
        json!({"type": "image", "path": "/workspace/tool_files/a-1.png", "mime": "image/png", "bytes": 12, "file": path}),
        "the same bytes are the same file"
    );
    assert_eq!(
        (&shown["other"]["media_type"], &shown["by_hand"]),
        (&json!("application/octet-stream"), &by_hand)
    );
    let handle = path.strip_prefix("/results/").unwrap().split('.').next().unwrap();
    assert_eq!(kept(&keep, &json!(handle)).await, png);
    let image = AnswerPart { media_type: "image/png", base64: BASE64_STANDARD.encode(png) };
    assert_eq!(answer.files, [image.clone(), image]);
    assert!(!answer.text.contains(&BASE64_STANDARD.encode(png)), "{}", answer.text);
}

#[tokio::test]
async fn an_object_with_members_of_its_own_stays_and_bytes_inside_it_become_files() {
    let folder = TestFolder::new("answers-own");
    let keep = keeping(&folder, 1 << 30).await;
    let mark = json!({"media_type": "image/png", "bytes": 3, "base64": "AAAA"});
    let bytes = vec![255_u8; 300];
    let inner = json!({"media_type": "", "bytes": 300, "base64": BASE64_STANDARD.encode(&bytes)});
    let own = json!({"file": "MY OWN VALUE", "size": 5, "$file": mark});
    let named = json!({"type": "image", "path": "p", "mime": "m", "file": "mine", "$file": mark});
    let result = json!({"own": own, "named": named, "around": {"$file": mark, "b": {"$file": inner}}});
    let answer = of_report(&ok(Some(result), ""), &AnswerBudget::default(), Some(&keep), None).await;
    let shown = &answer.structured["result"];
    assert_eq!((&shown["own"], &shown["named"]), (&own, &named));
    let around = &shown["around"];
    assert_eq!((&around["$file"], &around["b"]["bytes"]), (&mark, &json!(300)));
    let handle = around["b"]["file"].as_str().unwrap().trim_start_matches("/results/").split('.').next();
    assert_eq!(kept(&keep, &json!(handle)).await, bytes);
    assert!(!answer.text.contains(&BASE64_STANDARD.encode(&bytes)), "{}", answer.text);
}

#[tokio::test]
async fn more_bytes_than_files_are_made_of_stay_in_the_whole_result() {
    let folder = TestFolder::new("answers-many");
    let keep = keeping(&folder, 1 << 30).await;
    let mark = |number: u8| json!({"$file": {"media_type": "", "bytes": 2, "base64": BASE64_STANDARD.encode([255, number])}});
    let result = json!((0..9).map(mark).collect::<Vec<_>>());
    let answer = of_report(&ok(Some(result.clone()), ""), &AnswerBudget::default(), Some(&keep), None).await;
    let shown = answer.structured["result"].as_array().unwrap();
    let have_files = shown.iter().map(|item| item.get("file").is_some()).collect::<Vec<_>>();
    assert_eq!(have_files, [true, true, true, true, true, true, true, true, false]);
    assert_eq!(kept(&keep, &answer.structured["result_handle"]).await, result.to_string().into_bytes());
}

#[test]
fn a_person_sees_what_bytes_there_are() {
    let result = json!([{"$file": {"media_type": "x", "bytes": 3, "base64": "AAAA"}}, 1]);
    let expected = json!([{"media_type": "application/octet-stream", "bytes": 3}, 1]);
    assert_eq!(*without_bytes(&result), expected);
    let plain = json!({"$file": 0});
    assert_eq!(*without_bytes(&plain), plain);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// Text as programs and servers write it, and worse.
    fn text(&mut self, pieces_max: usize) -> String {
        const PIECES: [&str; 14] = [
            "word ", "\n", "\"", "\\", "\u{1}", "żółć", "🌾", "12345", "    ", "GM-1102", "{\"a\":",
            "\u{202e}", "=====", "漢字",
        ];
        let count = self.below(pieces_max + 1);
        (0..count).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }

    fn value(&mut self, depth: usize) -> Value {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 => Value::Null,
            1 => json!(self.below(1 << 30)),
            2 => json!(self.below(100) as f64 / 7.0),
            3 => json!(self.text(40)),
            4 => (0..self.below(60)).map(|_| self.value(depth - 1)).collect(),
            5 => Value::Object((0..self.below(20)).map(|_| (self.text(3), self.value(depth - 1))).collect()),
            _ => (0..self.below(300)).map(|number| json!({"id": number, "name": self.text(4)})).collect(),
        }
    }

    fn report(&mut self) -> Report {
        let mut report = match self.below(2) {
            0 => ok(None, ""),
            _ => Report::refused(Code::Exception, self.text(3_000), Some(self.text(200)), Duration::ZERO),
        };
        if let Some(error) = &mut report.error {
            error.line = Some(self.below(1 << 30) as u64);
            error.traceback = Some(self.text(3_000));
        }
        report.result = (self.below(4) > 0).then(|| self.value(3));
        let length = if self.below(2) == 0 { 5 } else { 4_000 };
        report.stdout = self.text(length);
        let length = if self.below(2) == 0 { 0 } else { 1_000 };
        report.stderr = self.text(length);
        report.notes = (0..self.below(21)).map(|_| self.text(60)).collect();
        report.tools_called = (0..self.below(101))
            .map(|_| ToolCalled {
                ok: self.below(2) == 0,
                ..ToolCalled::unanswered(&self.text(6), Some(1), 2)
            })
            .collect();
        report.limits_hit = (0..self.below(3))
            .map(|_| LimitHit { name: "memory", value: 1, message: self.text(50) })
            .collect();
        let name = (self.below(2) == 0).then(|| self.text(10));
        let is_new = self.below(2) == 0;
        report.session = Some(SessionReport { id: "abcdefghijkmnpqrstuv".to_owned(), name, is_new });
        report
    }
}

#[tokio::test]
async fn whatever_a_report_holds_its_answer_fits_its_budget() {
    let folder = TestFolder::new("answers-any");
    let keep = keeping(&folder, 1 << 30).await;
    let id = ExecutionId::read("abcdefghijkmnpqrstuv").unwrap();
    let mut dice = Dice(20_260);
    for round in 0..200 {
        let report = dice.report();
        let tokens_max = [50, 51, 64, 100, 150, 300, 1_000, 5_000][dice.below(8)];
        let strategy = Strategy::ALL[dice.below(Strategy::ALL.len())];
        let budget = AnswerBudget { tokens_max, strategy };
        let (keep, id) = ((dice.below(2) == 0).then_some(&keep), (dice.below(4) == 0).then_some(&id));
        let answer = of_report(&report, &budget, keep, id).await;
        let counted = (tokens::count(&answer.text), tokens::count(&answer.structured.to_string()));
        let what = format!("round {round}, {budget:?}: {counted:?}\n{}\n{}", answer.text, answer.structured);
        assert!(counted.0 <= tokens_max && counted.1 <= tokens_max, "{what}");
        assert_eq!(answer.tokens, counted.0.max(counted.1) as u64, "{what}");
        assert_eq!(answer.structured["status"], status_of(&report), "{what}");
        let code = report.error.as_ref().map(|error| json!(error.code.as_str()));
        assert_eq!(answer.structured.pointer("/error/code"), code.as_ref(), "{what}");
        // The same report gives the same answer, and the report is as it was.
        assert_eq!(of_report(&report, &budget, keep, id).await, answer);
    }
}

#[tokio::test]
async fn the_smallest_budget_still_says_why_a_program_failed() {
    let mut report = Report::refused(
        Code::Exception,
        "this is why".to_owned(),
        Some("do this instead".to_owned()),
        Duration::ZERO,
    );
    report.stdout = "line\n".repeat(3_000);
    report.notes = vec!["a note of some length that nobody needs".to_owned(); 20];
    let answer = of_report(&report, &within(TOKENS_MIN), None, None).await;
    assert_eq!(answer.structured["error"]["message"], "this is why", "{}", answer.structured);
    assert!(answer.text.starts_with("error[GM-1102]: this is why\n"), "{}", answer.text);
}

#[tokio::test]
async fn the_beginning_of_a_message_stays_however_dear_it_is_in_json() {
    for (message, beginning) in [
        (format!("row was: {}", "\t".repeat(800)), "row was:"),
        ("\0\u{1b}\u{7}\"\\".repeat(400), "\0\u{1b}\u{7}\"\\"),
        (format!("{}the reason", "\n".repeat(50_000)), "the reason"),
    ] {
        let mut report = Report::refused(Code::Exception, message.clone(), None, Duration::ZERO);
        if let Some(error) = &mut report.error {
            error.line = Some(1);
            error.traceback =
                Some(format!("Traceback (most recent call last):\n  line 1\nValueError: {message}"));
        }
        for tokens_max in [100, 200, 500, 1_000] {
            let answer = of_report(&report, &within(tokens_max), None, None).await;
            let told = answer.structured["error"]["message"].as_str().unwrap();
            assert!(told.starts_with(beginning), "{tokens_max}: {}", answer.structured);
            assert!(answer.text.contains(beginning), "{tokens_max}: {}", answer.text);
            assert!(answer.tokens <= tokens_max as u64);
        }
    }
}

#[tokio::test]
async fn what_a_failed_program_printed_has_its_handle_in_the_smallest_budgets() {
    let folder = TestFolder::new("answers-failed");
    let keep = keeping(&folder, 1 << 30).await;
    let message = "m ".repeat(80);
    let mut report = Report::refused(Code::Exception, message.clone(), None, Duration::ZERO);
    report.stdout = "o ".repeat(3_000);
    if let Some(error) = &mut report.error {
        error.line = Some(1);
        error.traceback =
            Some(format!("Traceback (most recent call last):\n  line 1\nValueError: {message}"));
    }
    for tokens_max in TOKENS_MIN..100 {
        let answer = of_report(&report, &within(tokens_max), Some(&keep), None).await;
        assert_eq!(kept(&keep, &answer.structured["output_handle"]).await, report.stdout.as_bytes());
        assert!(answer.text.contains("/results/"), "{tokens_max}: {}", answer.text);
        let told = answer.structured["error"]["message"].as_str().unwrap();
        assert!(told.starts_with("m m"), "{tokens_max}: {}", answer.structured);
    }
}

#[tokio::test]
async fn a_cut_error_tells_no_number_that_nobody_knows() {
    let message = format!("{}…", "word ".repeat(2_000));
    let report = Report::refused(Code::Exception, message, None, Duration::ZERO);
    for tokens_max in [60, 100, 300, 1_000, 3_000] {
        let answer = of_report(&report, &within(tokens_max), None, None).await;
        let told = answer.structured["error"]["message"].as_str().unwrap();
        assert!(told.starts_with("word word") && !told.contains("bytes"), "{tokens_max}: {told}");
        assert!(told.ends_with('…'), "{tokens_max}: {told}");
        assert!(!told.contains("… ") || told.contains("… part left out …"), "{tokens_max}: {told}");
    }
}
