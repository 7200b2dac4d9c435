//! The bytes in a resource or a prompt. The protocol writes them in base64, and whoever reads them decodes that: they
//! are set aside while the words around them are searched, and searched themselves if they are text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::privacy::{Source, Veil};

/// Bytes that were taken out of a document, with a JSON Pointer to where each stood.
pub struct Blobs(Vec<(String, Vec<u8>)>);

impl Blobs {
    /// Takes them out of the result of `resources/read` or `prompts/get`. What isn't base64 stays there, as text.
    pub fn take(json: &mut String) -> Self {
        let mut taken = Vec::new();
        let Ok(mut value) = serde_json::from_str::<Value>(json) else { return Self(taken) };
        for place in places(&value) {
            let Some(blob) = value.pointer_mut(&place) else { continue };
            if let Some(bytes) = blob.as_str().and_then(|text| STANDARD.decode(text).ok()) {
                *blob = Value::Null;
                taken.push((place, bytes));
            }
        }
        if !taken.is_empty() {
            *json = value.to_string();
        }
        Self(taken)
    }

    /// Puts them back. Those that are text come without what is personal in it; of others nobody knows what they
    /// show.
    pub async fn put_back(self, json: &mut String, veil: &Veil, source: Source<'_>) {
        if self.0.is_empty() {
            return;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(json) else { return };
        for (place, bytes) in self.0 {
            let bytes = match String::from_utf8(bytes) {
                Ok(mut text) => {
                    veil.words(&mut text, source).await;
                    text.into_bytes()
                }
                Err(error) => error.into_bytes(),
            };
            if let Some(blob) = value.pointer_mut(&place) {
                *blob = STANDARD.encode(bytes).into();
            }
        }
        *json = value.to_string();
    }
}

/// Where the protocol has bytes.
fn places(result: &Value) -> Vec<String> {
    let list = |name: &str| result[name].as_array().map_or(0, Vec::len);
    let contents = (0..list("contents")).map(|at| format!("/contents/{at}/blob"));
    let messages = (0..list("messages")).flat_map(|at| {
        [format!("/messages/{at}/content/data"), format!("/messages/{at}/content/resource/blob")]
    });
    contents.chain(messages).collect()
}
