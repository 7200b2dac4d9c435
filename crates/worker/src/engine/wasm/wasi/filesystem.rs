//! `wasi:filesystem`, function by function, on [`Folders`](super::Folders).

use std::sync::Arc;

use rustix::fs::{Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use wasmtime::component::{Linker, LinkerInstance, Resource, ResourceType};

use super::error_code::ErrorCode;
use super::folders::{Descriptor, OpenListing};
use super::open_file::{OpenFile, kind_of};
use super::streams::{InputStream, OutputStream, StreamFailure};
use super::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, MetadataHash, NewTimestamp,
    OpenFlags, PathFlags,
};
use super::{Wasi, interface};
use crate::engine::wasm::Host;

/// A folder being listed.
enum Listing {
    Root(std::vec::IntoIter<String>),
    Folder(OpenListing),
}

type Handle = Resource<Descriptor>;
type Answer<T> = wasmtime::Result<(Result<T, ErrorCode>,)>;

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.instance(&interface("filesystem/preopens"))?.func_wrap(
        "get-directories",
        |mut store, (): ()| {
            let root = store.data_mut().wasi.table.push(Descriptor::Root)?;
            Ok((vec![(root, "/".to_owned())],))
        },
    )?;
    let mut types = linker.instance(&interface("filesystem/types"))?;
    types.resource("descriptor", ResourceType::host::<Descriptor>(), |mut store, rep| {
        let wasi = &mut store.data_mut().wasi;
        match wasi.table.delete(Handle::new_own(rep))? {
            Descriptor::Root => {}
            Descriptor::Folder(folder) => wasi.folders.release_folder(folder),
            Descriptor::File(file) => wasi.folders.release_file(file),
        }
        Ok(())
    })?;
    types.resource("directory-entry-stream", ResourceType::host::<Listing>(), |mut store, rep| {
        let wasi = &mut store.data_mut().wasi;
        if let Listing::Folder(listing) = wasi.table.delete(Resource::<Listing>::new_own(rep))? {
            wasi.folders.release_listing(listing);
        }
        Ok(())
    })?;
    types.func_wrap("filesystem-error-code", |store, (error,): (Resource<StreamFailure>,)| {
        Ok((Some(store.data().wasi.table.get(&error)?.0),))
    })?;
    add_file_functions(&mut types)?;
    add_folder_functions(&mut types)?;
    add_look_functions(&mut types)
}

