//! Codes and sealed values: everything under two keys that one scope has for itself.
//!
//! Both keys are made from the master key and the scope's salt, so two scopes can't be linked, and without the
//! salt nothing of a scope can be read.

use gristmill_privacy::{Code, Kind};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::hmac;
use zeroize::Zeroizing;

use super::error::VaultError;
use super::kept::Kept;
use crate::store::{VaultKeyId, VaultOf};

pub(super) const KEY_BYTES: usize = 32;

/// Of a value that isn't kept: too many for two values to meet.
const DIGEST_BYTES: usize = 16;

/// The key outside of the database.
pub(super) struct Master {
    bytes: Zeroizing<[u8; KEY_BYTES]>,
    id: VaultKeyId,
}

impl Master {
    pub fn new(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &*bytes);
        let digest = hmac::sign(&key, b"gristmill vault key 1");
        let mut id = VaultKeyId::default();
        id.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
        Self { bytes, id }
    }

    pub fn random() -> Result<Self, VaultError> {
        random().map(Self::new)
    }

    /// By which the database tells keys apart.
    pub fn id(&self) -> VaultKeyId {
        self.id
    }

    pub fn bytes(&self) -> &[u8] {
        &*self.bytes
    }

    /// The same for the same value of a scope, in letters that nothing is recognized in.
    pub fn digest(&self, of: &VaultOf, kind: &Kind, value: &str) -> String {
        let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, &*self.bytes));
        context.update(b"gristmill vault digest 1");
        context.update(&name(of));
        context.update(&(kind.name().len() as u64).to_be_bytes());
        context.update(kind.name().as_bytes());
        context.update(value.as_bytes());
        let letters = |byte: &u8| [byte >> 4, byte & 15].map(|half| char::from(b'a' + half));
        context.sign().as_ref().iter().take(DIGEST_BYTES).flat_map(letters).collect()
    }

    /// The keys of a scope.
    pub fn scope(&self, of: &VaultOf, salt: &[u8]) -> Option<ScopeKeys> {
        let secret = Salt::new(HKDF_SHA256, salt).extract(&*self.bytes);
        let mac = secret.expand(&[b"gristmill vault mac 1"], hmac::HMAC_SHA256).ok()?.into();
        let seal: UnboundKey = secret.expand(&[b"gristmill vault seal 1"], &AES_256_GCM).ok()?.into();
        Some(ScopeKeys { mac, seal: LessSafeKey::new(seal), name: name(of) })
    }
}

/// See the module.
pub(super) struct ScopeKeys {
    mac: hmac::Key,
    seal: LessSafeKey,
    name: Vec<u8>,
}

impl ScopeKeys {
    /// The code of a value. If another value has it already, the next attempt gives another one.
    pub fn code(&self, kind: &Kind, value: &str, attempt: u8) -> Code {
        let mut context = hmac::Context::with_key(&self.mac);
        context.update(&[attempt]);
        context.update(&(kind.name().len() as u64).to_be_bytes());
        context.update(kind.name().as_bytes());
        context.update(value.as_bytes());
        let mut mac = [0; 32];
        mac.iter_mut().zip(context.sign().as_ref()).for_each(|(to, from)| *to = *from);
        Code::of_mac(&mac)
    }

    /// A fresh nonce, and what can only be opened for this scope and code.
    pub fn seal(&self, code: Code, kept: &Kept) -> Result<Vec<u8>, VaultError> {
        let nonce: Zeroizing<[u8; NONCE_LEN]> = random()?;
        let mut text = kept.written();
        let tag = self
            .seal
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(self.bound_to(code)),
                &mut text,
            )
            .map_err(|_| VaultError::Randomness)?;
        Ok([nonce.as_slice(), text.as_slice(), tag.as_ref()].concat())
    }

    /// What was sealed; `None` if anything of it was changed or it belongs elsewhere.
    pub fn open(&self, code: Code, sealed: &[u8]) -> Option<Kept> {
        let (nonce, text) = sealed.split_at_checked(NONCE_LEN)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let mut text = Zeroizing::new(text.to_vec());
        let opened = self.seal.open_in_place(nonce, Aad::from(self.bound_to(code)), &mut text).ok()?;
        Kept::read(opened)
    }

    fn bound_to(&self, code: Code) -> Vec<u8> {
        [code.number().to_be_bytes().as_slice(), self.name.as_slice()].concat()
    }
}

/// Bytes that nobody can guess.
pub(super) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, VaultError> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|_| VaultError::Randomness)?;
    Ok(bytes)
}

fn name(of: &VaultOf) -> Vec<u8> {
    let parts = match of {
        VaultOf::Session(id) => ["session", id, ""],
        VaultOf::Client { owner, client } => ["client", owner, client],
    };
    let part = |part: &str| [(part.len() as u64).to_be_bytes().as_slice(), part.as_bytes()].concat();
    parts.into_iter().flat_map(part).collect()
}
