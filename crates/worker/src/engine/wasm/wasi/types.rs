//! The types of `wasi:filesystem` and `wasi:clocks`, named as the interface names them.

use wasmtime::component::{ComponentType, Lift, Lower, flags};

/// Seconds and nanoseconds since 1970.
#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(record)]
pub struct Datetime {
    pub seconds: u64,
    pub nanoseconds: u32,
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug, PartialEq, Eq)]
#[component(enum)]
#[repr(u8)]
pub enum DescriptorType {
    #[component(name = "unknown")]
    Unknown,
    #[component(name = "block-device")]
    BlockDevice,
    #[component(name = "character-device")]
    CharacterDevice,
    #[component(name = "directory")]
    Directory,
    #[component(name = "fifo")]
    Fifo,
    #[component(name = "symbolic-link")]
    SymbolicLink,
    #[component(name = "regular-file")]
    RegularFile,
    #[component(name = "socket")]
    Socket,
}

flags! {
    DescriptorFlags {
        #[component(name = "read")]
        const READ;
        #[component(name = "write")]
        const WRITE;
        #[component(name = "file-integrity-sync")]
        const FILE_INTEGRITY_SYNC;
        #[component(name = "data-integrity-sync")]
        const DATA_INTEGRITY_SYNC;
        #[component(name = "requested-write-sync")]
        const REQUESTED_WRITE_SYNC;
        #[component(name = "mutate-directory")]
        const MUTATE_DIRECTORY;
    }
}

flags! {
    PathFlags {
        #[component(name = "symlink-follow")]
        const SYMLINK_FOLLOW;
    }
}

flags! {
    OpenFlags {
        #[component(name = "create")]
        const CREATE;
        #[component(name = "directory")]
        const DIRECTORY;
        #[component(name = "exclusive")]
        const EXCLUSIVE;
        #[component(name = "truncate")]
        const TRUNCATE;
    }
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(record)]
pub struct DescriptorStat {
    #[component(name = "type")]
    pub kind: DescriptorType,
    #[component(name = "link-count")]
    pub link_count: u64,
    pub size: u64,
    #[component(name = "data-access-timestamp")]
    pub accessed: Option<Datetime>,
    #[component(name = "data-modification-timestamp")]
    pub modified: Option<Datetime>,
    #[component(name = "status-change-timestamp")]
    pub changed: Option<Datetime>,
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(variant)]
pub enum NewTimestamp {
    #[component(name = "no-change")]
    NoChange,
    #[component(name = "now")]
    Now,
    #[component(name = "timestamp")]
    Timestamp(Datetime),
}

#[derive(ComponentType, Lift, Lower, Clone, Debug)]
#[component(record)]
pub struct DirectoryEntry {
    #[component(name = "type")]
    pub kind: DescriptorType,
    pub name: String,
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "only the guest makes these")]
pub enum Advice {
    #[component(name = "normal")]
    Normal,
    #[component(name = "sequential")]
    Sequential,
    #[component(name = "random")]
    Random,
    #[component(name = "will-need")]
    WillNeed,
    #[component(name = "dont-need")]
    DontNeed,
    #[component(name = "no-reuse")]
    NoReuse,
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(record)]
pub struct MetadataHash {
    pub lower: u64,
    pub upper: u64,
}
