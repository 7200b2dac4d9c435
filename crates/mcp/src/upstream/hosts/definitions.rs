//! The tools that requests to hosts are: one for each method.

use serde_json::{Value, json};

/// A method of HTTP that programs may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WebMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl WebMethod {
    const ALL: [Self; 6] = [Self::Get, Self::Head, Self::Post, Self::Put, Self::Patch, Self::Delete];

    /// By the name of its tool.
    pub fn of_tool(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.tool() == name)
    }

    fn tool(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Head => "head",
            Self::Post => "post",
            Self::Put => "put",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }

    pub fn method(self) -> reqwest::Method {
        match self {
            Self::Get => reqwest::Method::GET,
            Self::Head => reqwest::Method::HEAD,
            Self::Post => reqwest::Method::POST,
            Self::Put => reqwest::Method::PUT,
            Self::Patch => reqwest::Method::PATCH,
            Self::Delete => reqwest::Method::DELETE,
        }
    }

    pub fn has_body(self) -> bool {
        !matches!(self, Self::Get | Self::Head)
    }

    /// What a host does about a `POST` nobody knows: a person is asked, as about anything that may destroy.
    fn annotations(self) -> Value {
        let is_read = !self.has_body();
        json!({
            "readOnlyHint": is_read,
            "destructiveHint": !is_read,
            "idempotentHint": !matches!(self, Self::Post | Self::Patch),
            "openWorldHint": true,
        })
    }
}

/// Every tool, as the raw JSON of its definition.
pub(super) fn definitions() -> Vec<String> {
    WebMethod::ALL.into_iter().map(|method| definition(method).to_string()).collect()
}

fn definition(method: WebMethod) -> Value {
    let name = method.tool();
    let mut properties = json!({
        "url": {"type": "string", "description": "Of a host that the user allows"},
        "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        "timeout_ms": {"type": "integer", "minimum": 1},
    });
    if method.has_body() {
        properties["json"] = json!({"description": "Body, sent as JSON"});
        properties["body"] = json!({"type": "string", "description": "Body as text"});
        properties["body_base64"] = json!({"type": "string", "description": "Body as bytes"});
    }
    json!({
        "name": name,
        "description": format!(
            "Sends an HTTP {} request to an allowed host. In Python: await http.{name}(url); in TypeScript: await fetch(url)",
            name.to_uppercase()
        ),
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": ["url"],
            "additionalProperties": false,
        },
        "outputSchema": {
            "type": "object",
            "properties": {
                "status": {"type": "integer"},
                "url": {"type": "string"},
                "headers": {"type": "object", "additionalProperties": {"type": "string"}},
                "text": {"type": "string", "description": "The body, if it is text"},
                "base64": {"type": "string", "description": "The body, if it is not"},
            },
            "required": ["status", "url", "headers"],
        },
        "annotations": method.annotations(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_says_so_and_everything_else_may_destroy() {
        let told: Vec<(String, bool, bool)> = definitions()
            .iter()
            .map(|raw| serde_json::from_str::<Value>(raw).expect("JSON"))
            .map(|tool| {
                let hint = |name: &str| tool["annotations"][name].as_bool().expect("a hint");
                let name = tool["name"].as_str().expect("a name").to_owned();
                (name, hint("readOnlyHint"), hint("destructiveHint"))
            })
            .collect();
        let expected = [
            ("get", true, false),
            ("head", true, false),
            ("post", false, true),
            ("put", false, true),
            ("patch", false, true),
            ("delete", false, true),
        ];
        assert_eq!(told, expected.map(|(name, reads, destroys)| (name.to_owned(), reads, destroys)));
    }
}
