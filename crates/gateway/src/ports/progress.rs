//! How far a call has come, and who hears of it.

use std::sync::Arc;

/// How far a call has come, in its server's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Never goes back, if the server keeps to the protocol.
    pub progress: f64,
    /// Its last value, if that is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// Takes the progress of one call; or nobody does.
#[derive(Clone, Default)]
pub struct ProgressSink(Option<Arc<dyn Fn(Progress) + Send + Sync>>);

impl ProgressSink {
    /// Progress goes to this function, which must not block.
    pub fn new(sink: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(sink)))
    }

    /// Hands one step on.
    pub fn tell(&self, progress: Progress) {
        if let Some(sink) = &self.0 {
            sink(progress);
        }
    }
}

impl std::fmt::Debug for ProgressSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ProgressSink")
    }
}

/// Whoever listens: two calls are the same call.
impl PartialEq for ProgressSink {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}
