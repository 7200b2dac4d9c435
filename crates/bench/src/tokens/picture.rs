//! The figures as a picture: a bar for each way of each job, on a logarithmic scale. The fonts are
//! whatever the viewer has.

use std::fmt::Write;

use gristmill_gateway::domain::grouped;

use super::figures::{CONTEXT_MAX, Figures, JobFigures, in_words};
use super::job::Group;

const WIDTH: f64 = 1_000.0;
/// Where the bars begin, and the room behind them for the figures.
const LEFT: f64 = 170.0;
const RIGHT: f64 = 220.0;
const TOP: f64 = 112.0;
const BAR: f64 = 10.0;
const JOB: f64 = 3.0 * BAR + 13.0;
const HEADING: f64 = 30.0;
/// The scale begins here: no way costs less.
const LEAST: f64 = 100.0;

/// Beside the bar of a way that could not be gone.
const DOES_NOT_FIT: &str = "✕ does not fit";

/// Name and color of each way, in the order of the bars.
const WAYS: [(&str, &str); 3] = [
    ("direct tool calls", "#b5533c"),
    ("direct with tool search", "#d9a441"),
    ("code through gristmill", "#2f7d6b"),
];

/// The whole picture as SVG.
pub fn of(figures: &Figures) -> String {
    let most = figures
        .jobs
        .iter()
        .map(|job| job.costs.direct.paid.max(job.costs.searched.paid).max(job.costs.code.paid));
    let decades = (most.max().unwrap_or(1).max(1) as f64 / LEAST).log10().ceil().max(1.0);
    let groups: Vec<Group> =
        Group::ALL.into_iter().filter(|group| figures.of_group(*group).next().is_some()).collect();
    let height = TOP + groups.len() as f64 * HEADING + figures.jobs.len() as f64 * JOB + 30.0;
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12" fill="#222222">
<title>Tokens of each job, three ways</title>
<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>"##
    );
    write_text(
        &mut svg,
        20.0,
        26.0,
        "font-size=\"18\" font-weight=\"bold\"",
        "Tokens of each job, three ways",
    );
    write_legend(&mut svg);
    write_axis(&mut svg, decades, height);
    let mut y = TOP;
    for group in groups {
        let sum = figures.sum(Some(group));
        let heading = format!("{}: {} against direct tool calls", group.name(), in_words(sum.saved()));
        write_text(&mut svg, 20.0, y + 18.0, "font-size=\"13\" font-weight=\"bold\"", &heading);
        y += HEADING;
        for job in figures.of_group(group) {
            write_job(&mut svg, job, y, decades);
            y += JOB;
        }
    }
    svg.push_str("</svg>\n");
    svg
}

fn write_legend(svg: &mut String) {
    let mut x = 20.0;
    for (name, color) in WAYS {
        let _ = writeln!(svg, r#"<rect x="{x}" y="42" width="14" height="10" fill="{color}"/>"#);
        write_text(svg, x + 20.0, 51.0, "", name);
        x += 50.0 + name.len() as f64 * 6.5;
    }
    write_text(svg, x, 51.0, "fill=\"#666666\"", "each turn pays for its whole context; logarithmic scale");
    let rule = format!(
        "saved and lost: code against direct tool calls. {DOES_NOT_FIT}: a turn needs more than {} tokens",
        grouped(CONTEXT_MAX)
    );
    write_text(svg, 20.0, 68.0, "fill=\"#666666\" font-size=\"11\"", &rule);
}

fn write_axis(svg: &mut String, decades: f64, height: f64) {
    for decade in 0..=decades as u32 {
        let tokens = LEAST * 10_f64.powi(decade.cast_signed());
        let x = place(tokens, decades);
        let bottom = height - 20.0;
        let _ = writeln!(
            svg,
            r##"<line x1="{x:.1}" y1="{:.1}" x2="{x:.1}" y2="{bottom:.1}" stroke="#e2e2e2"/>"##,
            TOP - 14.0
        );
        write_text(
            svg,
            x,
            TOP - 20.0,
            "fill=\"#666666\" font-size=\"11\" text-anchor=\"middle\"",
            &grouped(tokens as u64),
        );
    }
}

fn write_job(svg: &mut String, job: &JobFigures, y: f64, decades: f64) {
    let middle = y + 1.5 * BAR + 4.0;
    write_text(svg, LEFT - 8.0, middle, "text-anchor=\"end\"", job.name);
    let costs = [job.costs.direct, job.costs.searched, job.costs.code];
    for (number, (cost, (_, color))) in costs.into_iter().zip(WAYS).enumerate() {
        let tokens = cost.paid;
        let top = y + number as f64 * BAR;
        let end = place(tokens as f64, decades);
        let (wide, high) = (end - LEFT, BAR - 1.0);
        let _ = writeln!(
            svg,
            r#"<rect x="{LEFT}" y="{top:.1}" width="{wide:.1}" height="{high}" fill="{color}"/>"#
        );
        let mut figure = grouped(tokens);
        if cost.peak > CONTEXT_MAX {
            figure = format!("{figure} {DOES_NOT_FIT}");
        }
        write_text(svg, end + 4.0, top + BAR - 1.5, "font-size=\"9\"", &figure);
    }
    let saved = in_words(job.costs.saved());
    write_text(svg, WIDTH - 20.0, middle, "text-anchor=\"end\" font-weight=\"bold\"", &saved);
}

/// How far from the left a number of tokens is.
fn place(tokens: f64, decades: f64) -> f64 {
    let share = (tokens.max(LEAST) / LEAST).log10() / decades;
    LEFT + share.min(1.0) * (WIDTH - LEFT - RIGHT)
}

fn write_text(svg: &mut String, x: f64, y: f64, attributes: &str, text: &str) {
    let space = if attributes.is_empty() { "" } else { " " };
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let _ = writeln!(svg, r#"<text x="{x:.1}" y="{y:.1}"{space}{attributes}>{escaped}</text>"#);
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::figures;
    use super::*;

    /// Every tag is closed in order, attributes have quotes, and nothing is drawn outside.
    #[test]
    fn the_picture_is_well_formed_and_has_a_bar_for_each_way_of_each_job() {
        let svg = of(&figures());
        let (mut open, mut bars) = (Vec::new(), 0);
        for piece in svg.split('<').skip(1) {
            let (tag, after) = piece.split_once('>').expect("a tag that ends");
            assert!(!after.contains('>'), "{after}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let name = tag.split([' ', '/']).find(|word| !word.is_empty()).expect("a name");
            match (tag.starts_with('/'), tag.ends_with('/')) {
                (true, _) => assert_eq!(open.pop(), Some(name)),
                (false, true) => bars += usize::from(name == "rect"),
                (false, false) => open.push(name),
            }
        }
        assert_eq!(open, [""; 0]);
        // The background, three in the legend, and three for each of five jobs.
        assert_eq!(bars, 1 + 3 + 15);
        assert!(svg.contains("small &lt;one&gt;") && svg.contains("110 % lost"), "{svg}");
        // In the rule, and beside both direct ways of one job and one of another.
        assert_eq!(svg.matches(DOES_NOT_FIT).count(), 1 + 3, "{svg}");
    }

    #[test]
    fn ten_times_as_many_tokens_are_always_as_much_further_right() {
        let step = |from: f64| place(from * 10.0, 5.0) - place(from, 5.0);
        assert!((step(100.0) - step(100_000.0)).abs() < 1e-9);
        assert_eq!(place(1.0, 5.0), LEFT);
        assert_eq!(place(1e12, 5.0), WIDTH - RIGHT);
    }
}
