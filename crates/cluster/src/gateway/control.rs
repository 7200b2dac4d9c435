//! A worker on a node, for whoever runs a program on it.

use std::time::Duration;

use gristmill_gateway::ports::{BoxFuture, NotBroughtHome, RemoteControl, RemoteEnd};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::names::NodeName;

/// How long a node may take to say how a worker ended. Longer than a node that is lost takes to be noticed.
const END_TOLD_WITHIN: Duration = Duration::from_secs(5);

/// How long files may take to come back.
const FILES_WITHIN: Duration = Duration::from_secs(120);

/// Somebody waits for the files of a program.
pub(super) type FilesAsked = oneshot::Sender<Result<(), String>>;

/// The link closes when this is dropped.
pub(super) struct Control {
    pub node: NodeName,
    pub kill: CancellationToken,
    pub files: mpsc::Sender<FilesAsked>,
    pub end: watch::Receiver<Option<RemoteEnd>>,
}

impl RemoteControl for Control {
    fn node(&self) -> &str {
        self.node.as_str()
    }

    fn kill(&self) {
        self.kill.cancel();
    }

    fn end(&self) -> BoxFuture<'_, RemoteEnd> {
        let mut end = self.end.clone();
        Box::pin(async move {
            match tokio::time::timeout(END_TOLD_WITHIN, end.wait_for(Option::is_some)).await {
                Ok(Ok(told)) => told.unwrap_or(RemoteEnd::Unknown),
                Ok(Err(_)) | Err(_) => RemoteEnd::Unknown,
            }
        })
    }

    fn bring_home(&self) -> BoxFuture<'_, Result<(), NotBroughtHome>> {
        Box::pin(async move {
            let (asked, answer) = oneshot::channel();
            let is_lost = || *self.end.borrow() == Some(RemoteEnd::NodeLost);
            let gone = || match is_lost() {
                true => NotBroughtHome::NodeLost,
                false => NotBroughtHome::Failed(format!("the node {} let go of it", self.node)),
            };
            self.files.send(asked).await.map_err(|_| gone())?;
            match tokio::time::timeout(FILES_WITHIN, answer).await {
                Ok(Ok(brought)) => brought.map_err(NotBroughtHome::Failed),
                Ok(Err(_)) => Err(gone()),
                Err(_) => {
                    let within = FILES_WITHIN.as_secs();
                    Err(NotBroughtHome::Failed(format!(
                        "the node {} didn't send it within {within} s",
                        self.node
                    )))
                }
            }
        })
    }
}
