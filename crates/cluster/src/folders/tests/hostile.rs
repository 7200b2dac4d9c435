//! Archives that somebody wrote to do harm.

use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

use super::*;

fn refused(archive: &[u8], bounds: Bounds) -> String {
    let world = World::new("hostile");
    world.write("outside", "untouched");
    let error = unpack(world.folder("into").as_fd(), archive, bounds).expect_err("it is hostile").to_string();
    assert_eq!(fs::read_to_string(world.at("outside")).expect("it is there"), "untouched");
    assert_eq!(world.names(""), ["into", "outside"], "nothing else was made: {error}");
    error
}

fn check(forged: Forged, why: &str) {
    let error = refused(&forged.done(), BOUNDS);
    assert!(error.contains(why), "{error}");
}

fn folder() -> Forged {
    Forged::new(Kind::Folder)
}

#[test]
fn a_name_that_leads_out_is_refused() {
    let names: [&[u8]; 9] = [b"..", b".", b"", b"/", b"/etc/passwd", b"../outside", b"a/b", b"a/", b"a\0"];
    for name in names {
        check(folder().file(name, b"x"), "a name that isn't one");
        check(folder().folder(name).up(), "a name that isn't one");
        check(folder().folder("fine").file(name, b"x").up(), "a name that isn't one");
    }
}

#[test]
fn an_entry_comes_once() {
    for forged in [
        folder().file("a", b"one").file("a", b"two"),
        folder().folder("a").up().folder("a").up(),
        // A file as a folder, and a folder as a file.
        folder().file("a", b"").folder("a").file("b", b"").up(),
        folder().folder("a").up().file("a", b""),
        folder().file("b", b"").file("a", b""),
        folder().folder("d").file("b", b"").file("b", b"").up(),
    ] {
        check(forged, "out of order");
    }
}

#[test]
fn records_that_make_no_sense_are_refused() {
    for (forged, why) in [
        (folder().up(), "a record"),
        (folder().folder("a"), "a record"),
        (folder().folder("a").up().up(), "a record"),
        (folder().gone("a"), "a record"),
        (folder().raw(&[9]), "a record"),
        (folder().raw(&[0]), "goes on after its end"),
        (Forged::new(Kind::Changes).file("a", b""), "doesn't begin as one"),
        (folder().raw(&[FILE, 1, b'a']).raw(&[0; 8]).raw(&u32::MAX.to_le_bytes()), "too long"),
        (folder().raw(&[FILE, 1, b'a']).raw(&[0; 8]).raw(&65_537_u32.to_le_bytes()), "too long"),
    ] {
        check(forged, why);
    }
    for bytes in [&b""[..], b"GMFOLD01", &[0; 100], b"(\xb5/\xfd"] {
        refused(bytes, BOUNDS);
    }
}

#[test]
fn what_comes_behind_an_archive_is_refused() {
    let whole = folder().file("a", b"x").done();
    for more in [&b"x"[..], &whole, &[0; 100_000]] {
        assert!(refused(&[&whole, more].concat(), BOUNDS).contains("goes on after its end"));
    }
}

#[test]
fn an_archive_that_is_cut_anywhere_is_refused() {
    let mut content = vec![0; 3000];
    blake3::Hasher::new().finalize_xof().fill(&mut content);
    let forged = || folder().folder("a").file("b", &content).up().file("c", b"x");
    let whole = forged().done();
    for length in (0..whole.len()).step_by(7) {
        assert!(refused(&whole[..length], BOUNDS).contains("damaged"), "cut at {length}");
    }
    assert!(refused(&forged().cut(), BOUNDS).contains("ends too early"));
}

#[test]
fn a_damaged_archive_is_refused_or_makes_what_it_says_and_never_anything_outside() {
    let whole = folder().folder("a").file("b", b"content of b").up().file("c", b"x").done();
    for at in 0..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 0x55;
        let world = World::new("damaged");
        drop(unpack(world.folder("into").as_fd(), broken.as_slice(), BOUNDS));
        assert_eq!(world.names(""), ["into"]);
    }
}

