//! Web: a request to a host that programs may reach. Its URL gets the form in which it is sent before any rule,
//! plan or record sees it, and a host that isn't allowed is refused before anybody is asked.

use gristmill_domain::{Code, HostRefusal, Transport, WebAddress};
use serde::Deserialize;
use serde_json::Value;

use super::resolve::{Resolved, Target};
use crate::ports::{ToolFailure, WebFacts};

const URL: &str = "url";

/// Passes on whatever isn't for a host. Nothing was sent.
pub(super) fn allow(mut resolved: Resolved) -> Result<Resolved, ToolFailure> {
    let (Transport::Hosts(hosts), Target::Tool(tool)) =
        (&resolved.server.settings.transport, &mut resolved.target)
    else {
        return Ok(resolved);
    };
    // In another spelling it would become the URL later, unseen.
    tool.check.fit(&mut tool.arguments);
    if let Some(Value::String(url)) = tool.arguments.get_mut(URL) {
        let refused = |refusal: HostRefusal| ToolFailure::Refused {
            code: Code::HostNotAllowed,
            message: refusal.to_string(),
        };
        *url = hosts.admit(url).map_err(refused)?.as_str().to_owned();
    }
    Ok(resolved)
}

/// Where a request goes, by its arguments as they may be recorded.
pub(super) fn facts(arguments: &str) -> Option<WebFacts> {
    #[derive(Deserialize)]
    struct Asked {
        url: String,
    }
    let Asked { url } = serde_json::from_str(arguments).ok()?;
    let address = WebAddress::read(&url).ok()?;
    let host = format!("{}:{}", address.host(), address.port());
    Some(WebFacts { host, path: address.path().to_owned(), status: None })
}

/// The status of an answer.
pub(super) fn status(answer: &str) -> Option<u16> {
    #[derive(Deserialize)]
    struct Answered {
        status: u16,
    }
    serde_json::from_str(answer).ok().map(|Answered { status }| status)
}
