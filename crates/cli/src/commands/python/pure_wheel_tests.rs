//! Wheels of pure Python, and hostile ones.

use super::*;
use gristmill_testkit::TestFolder;

/// Makes a wheel of these files, in the interpreter. A name that begins with `link ` becomes a link, one that begins
/// with `huge ` a file of 40 MB of zeros, one that begins with `bzip2 ` is packed that way.
const PACKER: &str = "
import json, sys, zipfile
path, files = sys.argv[1], json.loads(sys.argv[2])
with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as archive:
    for name, text in files:
        if name.startswith('link '):
            info = zipfile.ZipInfo(name[5:]); info.external_attr = 0o120777 << 16
            archive.writestr(info, text)
        elif name.startswith('huge '):
            archive.writestr(name[5:], bytes(40 << 20))
        elif name.startswith('bzip2 '):
            archive.writestr(name[6:], text, zipfile.ZIP_BZIP2)
        else:
            archive.writestr(name, text)
";

const ABOUT: (&str, &str) = ("good-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n");

fn unpacked(files: &[(&str, &str)]) -> Option<(TestFolder, Result<(), String>)> {
    let folder = TestFolder::new("pure-wheel");
    let (wheel, target) = (folder.path().join("good-1.0-py3-none-any.whl"), folder.path().join("target"));
    std::fs::create_dir(&target).unwrap();
    let made = Command::new("python3")
        .args(["-I", "-W", "ignore", "-c", PACKER])
        .arg(&wheel)
        .arg(serde_json::to_string(files).unwrap())
        .status();
    if !made.is_ok_and(|made| made.success()) {
        eprintln!("SKIPPED: there is no python3");
        return None;
    }
    let told = unpack(Path::new("python3"), &wheel, &target).unwrap();
    Some((folder, told))
}

#[test]
fn a_package_is_unpacked_with_its_data_and_without_what_programs_have_no_use_for() {
    let files = [
        ABOUT,
        ("good/__init__.py", "x = 1"),
        ("good/data/words.txt", "one"),
        ("good/py.typed", ""),
        ("single.py", "y = 2"),
        ("evil.pth", "import os; os.system('id')"),
        ("good/__pycache__/a.cpython-311.pyc", "z"),
        ("tests/__init__.py", ""),
        ("good-1.0.dist-info/METADATA", "Name: good"),
        ("good-1.0.dist-info/licenses/LICENSE", "free"),
        ("LICENSE", "free"),
    ];
    let Some((folder, told)) = unpacked(&files) else { return };
    assert_eq!(told, Ok(()));
    let target = folder.path().join("target");
    for there in ["good/__init__.py", "good/data/words.txt", "single.py", "good-1.0.dist-info/METADATA"] {
        assert!(target.join(there).is_file(), "{there}");
    }
    for gone in ["evil.pth", "tests", "LICENSE", "good/__pycache__", "good-1.0.dist-info/licenses"] {
        assert!(!target.join(gone).exists(), "{gone}");
    }
}

