//! What is answered about an analysis: as text and as structured content, each within the budget.

use gristmill_gateway::answer::TOKENS_MAX;
use gristmill_gateway::domain::one_line;
use gristmill_gateway::domain::shape::{Shaped, Strategy, shape_json};
use gristmill_gateway::results::StoredResult;
use gristmill_gateway::tokens;
use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::arguments::whole_number;

/// Below this there is no room for a handle beside a result.
const TOKENS_MIN: usize = 100;

/// Columns and notes may take this part of the budget each: the rows are what was asked for.
const FRAME_PART: usize = 10;
/// What of one column's name, or of one note, is shown.
const COLUMN_CHARS: usize = 60;
const NOTE_CHARS: usize = 240;

/// From this budget on the handle comes with a line of code that goes on from it.
const CODE_FROM_TOKENS: usize = 240;

/// A handle has 20 letters, and no letter takes more than one token.
const HANDLE_STANDS_FOR: &str = "aaaaaaaaaaaaaaaaaaaa";
const HANDLE_TOKENS: usize = 20;

/// Each round comes closer to the budget; the last one shows nothing of the result.
const ROUNDS_MAX: usize = 5;

const NOT_KEPT: &str = "The full output wasn't kept: ask for less, or raise max_output_tokens.";

/// The answer's tokens, as they were asked for.
pub(super) fn budget(asked: Option<&serde_json::Number>, default: usize) -> Result<usize, Answer> {
    let asked = whole_number("max_output_tokens", asked, TOKENS_MIN as u64..=TOKENS_MAX as u64)?;
    Ok(asked.map_or(default.max(TOKENS_MIN), |asked| asked as usize))
}

/// Where the whole output is.
enum Whole {
    Shown,
    /// Under a handle, and at this path in programs.
    Kept {
        handle: String,
        path: String,
    },
    Lost,
}

/// An output that was made to fit.
pub(super) struct AnalysisAnswer {
    rows: Option<u64>,
    columns: Vec<String>,
    /// How many more there are.
    columns_left_out: usize,
    notes: Vec<String>,
    budget: usize,
    shaped: Shaped,
}

impl AnalysisAnswer {
    /// Shapes an output; takes its time on a large one.
    pub fn new(output: &str, rows: Option<u64>, columns: &[String], notes: &[String], budget: usize) -> Self {
        let part = budget / FRAME_PART;
        let (columns, columns_left_out) = within(columns, COLUMN_CHARS, part);
        let (mut notes, more) = within(notes, NOTE_CHARS, part);
        if more > 0 {
            notes.push(format!("… {more} more notes"));
        }
        let shaped = shape_json(output, Strategy::Auto, budget, &tokens::count);
        let mut answer = Self { rows, columns, columns_left_out, notes, budget, shaped };
        if answer.shaped.is_whole && answer.tokens(&Whole::Shown) <= budget {
            return answer;
        }
        // As large as any handle makes it.
        let (handle, path) = (HANDLE_STANDS_FOR.to_owned(), format!("/results/{HANDLE_STANDS_FOR}.json"));
        let kept = Whole::Kept { handle, path };
        let handles = if answer.names_code() { 2 } else { 1 };
        let mut left = budget;
        for round in 0..ROUNDS_MAX {
            let over = (answer.tokens(&kept) + handles * HANDLE_TOKENS).saturating_sub(budget);
            if over == 0 {
                break;
            }
            left =
                if round + 1 == ROUNDS_MAX { 0 } else { left.min(answer.shaped.tokens).saturating_sub(over) };
            answer.shaped = shape_json(output, Strategy::Auto, left, &tokens::count);
        }
        // Where the frame alone is too large, a small result still comes with a handle.
        answer.shaped.is_whole = false;
        answer
    }

    /// Whether the answer holds everything.
    pub fn is_whole(&self) -> bool {
        self.shaped.is_whole
    }

    /// Nothing was left out.
    pub fn whole(self) -> Answer {
        self.answer(&Whole::Shown)
    }

    /// What was left out is stored.
    pub fn kept(self, stored: &StoredResult) -> Answer {
        let (handle, path) = (stored.handle.clone(), stored.path_in_program());
        self.answer(&Whole::Kept { handle, path })
    }

    /// What was left out is lost.
    pub fn not_kept(self) -> Answer {
        self.answer(&Whole::Lost)
    }

    fn names_code(&self) -> bool {
        self.budget >= CODE_FROM_TOKENS
    }

    fn columns_text(&self) -> String {
        match (self.columns.join(", "), self.columns_left_out) {
            (names, 0) if names.is_empty() => String::new(),
            (names, 0) => format!(": {names}"),
            (names, more) if names.is_empty() => format!(", {more} columns"),
            (names, more) => format!(": {names}, … {more} more columns"),
        }
    }

    fn tokens(&self, whole: &Whole) -> usize {
        let Answer { text, structured, .. } = self.answer(whole);
        tokens::count(&text).max(tokens::count(&structured.to_string()))
    }

