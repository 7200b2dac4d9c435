//! What can go wrong with the log.

/// Nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Programs on nodes work without it; state can't be shared. Servers that have just started may say this for a
    /// moment.
    #[error("JetStream is off on the bus; start its servers with `-js` and a folder (`-sd`)")]
    NoJetStream,
    /// The server refuses this machine what it needs.
    #[error(
        "the bus refuses this machine ({said}); its NKey needs these permissions: \
         publish {publish}; subscribe {subscribe}"
    )]
    NotPermitted { said: String, publish: String, subscribe: String },
    /// The streams aren't made. With fewer copies they could be.
    #[error(
        "the bus can't keep {replicas} copies ({said}); run that many servers with JetStream in one \
         NATS cluster, or list one server only"
    )]
    TooFewServers { replicas: usize, said: String },
    /// Somebody made the stream by hand, or changed it.
    #[error(
        "stream {stream} has other settings than it needs: {what}; correct it with `nats stream edit {stream}`"
    )]
    OtherSettings { stream: String, what: &'static str },
    /// What was in it is lost, unless the servers are still starting.
    #[error("stream {0} is gone from the bus")]
    NoStream(String),
    /// What comes before `first` was trimmed away: it is in a snapshot.
    #[error("the log begins with entry {first}: what comes before was trimmed away")]
    Gap { first: u64 },
    /// Entries that were there are gone, or this is another log. A server that has just started may lag behind for a
    /// moment.
    #[error("the log ends with entry {last}, before entry {after}, which was in it")]
    Shorter { last: u64, after: u64 },
    /// Entry `sequence` doesn't follow the one that was asked for: that one isn't an entry of this log.
    #[error(
        "entry {sequence} of the log doesn't follow entry {after}: it is another log, or was written to by others"
    )]
    Foreign { sequence: u64, after: u64 },
    /// Try again.
    #[error("the bus doesn't answer: {0}; check `nats` under [cluster], and that its servers run")]
    Unavailable(String),
    /// Following has ended with an error before.
    #[error("the log isn't followed any more")]
    Ended,
}

/// Whether it was written is known for some of these only.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// It isn't in the log, or was trimmed away with others, and never will be. `last` is the last sequence on its
    /// subject.
    #[error("others have written in the meantime, up to entry {last}")]
    Overtaken { last: u64 },
    /// It isn't in the log.
    #[error("{bytes} bytes are too many for one message of the bus: {max} is the most")]
    TooLarge { bytes: usize, max: usize },
    /// It may be in the log, or get there later as long as nobody else writes: whoever hears this reads the log before
    /// going on.
    #[error("nobody knows whether it was written: {0}")]
    Unavailable(String),
}

/// What can go wrong with blobs.
#[derive(Debug, thiserror::Error)]
pub enum BlobError {
    /// The bus has no such part.
    #[error("part {part} of the blob isn't there")]
    NotThere { part: u32 },
    /// It isn't kept.
    #[error("{bytes} bytes are too many for one part of a blob: {max} is the most")]
    TooLarge { bytes: usize, max: usize },
    /// It may be kept. Keeping it once more does no harm.
    #[error("nobody knows whether the part of the blob was kept: {0}")]
    Unknown(String),
    #[error(transparent)]
    Log(#[from] LogError),
}
