//! Putting changes into a folder, step by step, so that each step can be taken back.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, RenameFlags, linkat, mkdirat, renameat, renameat_with, unlinkat};
use rustix::io::Errno;

use super::beneath;
use super::error::FolderError;
use super::name::Name;
use super::plan::{CheckedPlan, PlanStep, staged_name};

/// How often a name is tried that somebody else gives to something and takes away again.
const ATTEMPTS: usize = 16;

/// Does what the plan says, or nothing. Gives how many names are gone.
pub(super) fn place(
    folder: BorrowedFd<'_>,
    stage: BorrowedFd<'_>,
    plan: CheckedPlan,
) -> Result<u64, FolderError> {
    let mut placing = Placing { root: folder, stage, folders: Vec::new(), done: Vec::new(), aside: 0 };
    match placing.all(&plan.0.steps) {
        Ok(removed) => Ok(removed),
        Err(why) => Err(match placing.take_back() {
            Ok(()) => why,
            Err(error) => FolderError::Mixed { why: Box::new(why), source: error.into() },
        }),
    }
}

struct Placing<'a> {
    root: BorrowedFd<'a>,
    stage: BorrowedFd<'a>,
    /// Every folder below the root that was entered: its name, and the place here of the folder that it is in.
    folders: Vec<(Option<usize>, Name)>,
    done: Vec<Done>,
    /// How many things lie in the stage that were in the folder.
    aside: u64,
}

/// A step that was done in one of the folders.
struct Done {
    at: Option<usize>,
    name: Name,
    what: What,
}

enum What {
    /// It is new, and came from the stage.
    Placed { staged: Name },
    /// It is new; what had its name is in the stage under the name that the new one had.
    Exchanged { staged: Name },
    /// It is new; what had its name is in the stage.
    Replaced { staged: Name },
    /// It is gone, and lies in the stage.
    Aside { staged: Name },
    /// It is a new folder.
    Made,
}

/// A folder on the way down.
struct Level {
    place: Option<usize>,
    folder: OwnedFd,
}

impl Placing<'_> {
    fn all(&mut self, steps: &[PlanStep]) -> Result<u64, FolderError> {
        let root = beneath::open_again(self.root).map_err(failed)?;
        let mut way = vec![Level { place: None, folder: root }];
        let mut removed = 0;
        for step in steps {
            let Some(level) = way.last() else { break };
            let (at, place) = (level.folder.as_fd(), level.place);
            match step {
                PlanStep::Up => drop(way.pop()),
                PlanStep::Gone(name) => removed += u64::from(self.set_aside(at, place, name)?),
                PlanStep::File { name, staged, .. } => self.file(at, place, name, staged)?,
                PlanStep::Folder(name) => {
                    let folder = self.folder(at, place, name)?;
                    self.folders.push((place, name.clone()));
                    way.push(Level { place: Some(self.folders.len() - 1), folder });
                }
            }
        }
        Ok(removed)
    }

    /// The folder of this name, made if something else has it, or nothing.
    fn folder(
        &mut self,
        at: BorrowedFd<'_>,
        place: Option<usize>,
        name: &Name,
    ) -> Result<OwnedFd, FolderError> {
        for _ in 0..ATTEMPTS {
            match open_usable(at, name) {
                Err(Errno::NOENT) => match mkdirat(at, name.as_c_str(), Mode::RWXU) {
                    Ok(()) => self.done(place, name, What::Made),
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(failed(error)),
                },
                Err(Errno::NOTDIR | Errno::LOOP) => drop(self.set_aside(at, place, name)?),
                opened => return opened.map_err(failed),
            }
        }
        Err(failed(Errno::BUSY))
    }

    /// A staged file gets its name; what had it goes to the stage, or is replaced.
    fn file(
        &mut self,
        at: BorrowedFd<'_>,
        place: Option<usize>,
        name: &Name,
        staged: &Name,
    ) -> Result<(), FolderError> {
        let rename = |flags| renameat_with(self.stage, staged.as_c_str(), at, name.as_c_str(), flags);
        let outcome = retried(at, name, || rename(RenameFlags::EXCHANGE));
        let what = match outcome {
            Ok(()) => What::Exchanged { staged: staged.clone() },
            Err(Errno::NOENT) => {
                renameat(self.stage, staged.as_c_str(), at, name.as_c_str()).map_err(failed)?;
                What::Placed { staged: staged.clone() }
            }
            // Not every file system can exchange names.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                return self.file_without_exchange(at, place, name, staged);
            }
            Err(error) => return Err(failed(error)),
        };
        self.done(place, name, what);
        Ok(())
    }

    /// The same by a second name for what is replaced; where there can be none, the name is missing for a moment.
    fn file_without_exchange(
        &mut self,
        at: BorrowedFd<'_>,
        place: Option<usize>,
        name: &Name,
        staged: &Name,
    ) -> Result<(), FolderError> {
        let old = staged_name("old", self.aside)?;
        let linked = linkat(at, name.as_c_str(), self.stage, old.as_c_str(), AtFlags::empty());
        let what = match linked {
            Ok(()) => {
                self.aside += 1;
                What::Replaced { staged: old }
            }
            // Nothing has the name; or a folder, which has one name only; or nothing has two names here.
            Err(_) => {
                self.set_aside(at, place, name)?;
                What::Placed { staged: staged.clone() }
            }
        };
        renameat(self.stage, staged.as_c_str(), at, name.as_c_str()).map_err(failed)?;
        self.done(place, name, what);
        Ok(())
    }

    /// Whether there was anything of this name; it lies in the stage now, with all that is in it.
    fn set_aside(
        &mut self,
        at: BorrowedFd<'_>,
        place: Option<usize>,
        name: &Name,
    ) -> Result<bool, FolderError> {
        let staged = staged_name("old", self.aside)?;
        match retried(at, name, || renameat(at, name.as_c_str(), self.stage, staged.as_c_str())) {
            Ok(()) => {
                self.aside += 1;
                self.done(place, name, What::Aside { staged });
                Ok(true)
            }
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    }

    fn done(&mut self, at: Option<usize>, name: &Name, what: What) {
        self.done.push(Done { at, name: name.clone(), what });
    }

    /// The last step first.
    fn take_back(&mut self) -> Result<(), Errno> {
        while let Some(Done { at, name, what }) = self.done.pop() {
            let at = self.reopen(at)?;
            let (name, stage) = (name.as_c_str(), self.stage);
            match what {
                What::Placed { staged } => renameat(&at, name, stage, staged.as_c_str())?,
                What::Exchanged { staged } => {
                    renameat_with(stage, staged.as_c_str(), &at, name, RenameFlags::EXCHANGE)?;
                }
                What::Replaced { staged } | What::Aside { staged } => {
                    renameat(stage, staged.as_c_str(), &at, name)?
                }
                What::Made => unlinkat(&at, name, AtFlags::REMOVEDIR)?,
            }
        }
        Ok(())
    }

    /// One of the folders, by its names from the root on.
    fn reopen(&self, mut place: Option<usize>) -> Result<OwnedFd, Errno> {
        let mut names = Vec::new();
        while let Some((above, name)) = place.and_then(|place| self.folders.get(place)) {
            names.push(name);
            place = *above;
        }
        let mut at = beneath::open_again(self.root)?;
        for name in names.into_iter().rev() {
            at = beneath::open_folder(at.as_fd(), name)?;
        }
        Ok(at)
    }
}

