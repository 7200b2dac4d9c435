use super::*;
use crate::nesting::is_too_deep_by_tokens;

/// Numbers that look random, and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % most
    }
}

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "b_1", "if", "f", "rb", "bf", "tr", "1", "0x1f", "1_0", "1.5e3", "1__0", " ", " ", "\t", "\n", "\n", "\n    ",
    "\n        ", "\n  ", "\\\n", "\\", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "=", "+", "!", "->", "**",
    "#", "# it's (\n", "'", "\"", "''", "'''", "\"\"\"", "'a(b'", "\"x'y\"", "f'{a}'", "f\"{d['k']:>{w}}\"", "f'{{'",
    "f'", "rf\"", "{x:,}", "{x!r}", "\\n", "\\N{", "\u{e9}", "\r", "\u{c}", "\0", "`", "$", "?", "def f(x):\n    ",
    "f('a', b)[0].c", "lambda: ", "x = [1, 2]\n",
];

fn programs() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/programs");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("programs").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a program")).collect()
}

/// How many of the texts are certainly shallow; fails if one of these is too deep by its tokens.
fn check(texts: impl Iterator<Item = String>) -> usize {
    let mut certain = 0;
    for text in texts {
        for levels_max in [2, 3, 4, 5, 6, 8, 10, 13, 17, 25, 40, 300] {
            if is_certainly_shallow(&text, levels_max) {
                certain += 1;
                assert!(!is_too_deep_by_tokens(&text, levels_max), "{levels_max}: {text:?}");
            }
        }
    }
    certain
}

#[test]
fn what_is_certainly_shallow_is_so_by_its_tokens() {
    let mut dice = Dice(1);
    let mut soup = |_| (0..=dice.below(24)).map(|_| PIECES[dice.below(PIECES.len())]).collect::<String>();
    assert!(check((0..60_000).map(&mut soup)) > 20_000);
}

#[test]
fn programs_in_which_something_was_changed_are_counted_right() {
    let programs = programs();
    let mut dice = Dice(2);
    let changed = |_| {
        let lines: Vec<&str> = programs[dice.below(programs.len())].split_inclusive('\n').collect();
        let from = dice.below(lines.len().max(1));
        let mut text: String = lines.iter().skip(from).take(dice.below(9)).copied().collect();
        for _ in 0..dice.below(4) {
            let at =
                (0..=dice.below(text.len() + 1).min(text.len())).rev().find(|at| text.is_char_boundary(*at));
            text.insert_str(at.unwrap_or(0), PIECES[dice.below(PIECES.len())]);
        }
        text
    };
    assert!(check((0..30_000).map(changed)) > 30_000);
}

#[test]
fn nearly_every_program_is_known_to_be_shallow_by_its_bytes() {
    let programs = programs();
    let known = programs.iter().filter(|program| is_certainly_shallow(program, 300)).count();
    assert!(known * 100 >= programs.len() * 80, "{known} of {}", programs.len());
}
