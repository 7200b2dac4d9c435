//! Trees that stay on a node.

use std::fs;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, SystemTime};

use super::*;
use crate::folders::{TreeCache, TreeHash, TreeHashes, tree_hash};

/// Makes a tree, and gives its hash and its archive.
fn tree(world: &World, name: &str, content: &str) -> (TreeHash, Vec<u8>) {
    world.write(format!("{name}/index.md"), content);
    world.write(format!("{name}/server/tool.py"), "def tool(): ...");
    packed(world, name)
}

fn packed(world: &World, name: &str) -> (TreeHash, Vec<u8>) {
    let folder = world.open(name);
    let (_, archive) = pack(folder.as_fd(), BOUNDS, Vec::new()).expect("packed");
    (tree_hash(folder.as_fd(), BOUNDS).expect("a hash"), archive)
}

fn cache(world: &World, bytes_max: u64) -> TreeCache {
    TreeCache::open_at(&world.at("cache"), bytes_max).expect("a cache")
}

/// What a tree of `tree` takes: three entries, the folder itself, and little content.
const TREE_BYTES: u64 = 4 * 4096 + 100;

#[test]
fn a_hash_is_of_names_kinds_and_contents_alone() {
    let world = World::new("hash");
    let (hash, _) = tree(&world, "one", "text");
    assert_eq!(tree(&world, "other", "text").0, hash);
    world.set_modified("other/index.md", 7);
    symlink("index.md", world.at("other/link")).expect("a link");
    assert_eq!(packed(&world, "other").0, hash, "times and links don't count");
    let edits: [&dyn Fn(&str); 6] = [
        &|path| world.write(format!("{path}/index.md"), "texT"),
        &|path| drop(world.folder(&format!("{path}/empty"))),
        &|path| world.write(format!("{path}/empty"), ""),
        &|path| {
            fs::rename(world.at(format!("{path}/index.md")), world.at(format!("{path}/i"))).expect("renamed")
        },
        &|path| {
            let (from, to) = (format!("{path}/index.md"), format!("{path}/server/index.md"));
            fs::rename(world.at(from), world.at(to)).expect("renamed");
        },
        &|path| fs::remove_file(world.at(format!("{path}/server/tool.py"))).expect("removed"),
    ];
    let mut hashes = vec![hash];
    for (number, edit) in edits.iter().enumerate() {
        let name = format!("edited-{number}");
        tree(&world, &name, "text");
        edit(&name);
        hashes.push(packed(&world, &name).0);
    }
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), 1 + edits.len());
}

#[test]
fn a_hash_is_written_in_one_way() {
    let hash = TreeHash::from([0xab; 32]);
    assert_eq!(hash.to_string(), "ab".repeat(32));
    assert_eq!(hash.to_string().parse(), Ok(hash));
    for text in ["", "..", "ab", &"AB".repeat(32), &"ab".repeat(33), &format!("{}.lock", "ab".repeat(32))] {
        assert!(text.parse::<TreeHash>().is_err(), "{text}");
    }
}

#[test]
fn the_gateway_takes_the_hash_of_a_tree_once() {
    let world = World::new("once");
    let (hash, _) = tree(&world, "tree", "text");
    let hashes = TreeHashes::default();
    let of = |path: &str| hashes.of(world.open(path).as_fd(), BOUNDS).expect("a hash");
    assert_eq!(of("tree"), hash);
    // Until the clock of the file system has ticked, another tree could have the same stamp.
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(of("tree"), hash);
    // Nothing but the stamp of its root was looked at: deep inside is for nobody to write.
    world.write("tree/server/tool.py", "something else");
    assert_eq!(of("tree"), hash);
    fs::rename(world.at("tree"), world.at("gone")).expect("renamed");
    let (other, _) = tree(&world, "tree", "other text");
    assert_eq!(of("tree"), other);
}

