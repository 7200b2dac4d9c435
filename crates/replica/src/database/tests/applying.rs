use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::error::MalformedPages;
use super::super::{DatabaseError, Page, Pages, apply};
use super::{World, dump, dump_file, insert};

#[test]
fn applying_the_same_pages_twice_changes_nothing() {
    let mut world = World::new();
    insert(&world.connect(), 50, 1000);
    let pages = world.source.take().unwrap().unwrap();
    apply(&world.copy(), &pages).unwrap();
    let once = fs::read(world.copy()).unwrap();
    apply(&world.copy(), &pages).unwrap();
    assert!(fs::read(world.copy()).unwrap() == once, "the second time changed something");
    world.check_same();
}

#[test]
fn pages_that_were_applied_in_part_are_applied_again() {
    let mut world = World::new();
    let connection = world.connect();
    insert(&connection, 50, 1000);
    let pages = world.source.take().unwrap().unwrap();
    connection.execute_batch("DELETE FROM rows WHERE id > 5; PRAGMA incremental_vacuum;").unwrap();
    let later = world.source.take().unwrap().unwrap();
    apply(&world.copy(), &pages).unwrap();
    for count in 0..later.pages.len() {
        let half =
            Pages { pages: later.pages[..count].to_vec(), pages_in_file: pages.pages_in_file, ..later };
        apply(&world.copy(), &half).unwrap();
    }
    // Also after all of it: earlier pages, then later ones.
    for pages in [&later, &pages, &later] {
        apply(&world.copy(), pages).unwrap();
    }
    world.check_same();
}

#[test]
fn a_copy_is_cut_off_where_the_file_ends() {
    let mut world = World::new();
    let connection = world.connect();
    insert(&connection, 100, 4000);
    world.take();
    let before = fs::metadata(world.copy()).unwrap().len();
    connection.execute_batch("DELETE FROM rows; VACUUM").unwrap();
    world.take();
    assert!(fs::metadata(world.copy()).unwrap().len() < before / 4);
    world.check_same();
}

#[test]
fn a_copy_that_is_made_is_its_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    apply(&copy, &pages_of(512, 3, vec![(1, 512), (3, 512)])).unwrap();
    let metadata = fs::metadata(&copy).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (3 * 512, 0o600));
}

#[test]
fn nothing_is_written_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (elsewhere, copy) = (folder.path().join("elsewhere"), folder.path().join("copy.db"));
    fs::write(&elsewhere, "as it was").unwrap();
    symlink(&elsewhere, &copy).unwrap();
    let applied = apply(&copy, &pages_of(512, 1, vec![(1, 512)]));
    assert!(matches!(applied, Err(DatabaseError::File { what: "opened", .. })));
    assert_eq!(fs::read_to_string(elsewhere).unwrap(), "as it was");
}

#[test]
fn pages_that_cannot_be_of_a_database_are_refused_before_anything_is_written() {
    let refused = [
        (pages_of(0, 1, vec![]), MalformedPages::PageSize { page_bytes: 0 }),
        (pages_of(256, 1, vec![]), MalformedPages::PageSize { page_bytes: 256 }),
        (pages_of(5000, 1, vec![]), MalformedPages::PageSize { page_bytes: 5000 }),
        (pages_of(131_072, 1, vec![]), MalformedPages::PageSize { page_bytes: 131_072 }),
        (
            pages_of(65_536, u32::MAX, vec![]),
            MalformedPages::FileSize { bytes: u64::from(u32::MAX) * 65_536 },
        ),
        (pages_of(512, 2, vec![(0, 512)]), MalformedPages::Order { number: 0 }),
        (pages_of(512, 2, vec![(2, 512), (1, 512)]), MalformedPages::Order { number: 1 }),
        (pages_of(512, 2, vec![(2, 512), (2, 512)]), MalformedPages::Order { number: 2 }),
        (pages_of(512, 2, vec![(1, 512), (3, 512)]), MalformedPages::Outside { number: 3 }),
        (pages_of(512, 2, vec![(1, 512), (2, 511)]), MalformedPages::Length { number: 2, bytes: 511 }),
    ];
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.db");
    for (pages, expected) in refused {
        match apply(&copy, &pages) {
            Err(DatabaseError::Malformed(why)) => assert_eq!(why, expected),
            other => panic!("{pages:?}: {other:?}"),
        }
        assert!(!copy.exists());
    }
}

#[test]
fn who_begins_with_nothing_gets_everything_of_a_new_database() {
    let folder = tempfile::tempdir().unwrap();
    let (database, copy) = (folder.path().join("new.db"), folder.path().join("copy.db"));
    let mut source = super::PageSource::open(&database).unwrap();
    assert_eq!(fs::metadata(&database).unwrap().permissions().mode() & 0o777, 0o600);
    let begun = source.take().unwrap().unwrap();
    assert_eq!((begun.pages_in_file, begun.pages.len()), (1, 1));
    apply(&copy, &begun).unwrap();
    source.begin_anew().unwrap();
    assert!(fs::read(&database).unwrap() == fs::read(&copy).unwrap(), "the files differ");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection.execute_batch("CREATE TABLE rows (id INTEGER PRIMARY KEY, body BLOB, note TEXT)").unwrap();
    insert(&connection, 10, 3000);
    apply(&copy, &source.take().unwrap().unwrap()).unwrap();
    assert_eq!(dump_file(&copy), dump(&connection));
}

#[test]
fn what_a_page_holds_is_not_printed() {
    let page = Page { number: 7, bytes: b"secret".to_vec() };
    assert_eq!(format!("{page:?}"), "Page { number: 7, bytes: 6 bytes }");
}

fn pages_of(page_bytes: u32, pages_in_file: u32, pages: Vec<(u32, usize)>) -> Pages {
    let pages = pages.into_iter().map(|(number, bytes)| Page { number, bytes: vec![number as u8; bytes] });
    Pages { page_bytes, pages_in_file, pages: pages.collect() }
}
