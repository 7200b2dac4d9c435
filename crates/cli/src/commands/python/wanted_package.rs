//! A package with its version and the hashes of its files, as a lock or a requirements file with hashes has it.

use std::path::Path;

use anyhow::{Context, bail};

/// The largest requirements file or lock.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// One package: any of these files, and no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPackage {
    /// As pip takes it: name, version, and for which machines.
    pub requirement: String,
    sha256: Vec<String>,
}

impl WantedPackage {
    /// Nothing in it is an option of pip.
    pub fn new(requirement: String, sha256: Vec<String>) -> anyhow::Result<Self> {
        if !is_of_index(&requirement) || !requirement.contains("==") {
            bail!("`{requirement}` isn't a package with its version");
        }
        let is_hash = |hash: &String| hash.len() == 64 && hash.chars().all(|c| c.is_ascii_hexdigit());
        if sha256.is_empty() || !sha256.iter().all(is_hash) {
            bail!("`{requirement}` has no sha256 hash; either every package of a file has one, or none");
        }
        Ok(Self { requirement, sha256 })
    }

    /// A line of a requirements file.
    pub fn line(&self) -> String {
        let hashes: String = self.sha256.iter().map(|hash| format!(" --hash=sha256:{hash}")).collect();
        format!("{}{hashes}\n", self.requirement)
    }
}

/// Whether this is a package as an index knows it: a name, perhaps extras, versions and a marker. With a path or an
/// address pip would build what it finds there; with anything else it might see an option, another line, or a
/// variable to fill in.
pub fn is_of_index(requirement: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let only =
        |text: &str, others: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c));
    let (package, marker) = requirement.split_once(';').unwrap_or((requirement, ""));
    let (name, rest) = package.split_at(package.find(|c| !is_name(c)).unwrap_or(package.len()));
    let (extras, versions) = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once(']').unwrap_or(("[", "")),
        None => ("", rest),
    };
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && only(extras, "._-, ")
        && only(versions, ".*+!<>=~, ()")
        && only(marker, "_.'\"=<>!(), ")
}

/// What a requirements file asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Requirements {
    /// Packages, as pip takes them.
    Open(Vec<String>),
    /// Everything there is to be, each with its hashes.
    Exact(Vec<WantedPackage>),
}

/// Whether it is a file that somebody may have written: not a device, and not so large.
pub fn check_file(path: &Path) -> anyhow::Result<()> {
    let found = std::fs::metadata(path).with_context(|| format!("can't read {}", path.display()))?;
    if !found.is_file() {
        bail!("{} isn't a file", path.display());
    }
    if found.len() > FILE_BYTES_MAX {
        bail!("{} is larger than {} MB", path.display(), FILE_BYTES_MAX >> 20);
    }
    Ok(())
}

/// Reads a requirements file. Options are left to whoever looks at the packages.
pub fn requirements_in(path: &Path) -> anyhow::Result<Requirements> {
    check_file(path)?;
    let text = std::fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))?;
    requirements_of(&text).with_context(|| format!("can't use {}", path.display()))
}

