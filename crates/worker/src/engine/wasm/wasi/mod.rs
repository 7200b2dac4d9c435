//! The part of WASI 0.2 that the guests use, on nothing but the folders they were given.
//!
//! Written for this one place instead of taken from a library, for three reasons: it starts no
//! threads (so the child confines all of itself, and needs no `clone`), it counts every byte
//! written (so the workspace's limits are exact), and there is no host path in it at all: a
//! folder is a descriptor, and every name is resolved beneath one.
//!
//! Invariants: nothing in here decides what a program may reach. The mounts do.

mod cli;
mod clocks;
mod entries;
mod error_code;
mod filesystem;
mod folders;
mod looked;
mod open_file;
mod path_beneath;
mod quota;
mod random;
mod sockets;
mod streams;
mod types;

use wasmtime::Engine;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Linker, ResourceTable};

pub use error_code::ErrorCode;
pub use folders::{Descriptor, Folders, MountedFolder};
pub use open_file::OpenFile;
#[cfg(target_os = "linux")]
pub use path_beneath::{ALWAYS, OPEN_FLAGS};
pub use quota::{Quota, QuotaLimits};
pub use types::{DescriptorFlags, DescriptorType, OpenFlags};

use crate::engine::wasm::Host;

/// The interface version that is offered; the one that the pinned guest builder imports.
const VERSION: &str = "0.2.9";

/// What WASI keeps for one program.
pub struct Wasi {
    table: ResourceTable,
    pub folders: Folders,
}

impl Wasi {
    /// A world with no folder in it yet.
    pub fn new() -> Self {
        let mut table = ResourceTable::new();
        // Each entry costs host memory outside the engine's cap; streams and pollables are
        // short-lived, and open files have a limit of their own.
        table.set_max_capacity(65_536);
        Self { table, folders: Folders::default() }
    }
}

/// Defines every interface in `linker`.
pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    streams::add_to_linker(linker)?;
    clocks::add_to_linker(linker)?;
    random::add_to_linker(linker)?;
    cli::add_to_linker(linker)?;
    filesystem::add_to_linker(linker)?;
    sockets::add_to_linker(linker)
}

/// Lets every function that `component` imports and nobody defined end the program. These are the
/// methods of sockets, which need a socket to be called on, and there is none.
pub fn refuse_the_rest(
    linker: &mut Linker<Host>,
    engine: &Engine,
    component: &Component,
) -> wasmtime::Result<()> {
    for (instance_name, import) in component.component_type().imports(engine) {
        let ComponentItem::ComponentInstance(instance) = import.ty else { continue };
        let mut linked = linker.instance(instance_name)?;
        for (name, export) in instance.exports(engine) {
            if let ComponentItem::ComponentFunc(_) = export.ty {
                let refusal = format!("{instance_name} {name} is not there");
                // An error means that it is defined already, which is as good.
                let _ = linked.func_new(name, move |_, _, _, _| Err(wasmtime::Error::msg(refusal.clone())));
            }
        }
    }
    Ok(())
}

fn interface(name: &str) -> String {
    format!("wasi:{name}@{VERSION}")
}