#[test]
fn a_tree_is_put_once_and_cannot_be_written_to() {
    let world = World::new("put");
    let (hash, archive) = tree(&world, "tree", "text");
    let cache = cache(&world, 1 << 20);
    assert!(cache.open(&hash).is_none());
    let put = cache.put(&hash, archive.as_slice(), BOUNDS).expect("put");
    assert_eq!(tree_hash(put.as_fd(), BOUNDS).expect("a hash"), hash);
    let path = format!("cache/{hash}");
    assert_eq!(world.tree(&path), world.tree("tree"));
    let mode =
        |below: &str| fs::metadata(world.at(format!("{path}{below}"))).expect("it is there").mode() & 0o7777;
    assert_eq!((mode(""), mode("/server"), mode("/index.md")), (0o500, 0o500, 0o400));
    // Nothing is read for one that is here.
    let again = cache.put(&hash, io::empty(), BOUNDS).expect("it is there");
    assert_eq!(tree_hash(again.as_fd(), BOUNDS).expect("a hash"), hash);
    assert_eq!(cache.hashes(), [hash]);
}

#[test]
fn a_tree_under_the_hash_of_another_is_refused() {
    let world = World::new("wrong");
    let (wanted, _) = tree(&world, "wanted", "what programs expect");
    let (sent, archive) = tree(&world, "sent", "what somebody would like them to run");
    let cache = cache(&world, 1 << 20);
    let error = cache.put(&wanted, archive.as_slice(), BOUNDS).expect_err("it is another");
    assert!(
        matches!(&error, FolderError::OtherTree { expected, found } if (*expected, *found) == (wanted, sent))
    );
    let cut = cache.put(&sent, &archive[..archive.len() - 5], BOUNDS).expect_err("it is cut");
    assert!(matches!(cut, FolderError::Damaged(_)), "{cut}");
    let large = cache.put(&sent, archive.as_slice(), Bounds { bytes: 10, ..BOUNDS });
    assert!(matches!(large, Err(FolderError::TooManyBytes { .. })));
    assert_eq!(world.names("cache"), [""; 0], "nothing is left of them");
    assert!(cache.open(&wanted).is_none() && cache.open(&sent).is_none());
}

#[test]
fn those_that_nobody_has_used_for_longest_make_room() {
    let world = World::new("room");
    let trees: Vec<_> =
        (0..5).map(|number| tree(&world, &number.to_string(), &format!("text {number}"))).collect();
    let cache = cache(&world, 3 * TREE_BYTES);
    let put = |number: usize| cache.put(&trees[number].0, trees[number].1.as_slice(), BOUNDS);
    let there = || {
        let is_there = |(hash, _): &&(TreeHash, Vec<u8>)| cache.hashes().contains(hash);
        trees.iter().map(|tree| is_there(&tree)).collect::<Vec<_>>()
    };
    for number in 0..3 {
        drop(put(number).expect("put"));
    }
    drop(cache.open(&trees[0].0).expect("it is used again"));
    let third = put(3).expect("there is room");
    assert_eq!(there(), [true, false, true, true, false]);
    // What is in use stays, and while all is, nothing more fits.
    let (first, second) = (cache.open(&trees[0].0).expect("there"), cache.open(&trees[2].0).expect("there"));
    let error = put(4).expect_err("all is in use");
    assert!(matches!(error, FolderError::CacheFull { bytes_max } if bytes_max == 3 * TREE_BYTES));
    assert_eq!(there(), [true, false, true, true, false]);
    drop(second);
    put(4).expect("there is room");
    assert_eq!(there(), [true, false, false, true, true]);
    drop((first, third));
    // Nothing else is left of what was removed.
    assert_eq!(world.names("cache").len(), 2 * 3);
}

#[test]
fn a_tree_in_use_by_another_cache_of_this_folder_stays() {
    let world = World::new("shared");
    let (first, archive) = tree(&world, "first", "1");
    let (second, other) = tree(&world, "second", "2");
    let (one, another) = (cache(&world, TREE_BYTES), cache(&world, TREE_BYTES));
    let used = one.put(&first, archive.as_slice(), BOUNDS).expect("put");
    assert!(matches!(another.put(&second, other.as_slice(), BOUNDS), Err(FolderError::CacheFull { .. })));
    drop(used);
    another.put(&second, other.as_slice(), BOUNDS).expect("put");
    assert!(one.open(&first).is_none());
    assert!(one.open(&second).is_some());
}

