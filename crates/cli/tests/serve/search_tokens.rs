//! What a tool takes of a model's attention when a search finds it: over the example servers and the definitions of
//! real ones that lie in `benches/tokens`.

use std::path::{Path, PathBuf};

use gristmill_gateway::tokens;
use gristmill_testkit::processes::eventually;
use serde_json::{Value, json};

use crate::cases;
use crate::client::legacy;
use crate::gateways::Place;
use crate::support::gristmill;

cases![a_usual_tool_takes_sixty_tokens_of_a_search];

/// What half of the tools take at most, and nine of ten: signature, result and first sentence, in o200k. A little more
/// than they take today.
const MEDIAN_MAX: usize = 36;
const NINE_OF_TEN_MAX: usize = 64;
/// What a usual tool may take, and how many of a hundred are usual.
const USUAL_MAX: usize = 60;
const USUAL_PERCENT: usize = 88;

fn catalogues() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/tokens/catalogues");
    let files = std::fs::read_dir(folder).expect("catalogs").map(|entry| entry.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
    files.sort();
    files
}

fn a_usual_tool_takes_sixty_tokens_of_a_search() {
    // Names are found by words alone; vectors would be made for every definition first.
    let mut place = Place::new("search-tokens").setting("search", json!({"meaning": false}));
    let mut servers: Vec<String> = gristmill_example_servers::NAMES.map(str::to_owned).to_vec();
    for name in &servers {
        place = place.example(name);
    }
    for file in catalogues() {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let entry = json!({"command": gristmill(), "args": ["example-server", "replay", file]});
        place = place.server(&name, entry);
        servers.push(name);
    }
    let served = place.serve(legacy(), &[]);
    let found = |arguments: Value| served.structured("search_tools", arguments)["found"].clone();
    let texts = |found: Value| -> Vec<String> {
        let found = found.as_array().into_iter().flatten();
        found.filter_map(|text| Some(text.as_str()?.to_owned())).collect()
    };
    eventually("every server is known", || {
        (texts(found(json!({"limit": 500}))).len() == servers.len()).then_some(())
    });
    let mut taken: Vec<(usize, String)> = Vec::new();
    for server in &servers {
        let names = texts(found(json!({"server": server, "detail_level": "names", "limit": 500})));
        assert!(!names.is_empty(), "{server} has no tools");
        for name in names {
            let first = texts(found(json!({"query": name, "limit": 1}))).remove(0);
            let plain = |text: &str| text.replace(['-', '_'], "").to_lowercase();
            assert!(plain(&first).contains(&plain(&name)), "{name} is found by its name: {first}");
            taken.push((tokens::count(&first), first));
        }
    }
    taken.sort();
    let at = |share: usize| &taken[taken.len() * share / 100];
    let (median, most) = (at(50), at(90));
    let usual = taken.iter().filter(|(tokens, _)| *tokens <= USUAL_MAX).count() * 100 / taken.len();
    println!("{} tools: {}, {} at the 90th, {usual} % usual", taken.len(), median.0, most.0);
    assert!(taken.len() > 500, "{} tools", taken.len());
    assert!(
        median.0 <= MEDIAN_MAX,
        "half of the tools take {} tokens or more, such as\n{}",
        median.0,
        median.1
    );
    assert!(most.0 <= NINE_OF_TEN_MAX, "a tenth takes {} tokens or more, such as\n{}", most.0, most.1);
    assert!(usual >= USUAL_PERCENT, "{usual} % of the tools take {USUAL_MAX} tokens or less");
}
