//! A data folder made exactly what a manifest says, whatever it is.

use std::path::Path;

use super::Fetch;
use super::apply::{Applied, check, open};
use super::error::ApplyError;
use super::placing::Placing;
use super::scan::{Look, Scanner};
use crate::kept::Scope;
use crate::manifest::Manifest;
use crate::seal::Seal;

/// Makes the kept part of a data folder exactly what the manifest says; what isn't kept stays as it is. Every file is
/// read, and stays if its content is right; others are fetched. Gives a scanner that goes on from the manifest.
///
/// For whoever takes the lead, or begins from a snapshot: nobody else may use the folder meanwhile. Blocks.
pub fn reconcile(
    data_folder: &Path,
    manifest: &Manifest,
    seal: &Seal,
    fetch: &mut Fetch<'_>,
) -> Result<(Scanner, Applied), ApplyError> {
    manifest.nodes().try_for_each(|(path, node)| check(path, Some(node)))?;
    drop(open(data_folder)?);
    let mut scanner = Scanner::new(data_folder)?;
    let Look { mut nodes, skipped, strange } = scanner.look(&Scope::Everything, seal)?;
    let root = std::sync::Arc::clone(scanner.root());
    let mut placing = Placing::new(&root, seal, fetch);
    let outcome = placing.sweep().and_then(|()| {
        for path in strange.iter().chain(skipped.iter().map(|skipped| &skipped.path)) {
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
