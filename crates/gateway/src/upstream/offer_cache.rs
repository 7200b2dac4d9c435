//! What each server offered last time, on disk. Losing it costs a start of the server, no more: a
//! file that cannot be read or written is as good as none.

use std::path::PathBuf;

use gristmill_domain::{ServerSettings, Transport};
use gristmill_files::{read_bounded, replace_private};
use serde::{Deserialize, Serialize};

use super::connection::ServerFacts;
use super::raw_offer::RawOffer;

/// Another format is not read.
const FORMAT: u32 = 1;

/// Far more than any server offers.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CachedOffer {
    pub facts: ServerFacts,
    pub offer: RawOffer,
}

#[derive(Serialize, Deserialize)]
struct OfferFile {
    format: u32,
    name: String,
    /// A hash of how it is reached: the offer of another program is of no use.
    #[serde(rename = "reached")]
    transport_hash: String,
    protocol: String,
    title: Option<String>,
    version: Option<String>,
    instructions: Option<String>,
    tools: Vec<String>,
    #[serde(default)]
    resources: Option<Vec<String>>,
    #[serde(default)]
    resource_templates: Option<Vec<String>>,
    #[serde(default)]
    prompts: Option<Vec<String>>,
}

pub(super) struct OfferCache {
    folder: PathBuf,
}

impl OfferCache {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn read(&self, settings: &ServerSettings) -> Option<CachedOffer> {
        let text = read_bounded(&self.path(settings), FILE_BYTES_MAX).ok()??;
        let file: OfferFile = serde_json::from_str(&text).ok()?;
        let fits = file.format == FORMAT
            && file.name == settings.name
            && file.transport_hash == transport_hash(settings);
        fits.then_some(CachedOffer {
            facts: ServerFacts {
                title: file.title,
                version: file.version,
                instructions: file.instructions,
                protocol: file.protocol,
            },
            offer: RawOffer {
                tools: file.tools,
                resources: file.resources,
                resource_templates: file.resource_templates,
                prompts: file.prompts,
            },
        })
    }

    pub(super) fn write(&self, settings: &ServerSettings, offer: &CachedOffer) {
        if self.read(settings).as_ref() == Some(offer) {
            return;
        }
        let CachedOffer { facts, offer } = offer.clone();
        let file = OfferFile {
            format: FORMAT,
            name: settings.name.clone(),
            transport_hash: transport_hash(settings),
            protocol: facts.protocol,
            title: facts.title,
            version: facts.version,
            instructions: facts.instructions,
            tools: offer.tools,
            resources: offer.resources,
            resource_templates: offer.resource_templates,
            prompts: offer.prompts,
        };
        if let Ok(text) = serde_json::to_vec(&file) {
            let _ = replace_private(&self.path(settings), &text);
        }
    }

    fn path(&self, settings: &ServerSettings) -> PathBuf {
        self.folder.join(format!("{}.json", file_stem(&settings.name)))
    }
}

/// A file's name for a server: readable, and its own whatever the file system makes of it.
pub(super) fn file_stem(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '_' };
    let readable: String = name.chars().take(40).map(plain).collect();
    format!("{readable}-{}", &blake3::hash(name.as_bytes()).to_hex()[..8])
}

/// How a server is reached, as a hash of what is written in the configuration.
fn transport_hash(settings: &ServerSettings) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut add = |part: &str| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    };
    match &settings.transport {
        Transport::Stdio { command, args, env, cwd } => {
            add("stdio");
            add(&command.written());
            args.iter().for_each(|argument| add(&argument.written()));
            for (name, value) in env {
                add(name);
                add(&value.written());
            }
            add(&cwd.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default());
        }
        Transport::Http { url, headers, .. } => {
            add("http");
            add(&url.written());
            for (name, value) in headers {
                add(name);
                add(&value.written());
            }
        }
        // Whichever hosts there are, what can be asked of them is the same.
        Transport::Hosts(_) => add("hosts"),
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
