//! The folders of one program, as one tree under `/`: what opening, making, renaming and
//! removing mean in it.
//!
//! The root is ours and holds nothing but the mounts. Links are never made here, and those that a
//! folder already holds are not followed.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Weak};

use gristmill_protocol::{Mount, MountAccess};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::error_code::ErrorCode;
use super::looked::Looked;
use super::open_file::{OpenFile, inode_of};
use super::path_beneath::{self, Seen};
use super::quota::{Quota, QuotaLimits};
use super::types::{DescriptorFlags, OpenFlags};

const HOME: &str = "workspace";

/// Folders inside each other. Whoever removes or counts them later goes as deep.
const DEPTH_MAX: usize = 64;

/// A folder handed to this program.
pub struct MountedFolder {
    /// Its name under `/`.
    pub name: String,
    pub fd: OwnedFd,
    /// What may be done in it.
    pub access: MountAccess,
}

impl MountedFolder {
    pub fn new(mount: Mount, fd: OwnedFd) -> Self {
        let Mount { name, access } = mount;
        Self { name, fd, access }
    }

    /// Whether anything in it may change.
    fn is_writable(&self) -> bool {
        self.access == MountAccess::ReadWrite
    }

    /// Whether only whoever knows a file's name finds it.
    fn is_by_name(&self) -> bool {
        self.access == MountAccess::ByName
    }
}

#[derive(Default)]
pub struct Folders {
    mounts: Vec<MountedFolder>,
    quota: Option<Quota>,
    /// As many as may be open at once.
    open_files: Vec<Weak<OpenFile>>,
}

/// What a program holds when it has opened something.
pub enum Descriptor {
    /// The root: the list of mounts.
    Root,
    /// A folder in a mount.
    Folder(OpenFolder),
    /// A file in a mount.
    File(Arc<OpenFile>),
}

/// See [`Descriptor::Folder`].
pub struct OpenFolder {
    pub fd: OwnedFd,
    inode: (u64, u64),
    mount: usize,
    /// How far below its mount, at most.
    depth: usize,
}

/// A folder being listed: it holds a descriptor of its own.
pub struct OpenListing {
    pub entries: Dir,
    inode: (u64, u64),
}

/// A place in some mount: a folder to start from and a path beneath it.
struct Place<'a> {
    mount: usize,
    from: BorrowedFd<'a>,
    path: String,
    /// How far below its mount, at most.
    depth: usize,
}

type Outcome<T> = Result<T, ErrorCode>;

impl Folders {
    /// Hands the program its folders. Called once, before the first one runs.
    pub fn mount(&mut self, mounts: Vec<MountedFolder>, quota: Quota) {
        self.mounts = mounts;
        self.quota = Some(quota);
    }

    /// The same folders for another program, which hold `bytes_used` under their names.
    pub fn continue_with(&mut self, limits: QuotaLimits, bytes_used: u64, files_used: u64) {
        let unnamed = self.unnamed_bytes();
        if let Some(quota) = &mut self.quota {
            quota.renew(limits, bytes_used.saturating_add(unnamed), files_used);
        }
    }

    /// What files hold that were removed while they were open: no name leads to them any more.
    fn unnamed_bytes(&self) -> u64 {
        let mut found = BTreeMap::new();
        for file in self.open_files.iter().filter_map(Weak::upgrade).filter(|file| file.counted) {
            if let Ok(stat) = rustix::fs::fstat(&file.fd)
                && stat.st_nlink == 0
            {
                found.insert(file.inode, stat.st_size as u64);
            }
        }
        found.into_values().fold(0, u64::saturating_add)
    }

    pub fn mounts(&self) -> &[MountedFolder] {
        &self.mounts
    }

    /// What was used and which limits refused something.
    pub fn quota(&self) -> Option<&Quota> {
        self.quota.as_ref()
    }

    pub fn quota_mut(&mut self) -> Outcome<&mut Quota> {
        self.quota.as_mut().ok_or(ErrorCode::NotPermitted)
    }

