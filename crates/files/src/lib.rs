//! Files that are replaced whole, that only their owner reads, and that one process holds at a time;
//! and the folders of this user that they are in.
//!
//! Everything here blocks on the disk. Nothing knows what the files contain.

mod atomic;
mod bounded;
mod folders;
mod lock;
mod private;
mod remove_tree;
mod stamp;
mod surroundings;

pub use atomic::{
    WriteError, make_private_folder, replace_keeping_mode, replace_private, restrict_to_owner, sync_folder,
};
pub use bounded::{ReadError, read_bounded};
pub use folders::{FolderError, Folders};
pub use lock::{FileLock, LockAttempt, LockAttempts, LockError};
pub use private::{PrivateFile, PrivateFileError, ensure_private_folder};
pub use remove_tree::{remove_tree, remove_tree_counted};
pub use stamp::FileStamp;
pub use surroundings::{Platform, Surroundings};