/// Again if it can't be done since a folder of this name can't be written to by its owner.
fn retried(
    at: BorrowedFd<'_>,
    name: &Name,
    mut rename: impl FnMut() -> Result<(), Errno>,
) -> Result<(), Errno> {
    match rename() {
        Err(Errno::ACCESS) => open_usable(at, name).and_then(|_| rename()),
        outcome => outcome,
    }
}

/// A folder in which its owner may do anything.
fn open_usable(at: BorrowedFd<'_>, name: &Name) -> Result<OwnedFd, Errno> {
    let folder = match beneath::open_folder(at, name) {
        Err(Errno::ACCESS) => {
            beneath::make_readable(at, name)?;
            beneath::open_folder(at, name)?
        }
        opened => opened?,
    };
    beneath::make_usable(&folder)?;
    Ok(folder)
}

fn failed(error: Errno) -> FolderError {
    FolderError::errno("put changes into the folder", error)
}

#[cfg(test)]
mod tests {
    use super::super::tests::World;
    use super::*;

    /// As on a file system that can't exchange names.
    #[test]
    fn without_exchange_files_are_placed_and_taken_back_all_the_same() {
        let world = World::new("no-exchange");
        let name = |text: &str| Name::read(text.as_bytes()).expect("a name");
        for is_taken_back in [false, true] {
            let path = format!("{is_taken_back}");
            for file in ["file", "folder/below"] {
                world.write(format!("{path}/at/{file}"), "old");
            }
            for number in 0..3 {
                world.write(format!("{path}/stage/new-{number}"), "new");
            }
            let before = world.tree(&path);
            let (at, stage) = (world.open(&format!("{path}/at")), world.open(&format!("{path}/stage")));
            let (root, stage) = (at.as_fd(), stage.as_fd());
            let mut placing = Placing { root, stage, folders: Vec::new(), done: Vec::new(), aside: 0 };
            for (number, file) in ["file", "folder", "not there yet"].into_iter().enumerate() {
                let staged = name(&format!("new-{number}"));
                placing.file_without_exchange(at.as_fd(), None, &name(file), &staged).expect("placed");
            }
            let now = world.tree(&format!("{path}/at"));
            assert_eq!(
                now,
                ["file", "folder", "not there yet"].map(|file| (file.to_owned(), "new".to_owned()))
            );
            if is_taken_back {
                placing.take_back().expect("taken back");
                let without_new = |tree: Vec<(String, String)>| {
                    tree.into_iter().filter(|(path, _)| !path.starts_with("stage/")).collect::<Vec<_>>()
                };
                assert_eq!(without_new(world.tree(&path)), without_new(before));
            }
        }
    }
}