    fn answer(&self, whole: &Whole) -> Answer {
        let mut lines = Vec::new();
        if let Some(rows) = self.rows {
            let are = if rows == 1 { "row" } else { "rows" };
            lines.push(format!("{rows} {are}{}", self.columns_text()));
        }
        lines.push(self.shaped.text.clone());
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        let mut structured = Map::new();
        structured.insert("status".to_owned(), json!("ok"));
        structured.insert("result".to_owned(), self.shaped.value.clone());
        if let Some(rows) = self.rows {
            structured.insert("rows".to_owned(), json!(rows));
            structured.insert("columns".to_owned(), json!(self.columns));
            if self.columns_left_out > 0 {
                // A list of names has names in it, and nothing else.
                let total = self.columns.len() + self.columns_left_out;
                structured.insert("columns_total".to_owned(), json!(total));
            }
        }
        let mut notes = self.notes.clone();
        match whole {
            Whole::Shown => {}
            Whole::Kept { handle, path } => {
                lines.push(match self.names_code() {
                    true => format!(
                        "Full output: handle \"{handle}\", or in a program: json.load(open(\"{path}\"))"
                    ),
                    false => format!("Full output: handle \"{handle}\""),
                });
                structured.insert("result_handle".to_owned(), json!(handle));
            }
            Whole::Lost => {
                lines.push(NOT_KEPT.to_owned());
                notes.push(NOT_KEPT.to_owned());
            }
        }
        if !notes.is_empty() {
            structured.insert("notes".to_owned(), json!(notes));
        }
        Answer { text: lines.join("\n"), structured: Value::Object(structured), is_error: false }
    }
}

/// As many of these as fit, and how many more there are.
fn within(all: &[String], chars: usize, tokens_max: usize) -> (Vec<String>, usize) {
    let (mut shown, mut left) = (Vec::new(), tokens_max);
    for one in all {
        let one = one_line(one, chars);
        // Quotes and a comma around it.
        let taken = tokens::count(&one) + 2;
        if taken > left {
            break;
        }
        left -= taken;
        shown.push(one);
    }
    let more = all.len() - shown.len();
    (shown, more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(count: usize) -> String {
        let row =
            |number: usize| json!({"id": number, "city": format!("Trondheim {number}"), "total": number * 7});
        Value::from_iter((0..count).map(row)).to_string()
    }

    fn columns() -> Vec<String> {
        ["id", "city", "total"].map(str::to_owned).to_vec()
    }

    fn counted(answer: &Answer) -> usize {
        tokens::count(&answer.text).max(tokens::count(&answer.structured.to_string()))
    }

    #[test]
    fn a_small_output_is_answered_whole_and_needs_no_handle() {
        let answer = AnalysisAnswer::new(&rows(2), Some(2), &columns(), &[], 1_000);
        assert!(answer.is_whole());
        let answer = answer.whole();
        assert!(answer.text.starts_with("2 rows: id, city, total\n[{\"id\":0,"), "{}", answer.text);
        assert_eq!(answer.structured["result"][1]["total"], 7);
        assert_eq!(answer.structured.get("result_handle"), None);
    }

    #[test]
    fn text_and_structured_content_keep_the_budget_with_any_handle() {
        let wide: Vec<String> = (0..500).map(|number| format!("column with a long name {number}")).collect();
        let notes: Vec<String> = (0..50).map(|number| format!("{number} values were not numbers")).collect();
        for budget in [100, 150, 239, 240, 1_000, 5_000] {
            for (output, columns, notes) in [
                (rows(5_000), columns(), vec![]),
                (rows(20), wide.clone(), notes.clone()),
                (json!({"text": "żółć 🌾 ".repeat(20_000)}).to_string(), vec![], notes.clone()),
            ] {
                let answer = AnalysisAnswer::new(&output, Some(5_000), &columns, &notes, budget);
                // Every letter of this one takes a token of its own, or nearly.
                let handle = "qx7zk3vj9wq8xh5zg2kp".to_owned();
                let path = format!("/results/{handle}.json");
                for whole in [Whole::Kept { handle, path }, Whole::Lost] {
                    let answer = answer.answer(&whole);
                    assert!(counted(&answer) <= budget, "{budget}: {}\n{}", counted(&answer), answer.text);
                }
            }
        }
    }

    #[test]
    fn columns_are_names_and_a_number_says_how_many_there_are() {
        let wide: Vec<String> = (0..500).map(|number| format!("column_{number}")).collect();
        let answer = AnalysisAnswer::new(&rows(2), Some(2), &wide, &[], 1_000).whole();
        let shown: Vec<String> = serde_json::from_value(answer.structured["columns"].clone()).unwrap();
        assert!(shown.len() > 5 && shown == wide[..shown.len()], "{shown:?}");
        assert_eq!(answer.structured["columns_total"], 500);
        let more = format!(", … {} more columns\n", 500 - shown.len());
        assert!(answer.text.contains(&more), "{}", answer.text);
        let few = AnalysisAnswer::new(&rows(2), Some(2), &columns(), &[], 1_000).whole();
        assert_eq!(few.structured.get("columns_total"), None);
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_range() {
        assert_eq!(budget(None, 1_000).ok(), Some(1_000));
        let refused = budget(Some(&serde_json::Number::from(7)), 1_000).err().map(|answer| answer.text);
        let said = refused.as_deref().map(str::trim_end);
        assert_eq!(said, Some("error[GM-2002]: max_output_tokens is 7; it can be 100 to 100000"));
    }
}