    pub fn open(
        &mut self,
        at: &Descriptor,
        path: &str,
        how: OpenFlags,
        access: DescriptorFlags,
    ) -> Outcome<Descriptor> {
        let Some(place) = self.place(at, path)? else {
            return match how.contains(OpenFlags::CREATE) || access.contains(DescriptorFlags::WRITE) {
                true => Err(ErrorCode::IsDirectory),
                false => Ok(Descriptor::Root),
            };
        };
        let writes = access.contains(DescriptorFlags::WRITE)
            || how.contains(OpenFlags::CREATE)
            || how.contains(OpenFlags::TRUNCATE);
        let (mount, depth) = (place.mount, place.depth);
        let (counted, by_name) = (self.mounts[mount].is_writable(), self.mounts[mount].is_by_name());
        if writes && !counted {
            return Err(ErrorCode::ReadOnly);
        }
        if by_name && (place.path == "." || how.contains(OpenFlags::DIRECTORY)) {
            return Err(ErrorCode::NotPermitted);
        }
        let mut flags =
            match (access.contains(DescriptorFlags::READ), access.contains(DescriptorFlags::WRITE)) {
                (_, false) => OFlags::RDONLY,
                (false, true) => OFlags::WRONLY,
                (true, true) => OFlags::RDWR,
            };
        // NONBLOCK: a fifo that someone left in the folder must not hang us.
        flags |= OFlags::NOCTTY | OFlags::NONBLOCK;
        if how.contains(OpenFlags::DIRECTORY) {
            flags |= OFlags::DIRECTORY;
        }
        let (from, path) = (place.from.try_clone_to_owned().map_err(|_| ErrorCode::Io)?, place.path);
        self.quota_mut()?.admit_open()?;
        let fd = self.open_or_create(from.as_fd(), &path, flags, how)?;
        let stat = rustix::fs::fstat(&fd)?;
        let inode = inode_of(&stat);
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory if by_name => Err(ErrorCode::NotPermitted),
            FileType::Directory => {
                self.quota_mut()?.opened(inode);
                Ok(Descriptor::Folder(OpenFolder { fd, inode, mount, depth }))
            }
            FileType::RegularFile => {
                let file = Arc::new(OpenFile {
                    fd,
                    inode,
                    readable: access.contains(DescriptorFlags::READ),
                    writable: access.contains(DescriptorFlags::WRITE),
                    counted,
                });
                let quota = self.quota_mut()?;
                quota.opened(inode);
                if how.contains(OpenFlags::TRUNCATE)
                    && stat.st_size > 0
                    && let Err(error) = file.set_size(0, quota)
                {
                    quota.closed(inode);
                    return Err(error);
                }
                self.open_files.push(Arc::downgrade(&file));
                Ok(Descriptor::File(file))
            }
            // Devices, pipes and sockets are not files to us.
            _ => Err(ErrorCode::NotPermitted),
        }
    }

    /// Gives back what an open file held, when its last holder lets go.
    pub fn release_file(&mut self, file: Arc<OpenFile>) {
        let Some(file) = Arc::into_inner(file) else { return };
        self.open_files.retain(|open| open.strong_count() > 0);
        let Some(quota) = self.quota.as_mut() else { return };
        if !quota.closed(file.inode) || !file.counted {
            return;
        }
        if let Ok(stat) = rustix::fs::fstat(&file.fd)
            && stat.st_nlink == 0
        {
            quota.shrink(stat.st_size as u64);
        }
    }

    pub fn release_folder(&mut self, folder: OpenFolder) {
        if let Some(quota) = self.quota.as_mut() {
            quota.closed(folder.inode);
        }
    }

    pub fn stat(&self, at: &Descriptor) -> Outcome<Looked> {
        Ok(match at {
            Descriptor::Root => Looked::Root,
            Descriptor::Folder(folder) => Looked::Thing(rustix::fs::fstat(&folder.fd)?),
            Descriptor::File(file) => Looked::Thing(rustix::fs::fstat(&file.fd)?),
        })
    }

    /// How what a path names looks. `follow`: a link is refused, where it would be told as one.
    pub fn stat_at(&self, at: &Descriptor, path: &str, follow: bool) -> Outcome<Looked> {
        let Some(place) = self.place(at, path)? else { return Ok(Looked::Root) };
        if path_beneath::parts(&place.path) == 0 {
            return Ok(Looked::Thing(rustix::fs::fstat(place.from)?));
        }
        if matches!(place.path.rsplit('/').next(), Some("" | "." | "..")) {
            let folder = path_beneath::open(place.from, &place.path, OFlags::DIRECTORY, Mode::empty())?;
            return Ok(Looked::Thing(rustix::fs::fstat(&folder)?));
        }
        let entry = path_beneath::entry(place.from, &place.path)?;
        match path_beneath::look(entry.parent.as_fd(), entry.name)? {
            Seen::Link if follow => Err(ErrorCode::Loop),
            Seen::Link => Ok(Looked::Link),
            Seen::Thing(stat) => Ok(Looked::Thing(stat)),
        }
    }

    pub fn make_folder(&mut self, at: &Descriptor, path: &str) -> Outcome<()> {
        let place = self.writable_place(at, path)?;
        if place.depth > DEPTH_MAX {
            return Err(ErrorCode::NameTooLong);
        }
        let entry = path_beneath::entry(place.from, &place.path)?;
        // EEXIST before "quota": `os.makedirs(exist_ok=True)` must work in a full workspace.
        if path_beneath::look(entry.parent.as_fd(), entry.name).is_ok() {
            return Err(ErrorCode::Exist);
        }
        let (parent, name) = (entry.parent, entry.name.to_owned());
        let quota = self.quota_mut()?;
        quota.make_entry()?;
        rustix::fs::mkdirat(&parent, &*name, Mode::from_raw_mode(0o755)).map_err(|error| {
            quota.drop_entry();
            error.into()
        })
    }

    pub fn remove_folder(&mut self, at: &Descriptor, path: &str) -> Outcome<()> {
        let place = self.writable_place(at, path)?;
        let entry = path_beneath::entry(place.from, &place.path)?;
        rustix::fs::unlinkat(&entry.parent, entry.name, AtFlags::REMOVEDIR)?;
        self.quota_mut()?.drop_entry();
        Ok(())
    }

    pub fn remove_file(&mut self, at: &Descriptor, path: &str) -> Outcome<()> {
        let place = self.writable_place(at, path)?;
        let entry = path_beneath::entry(place.from, &place.path)?;
        let seen = look_before_removal(&entry)?;
        if seen.as_ref().is_some_and(is_folder) {
            return Err(ErrorCode::IsDirectory);
        }
        rustix::fs::unlinkat(&entry.parent, entry.name, AtFlags::empty())?;
        removed(self.quota_mut()?, seen.as_ref());
        Ok(())
    }

    pub fn rename(&mut self, from_at: &Descriptor, from: &str, to_at: &Descriptor, to: &str) -> Outcome<()> {
        let source = self.writable_place(from_at, from)?;
        let target = self.writable_place(to_at, to)?;
        if source.mount != target.mount {
            return Err(ErrorCode::CrossDevice);
        }
        let source = path_beneath::entry(source.from, &source.path)?;
        let target_entry = path_beneath::entry(target.from, &target.path)?;
        let moved = look_before_removal(&source)?;
        if moved.as_ref().is_some_and(is_folder) {
            let within = depth_below(&source.parent, source.name, DEPTH_MAX)?;
            if target.depth + within > DEPTH_MAX {
                return Err(ErrorCode::NameTooLong);
            }
        }
        let replaced = look_before_removal(&target_entry).ok();
        rustix::fs::renameat(&source.parent, source.name, &target_entry.parent, target_entry.name)?;
        if let Some(replaced) = replaced
            && replaced.as_ref().map(inode_of) != moved.as_ref().map(inode_of)
        {
            removed(self.quota_mut()?, replaced.as_ref());
        }
        Ok(())
    }

    /// Where a link leads is nothing that a program should learn.
    pub fn read_link(&self, at: &Descriptor, path: &str) -> Outcome<String> {
        match self.stat_at(at, path, false)? {
            Looked::Link => Err(ErrorCode::NotPermitted),
            Looked::Root | Looked::Thing(_) => Err(ErrorCode::Invalid),
        }
    }

    /// A folder's entries, from the first on.
    pub fn list(&mut self, folder: &OpenFolder) -> Outcome<OpenListing> {
        if self.mounts[folder.mount].is_by_name() {
            return Err(ErrorCode::NotPermitted);
        }
        let quota = self.quota_mut()?;
        quota.admit_open()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let again = path_beneath::open(folder.fd.as_fd(), ".", flags, Mode::empty())?;
        let entries = Dir::new(again)?;
        quota.opened(folder.inode);
        Ok(OpenListing { entries, inode: folder.inode })
    }

    pub fn release_listing(&mut self, listing: OpenListing) {
        if let Some(quota) = self.quota.as_mut() {
            quota.closed(listing.inode);
        }
    }

    /// The entry whose times are to change, opened.
    pub fn open_for_times(&self, at: &Descriptor, path: &str) -> Outcome<OwnedFd> {
        let place = self.writable_place(at, path)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        Ok(path_beneath::open(place.from, &place.path, flags, Mode::empty())?)
    }

    /// Whether what `at` stands for may change.
    pub fn may_change(&self, at: &Descriptor) -> bool {
        match at {
            Descriptor::Root => false,
            Descriptor::Folder(folder) => self.mounts[folder.mount].is_writable(),
            Descriptor::File(file) => file.counted,
        }
    }

    fn open_or_create(
        &mut self,
        from: BorrowedFd<'_>,
        path: &str,
        flags: OFlags,
        how: OpenFlags,
    ) -> Outcome<OwnedFd> {
        let creates = how.contains(OpenFlags::CREATE);
        let exclusive = how.contains(OpenFlags::EXCLUSIVE);
        // Found and created are told apart, so that only what is made is counted.
        for _ in 0..4 {
            if !(creates && exclusive) {
                match path_beneath::open(from, path, flags, Mode::empty()) {
                    Err(Errno::NOENT) if creates => {}
                    outcome => return Ok(outcome?),
                }
            }
            let quota = self.quota_mut()?;
            quota.make_entry()?;
            let create = flags | OFlags::CREATE | OFlags::EXCL;
            match path_beneath::open(from, path, create, Mode::from_raw_mode(0o644)) {
                Ok(fd) => return Ok(fd),
                Err(error) => {
                    quota.drop_entry();
                    if error != Errno::EXIST || exclusive {
                        return Err(error.into());
                    }
                }
            }
        }
        // It is there but cannot be opened: a link to nothing.
        Err(ErrorCode::NoEntry)
    }

    fn place<'a>(&'a self, at: &'a Descriptor, path: &str) -> Outcome<Option<Place<'a>>> {
        path_beneath::check(path)?;
        match at {
            Descriptor::File(_) => Err(ErrorCode::NotDirectory),
            Descriptor::Folder(folder) => {
                let depth = folder.depth + path_beneath::parts(path);
                Ok(Some(Place { mount: folder.mount, from: folder.fd.as_fd(), path: path.to_owned(), depth }))
            }
            Descriptor::Root => {
                let Some((name, rest)) = path_beneath::split_root(path) else { return Ok(None) };
                if self.quota.is_none() && name == HOME {
                    // Before the folders arrive their names are there: the guest goes to its
                    // workspace while it still waits for a program.
                    return Ok(None);
                }
                let mount =
                    self.mounts.iter().position(|mount| mount.name == name).ok_or(ErrorCode::NoEntry)?;
                let depth = path_beneath::parts(&rest);
                Ok(Some(Place { mount, from: self.mounts[mount].fd.as_fd(), path: rest, depth }))
            }
        }
    }

    fn writable_place<'a>(&'a self, at: &'a Descriptor, path: &str) -> Outcome<Place<'a>> {
        let place = match self.place(at, path) {
            Ok(Some(place)) => place,
            Ok(None) => return Err(ErrorCode::Exist),
            // Making something beside the mounts: the root is not a folder to write in.
            Err(ErrorCode::NoEntry) => return Err(ErrorCode::ReadOnly),
            Err(error) => return Err(error),
        };
        match self.mounts[place.mount].is_writable() {
            true => Ok(place),
            false => Err(ErrorCode::ReadOnly),
        }
    }
}