#[test]
fn leftovers_of_killed_processes_go_and_what_is_being_written_stays() {
    let world = World::new("sweep");
    let (hash, archive) = tree(&world, "tree", "text");
    drop(cache(&world, 1 << 20).put(&hash, archive.as_slice(), BOUNDS).expect("put"));
    world.write("cache/.new-1-2/server/tool.py", "half");
    world.write("cache/.gone-1-3/index.md", "half");
    world.write("cache/of somebody", "else");
    world.write(format!("cache/{}.lock", TreeHash::from([7; 32])), "");
    let writing = world.folder("cache/.new-1-4");
    rustix::fs::flock(&writing, rustix::fs::FlockOperation::LockShared).expect("locked");
    let cache = cache(&world, 1 << 20);
    let expected =
        [".new-1-4".to_owned(), hash.to_string(), format!("{hash}.lock"), "of somebody".to_owned()];
    assert_eq!(world.names("cache"), expected);
    assert!(cache.open(&hash).is_some());
}

#[test]
fn a_tree_that_lost_a_part_is_not_used_and_comes_anew() {
    let world = World::new("lost");
    let (hash, archive) = tree(&world, "tree", "text");
    drop(cache(&world, 1 << 20).put(&hash, archive.as_slice(), BOUNDS).expect("put"));
    let path = world.at(format!("cache/{hash}/index.md"));
    fs::remove_file(&path).expect("removed");
    fs::write(&path, "").expect("a file");
    let cache = cache(&world, 1 << 20);
    assert!(cache.open(&hash).is_none());
    assert!(cache.hashes().is_empty());
    cache.put(&hash, archive.as_slice(), BOUNDS).expect("put");
    assert_eq!(fs::read_to_string(path).expect("a file"), "text");
}

/// Comes slowly, so that both are at it at once.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(2));
        let most = buffer.len().min(16);
        self.0.read(&mut buffer[..most])
    }
}

#[test]
fn two_may_put_the_same_tree_at_once() {
    let world = World::new("two");
    let (hash, archive) = tree(&world, "tree", "text");
    let (one, other) = (cache(&world, 1 << 20), cache(&world, 1 << 20));
    std::thread::scope(|scope| {
        let putting: Vec<_> = [&one, &other, &one, &other]
            .map(|cache| scope.spawn(|| cache.put(&hash, Slow(&archive), BOUNDS).expect("put")))
            .into_iter()
            .map(|thread| thread.join().expect("put"))
            .collect();
        for put in &putting {
            assert_eq!(tree_hash(put.as_fd(), BOUNDS).expect("a hash"), hash);
        }
    });
    assert_eq!(world.names("cache"), [hash.to_string(), format!("{hash}.lock")]);
}

#[test]
fn trees_come_and_go_while_others_use_them() {
    let world = World::new("traffic");
    let trees: Vec<_> = (0..4).map(|number| tree(&world, &number.to_string(), &number.to_string())).collect();
    let began = SystemTime::now();
    std::thread::scope(|scope| {
        for thread in 0..3_usize {
            let (world, trees) = (&world, &trees);
            scope.spawn(move || {
                let cache = cache(world, 3 * TREE_BYTES);
                for round in 0..60 {
                    let (hash, archive) = &trees[(round * (thread + 1)) % trees.len()];
                    let put = cache.put(hash, archive.as_slice(), BOUNDS).expect("there is room for three");
                    assert_eq!(tree_hash(put.as_fd(), BOUNDS).expect("it is whole"), *hash);
                    if began.elapsed().is_ok_and(|elapsed| elapsed > Duration::from_secs(20)) {
                        return;
                    }
                }
            });
        }
    });
}
