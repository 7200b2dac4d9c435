//! What a machine's NKey must be permitted, so that it can share state.

use crate::subjects::Subjects;

/// Subjects, as the server's configuration lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permissions {
    pub publish: Vec<String>,
    pub subscribe: Vec<String>,
}

impl Permissions {
    pub(crate) fn of(subjects: &Subjects) -> Self {
        let (state, blobs) = (subjects.state_stream(), subjects.blobs_stream());
        let mut publish = vec![subjects.state_log(), subjects.state_snapshot(), subjects.all_blob_parts()];
        for stream in [&state, &blobs] {
            let of_stream = ["INFO", "CREATE", "UPDATE", "PURGE", "MSG.GET"];
            publish.extend(of_stream.map(|what| format!("$JS.API.STREAM.{what}.{stream}")));
            publish.push(format!("$JS.API.CONSUMER.CREATE.{stream}.>"));
        }
        publish.push(format!("$JS.API.DIRECT.GET.{blobs}.>"));
        publish.extend(["$JS.ACK.>", "$JS.FC.>"].map(str::to_owned));
        Self { publish, subscribe: vec!["_INBOX.>".to_owned()] }
    }
}
