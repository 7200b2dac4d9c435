//! Azure's addresses: of a resource, of a deployment, or of the newer API without versions.

use url::Url;

use super::addresses::parse;
use crate::defaults::AZURE_API_VERSION;

/// Where requests are posted, and which deployment answers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AzureAddress {
    pub url: Url,
    pub deployment: String,
}

/// Of what people have: the address of their resource, or all of what the portal shows. What is said beside it
/// counts more than what stands in it.
pub(super) fn azure(
    endpoint: &str,
    deployment: Option<&str>,
    version: Option<&str>,
) -> Result<AzureAddress, String> {
    let pasted = parse(endpoint)?;
    let words: Vec<&str> = pasted.path().split('/').filter(|word| !word.is_empty()).collect();
    let pasted_deployment = match words.as_slice() {
        ["openai", "deployments", name, ..] => Some(*name),
        _ => None,
    };
    let has_no_versions = matches!(words.as_slice(), ["openai", "v1", ..]);
    let query = |name: &str| pasted.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value);
    let pasted_version = query("api-version");
    let deployment = deployment.or(pasted_deployment);
    let deployment = deployment.ok_or("AZURE_OPENAI_DEPLOYMENT_NAME isn't set")?.to_owned();
    let mut url = pasted.clone();
    url.set_fragment(None);
    url.set_query(None);
    if has_no_versions {
        url.set_path("/openai/v1/chat/completions");
        return Ok(AzureAddress { url, deployment });
    }
    url.path_segments_mut()
        .map_err(|()| "the address isn't one; write it as https://NAME.openai.azure.com")?
        .clear()
        .extend(["openai", "deployments", &deployment, "chat", "completions"]);
    let version = version.or(pasted_version.as_deref()).unwrap_or(AZURE_API_VERSION);
    url.query_pairs_mut().append_pair("api-version", version);
    Ok(AzureAddress { url, deployment })
}

/// Whether a host is Azure's.
pub(super) fn is_azure(host: &str) -> bool {
    [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"]
        .iter()
        .any(|end| host.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(endpoint: &str, deployment: Option<&str>, version: Option<&str>, expected: &str) {
        let address = azure(endpoint, deployment, version).expect(endpoint);
        assert_eq!(address.url.as_str(), expected, "{endpoint}");
    }

    #[test]
    fn every_form_that_the_portal_shows_leads_to_the_deployment() {
        let expected =
            "https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-10-21";
        for endpoint in [
            "https://x.openai.azure.com",
            "https://x.openai.azure.com/",
            "x.openai.azure.com",
            "https://x.openai.azure.com/openai",
            "https://x.openai.azure.com/openai/deployments/other/chat/completions?api-version=2024-10-21",
        ] {
            check(endpoint, Some("mine"), None, expected);
        }
        let whole = "https://x.openai.azure.com/openai/deployments/theirs/chat/completions?api-version=2025-01-01-preview";
        check(whole, None, None, whole);
        check(
            whole,
            Some("mine"),
            Some("2024-06-01"),
            "https://x.openai.azure.com/openai/deployments/mine/chat/completions?api-version=2024-06-01",
        );
        check(
            "https://x.openai.azure.com/openai/v1/",
            Some("mine"),
            None,
            "https://x.openai.azure.com/openai/v1/chat/completions",
        );
        check(
            "https://x.services.ai.azure.com/api/projects/p",
            Some("my model"),
            None,
            "https://x.services.ai.azure.com/openai/deployments/my%20model/chat/completions?api-version=2024-10-21",
        );
    }

    #[test]
    fn a_deployment_stays_one_segment_and_is_needed() {
        let address = azure("https://x.openai.azure.com", Some("../../evil?x#y"), None).expect("an address");
        assert_eq!(address.url.path(), "/openai/deployments/..%2F..%2Fevil%3Fx%23y/chat/completions");
        assert_eq!(
            azure("https://x.openai.azure.com", None, None),
            Err("AZURE_OPENAI_DEPLOYMENT_NAME isn't set".to_owned())
        );
    }
}
