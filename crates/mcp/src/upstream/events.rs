//! Server-sent events, as a stream of bytes becomes them.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerEvent {
    pub data: String,
    /// To go on from, after the connection was lost.
    pub id: Option<String>,
}

/// More than the allowed size came without an event's end.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Takes bytes, gives events.
pub struct EventReader {
    line: Vec<u8>,
    data: String,
    id: Option<String>,
    bytes_max: usize,
    /// The last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
    /// How long the server wants us to wait before we come back.
    pub retry_ms: Option<u64>,
}

impl EventReader {
    /// No event may be larger.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            line: Vec::new(),
            data: String::new(),
            id: None,
            bytes_max,
            after_return: false,
            retry_ms: None,
        }
    }

    /// The events that are complete with these bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<ServerEvent>, TooLarge> {
        let mut events = Vec::new();
        for byte in bytes {
            let feed_after_return = *byte == b'\n' && std::mem::take(&mut self.after_return);
            if feed_after_return {
                continue;
            }
            self.after_return = *byte == b'\r';
            if matches!(byte, b'\n' | b'\r') {
                let line = std::mem::take(&mut self.line);
                events.extend(self.take_line(&String::from_utf8_lossy(&line)));
            } else {
                self.line.push(*byte);
            }
            if self.line.len() + self.data.len() > self.bytes_max {
                return Err(TooLarge);
            }
        }
        Ok(events)
    }

    fn take_line(&mut self, line: &str) -> Option<ServerEvent> {
        if line.is_empty() {
            let id = self.id.clone();
            let data = std::mem::take(&mut self.data);
            // An event with an id and no data only marks a place.
            return (!data.is_empty() || id.is_some()).then_some(ServerEvent { data, id });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.id = Some(value.to_owned()),
            "retry" => self.retry_ms = value.parse().ok(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str]) -> Vec<(String, Option<String>)> {
        let mut reader = EventReader::new(100);
        let events = chunks.iter().flat_map(|chunk| reader.feed(chunk.as_bytes()).expect("small"));
        events.map(|event| (event.data, event.id)).collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let expected = [("{\"a\":1}".to_owned(), None), ("x\ny".to_owned(), Some("7".to_owned()))];
        assert_eq!(
            read(&["event: message\ndata: {\"a\":1}\n\n: hello\nid: 7\ndata:x\ndata: y\n\n"]),
            expected
        );
        assert_eq!(read(&["data: {\"a\"", ":1}\r", "\n\r\nid: 7\rdata:x\rdata: y\r\r"]), expected);
        assert_eq!(read(&["data: unfinished"]), []);
    }

    #[test]
    fn an_endless_event_is_given_up() {
        let mut reader = EventReader::new(100);
        assert_eq!(reader.feed(&[b'x'; 200]), Err(TooLarge));
    }
}
