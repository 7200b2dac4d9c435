//! Each page is well-formed, small, and within what the content security policy allows.

mod html;
mod sample;

use std::collections::BTreeSet;

use gristmill_dashboard::assets;
use html::Tag;
use sample::{Sample, Voice};

const OVERVIEW_BYTES_MAX: usize = 200_000;

fn plain() -> Vec<Sample> {
    let voice = Voice(&str::to_owned);
    sample::full(&voice).into_iter().chain(sample::empty(&voice)).collect()
}

fn tags(sample: &Sample) -> Vec<Tag> {
    html::read(&sample.page.0).unwrap_or_else(|problem| panic!("{}: {problem}", sample.name))
}

#[test]
fn every_page_is_well_formed() {
    for sample in plain() {
        let tags = tags(&sample);
        let headings = tags.iter().filter(|tag| tag.name == "h1").count();
        assert_eq!(headings, 1, "{}: one main heading", sample.address);
        let ids: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("id")).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{}: ids {ids:?}", sample.address);
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    for broken in [
        "<p>",
        "<p></b>",
        "<p class=x></p>",
        "<p a=\"1\" a=\"2\"></p>",
        "a > b",
        "<p>a < b</p>",
        "<p \"></p>",
    ] {
        assert!(html::read(&format!("<!DOCTYPE html>{broken}<i></i>")).is_err(), "{broken}");
    }
}

#[test]
fn nothing_needs_what_the_content_security_policy_forbids() {
    for sample in plain() {
        for tag in tags(&sample) {
            assert!(!["style", "iframe", "object", "embed", "base"].contains(&tag.name.as_str()), "{tag:?}");
            assert!(tag.name != "script" || tag.attribute("src").is_some(), "{tag:?}");
            for (name, value) in &tag.attributes {
                assert!(!name.starts_with("on") && name != "style", "{}: {tag:?}", sample.address);
                if ["href", "src", "action", "data-live", "formaction"].contains(&name.as_str()) {
                    let value = value.as_deref().unwrap_or_default();
                    let ours = value.starts_with("/dashboard") || value.starts_with('#');
                    assert!(ours && !value.contains("//"), "{}: {tag:?}", sample.address);
                }
            }
        }
    }
}

#[test]
fn every_field_has_a_name_for_screen_readers() {
    for sample in plain() {
        let tags = tags(&sample);
        let labeled: Vec<&str> = tags.iter().filter_map(|tag| tag.attribute("for")).collect();
        for tag in &tags {
            if !["input", "select", "textarea"].contains(&tag.name.as_str())
                || tag.attribute("type") == Some("hidden")
            {
                continue;
            }
            let named = tag.inside.iter().any(|name| name == "label")
                || tag.attribute("aria-label").is_some()
                || tag.attribute("id").is_some_and(|id| labeled.contains(&id));
            assert!(named, "{}: {tag:?}", sample.address);
        }
    }
}

#[test]
fn every_form_that_changes_something_carries_the_csrf_field() {
    for sample in plain() {
        let posts = sample.page.0.split("<form").skip(1).filter(|form| form.contains("method=\"post\""));
        // Nobody is logged in yet on that page.
        for form in posts.filter(|form| !form.contains("action=\"/dashboard/login\"")) {
            let form = form.split("</form>").next().unwrap_or_default();
            assert!(form.contains("name=\"csrf\" value=\"c5rf-0123456789\""), "{}: {form}", sample.address);
        }
    }
}

#[test]
fn times_have_the_exact_one_on_hover() {
    for sample in plain() {
        for tag in tags(&sample).iter().filter(|tag| tag.name == "time") {
            let title = tag.attribute("title").unwrap_or_default();
            assert!(title.ends_with(" UTC") && tag.attribute("datetime").is_some(), "{tag:?}");
        }
    }
}

#[test]
fn empty_pages_say_what_to_do_next() {
    for sample in sample::empty(&Voice(&str::to_owned)) {
        assert!(sample.page.0.contains("class=\"empty\""), "{}", sample.address);
    }
}

#[test]
fn the_overview_with_its_assets_stays_below_200_kb() {
    let page = plain().remove(0).page.0.len();
    let assets: usize =
        assets::NAMES.iter().filter_map(|name| assets::find(name)).map(|asset| asset.bytes.len()).sum();
    assert!(page + assets < OVERVIEW_BYTES_MAX, "{page} + {assets} bytes");
}

#[test]
fn every_class_of_a_page_has_a_style() {
    // Hooks for tests and for what inherits.
    const BARE: [&str; 8] = ["columns-2-1", "live", "run", "reason", "rest", "plain", "checks", "title"];
    let style = std::str::from_utf8(assets::find("style.css").expect("it is there").bytes).expect("text");
    let mut bare = BTreeSet::new();
    for sample in plain() {
        for tag in tags(&sample) {
            for class in
                tag.attribute("class").unwrap_or_default().split(' ').filter(|class| !class.is_empty())
            {
                if !style.contains(&format!(".{class}")) && !BARE.contains(&class) {
                    bare.insert(class.to_owned());
                }
            }
        }
    }
    assert!(bare.is_empty(), "{bare:?}");
}

#[test]
fn every_command_that_a_page_names_exists() {
    let reference = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.md");
    let reference = std::fs::read_to_string(reference).expect("it is there");
    let commands: BTreeSet<&str> = reference
        .lines()
        .filter_map(|line| line.trim_start_matches('#').strip_prefix(" gristmill "))
        .collect();
    for sample in plain() {
        for named in sample.page.0.split("<code>gristmill ").skip(1) {
            let words: Vec<&str> = named.split('<').next().unwrap_or_default().split(' ').collect();
            let has_parts = commands.iter().any(|command| command.starts_with(&format!("{} ", words[0])));
            let command = words[..if has_parts { 2 } else { 1 }].join(" ");
            // `gristmill dashboard` comes with the server of these pages.
            assert!(commands.contains(&*command) || command == "dashboard", "{}: {command}", sample.name);
        }
    }
}
