//! How long a check takes. Prints its figure; fails only if something is very wrong.

use std::path::Path;
use std::time::Instant;

use gristmill_checks::{Guardrails, NoTools, check};

#[test]
fn ten_typical_programs_are_checked_in_no_time() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/programs");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("programs").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    paths.sort();
    let programs: Vec<String> =
        paths.iter().take(10).map(|path| std::fs::read_to_string(path).expect("a program")).collect();
    let guardrails = Guardrails::default();
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..30 {
        for program in &programs {
            let begun = Instant::now();
            std::hint::black_box(check(program, &NoTools, &guardrails));
            times.push(begun.elapsed().as_secs_f64() * 1e6);
        }
    }
    times.sort_by(f64::total_cmp);
    let p50 = times[times.len() / 2];
    println!("p50 {p50:.0} us, p95 {:.0} us", times[times.len() * 95 / 100]);
    assert!(p50 < 20_000.0, "{p50}");
}
