//! A data folder made exactly what a manifest says, whatever it is.

use std::path::Path;

use super::Fetch;
use super::apply::{Applied, check, open};
use super::error::ApplyError;
use super::placing::Placing;
use super::scan::{Look, Scanner};
use super::walk::SkippedWhy;
use crate::kept::Scope;
use crate::manifest::Manifest;
use crate::seal::Seal;

/// What becomes of links, devices and what can't be read, which no manifest ever has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// The folder is a copy: what the manifest doesn't have was left behind.
    Removed,
    /// It may be nowhere else. It goes only where the manifest has something in its place, or where the folder that it
    /// is in goes.
    Stays,
}

/// Makes the kept part of a data folder exactly what the manifest says, apart from what is [left out](LeftOut); what
/// isn't kept stays as it is. Every file is read, and stays if its content is right; others are fetched. Gives a
/// scanner that goes on from the manifest.
///
/// For whoever takes the lead, or begins from a snapshot: nobody else may use the folder meanwhile. Blocks.
pub fn reconcile(
    data_folder: &Path,
    manifest: &Manifest,
    seal: &Seal,
    left_out: LeftOut,
    fetch: &mut Fetch<'_>,
) -> Result<(Scanner, Applied), ApplyError> {
    manifest.nodes().try_for_each(|(path, node)| check(path, Some(node)))?;
    drop(open(data_folder)?);
    let mut scanner = Scanner::new(data_folder)?;
    let look = scanner.look(&Scope::Everything, seal)?;
    if left_out == LeftOut::Stays {
        look.check_top()?;
    }
    let Look { mut nodes, skipped, strange } = look;
    let skipped = skipped.iter().filter(|skipped| match (left_out, skipped.why) {
        (LeftOut::Removed, _) => true,
        // It's the folder around them: what else is in it may be right.
        (LeftOut::Stays, SkippedWhy::TooDeep | SkippedWhy::TooManyEntries) => false,
        (LeftOut::Stays, SkippedWhy::Changing | SkippedWhy::Unreadable | SkippedWhy::TooLarge) => true,
    });
    let in_the_way = strange.iter().chain(skipped.map(|skipped| &skipped.path));
    let in_the_way = in_the_way.filter(|path| left_out == LeftOut::Removed || manifest.get(path).is_some());
    let root = std::sync::Arc::clone(scanner.root());
    let mut placing = Placing::new(&root, seal, fetch);
    let outcome = placing.sweep().and_then(|()| {
        for path in in_the_way {
            placing.remove(path)?;
            nodes.remove(path);
        }
        let there: Vec<_> = nodes.paths().collect();
        placing.all(&nodes.changes_to(manifest, &there))
    });
    let applied = placing.finish(outcome)?;
    scanner.resume(manifest.clone());
    Ok((scanner, applied))
}
