//! How long the encoder takes, on one thread: `cargo run --release --package gristmill-encoder --example speed`.
//!
//! The fastest of several tries, which tells most on a machine that does other things too.

use std::hint::black_box;
use std::time::{Duration, Instant};

use gristmill_encoder::{Encoder, Vector};

const TRIES: usize = 41;

/// 8, 17, 38, 82 and 128 tokens.
const TEXTS: [(&str, &str); 5] = [
    ("short query", "find open issues of a repository"),
    ("long query", "let the customer know that their package was shipped today and when it will arrive"),
    (
        "short definition",
        "create_issue: Create a new issue in a repository. Needs a title; takes a body in Markdown, assignees, \
         labels and a milestone, and returns the number.",
    ),
    (
        "definition",
        "search_records: Search records of any type by words, field values and dates. Returns at most 100 records, \
         newest first, with their ids, titles and the fields that matched; pass the cursor of an answer to get the \
         next ones. Parameters: type, query, fields, created_after, created_before, sort, limit, cursor, \
         include_archived.",
    ),
    (
        "longest",
        "word after word until there is no more place for another token in this text, which is why it goes on \
         and on and on without saying anything of interest to anybody who reads it, though it must have a hundred \
         and twenty-six tokens before it ends, and so it talks about the weather in spring, about the trains that \
         are late, about the price of bread, about the neighbors and their dog, about a river that flows through \
         the town, and about the bridge over it that was built long ago by people whose names nobody remembers, \
         although they are carved into the stones of its pillars for everyone to see who comes near enough",
    ),
];

fn main() {
    let began = Instant::now();
    let Some(encoder) = Encoder::embedded() else {
        println!("this build has no encoder");
        return;
    };
    println!("unpacking the weights: {:.1} ms", milliseconds(began.elapsed()));
    println!("with wide instructions, if the processor has them:");
    let vector = measure(&encoder);
    println!("without:");
    measure(&encoder.without_wide_instructions());

    let vectors: Vec<Vector> = (0..10_000).map(|_| vector.clone()).collect();
    let took = fastest(|| {
        black_box(vectors.iter().map(|other| vector.cosine(black_box(other))).fold(0.0, f32::max));
    });
    println!("cosines with 10,000 vectors: {:.2} ms", milliseconds(took));
}

fn measure(encoder: &Encoder) -> Vector {
    for (name, text) in TEXTS {
        let took = fastest(|| {
            black_box(encoder.encode(black_box(text)));
        });
        println!("  {name}: {:.1} ms", milliseconds(took));
    }
    encoder.encode(TEXTS[0].1)
}

fn fastest(mut what: impl FnMut()) -> Duration {
    let took = (0..TRIES).map(|_| {
        let began = Instant::now();
        what();
        began.elapsed()
    });
    took.min().unwrap_or_default()
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
