//! Every target, each in a file with its promise.

mod config;
mod env_file;
mod frames;
mod http;
mod json;
mod message;
mod sse;
mod stubs;
mod tables;
mod tar;

use crate::target::Target;

/// Every target; `fuzz/` has a binary of the same name for each.
pub const ALL: &[Target] = &[
    frames::TARGET,
    json::TARGET,
    config::TARGET,
    env_file::TARGET,
    stubs::TARGET,
    tables::CSV,
    tables::JSON,
    tables::PARQUET,
    message::TARGET,
    http::TARGET,
    sse::TARGET,
    tar::TARGET,
];

pub fn by_name(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

/// For libFuzzer: runs the target of this name on one input.
///
/// # Panics
/// The promise is broken, or there is no such target.
pub fn run(name: &str, input: &[u8]) {
    let target = by_name(name).unwrap_or_else(|| panic!("there is no target {name}"));
    (target.run)(input);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seeds::{seed_folder, seeds};

    #[test]
    fn every_target_has_small_seeds_of_its_own() {
        for target in ALL {
            let seeds = seeds(&seed_folder(target)).expect("seeds");
            assert!(!seeds.is_empty(), "{} has no seeds", target.name);
            for seed in seeds {
                assert!(seed.len() <= target.bytes_max, "a seed of {} is too long", target.name);
            }
        }
    }

    #[test]
    fn every_target_has_a_binary_for_libfuzzer() {
        let folder = seed_folder(&ALL[0]).join("../../../../fuzz");
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("its manifest");
        let page = std::fs::read_to_string(folder.join("README.md")).expect("its page");
        for target in ALL {
            let name = target.name;
            let source = std::fs::read_to_string(folder.join(format!("fuzz_targets/{name}.rs")));
            assert!(source.expect(name).contains(&format!("\"{name}\"")), "{name}");
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
            assert!(page.contains(&format!("| `{name}` |")), "{name}");
        }
    }
}
