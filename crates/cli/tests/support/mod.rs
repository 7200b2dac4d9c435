//! What the tests of the binary share.

use std::path::Path;

/// The binary under test.
pub fn gristmill() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_gristmill"))
}
