//! Text and background pairs of the style sheet reach WCAG AA in both themes.

use std::collections::BTreeMap;

use gristmill_dashboard::assets;

const TEXT: f64 = 4.5;
/// Borders of fields, bars, the focus ring.
const SHAPE: f64 = 3.0;

/// What stands on what, and how much contrast it needs.
const PAIRS: &[(&str, &[&str], f64)] = &[
    ("ink", &["page", "surface", "sunken", "accent-soft", "bad-soft", "warn-soft"], TEXT),
    ("muted", &["page", "surface", "sunken", "accent-soft"], TEXT),
    ("accent", &["page", "surface", "sunken", "accent-soft"], TEXT),
    ("on-accent", &["accent"], TEXT),
    ("good", &["good-soft", "surface"], TEXT),
    ("bad", &["bad-soft", "surface", "sunken"], TEXT),
    ("warn", &["warn-soft", "surface"], TEXT),
    ("info", &["info-soft", "surface"], TEXT),
    ("code-word", &["sunken", "bad-soft", "warn-soft"], TEXT),
    ("code-text", &["sunken", "bad-soft", "warn-soft"], TEXT),
    ("code-remark", &["sunken", "bad-soft", "warn-soft"], TEXT),
    ("code-figure", &["sunken", "bad-soft", "warn-soft"], TEXT),
    ("edge", &["page", "surface"], SHAPE),
    ("focus", &["page", "surface", "sunken"], SHAPE),
];

#[test]
fn every_pair_reaches_aa_in_both_themes() {
    let colors = colors();
    let mut weak = Vec::new();
    for (front, backs, least) in PAIRS {
        for back in *backs {
            for (at, theme) in ["light", "dark"].iter().enumerate() {
                let ratio = contrast(colors[*front][at], colors[*back][at]);
                if ratio < *least {
                    weak.push(format!("{theme}: {front} on {back} has {ratio:.2}, needs {least}"));
                }
            }
        }
    }
    assert!(weak.is_empty(), "{weak:#?}");
}

#[test]
fn every_color_has_a_name_and_is_in_a_pair() {
    let style = style();
    let (names, rules) = style.split_once("\n}\n").expect("the first block has the names");
    for line in rules.lines() {
        let hex = line.split('#').skip(1).any(|after| {
            after.len() >= 3
                && after.bytes().take(3).all(|byte| byte.is_ascii_hexdigit())
                && line.contains(": #")
        });
        assert!(!hex, "a color without a name: {line}");
    }
    assert!(names.contains("--ink"));
    for name in colors().keys() {
        let paired = PAIRS.iter().any(|(front, backs, _)| front == name || backs.contains(&name.as_str()));
        // Lines between rows only decorate.
        assert!(paired || name == "line", "--{name} is in no pair");
    }
}

#[test]
fn black_on_white_is_21_to_1() {
    assert!((contrast([0, 0, 0], [255, 255, 255]) - 21.0).abs() < 0.001);
}

fn style() -> String {
    String::from_utf8(assets::find("style.css").expect("it is there").bytes.to_vec()).expect("text")
}

/// Light and dark, by name.
fn colors() -> BTreeMap<String, [[u8; 3]; 2]> {
    let style = style();
    let lines = style.lines().filter_map(|line| line.trim().strip_prefix("--"));
    let pairs = lines.filter_map(|line| {
        let (name, value) = line.split_once(": light-dark(#")?;
        let (light, dark) = value.trim_end_matches(");").split_once(", #")?;
        Some((name.to_owned(), [rgb(light), rgb(dark)]))
    });
    pairs.collect()
}

fn rgb(hex: &str) -> [u8; 3] {
    let part = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("two digits");
    [part(0), part(2), part(4)]
}

fn contrast(one: [u8; 3], other: [u8; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

fn luminance(color: [u8; 3]) -> f64 {
    let linear = |part: u8| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(color[0]) + 0.7152 * linear(color[1]) + 0.0722 * linear(color[2])
}
