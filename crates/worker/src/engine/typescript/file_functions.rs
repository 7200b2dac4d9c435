//! Files, for the guest's `node:fs`: each function takes a path beneath the root and does one thing.
//! What fails throws the system's word for it, such as `ENOENT`.

use wasmtime::AsContextMut;

use super::guest::{Failure, Guest, Outcome, Value, span};
use super::host_functions::Arguments;
use super::instance::Host;
use crate::engine::wasm::{Descriptor, DescriptorFlags, DescriptorType, ErrorCode, OpenFile, OpenFlags};

/// How much is read or written at once: it passes through the host's memory.
const CHUNK_BYTES: usize = 256 * 1024;

pub fn call<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    name: &str,
    arguments: &Arguments,
) -> Outcome<Value> {
    let path = guest.text_of(arguments.get(0)?)?;
    match name {
        "readText" => read_text(guest, &path),
        "readInto" => read_into(guest, &path, arguments),
        "writeFile" => write_file(guest, &path, arguments),
        "list" => list(guest, &path),
        "stat" => stat(guest, &path),
        "makeFolder" => change(guest, |host| host.folders.make_folder(&Descriptor::Root, &path)),
        "removeFolder" => change(guest, |host| host.folders.remove_folder(&Descriptor::Root, &path)),
        "removeFile" => change(guest, |host| host.folders.remove_file(&Descriptor::Root, &path)),
        "rename" => {
            let to = guest.text_of(arguments.get(1)?)?;
            change(guest, |host| host.folders.rename(&Descriptor::Root, &path, &Descriptor::Root, &to))
        }
        _ => Err(Failure::Fatal(wasmtime::Error::msg(format!("there is no host function {name}")))),
    }
}

fn change<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    make: impl FnOnce(&mut Host) -> Result<(), ErrorCode>,
) -> Outcome<Value> {
    let made = make(guest.host());
    match made {
        Ok(()) => guest.undefined(),
        Err(code) => Err(guest.throw_text(word_for(code))),
    }
}

/// A file that is open while something is done with it.
fn with_file<C: AsContextMut<Data = Host>, T>(
    guest: &mut Guest<C>,
    path: &str,
    how: OpenFlags,
    access: DescriptorFlags,
    work: impl FnOnce(&mut Guest<C>, &OpenFile) -> Outcome<T>,
) -> Outcome<T> {
    let opened = guest.host().folders.open(&Descriptor::Root, path, how, access);
    let file = match opened {
        Ok(Descriptor::File(file)) => file,
        Ok(Descriptor::Folder(folder)) => {
            guest.host().folders.release_folder(folder);
            return Err(guest.throw_text("EISDIR"));
        }
        Ok(Descriptor::Root) => return Err(guest.throw_text("EISDIR")),
        Err(code) => return Err(guest.throw_text(word_for(code))),
    };
    let worked = work(guest, &file);
    guest.host().folders.release_file(file);
    worked
}

fn read_text<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, path: &str) -> Outcome<Value> {
    with_file(guest, path, OpenFlags::empty(), DescriptorFlags::READ, |guest, file| {
        let size = file.size().map_err(|code| guest.throw_text(word_for(code)))? as usize;
        let address = guest.allocate(size)?;
        let made = copy_in(guest, file, 0, address, size).and_then(|length| guest.text_at(address, length));
        guest.release(address)?;
        made
    })
}

/// Fills a `Uint8Array` from a position in a file. Gives how many bytes there were.
fn read_into<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    path: &str,
    arguments: &Arguments,
) -> Outcome<Value> {
    let position = guest.number_of(arguments.get(1)?)?.max(0.0) as u64;
    let (address, length) = guest.array_bytes(arguments.get(2)?)?;
    with_file(guest, path, OpenFlags::empty(), DescriptorFlags::READ, |guest, file| {
        let count = copy_in(guest, file, position, address, length)?;
        guest.number(count as f64)
    })
}

fn copy_in<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    file: &OpenFile,
    position: u64,
    address: i32,
    length: usize,
) -> Outcome<usize> {
    let mut done = 0;
    while done < length {
        let wanted = (length - done).min(CHUNK_BYTES) as u64;
        let bytes =
            file.read_at(position + done as u64, wanted).map_err(|code| guest.throw_text(word_for(code)))?;
        if bytes.is_empty() {
            break;
        }
        guest.bytes_mut(span(address.wrapping_add(done as i32), bytes.len()))?.copy_from_slice(&bytes);
        done += bytes.len();
    }
    Ok(done)
}

