//! Output beside what a document shows of it. `…` stands for any text in a line, and alone for any lines.

/// Whether the output is as it is shown, but for hints, times, figures beside tokens and units of time, and the
/// width of columns.
pub fn fits(shown: &str, printed: &str) -> bool {
    lines_fit(&steady_lines(shown), &steady_lines(printed))
}

/// The handles in a text, which are others every time.
pub fn handles(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.filter(|word| {
        word.len() == 20 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

fn steady_lines(text: &str) -> Vec<String> {
    let lines = text.trim_end().lines().filter(|line| !line.starts_with("hint:"));
    lines.map(steady).filter(|line| !line.is_empty()).collect()
}

fn lines_fit(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((any, rest)), _) if any == "…" => {
            (0..=printed.len()).any(|skipped| lines_fit(rest, &printed[skipped..]))
        }
        (Some((line, rest)), Some((there, left))) => line_fits(line, there) && lines_fit(rest, left),
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn line_fits(shown: &str, printed: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut left) = parts.next().and_then(|first| printed.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return left.is_empty() };
    for part in between {
        match left.split_once(part) {
            Some((_, after)) => left = after,
            None => return false,
        }
    }
    left.ends_with(last)
}

/// A line without what differs from run to run.
fn steady(line: &str) -> String {
    let is_unit = |word: &str| ["ms", "s"].contains(&word.trim_end_matches([',', ';']));
    let has_figures = line.contains("token") || line.split_whitespace().any(is_unit);
    let word = |word: &str| match word {
        word if is_time(word) => "TIME".to_owned(),
        // What takes milliseconds here takes seconds elsewhere.
        word if is_unit(word) => "UNIT".to_owned(),
        word if has_figures && word.starts_with(|first: char| first.is_ascii_digit()) => "N".to_owned(),
        word => word.to_owned(),
    };
    line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
}

/// `07:45`, `07:45:12`, `2026-11-16` and `2026-11-16T07:45:12Z`.
fn is_time(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let is_made_of = word.bytes().all(|byte| byte.is_ascii_digit() || b":-TZ".contains(&byte));
    digits >= 4 && is_made_of && (word.contains(':') || word.matches('-').count() == 2)
}
