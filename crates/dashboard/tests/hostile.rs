//! Names, code, output and arguments are strangers' words: whatever they contain, a page stays the same page.

mod html;
mod sample;

use html::Tag;
use sample::{Sample, Voice};

const TRIES: [&str; 12] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "\" autofocus onfocus=\"alert(1)",
    "javascript:alert(1)",
    "data:text/html,<b>x</b>",
    "</textarea><svg onload=alert(1)>",
    "</title></style></script><iframe srcdoc='x'>",
    "<!-- --><![CDATA[ ]]>",
    "`${alert(1)}` {{7*7}}",
    "../../..//evil.example/%2e%2e/?a=b#c",
    "\u{202e}\u{0}\u{1b}[2J\u{2028}\u{feff}",
];

/// The same pages, said plainly and with one try in front of each text.
fn both(attack: &str) -> Vec<(Sample, Sample)> {
    // What isn't there stays away: an absent note is no text.
    let hostile = |text: &str| if text.is_empty() { String::new() } else { format!("{attack}{text}") };
    let plain = Voice(&str::to_owned);
    let hostile = Voice(&hostile);
    let all = |voice| sample::full(voice).into_iter().chain(sample::empty(voice)).collect::<Vec<_>>();
    all(&plain).into_iter().zip(all(&hostile)).collect()
}

/// Elements and attributes, without what follows from the words themselves: colors of code, chosen options.
fn skeleton(page: &str) -> Vec<(String, Vec<String>)> {
    let tags = html::read(page).unwrap_or_else(|problem| panic!("{problem}"));
    let shape = |tag: &Tag| {
        let names = tag.attributes.iter().map(|(name, _)| name.clone()).filter(|name| name != "selected");
        (tag.name.clone(), names.collect())
    };
    tags.iter().filter(|tag| tag.name != "span").map(shape).collect()
}

#[test]
fn no_words_add_an_element_or_an_attribute() {
    for attack in TRIES {
        for (plain, hostile) in both(attack) {
            // Another mode is another page: it says so in words of its own.
            if plain.address == "/empty/privacy" {
                continue;
            }
            let same = skeleton(&hostile.page.0) == skeleton(&plain.page.0);
            assert!(same, "{} is another page with {attack}", plain.name);
        }
    }
}

#[test]
fn every_address_stays_ours() {
    for attack in TRIES {
        for (_, hostile) in both(attack) {
            for tag in html::read(&hostile.page.0).expect("well-formed") {
                for name in ["href", "src", "action", "data-live", "formaction"] {
                    let Some(address) = tag.attribute(name) else { continue };
                    let ours = address.starts_with('#')
                        || address == "/dashboard"
                        || address.starts_with("/dashboard/")
                        || address.starts_with("/dashboard?");
                    assert!(ours, "{}: {address}", hostile.address);
                    assert!(
                        !address.contains("//") && !address.contains("/../"),
                        "{}: {address}",
                        hostile.address
                    );
                    assert!(
                        !address.to_lowercase().contains("javascript:"),
                        "{}: {address}",
                        hostile.address
                    );
                }
            }
        }
    }
}

#[test]
fn every_sample_text_can_be_hostile() {
    let files = ["mod.rs", "executions.rs", "things.rs", "rules.rs"];
    for file in files {
        let path = format!("{}/tests/sample/{file}", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(path).expect("it is there");
        for around in ["Text::from(\"", ".into()", "String::from"] {
            assert!(!source.contains(around), "{file} has text that goes around the voice: {around}");
        }
    }
}

#[test]
fn what_would_turn_the_text_around_is_shown_by_its_number() {
    for (_, hostile) in both("\u{202e}\u{1b}") {
        let shown = hostile.page.0.replace("value=\"\u{202e}\u{1b}", "");
        let bare = shown.match_indices('\u{202e}').count();
        // What forms send back stays as it is: ids, filters, programs.
        let in_textareas = shown.matches("\n\u{202e}").count();
        let values =
            shown.matches("value=\"arg.\u{202e}").count() + shown.matches("name=\"arg.\u{202e}").count();
        assert_eq!(bare, in_textareas + values, "{}", hostile.address);
    }
}