fn requirements_of(text: &str) -> anyhow::Result<Requirements> {
    let whole = text.replace("\r\n", "\n").replace("\\\n", " ");
    let lines = whole.lines().map(|line| line.split(" #").next().unwrap_or(line).trim());
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    if lines.contains(&"[[package]]") {
        bail!("it's a lock file; for a uv.lock, use `--from`");
    }
    if lines.is_empty() {
        bail!("it lists no packages");
    }
    if !lines.iter().any(|line| line.contains("--hash=")) {
        return Ok(Requirements::Open(lines.into_iter().map(str::to_owned).collect()));
    }
    let wanted = lines.into_iter().map(|line| {
        let mut parts = line.split("--hash=").map(str::trim);
        let requirement = parts.next().unwrap_or_default().to_owned();
        let hashes = parts.map(|hash| hash.strip_prefix("sha256:").unwrap_or_default().to_owned());
        WantedPackage::new(requirement, hashes.collect())
    });
    Ok(Requirements::Exact(wanted.collect::<anyhow::Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_with_hashes_is_exact_and_one_without_is_not() {
        let hash = "0a".repeat(32);
        let open = "# numbers\nnumpy>=2 # any\n\npandas[excel]\n";
        let expected = Requirements::Open(vec!["numpy>=2".to_owned(), "pandas[excel]".to_owned()]);
        assert_eq!(requirements_of(open).unwrap(), expected);
        let text = format!(
            "numpy==2.4.6 \\\n    --hash=sha256:{hash} \\\n    --hash=sha256:{hash}\n\
             tzdata==2026.6 ; sys_platform == 'linux' --hash=sha256:{hash}\n"
        );
        let Requirements::Exact(wanted) = requirements_of(&text).unwrap() else { panic!("{text}") };
        let lines: Vec<String> = wanted.iter().map(WantedPackage::line).collect();
        assert_eq!(
            lines,
            [
                format!("numpy==2.4.6 --hash=sha256:{hash} --hash=sha256:{hash}\n"),
                format!("tzdata==2026.6 ; sys_platform == 'linux' --hash=sha256:{hash}\n"),
            ]
        );
    }

    #[test]
    fn what_names_no_package_is_told_before_anything_is_done() {
        let check = |text: &str, words: &str| {
            let error = requirements_of(text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        check("version = 1\n\n[[package]]\nname = \"numpy\"\n", "for a uv.lock, use `--from`");
        check("# nothing yet\n\n", "it lists no packages");
        let error = |path: &str| requirements_in(Path::new(path)).unwrap_err().to_string();
        assert_eq!(error("/dev/zero"), "/dev/zero isn't a file");
        assert_eq!(error("/nowhere.txt"), "can't read /nowhere.txt");
    }

    #[test]
    fn a_file_that_nobody_can_have_written_is_not_read() {
        let folder = gristmill_testkit::TestFolder::new("requirements");
        let path = folder.path().join("huge.txt");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(FILE_BYTES_MAX + 1).unwrap();
        let error = check_file(&path).unwrap_err().to_string();
        assert!(error.ends_with("is larger than 16 MB"), "{error}");
    }

    #[test]
    fn only_packages_of_an_index_are_taken() {
        for good in [
            "numpy",
            "numpy>=2,<3",
            "pandas[excel, parquet] ~= 2.2",
            "torch==2.9.0+cpu",
            "zope.interface==7.*",
            "tzdata==2026.6 ; sys_platform == 'linux' and python_version >= \"3.11\"",
        ] {
            assert!(is_of_index(good), "{good}");
        }
        for bad in [
            "",
            "./evil",
            "../evil-1.0.tar.gz",
            "evil @ https://host.test/evil-1.0.tar.gz",
            "evil @ file:///tmp/evil-1.0.tar.gz#==1",
            "https://host.test/evil.whl",
            "git+https://host.test/evil",
            "-e evil",
            "numpy==1 --pre",
            "numpy==1\u{2028}--no-binary=:all:",
            "numpy==1 ; python_version<'2'\u{2029}--index-url=https://host.test",
            "numpy==1\n--pre",
            "numpy==${HOME}",
            "numpy[excel",
            "numpy==1 # evil",
        ] {
            assert!(!is_of_index(bad), "{bad}");
        }
    }

    #[test]
    fn hashes_are_for_all_or_for_none_and_options_are_for_nobody() {
        let hash = "0a".repeat(32);
        let check = |line: &str, words: &str| {
            let text = format!("numpy==2.4.6 --hash=sha256:{hash}\n{line}\n");
            let error = requirements_of(&text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        check("pandas==3.1.1", "`pandas==3.1.1` has no sha256 hash");
        check("pandas==3.1.1 --hash=md5:00", "has no sha256 hash");
        check(&format!("pandas>=3 --hash=sha256:{hash}"), "`pandas>=3` isn't a package with its version");
        check("--index-url https://index.test", "isn't a package with its version");
        check(&format!("a==1 --pre --hash=sha256:{hash}"), "isn't a package with its version");
    }
}