/// Reading and writing what is open.
fn add_file_functions(types: &mut LinkerInstance<'_, Host>) -> wasmtime::Result<()> {
    types.func_wrap("[method]descriptor.read-via-stream", |mut store, (fd, offset): (Handle, u64)| {
        let wasi = &mut store.data_mut().wasi;
        match open_file(wasi, &fd)? {
            Ok(file) => Ok((Ok(wasi.table.push(InputStream::File { file, position: offset })?),)),
            Err(code) => Ok((Err(code),)),
        }
    })?;
    types.func_wrap("[method]descriptor.write-via-stream", |mut store, (fd, offset): (Handle, u64)| {
        push_writer(&mut store.data_mut().wasi, &fd, Some(offset))
    })?;
    types.func_wrap("[method]descriptor.append-via-stream", |mut store, (fd,): (Handle,)| {
        push_writer(&mut store.data_mut().wasi, &fd, None)
    })?;
    types.func_wrap(
        "[method]descriptor.read",
        |mut store, (fd, length, offset): (Handle, u64, u64)| -> Answer<(Vec<u8>, bool)> {
            let file = open_file(&mut store.data_mut().wasi, &fd)?;
            Ok((file.and_then(|file| file.read_at(offset, length)).map(|bytes| {
                let end = bytes.is_empty() && length > 0;
                (bytes, end)
            }),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.write",
        |mut store, (fd, bytes, offset): (Handle, Vec<u8>, u64)| -> Answer<u64> {
            let wasi = &mut store.data_mut().wasi;
            let written = open_file(wasi, &fd)?
                .and_then(|file| file.write_at(offset, &bytes, wasi.folders.quota_mut()?));
            Ok((written.map(|()| bytes.len() as u64),))
        },
    )?;
    types.func_wrap("[method]descriptor.set-size", |mut store, (fd, size): (Handle, u64)| -> Answer<()> {
        let wasi = &mut store.data_mut().wasi;
        Ok((open_file(wasi, &fd)?.and_then(|file| file.set_size(size, wasi.folders.quota_mut()?)),))
    })?;
    types.func_wrap(
        "[method]descriptor.set-times",
        |store, (fd, accessed, modified): (Handle, NewTimestamp, NewTimestamp)| -> Answer<()> {
            let wasi = &store.data().wasi;
            let descriptor = wasi.table.get(&fd)?;
            if !wasi.folders.may_change(descriptor) {
                return Ok((Err(ErrorCode::ReadOnly),));
            }
            let times = timestamps(accessed, modified);
            Ok((match descriptor {
                Descriptor::Root => Err(ErrorCode::ReadOnly),
                Descriptor::Folder(folder) => rustix::fs::futimens(&folder.fd, &times).map_err(Into::into),
                Descriptor::File(file) => rustix::fs::futimens(&file.fd, &times).map_err(Into::into),
            },))
        },
    )?;
    // Data is in the page cache once written, where the end of this process cannot reach it.
    // Waiting for the disk would only let one program stall the others.
    for name in ["[method]descriptor.sync", "[method]descriptor.sync-data"] {
        types.func_wrap(name, |_, (_,): (Handle,)| -> Answer<()> { Ok((Ok(()),)) })?;
    }
    types
        .func_wrap("[method]descriptor.advise", |_, (_, _, _, _): (Handle, u64, u64, Advice)| -> Answer<()> {
            Ok((Ok(()),))
        })
}

/// Making, opening, renaming and removing by name.
fn add_folder_functions(types: &mut LinkerInstance<'_, Host>) -> wasmtime::Result<()> {
    types.func_wrap(
        "[method]descriptor.open-at",
        |mut store, (at, _, path, how, access): (Handle, PathFlags, String, OpenFlags, DescriptorFlags)| {
            let wasi = &mut store.data_mut().wasi;
            let at = wasi.table.get(&at)?;
            match wasi.folders.open(at, &path, how, access) {
                Ok(descriptor) => Ok((Ok(wasi.table.push(descriptor)?),)),
                Err(code) => Ok((Err(code),)),
            }
        },
    )?;
    types.func_wrap(
        "[method]descriptor.create-directory-at",
        |mut store, (at, path): (Handle, String)| -> Answer<()> {
            let wasi = &mut store.data_mut().wasi;
            Ok((wasi.folders.make_folder(wasi.table.get(&at)?, &path),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.remove-directory-at",
        |mut store, (at, path): (Handle, String)| -> Answer<()> {
            let wasi = &mut store.data_mut().wasi;
            Ok((wasi.folders.remove_folder(wasi.table.get(&at)?, &path),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.unlink-file-at",
        |mut store, (at, path): (Handle, String)| -> Answer<()> {
            let wasi = &mut store.data_mut().wasi;
            Ok((wasi.folders.remove_file(wasi.table.get(&at)?, &path),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.rename-at",
        |mut store, (from_at, from, to_at, to): (Handle, String, Handle, String)| -> Answer<()> {
            let wasi = &mut store.data_mut().wasi;
            let (from_at, to_at) = (wasi.table.get(&from_at)?, wasi.table.get(&to_at)?);
            Ok((wasi.folders.rename(from_at, &from, to_at, &to),))
        },
    )?;
    // No links: whoever reads this workspace later must be able to trust its names.
    types.func_wrap(
        "[method]descriptor.link-at",
        |_, (_, _, _, _, _): (Handle, PathFlags, String, Handle, String)| -> Answer<()> {
            Ok((Err(ErrorCode::NotPermitted),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.symlink-at",
        |_, (_, _, _): (Handle, String, String)| -> Answer<()> { Ok((Err(ErrorCode::NotPermitted),)) },
    )?;
    types.func_wrap("[method]descriptor.readlink-at", |store, (at, path): (Handle, String)| {
        let wasi = &store.data().wasi;
        Ok((wasi.folders.read_link(wasi.table.get(&at)?, &path),))
    })?;
    types.func_wrap(
        "[method]descriptor.set-times-at",
        |store,
         (at, _, path, accessed, modified): (Handle, PathFlags, String, NewTimestamp, NewTimestamp)|
         -> Answer<()> {
            let wasi = &store.data().wasi;
            let times = timestamps(accessed, modified);
            let opened = wasi.folders.open_for_times(wasi.table.get(&at)?, &path);
            Ok((opened.and_then(|fd| Ok(rustix::fs::futimens(&fd, &times)?)),))
        },
    )
}

/// Looking without touching.
fn add_look_functions(types: &mut LinkerInstance<'_, Host>) -> wasmtime::Result<()> {
    types.func_wrap(
        "[method]descriptor.get-flags",
        |store, (fd,): (Handle,)| -> Answer<DescriptorFlags> {
            let wasi = &store.data().wasi;
            let descriptor = wasi.table.get(&fd)?;
            let mut flags = DescriptorFlags::READ;
            match descriptor {
                Descriptor::File(file) => {
                    if !file.readable {
                        flags = DescriptorFlags::empty();
                    }
                    if file.writable {
                        flags |= DescriptorFlags::WRITE;
                    }
                }
                Descriptor::Root | Descriptor::Folder(_) => flags |= DescriptorFlags::MUTATE_DIRECTORY,
            }
            Ok((Ok(flags),))
        },
    )?;
    types.func_wrap("[method]descriptor.get-type", |store, (fd,): (Handle,)| -> Answer<DescriptorType> {
        Ok((Ok(match store.data().wasi.table.get(&fd)? {
            Descriptor::Root | Descriptor::Folder(_) => DescriptorType::Directory,
            Descriptor::File(_) => DescriptorType::RegularFile,
        }),))
    })?;
    types.func_wrap("[method]descriptor.stat", |store, (fd,): (Handle,)| -> Answer<DescriptorStat> {
        let wasi = &store.data().wasi;
        let stat = wasi.folders.stat(wasi.table.get(&fd)?);
        Ok((stat.map(|looked| looked.describe()),))
    })?;
    types.func_wrap(
        "[method]descriptor.stat-at",
        |store, (at, follow, path): (Handle, PathFlags, String)| -> Answer<DescriptorStat> {
            let wasi = &store.data().wasi;
            let follow = follow.contains(PathFlags::SYMLINK_FOLLOW);
            let stat = wasi.folders.stat_at(wasi.table.get(&at)?, &path, follow);
            Ok((stat.map(|looked| looked.describe()),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.metadata-hash",
        |store, (fd,): (Handle,)| -> Answer<MetadataHash> {
            let wasi = &store.data().wasi;
            let stat = wasi.folders.stat(wasi.table.get(&fd)?);
            Ok((stat.map(|looked| looked.identity()),))
        },
    )?;
    types.func_wrap(
        "[method]descriptor.metadata-hash-at",
        |store, (at, follow, path): (Handle, PathFlags, String)| -> Answer<MetadataHash> {
            let wasi = &store.data().wasi;
            let follow = follow.contains(PathFlags::SYMLINK_FOLLOW);
            let stat = wasi.folders.stat_at(wasi.table.get(&at)?, &path, follow);
            Ok((stat.map(|looked| looked.identity()),))
        },
    )?;
    types.func_wrap("[method]descriptor.is-same-object", |store, (one, other): (Handle, Handle)| {
        let wasi = &store.data().wasi;
        let one = wasi.folders.stat(wasi.table.get(&one)?);
        let other = wasi.folders.stat(wasi.table.get(&other)?);
        let same = match (one, other) {
            (Ok(one), Ok(other)) => one.is_same(&other),
            (Err(_), _) | (_, Err(_)) => false,
        };
        Ok((same,))
    })?;
    types.func_wrap("[method]descriptor.read-directory", |mut store, (fd,): (Handle,)| {
        let wasi = &mut store.data_mut().wasi;
        let listing = match wasi.table.get(&fd)? {
            Descriptor::Root => {
                let names: Vec<_> = wasi.folders.mounts().iter().map(|mount| mount.name.clone()).collect();
                Ok(Listing::Root(names.into_iter()))
            }
            Descriptor::Folder(folder) => wasi.folders.list(folder).map(Listing::Folder),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory),
        };
        match listing {
            Ok(listing) => Ok((Ok(wasi.table.push(listing)?),)),
            Err(code) => Ok((Err(code),)),
        }
    })?;
    types.func_wrap(
        "[method]directory-entry-stream.read-directory-entry",
        |mut store, (listing,): (Resource<Listing>,)| -> Answer<Option<DirectoryEntry>> {
            let listing = store.data_mut().wasi.table.get_mut(&listing)?;
            Ok((next_entry(listing),))
        },
    )
}

fn next_entry(listing: &mut Listing) -> Result<Option<DirectoryEntry>, ErrorCode> {
    match listing {
        Listing::Root(names) => {
            Ok(names.next().map(|name| DirectoryEntry { kind: DescriptorType::Directory, name }))
        }
        Listing::Folder(folder) => {
            for entry in folder.entries.by_ref() {
                let entry = entry?;
                if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                    continue;
                }
                // WASI has no word for a name that is not UTF-8: such a file cannot be opened either.
                let Ok(name) = entry.file_name().to_str() else { continue };
                return Ok(Some(DirectoryEntry { kind: kind_of(entry.file_type()), name: name.to_owned() }));
            }
            Ok(None)
        }
    }
}

fn open_file(wasi: &mut Wasi, fd: &Handle) -> wasmtime::Result<Result<Arc<OpenFile>, ErrorCode>> {
    Ok(match wasi.table.get(fd)? {
        Descriptor::File(file) => Ok(Arc::clone(file)),
        Descriptor::Root | Descriptor::Folder(_) => Err(ErrorCode::IsDirectory),
    })
}

fn push_writer(wasi: &mut Wasi, fd: &Handle, position: Option<u64>) -> Answer<Resource<OutputStream>> {
    match open_file(wasi, fd)? {
        Ok(file) if !file.writable => Ok((Err(ErrorCode::BadDescriptor),)),
        Ok(file) => Ok((Ok(wasi.table.push(OutputStream::File { file, position })?),)),
        Err(code) => Ok((Err(code),)),
    }
}

fn timestamps(accessed: NewTimestamp, modified: NewTimestamp) -> Timestamps {
    let convert = |new| match new {
        NewTimestamp::NoChange => Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
        NewTimestamp::Now => Timespec { tv_sec: 0, tv_nsec: UTIME_NOW as _ },
        NewTimestamp::Timestamp(at) => Timespec {
            tv_sec: i64::try_from(at.seconds).unwrap_or(i64::MAX) as _,
            tv_nsec: at.nanoseconds.min(999_999_999) as _,
        },
    };
    Timestamps { last_access: convert(accessed), last_modification: convert(modified) }
}