/// What is about to lose its name; `None` is a link.
fn look_before_removal(entry: &path_beneath::Entry<'_>) -> Outcome<Option<Stat>> {
    Ok(match path_beneath::look(entry.parent.as_fd(), entry.name)? {
        Seen::Link => None,
        Seen::Thing(stat) => Some(stat),
    })
}

/// Counts what has lost its name.
fn removed(quota: &mut Quota, gone: Option<&Stat>) {
    match gone {
        Some(stat) if !is_folder(stat) => {
            quota.removed(inode_of(stat), stat.st_size as u64, stat.st_nlink <= 1);
        }
        Some(_) | None => quota.drop_entry(),
    }
}

fn is_folder(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

/// How many levels of folders lie below one; stops counting at `most`.
fn depth_below(parent: &OwnedFd, name: &str, most: usize) -> Outcome<usize> {
    if most == 0 {
        return Ok(0);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let folder = path_beneath::open(parent.as_fd(), name, flags, Mode::empty())?;
    let listed = path_beneath::open(folder.as_fd(), ".", flags, Mode::empty())?;
    let mut deepest = 0;
    for entry in Dir::new(listed)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else { continue };
        if matches!(name, "." | "..") || entry.file_type() != FileType::Directory {
            continue;
        }
        deepest = deepest.max(1 + depth_below(&folder, name, most - 1)?);
    }
    Ok(deepest)
}
