//! `wasi:random`: the system's randomness, drawn anew in every child.

use wasmtime::component::Linker;

use super::interface;
use crate::engine::wasm::Host;

/// What one call may ask for; CPython asks for a few thousand bytes at most.
const RANDOM_BYTES_MAX: u64 = 1024 * 1024;

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut random = linker.instance(&interface("random/random"))?;
    random.func_wrap("get-random-bytes", |_, (len,): (u64,)| Ok((random_bytes(len)?,)))?;
    random.func_wrap("get-random-u64", |_, (): ()| Ok((random_u64()?,)))?;
    let mut insecure = linker.instance(&interface("random/insecure"))?;
    insecure.func_wrap("get-insecure-random-bytes", |_, (len,): (u64,)| Ok((random_bytes(len)?,)))?;
    insecure.func_wrap("get-insecure-random-u64", |_, (): ()| Ok((random_u64()?,)))?;
    let mut seed = linker.instance(&interface("random/insecure-seed"))?;
    seed.func_wrap("insecure-seed", |_, (): ()| Ok(((random_u64()?, random_u64()?),)))
}

fn random_bytes(len: u64) -> wasmtime::Result<Vec<u8>> {
    if len > RANDOM_BYTES_MAX {
        return Err(wasmtime::Error::msg("more random bytes than one call may ask for"));
    }
    let mut bytes = vec![0; len as usize];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn random_u64() -> wasmtime::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn fill(bytes: &mut [u8]) -> wasmtime::Result<()> {
    getrandom::fill(bytes).map_err(|error| wasmtime::Error::msg(error.to_string()))
}
