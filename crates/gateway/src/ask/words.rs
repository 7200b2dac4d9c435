//! What a program would do, in words for people: the same in a terminal, a client and a page.

use gristmill_domain::HTTP_SERVER;

use super::event::PreviewedTool;

/// Whether a tool, as `server.tool`, sends requests to hosts.
pub fn is_request(tool: &str) -> bool {
    tool.split('.').next() == Some(HTTP_SERVER)
}

impl PreviewedTool {
    /// What a call of it does: `writes`, or `sends a request to api.example.com`.
    pub fn does(&self) -> String {
        match self.is_read_only {
            true => "reads".to_owned(),
            false if !is_request(&self.name) => "writes".to_owned(),
            false if self.hosts.is_empty() => "sends a request".to_owned(),
            false => format!("sends a request to {}", self.hosts.join(" and ")),
        }
    }

    /// Its name in a question, with where its requests go.
    pub(super) fn asked_name(&self) -> String {
        match self.hosts.is_empty() {
            true => self.name.clone(),
            false => format!("{} to {}", self.name, self.hosts.join(" and ")),
        }
    }
}

/// What somebody is asked about, of the names in a question: `it writes with crm.update, and sends requests with
/// http.get to api.example.com`.
pub fn question_words(writes: &[String]) -> String {
    let (requests, writes): (Vec<&str>, Vec<&str>) =
        writes.iter().map(String::as_str).partition(|name| is_request(name));
    match (requests.is_empty(), writes.is_empty()) {
        (true, true) => "it may call tools that can't be told from its text".to_owned(),
        (true, false) => format!("it writes with {}", writes.join(", ")),
        (false, true) => format!("it sends requests with {}", requests.join(", ")),
        (false, false) => {
            format!("it writes with {}, and sends requests with {}", writes.join(", "), requests.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_no_write_and_its_hosts_are_named() {
        let tool = |name: &str, is_read_only: bool, hosts: &[&str]| PreviewedTool {
            name: name.to_owned(),
            decision: None,
            is_read_only,
            hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        };
        assert_eq!(tool("crm.get", true, &[]).does(), "reads");
        assert_eq!(tool("crm.update", false, &[]).does(), "writes");
        assert_eq!(tool("http.get", false, &[]).does(), "sends a request");
        let request = tool("http.post", false, &["a.example", "b.example"]);
        assert_eq!(request.does(), "sends a request to a.example and b.example");
        let names = ["crm.update".to_owned(), request.asked_name(), "others".to_owned()];
        let (write, request) = ("it writes with crm.update", "http.post to a.example and b.example");
        assert_eq!(question_words(&names[..1]), write);
        assert_eq!(question_words(&names[1..2]), format!("it sends requests with {request}"));
        assert_eq!(question_words(&names), format!("{write}, others, and sends requests with {request}"));
        assert_eq!(question_words(&[]), "it may call tools that can't be told from its text");
    }
}
