//! The vectors of texts beside those of the model with all its bits, computed once by another
//! implementation (`reference.json`; README.md says how).

use gristmill_encoder::{DIMENSIONS, Encoder, Vector, fingerprint};
use serde_json::Value;

/// The encoder, or nothing and a word about it in a build without weights.
fn encoder() -> Option<Encoder> {
    let encoder = Encoder::embedded();
    assert_eq!(encoder.is_some(), fingerprint().is_some());
    if encoder.is_none() {
        eprintln!("NOT CHECKED: built without the encoder's weights");
    }
    encoder
}

fn reference() -> Vec<(String, Vec<f32>)> {
    let cases: Value = serde_json::from_str(include_str!("reference.json")).expect("the reference is JSON");
    let case = |case: &Value| {
        let numbers = case["vector"].as_array().expect("a vector").iter();
        let numbers = numbers.map(|number| number.as_f64().expect("a number") as f32);
        (case["text"].as_str().expect("a text").to_owned(), numbers.collect())
    };
    cases.as_array().expect("a list").iter().map(case).collect()
}

fn cosine(vector: &Vector, reference: &[f32]) -> f32 {
    assert_eq!(reference.len(), DIMENSIONS);
    let ours = vector.as_bytes().map(|byte| f32::from(byte.cast_signed()));
    let products = |one: &[f32], other: &[f32]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f32>();
    products(&ours, reference) / (products(&ours, &ours) * products(reference, reference)).sqrt()
}

#[test]
fn vectors_point_where_those_of_the_whole_model_point() {
    let Some(encoder) = encoder() else { return };
    let cosines: Vec<(String, f32)> = reference()
        .into_iter()
        .map(|(text, reference)| {
            let cosine = cosine(&encoder.encode(&text), &reference);
            (text, cosine)
        })
        .collect();
    let mean = cosines.iter().map(|(_, cosine)| cosine).sum::<f32>() / cosines.len() as f32;
    let (text, least) = cosines.iter().min_by(|(_, one), (_, other)| one.total_cmp(other)).expect("texts");
    println!("mean {mean:.4}, least {least:.4} for {text:?}");
    assert!(mean >= 0.985, "mean {mean}");
    assert!(*least >= 0.97, "{least} for {text:?}");
}

#[test]
fn what_means_the_like_is_nearer_than_what_does_not() {
    let Some(encoder) = encoder() else { return };
    let check = |query: &str, near: &str, far: &str| {
        let query_vector = encoder.encode(query);
        let (near_cosine, far_cosine) =
            (query_vector.cosine(&encoder.encode(near)), query_vector.cosine(&encoder.encode(far)));
        assert!(near_cosine > far_cosine + 0.1, "{query}: {near} {near_cosine}, {far} {far_cosine}");
    };
    check("will it rain tomorrow", "weather forecast for a place", "list branches of a repository");
    check("notify the client by phone text", "send an SMS message", "delete a database table");
    check("who broke the build", "show failed continuous integration runs", "convert currencies");
    check("shrink a picture", "resize an image", "send an email");
}

#[test]
fn a_text_has_one_vector_on_every_thread_and_without_wide_instructions() {
    let Some(encoder) = encoder() else { return };
    let texts: Vec<String> = reference().into_iter().map(|(text, _)| text).step_by(7).collect();
    let vectors = |encoder: &Encoder| texts.iter().map(|text| encoder.encode(text)).collect::<Vec<_>>();
    let expected = vectors(&encoder);
    let on_threads = std::thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(|| vectors(&encoder)));
        threads.map(|thread| thread.join().expect("no panic"))
    });
    assert!(on_threads.iter().all(|vectors| *vectors == expected));
    assert_eq!(vectors(&encoder.without_wide_instructions()), expected);
}
