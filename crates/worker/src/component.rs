//! The guest as it travels inside this binary: one compressed component, made by `build.rs`.

/// zstd-compressed; see `build.rs`.
static COMPRESSED: &[u8] = include_bytes!(env!("GRISTMILL_PYTHON_COMPONENT_ZST"));

/// What a component may unpack to. It is ours, so this only guards against a broken build.
const COMPONENT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The hash of the unpacked component: which guest this binary carries.
pub fn component_id() -> &'static str {
    env!("GRISTMILL_PYTHON_COMPONENT_HASH")
}

/// The unpacked component.
pub fn component_bytes() -> std::io::Result<Vec<u8>> {
    zstd::bulk::decompress(COMPRESSED, COMPONENT_BYTES_MAX)
}