#[test]
fn a_hostile_wheel_is_refused_with_a_reason_and_writes_nothing_elsewhere() {
    let check = |files: &[(&str, &str)], words: &str| {
        let Some((folder, told)) = unpacked(&[&[ABOUT, ("good/__init__.py", "")], files].concat()) else {
            return;
        };
        let why = told.expect_err(words);
        assert!(why.contains(words), "{why}");
        let names: BTreeSet<String> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        assert_eq!(names, BTreeSet::from(["good-1.0-py3-none-any.whl".to_owned(), "target".to_owned()]));
    };
    check(&[("../outside.py", "x")], "outside of its folder");
    check(&[("good/../../outside.py", "x")], "outside of its folder");
    check(&[("/tmp/gristmill-outside.py", "x")], "outside of its folder");
    check(&[("good/a\\b.py", "x")], "with the name");
    check(&[("link good/escape", "/etc")], "is a link");
    check(&[("good/fast.cpython-314-x86_64-linux-gnu.so", "x")], "compiled code");
    check(&[("good/lib.SO.1", "x"), ("good/fast.PYD", "x")], "compiled code");
    check(&[("good-1.0.data/scripts/run", "x")], "outside of its package");
    check(&[("good-1.0.data/purelib/other.py", "x")], "outside of its package");
    check(&[("json/__init__.py", "x")], "another module `json`");
    check(&[("gristmill.py", "x")], "another module `gristmill`");
    check(&[("servers/crm.py", "x")], "another module `servers`");
    check(&[("skills.py", "x")], "another module `skills`");
    check(&[("yaml/__init__.py", "x")], "another module `yaml`");
    check(&[("my-module/__init__.py", "x")], "can't be imported");
    check(&[("good/__init__.py", "twice")], "there already");
    check(&[("huge good/zeros.bin", "")], "larger than 32 MB");
    check(&[("bzip2 good/zeros.bin", "0")], "is packed in a way");
    let deep = format!("good/{}x.py", "a/".repeat(40));
    check(&[(deep.as_str(), "x")], "outside of its folder");
    let Some((_, told)) = unpacked(&[("good/__init__.py", "")]) else { return };
    assert_eq!(told, Err("it doesn't say that it is pure Python".to_owned()));
    let Some((_, told)) = unpacked(&[ABOUT, ("README", "")]) else { return };
    assert_eq!(told, Err("it has no module".to_owned()));
}

#[test]
fn a_file_that_is_no_archive_or_another_one_is_refused() {
    let folder = TestFolder::new("pure-wheel");
    let package = LockedPackage {
        name: "good".to_owned(),
        version: "1.0".to_owned(),
        sha256: hex(&Sha256::digest(b"not a zip")),
        file: "good-1.0-py3-none-any.whl".to_owned(),
    };
    let wheel = folder.path().join(&package.file);
    std::fs::write(&wheel, "not a zip").unwrap();
    let told = |package: &LockedPackage| {
        unpack_all(Path::new("python3"), folder.path(), std::slice::from_ref(package), folder.path())
    };
    if Command::new("python3").arg("-V").output().is_ok() {
        let why = told(&package).unwrap_err().to_string();
        assert!(why.contains("good 1.0 can't be used in WebAssembly: it can't be read"), "{why}");
    }
    std::fs::write(&wheel, "another one").unwrap();
    let why = told(&package).unwrap_err().to_string();
    assert!(why.contains("isn't the one that was found before"), "{why}");
}

#[test]
fn only_wheels_for_every_machine_are_taken_and_what_is_bundled_is_left_out() {
    for (file, expected) in [
        ("attrs-25.1.0-py3-none-any.whl", true),
        ("six-1.0-1-py2.py3-none-any.whl", true),
        ("old-1.0-py2-none-any.whl", false),
        ("numpy-2.0-cp314-cp314-manylinux_2_28_x86_64.whl", false),
        ("odd-1.0-py3-none-linux_x86_64.whl", false),
        ("py3-none-any.whl", false),
        ("attrs-25.1.0.tar.gz", false),
    ] {
        assert_eq!(is_for_all(file), expected, "{file}");
    }
    let package = |name: &str, file: &str| LockedPackage {
        name: name.to_owned(),
        version: "1.0".to_owned(),
        sha256: String::new(),
        file: file.to_owned(),
    };
    let tzdata = package("tzdata", "tzdata-1.0-py2.py3-none-any.whl");
    let attrs = package("attrs", "attrs-1.0-py3-none-any.whl");
    assert_eq!(without_bundled(vec![tzdata, attrs.clone()]).unwrap(), [attrs]);
    let numpy = package("numpy", "numpy-2.0-cp314-cp314-linux_x86_64.whl");
    assert!(without_bundled(vec![numpy]).unwrap_err().to_string().contains("not a wheel of pure Python"));
}
