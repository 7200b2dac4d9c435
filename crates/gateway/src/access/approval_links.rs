//! Links by which a person answers a question about a call, wherever they read it.
//!
//! Walls: a link is good for one question, one answer and until the question expires; nobody without the key
//! can make one. The key is in a file of the data folder that only its owner reads, so that every process
//! that uses the folder takes the same links. That each is used once is the table's doing.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gristmill_domain::policy::Answered;
use gristmill_files::{FileLock, PrivateFile, PrivateFileError};
use ring::hmac::{HMAC_SHA256, Key, sign, verify};

/// The file's name in the data folder.
pub const LINK_KEY_FILE: &str = "approval-links.key";

/// Where the pages are, below the public address.
pub const LINK_PATH: &str = "/approvals";

const KEY_BYTES: usize = 32;

/// What a link can answer. Nobody allows something for good by a link.
pub const LINK_ANSWERS: [(&str, Answered); 3] =
    [("allow_once", Answered::Once), ("allow_session", Answered::Session), ("deny", Answered::No)];

/// There are no links. Everything else works.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LinkKeyError {
    #[error(transparent)]
    File(#[from] PrivateFileError),
    #[error("{path} isn't a key; delete it to start with a new one")]
    NotAKey { path: String },
    #[error("the system random source failed; try again")]
    Randomness,
}

/// Why a link is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    #[error("this link isn't one of ours, or isn't complete")]
    Foreign,
    #[error("this link has expired: the call doesn't wait any more")]
    Expired,
}

/// Makes links, and reads them.
pub struct ApprovalLinks {
    key: Key,
    public_url: String,
}

impl ApprovalLinks {
    /// With the key of a data folder, which is made if there is none. Blocks on the disk.
    pub fn open(data: &Path, public_url: &str) -> Result<Self, LinkKeyError> {
        let file = PrivateFile::new(data.join(LINK_KEY_FILE), "keys");
        let _lock = FileLock::beside(file.path()).map_err(PrivateFileError::from)?;
        let key = match file.read(KEY_BYTES as u64 + 1)? {
            Some((bytes, _)) if bytes.len() == KEY_BYTES => Key::new(HMAC_SHA256, &bytes),
            Some(_) => return Err(LinkKeyError::NotAKey { path: file.path().display().to_string() }),
            None => {
                let mut bytes = [0; KEY_BYTES];
                getrandom::fill(&mut bytes).map_err(|_| LinkKeyError::Randomness)?;
                file.replace(&bytes)?;
                Key::new(HMAC_SHA256, &bytes)
            }
        };
        Ok(Self { key, public_url: public_url.trim_end_matches('/').to_owned() })
    }

    /// What each answer's link is.
    pub fn links(&self, id: &str, expires: SystemTime) -> [(&'static str, String); 3] {
        let expires = seconds(expires);
        LINK_ANSWERS.map(|(name, _)| {
            let signature = hex(sign(&self.key, signed(id, name, expires).as_bytes()).as_ref());
            let query = format!("answer={name}&expires={expires}&signature={signature}");
            (name, format!("{}{LINK_PATH}/{id}?{query}", self.public_url))
        })
    }

    /// What a link's question is answered with; `query` is what stands behind its question mark.
    pub fn read(&self, id: &str, query: &str, now: SystemTime) -> Result<Answered, BadLink> {
        let field = |name: &str| {
            query.split('&').find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
        };
        let value = |name: &str| field(name).map(|(_, value)| value).ok_or(BadLink::Foreign);
        let (name, expires, signature) = (value("answer")?, value("expires")?, value("signature")?);
        let expires: u64 = expires.parse().map_err(|_| BadLink::Foreign)?;
        let signature = unhex(signature).ok_or(BadLink::Foreign)?;
        verify(&self.key, signed(id, name, expires).as_bytes(), &signature).map_err(|_| BadLink::Foreign)?;
        if now > UNIX_EPOCH + Duration::from_secs(expires) {
            return Err(BadLink::Expired);
        }
        let known = LINK_ANSWERS.into_iter().find(|(known, _)| *known == name);
        known.map(|(_, answered)| answered).ok_or(BadLink::Foreign)
    }
}

/// `sha256=` and the HMAC of a moment, a dot and a body, by which a receiver knows that we sent it.
pub fn webhook_signature(secret: &str, timestamp: &str, body: &str) -> String {
    let key = Key::new(HMAC_SHA256, secret.as_bytes());
    format!("sha256={}", hex(sign(&key, format!("{timestamp}.{body}").as_bytes()).as_ref()))
}

/// Ids and answers have no line ends.
fn signed(id: &str, answer: &str, expires: u64) -> String {
    format!("approval\n{id}\n{answer}\n{expires}")
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> =
        text.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect::<Option<_>>()?;
    (digits.len() == 2 * KEY_BYTES).then(|| digits.chunks(2).map(|pair| (pair[0] << 4) | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_testkit::TestFolder;

    #[test]
    fn a_link_is_good_for_its_question_its_answer_and_its_time_only() {
        let (folder, other) = (TestFolder::new("links"), TestFolder::new("links-of-others"));
        let open = |folder: &TestFolder| ApprovalLinks::open(folder.path(), "https://gm.example/x/").unwrap();
        let now = UNIX_EPOCH + Duration::from_secs(1_000);
        let links = open(&folder).links("abcd", now + Duration::from_secs(600));
        let [(_, once), (_, session), (_, deny)] = &links;
        let query =
            |link: &str| link.strip_prefix("https://gm.example/x/approvals/abcd?").unwrap().to_owned();
        // Another process of the same folder.
        let again = open(&folder);
        assert_eq!(again.read("abcd", &query(once), now), Ok(Answered::Once));
        assert_eq!(again.read("abcd", &query(session), now), Ok(Answered::Session));
        assert_eq!(again.read("abcd", &query(deny), now), Ok(Answered::No));
        let late = now + Duration::from_secs(601);
        assert_eq!(again.read("abcd", &query(once), late), Err(BadLink::Expired));
        for (id, wrong) in [
            ("abce", query(once)),
            ("abcd", query(deny).replace("deny", "allow_once")),
            ("abcd", query(once).replace("expires=1600", "expires=9600")),
            ("abcd", query(once).replace("signature=", "signature=0")),
            ("abcd", "answer=allow_once".to_owned()),
            ("abcd", String::new()),
        ] {
            assert_eq!(again.read(id, &wrong, now), Err(BadLink::Foreign), "{wrong}");
        }
        assert_eq!(open(&other).read("abcd", &query(once), now), Err(BadLink::Foreign));
    }

    #[test]
    fn the_key_is_the_owners_alone_and_a_broken_one_is_told_of() {
        use std::os::unix::fs::PermissionsExt;
        let folder = TestFolder::new("link-key");
        drop(ApprovalLinks::open(folder.path(), "https://gm.example").unwrap());
        let path = folder.path().join(LINK_KEY_FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        std::fs::write(&path, "short").unwrap();
        assert!(matches!(
            ApprovalLinks::open(folder.path(), "https://gm.example"),
            Err(LinkKeyError::NotAKey { .. })
        ));
    }

    #[test]
    fn a_receiver_can_check_a_signature_with_any_tool() {
        // printf '1000.{}' | openssl dgst -sha256 -hmac secret
        assert_eq!(webhook_signature("secret", "1000", "{}"), SIGNED);
    }

    const SIGNED: &str = "sha256=026360fb6284f077f1148b1ae7c62679730497810a6a0321574de01e8b009e7a";
}