/// Path, text or a `Uint8Array`, and how: `w` from the start, `a` at the end, with `x` only if it is new.
fn write_file<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    path: &str,
    arguments: &Arguments,
) -> Outcome<Value> {
    let (content, mode) = (arguments.get(1)?, guest.text_of(arguments.get(2)?)?);
    let mut how = OpenFlags::CREATE;
    if mode.starts_with('w') {
        how |= OpenFlags::TRUNCATE;
    }
    if mode.contains('x') {
        how |= OpenFlags::EXCLUSIVE;
    }
    let appends = mode.starts_with('a');
    if guest.is_string(content)? {
        return guest.with_text(content, |guest, address, length| {
            write_bytes(guest, path, how, appends, address, length)
        });
    }
    let (address, length) = guest.array_bytes(content)?;
    write_bytes(guest, path, how, appends, address, length)
}

fn write_bytes<C: AsContextMut<Data = Host>>(
    guest: &mut Guest<C>,
    path: &str,
    how: OpenFlags,
    appends: bool,
    address: i32,
    length: usize,
) -> Outcome<Value> {
    with_file(guest, path, how, DescriptorFlags::WRITE, |guest, file| {
        let (bytes, host) = guest.bytes_and_host(span(address, length))?;
        let written = host.folders.quota_mut().and_then(|quota| {
            let start = if appends { file.size()? } else { 0 };
            file.write_at(start, bytes, quota)
        });
        match written {
            Ok(()) => guest.undefined(),
            Err(code) => Err(guest.throw_text(word_for(code))),
        }
    })
}

/// A flat list: name, kind; and so on.
fn list<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, path: &str) -> Outcome<Value> {
    let listed = guest.host().folders.entries(path);
    let entries = match listed {
        Ok(entries) => entries,
        Err(code) => return Err(guest.throw_text(word_for(code))),
    };
    let mut members = Vec::with_capacity(2 * entries.len());
    for (name, kind) in entries {
        members.push(guest.text(&name)?);
        members.push(guest.text(kind_letter(kind))?);
    }
    guest.array(&members)
}

/// Kind, bytes, and when it was changed, read and made, in milliseconds since 1970.
fn stat<C: AsContextMut<Data = Host>>(guest: &mut Guest<C>, path: &str) -> Outcome<Value> {
    let looked = guest.host().folders.stat_at(&Descriptor::Root, path, false);
    let seen = match looked {
        Ok(looked) => looked.describe(),
        Err(code) => return Err(guest.throw_text(word_for(code))),
    };
    let mut members = vec![guest.text(kind_letter(seen.kind))?, guest.number(seen.size as f64)?];
    for time in [seen.modified, seen.accessed, seen.changed] {
        let ms = time.map_or(0.0, |time| time.seconds as f64 * 1e3 + f64::from(time.nanoseconds) / 1e6);
        members.push(guest.number(ms)?);
    }
    guest.array(&members)
}

fn kind_letter(kind: DescriptorType) -> &'static str {
    match kind {
        DescriptorType::Directory => "d",
        DescriptorType::RegularFile => "f",
        DescriptorType::SymbolicLink => "l",
        DescriptorType::Unknown
        | DescriptorType::BlockDevice
        | DescriptorType::CharacterDevice
        | DescriptorType::Fifo
        | DescriptorType::Socket => "o",
    }
}

/// As Node calls it.
fn word_for(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NoEntry => "ENOENT",
        ErrorCode::Exist => "EEXIST",
        ErrorCode::NotDirectory => "ENOTDIR",
        ErrorCode::IsDirectory => "EISDIR",
        ErrorCode::NotEmpty => "ENOTEMPTY",
        ErrorCode::ReadOnly => "EROFS",
        ErrorCode::NotPermitted => "EPERM",
        ErrorCode::Access => "EACCES",
        ErrorCode::Quota => "EDQUOT",
        ErrorCode::FileTooLarge => "EFBIG",
        ErrorCode::InsufficientSpace => "ENOSPC",
        ErrorCode::NameTooLong => "ENAMETOOLONG",
        ErrorCode::Invalid => "EINVAL",
        ErrorCode::Loop => "ELOOP",
        ErrorCode::CrossDevice => "EXDEV",
        _ => "EIO",
    }
}
