//! Writes every page with sample data, and the assets, to a folder that any web server can serve:
//! `cargo run --example pages -- DIR`. The pages are at `/dashboard`, those without data at `/empty`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::{env, fs, io};

use gristmill_dashboard::{assets, routes};
use sample::Voice;

fn main() -> io::Result<()> {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        return Err(io::Error::other("name a folder: cargo run --example pages -- DIR"));
    };
    let voice = Voice(&str::to_owned);
    for sample in sample::full(&voice).into_iter().chain(sample::empty(&voice)) {
        let place = folder.join(sample.address.trim_start_matches('/'));
        fs::create_dir_all(&place)?;
        fs::write(place.join("index.html"), sample.page.0)?;
        println!("{} {}", sample.name, sample.address);
    }
    for name in assets::NAMES {
        let place = folder.join(routes::fill(routes::ASSET, &[name]).trim_start_matches('/'));
        if let (Some(parent), Some(asset)) = (place.parent(), assets::find(name)) {
            fs::create_dir_all(parent)?;
            fs::write(place, asset.bytes)?;
        }
    }
    Ok(())
}