#[test]
fn a_bomb_ends_at_the_bounds_and_not_at_the_end_of_the_disk() {
    let part = [&65_536_u32.to_le_bytes()[..], &[0; 65_536]].concat();
    let mut bomb = folder().raw(&[FILE, 1, b'a']).raw(&[0; 8]);
    for _ in 0..1000 {
        bomb = bomb.raw(&part);
    }
    let bomb = bomb.raw(&[0; 4]).done();
    assert!(bomb.len() < 20_000, "{} bytes become 65 MB", bomb.len());
    let world = World::new("bomb");
    let bounds = Bounds { bytes: 200_000, file_bytes: 1 << 40, ..BOUNDS };
    let error = unpack(world.folder("into").as_fd(), bomb.as_slice(), bounds).expect_err("a bomb");
    assert!(matches!(error, FolderError::TooManyBytes { bytes_max: 200_000 }), "{error}");
    assert!(fs::metadata(world.at("into/a")).expect("a part").len() <= 200_000);
    assert!(
        refused(&bomb, Bounds { file_bytes: 100_000, ..BOUNDS }).contains("a file in it holds more than")
    );
}

#[test]
fn too_many_entries_and_folders_too_deep_are_refused() {
    let mut many = folder();
    for number in 0..=1000 {
        many = many.file(format!("{number:05}"), b"");
    }
    let bounds = Bounds { entries: 1000, ..BOUNDS };
    assert_eq!(refused(&many.done(), bounds), "it holds more than 1000 files and folders");
    let nested = |levels: usize| {
        let down = (0..levels).fold(folder(), |forged, _| forged.folder("d"));
        (0..levels).fold(down, |forged, _| forged.up()).done()
    };
    let bounds = Bounds { depth: 50, entries: 1_000_000, ..BOUNDS };
    let world = World::new("nested");
    unpack(world.folder("into").as_fd(), nested(50).as_slice(), bounds).expect("as deep as it may be");
    for levels in [51, 20_000] {
        assert_eq!(refused(&nested(levels), bounds), "it has folders nested more than 50 levels deep");
    }
}

#[test]
fn empty_frames_without_end_are_an_end() {
    // Frames that hold nothing: one that is skipped, and one without content.
    let skipped = [0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0];
    let empty = zstd::encode_all(&b""[..], 1).expect("compressed");
    for frame in [&skipped[..], &empty] {
        let endless = std::iter::repeat_n(frame, 10_000_000).flat_map(|frame| frame.iter().copied());
        let world = World::new("endless");
        let error =
            unpack(world.folder("into").as_fd(), Bytes(endless), Bounds { bytes: 0, entries: 0, ..BOUNDS });
        error.expect_err("it has no end");
    }
}

struct Bytes<I>(I);

impl<I: Iterator<Item = u8>> Read for Bytes<I> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut count = 0;
        for (place, byte) in buffer.iter_mut().zip(&mut self.0) {
            *place = byte;
            count += 1;
        }
        Ok(count)
    }
}

#[test]
fn a_decoder_is_not_made_to_look_back_on_more_than_a_little() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(27).expect("a window");
    std::io::Write::write_all(&mut encoder, Kind::Folder.magic()).expect("compressed");
    refused(&encoder.finish().expect("compressed"), BOUNDS);
}

#[test]
fn what_is_there_already_is_neither_followed_nor_overwritten() {
    let world = World::new("there");
    world.write("outside/secret", "untouched");
    world.write("into/file", "mine");
    world.folder("into/folder");
    symlink("../outside", world.at("into/link")).expect("a link");
    symlink("../outside/secret", world.at("into/link to a file")).expect("a link");
    for forged in [
        folder().folder("link").file("secret", b"x").up(),
        folder().file("link", b"x"),
        folder().file("link to a file", b"x"),
        folder().file("file", b"x"),
        folder().folder("file").up(),
        folder().folder("folder").up(),
    ] {
        let error = unpack(world.open("into").as_fd(), forged.done().as_slice(), BOUNDS);
        assert!(matches!(error, Err(FolderError::System { .. })), "{error:?}");
    }
    assert_eq!(fs::read_to_string(world.at("outside/secret")).expect("a file"), "untouched");
    assert_eq!(fs::read_to_string(world.at("into/file")).expect("a file"), "mine");
    assert_eq!(world.names("outside"), ["secret"]);
}
