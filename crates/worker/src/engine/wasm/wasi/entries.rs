//! What lies in a folder, all at once: for guests that have no streams of entries.

use super::error_code::ErrorCode;
use super::folders::{Descriptor, Folders, OpenFolder};
use super::open_file::kind_of;
use super::types::{DescriptorFlags, DescriptorType, OpenFlags};

impl Folders {
    /// The names and kinds in the folder at a path, but for names that are no text.
    pub fn entries(&mut self, path: &str) -> Result<Vec<(String, DescriptorType)>, ErrorCode> {
        match self.open(&Descriptor::Root, path, OpenFlags::DIRECTORY, DescriptorFlags::READ)? {
            Descriptor::Root => {
                let names = self.mounts().iter().map(|mount| mount.name.clone());
                Ok(names.map(|name| (name, DescriptorType::Directory)).collect())
            }
            Descriptor::Folder(folder) => {
                let listed = self.entries_of(&folder);
                self.release_folder(folder);
                listed
            }
            Descriptor::File(file) => {
                self.release_file(file);
                Err(ErrorCode::NotDirectory)
            }
        }
    }

    fn entries_of(&mut self, folder: &OpenFolder) -> Result<Vec<(String, DescriptorType)>, ErrorCode> {
        let mut listing = self.list(folder)?;
        let mut found = Vec::new();
        for entry in listing.entries.by_ref().map_while(Result::ok) {
            if let Ok(name) = entry.file_name().to_str()
                && !matches!(name, "." | "..")
            {
                found.push((name.to_owned(), kind_of(entry.file_type())));
            }
        }
        self.release_listing(listing);
        Ok(found)
    }
}
