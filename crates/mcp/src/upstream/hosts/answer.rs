//! What a host answered, read within bounds and without the credential, as the result of a tool.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use futures_util::StreamExt;
use gristmill_gateway::domain::{WebAddress, format_bytes};
use gristmill_gateway::upstream::UpstreamFailure;
use reqwest::Response;
use reqwest::header::HeaderMap;
use serde_json::{Map, Value, json};

use super::super::redact::Redactor;
use crate::http_client::innermost;

/// Of all headers that a program gets.
const HEADER_BYTES_MAX: usize = 64 * 1024;

/// Reads a whole answer.
pub(super) async fn read(
    address: &WebAddress,
    response: Response,
    bytes_max: u64,
    redactor: &Redactor,
) -> Result<String, UpstreamFailure> {
    let status = response.status().as_u16();
    let headers = headers(response.headers())?;
    let body = body(response, bytes_max).await?;
    let mut answer = json!({ "status": status, "url": address.as_str(), "headers": headers });
    match String::from_utf8(body) {
        Ok(text) => answer["text"] = text.into(),
        Err(error) => {
            let bytes = error.into_bytes();
            // In base64 nobody would find it.
            if let Cow::Owned(_) = redactor.clean(&String::from_utf8_lossy(&bytes)) {
                let why = "its answer is withheld: it has the credential of this host among its bytes";
                return Err(UpstreamFailure::BadAnswer(why.to_owned()));
            }
            answer["base64"] = STANDARD.encode(bytes).into();
        }
    }
    let result = json!({ "content": [], "structuredContent": answer });
    Ok(redactor.clean_json(result.to_string()))
}

/// Several of one name become one, as the protocol has it.
fn headers(given: &HeaderMap) -> Result<Map<String, Value>, UpstreamFailure> {
    let bytes: usize = given.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes > HEADER_BYTES_MAX {
        let max = format_bytes(HEADER_BYTES_MAX as u64);
        return Err(UpstreamFailure::BadAnswer(format!("its headers are larger than {max}")));
    }
    let mut headers = Map::new();
    for name in given.keys() {
        let values: Vec<_> =
            given.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        headers.insert(name.as_str().to_owned(), values.join(", ").into());
    }
    Ok(headers)
}

async fn body(response: Response, bytes_max: u64) -> Result<Vec<u8>, UpstreamFailure> {
    let too_large = || {
        let max = format_bytes(bytes_max);
        let why = format!(
            "its answer is larger than {max}; ask for less, or raise `response_size` under [network]"
        );
        UpstreamFailure::BadAnswer(why)
    };
    if response.content_length().is_some_and(|bytes| bytes > bytes_max) {
        return Err(too_large());
    }
    let mut body = Vec::new();
    let mut stream = response.bytes_stream();
    while let Some(bytes) = stream.next().await {
        let bytes = bytes.map_err(|error| UpstreamFailure::Lost(innermost(&error.without_url())))?;
        if (body.len() + bytes.len()) as u64 > bytes_max {
            return Err(too_large());
        }
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}
