//! Reads figures as `/metrics` has them: OpenMetrics text, as our own gateway writes it. A line that is none of it
//! is left out.

/// One metric, with all its series.
#[derive(Debug, PartialEq)]
pub(super) struct Family<'a> {
    pub name: &'a str,
    pub help: &'a str,
    pub kind: Kind,
    pub series: Vec<Series<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// What was counted under some labels.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Series<'a> {
    pub labels: Vec<(&'a str, String)>,
    /// Of a histogram, the sum.
    pub value: f64,
    pub count: u64,
    /// Of a histogram: how many were at most this.
    pub at_most: Vec<(f64, u64)>,
}

pub(super) fn read(text: &str) -> Vec<Family<'_>> {
    let mut families: Vec<Family<'_>> = Vec::new();
    let mut helped = ("", "");
    for line in text.lines() {
        if let Some(said) = line.strip_prefix("# HELP ") {
            helped = said.split_once(' ').unwrap_or((said, ""));
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|said| said.split_once(' '))
        {
            let kind = match kind {
                "counter" => Kind::Counter,
                "gauge" => Kind::Gauge,
                "histogram" => Kind::Histogram,
                _ => continue,
            };
            let help = if helped.0 == name { helped.1 } else { "" };
            families.push(Family { name, help, kind, series: Vec::new() });
        } else if let (Some(family), Some(sample)) = (families.last_mut(), sample(line)) {
            family.take(sample);
        }
    }
    families
}

struct Sample<'a> {
    name: &'a str,
    labels: Vec<(&'a str, String)>,
    value: f64,
}

impl<'a> Family<'a> {
    fn take(&mut self, mut sample: Sample<'a>) {
        let Some(part) = sample.name.strip_prefix(self.name) else { return };
        let bound = (part == "_bucket").then(|| sample.labels.iter().position(|(name, _)| *name == "le"));
        let bound = bound.flatten().map(|at| sample.labels.remove(at).1);
        // All samples of a series stand together.
        if self.series.last().is_none_or(|last| last.labels != sample.labels) {
            self.series.push(Series { labels: sample.labels, ..Series::default() });
        }
        let Some(series) = self.series.last_mut() else { return };
        match (self.kind, part) {
            (Kind::Counter, "_total") | (Kind::Gauge, "") | (Kind::Histogram, "_sum") => {
                series.value = sample.value;
            }
            (Kind::Histogram, "_count") => series.count = sample.value as u64,
            (Kind::Histogram, "_bucket") => {
                let bound =
                    bound.and_then(|bound| bound.parse::<f64>().ok()).filter(|bound| bound.is_finite());
                series.at_most.extend(bound.map(|bound| (bound, sample.value as u64)));
            }
            (Kind::Counter | Kind::Gauge | Kind::Histogram, _) => {}
        }
    }
}

fn sample(line: &str) -> Option<Sample<'_>> {
    if line.starts_with('#') {
        return None;
    }
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(within) => labels(within)?,
        None => (Vec::new(), rest),
    };
    Some(Sample { name, labels, value: rest.trim().parse().ok()? })
}

/// Up to the brace that ends them, and what is behind it.
fn labels(mut rest: &str) -> Option<(Vec<(&str, String)>, &str)> {
    let mut found = Vec::new();
    loop {
        if let Some(behind) = rest.strip_prefix('}') {
            return Some((found, behind));
        }
        rest = rest.strip_prefix(',').unwrap_or(rest);
        let (name, quoted) = rest.split_once("=\"")?;
        let (value, behind) = unquoted(quoted)?;
        found.push((name, value));
        rest = behind;
    }
}

/// Up to the quote that ends it, and what is behind that.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match letters.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_gauges_and_histograms_are_read_with_their_labels() {
        let text = "# HELP g_calls Calls.\n# TYPE g_calls counter\n\
                    g_calls_total{server=\"a\\\"} 1\\n\\\\\",outcome=\"ok\"} 3\ng_calls_total{server=\"b\",outcome=\"ok\"} 1\n\
                    # HELP g_running Now.\n# TYPE g_running gauge\ng_running 2\n\
                    # TYPE g_seconds histogram\ng_seconds_sum{stage=\"run\"} 1.5\ng_seconds_count{stage=\"run\"} 4\n\
                    g_seconds_bucket{le=\"0.1\",stage=\"run\"} 1\ng_seconds_bucket{le=\"+Inf\",stage=\"run\"} 4\n# EOF\n";
        let families = read(text);
        let kinds: Vec<(&str, &str, Kind, usize)> =
            families.iter().map(|one| (one.name, one.help, one.kind, one.series.len())).collect();
        assert_eq!(
            kinds,
            [
                ("g_calls", "Calls.", Kind::Counter, 2),
                ("g_running", "Now.", Kind::Gauge, 1),
                ("g_seconds", "", Kind::Histogram, 1)
            ]
        );
        let first = &families[0].series[0];
        let labels = [("server", "a\"} 1\n\\".to_owned()), ("outcome", "ok".to_owned())];
        assert_eq!((first.value, first.labels.as_slice()), (3.0, labels.as_slice()));
        let timed = &families[2].series[0];
        assert_eq!((timed.value, timed.count, timed.at_most.as_slice()), (1.5, 4, [(0.1, 1)].as_slice()));
        assert_eq!(timed.labels, [("stage", "run".to_owned())]);
    }

    #[test]
    fn what_is_no_metric_is_left_out() {
        assert_eq!(read("x 1\n# TYPE y summary\ny 1\n# TYPE z gauge\nz{a=\"1} 2\nother 3\n")[0].series, []);
    }
}
