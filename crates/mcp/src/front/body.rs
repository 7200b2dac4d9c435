//! A request's body, within its bounds, or read past.

use std::time::Duration;

use http::StatusCode;
use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};

use super::answers::{Answer, failed, refused};
use super::http_limits::HttpLimits;
use super::refusal::{Fault, Refusal};

/// Why a body was not taken. What is left of it may have to be read past.
pub(super) enum BodyError {
    TooLarge(Incoming),
    TooSlow,
    Broken,
}

/// Reads all of it.
pub(super) async fn read(mut body: Incoming, limits: &HttpLimits) -> Result<Bytes, BodyError> {
    // What is announced is believed before anything is read, so that nothing is sent in vain.
    if body.size_hint().lower() > limits.body_bytes as u64 {
        return Err(BodyError::TooLarge(body));
    }
    let reading = async {
        let mut all = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return Err(BodyError::Broken) };
            let Ok(data) = frame.into_data() else { continue };
            if all.len() + data.len() > limits.body_bytes {
                return Ok(None);
            }
            all.extend_from_slice(&data);
        }
        Ok(Some(Bytes::from(all)))
    };
    match tokio::time::timeout(limits.body_time, reading).await {
        Ok(Ok(Some(all))) => Ok(all),
        Ok(Ok(None)) => Err(BodyError::TooLarge(body)),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(BodyError::TooSlow),
    }
}

/// Reads past what nobody wants, so that the client gets to read why. Not if the client waits to be
/// told to go on: it is told the reason instead.
pub(super) fn read_past(body: Incoming, awaits_go_on: bool, limits: &HttpLimits) {
    if awaits_go_on || body.is_end_stream() {
        return;
    }
    let (bytes_max, time) = (limits.discarded_bytes, limits.body_time);
    tokio::spawn(tokio::time::timeout(time, discard(body, bytes_max)));
}

async fn discard(mut body: Incoming, bytes_max: usize) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > bytes_max {
            return;
        }
    }
}

pub(super) fn too_large(bytes_max: usize) -> Answer {
    let why = format!("the body is too large: at most {bytes_max} bytes are taken");
    refused(StatusCode::PAYLOAD_TOO_LARGE, &Refusal::new(Fault::Request, why))
}

pub(super) fn too_slow(time: Duration) -> Answer {
    let why = format!("the body did not arrive within {} seconds", time.as_secs_f64());
    failed(StatusCode::REQUEST_TIMEOUT, why)
}

pub(super) fn broken() -> Answer {
    failed(StatusCode::BAD_REQUEST, "the body broke off before its end")
}
