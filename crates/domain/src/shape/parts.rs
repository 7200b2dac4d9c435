//! The members of a large array or object, found without parsing it.
//!
//! One pass counts them and notes where some of them begin, evenly spread and bounded in number;
//! from there the others are reached. Between two of those it notes one more, at a place that looks
//! like chance, for whoever wants a sample. What is between them is not checked: whoever shows a
//! part parses it.

use gristmill_json_text::{Block, Blocks};

use super::sample::{is_second, one_of};

/// Not JSON after all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotJson;

/// A piece of the text, from its first byte to before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn bytes(self) -> usize {
        self.end.saturating_sub(self.start)
    }

    pub fn of(self, text: &str) -> Result<&str, NotJson> {
        text.get(self.start..self.end).ok_or(NotJson)
    }
}

/// What one pass over an array or object found.
#[derive(Debug)]
pub(super) struct Parts {
    pub is_object: bool,
    pub count: usize,
    /// Every how many members a beginning was noted.
    pub stride: usize,
    /// Where they begin: the member 0, `stride`, 2 × `stride`, …
    begins: Vec<usize>,
    /// Where the member begins that stands for each stretch of `stride` members: see [`one_of`].
    samples: Vec<usize>,
    pub end: usize,
}

impl Parts {
    /// Looks at the array or object that begins at `start`, and notes at most `begins_max` beginnings.
    pub fn of(text: &str, start: usize, begins_max: usize) -> Result<Self, NotJson> {
        let bytes = text.as_bytes();
        let is_object = match bytes.get(start) {
            Some(b'{') => true,
            Some(b'[') => false,
            Some(_) | None => return Err(NotJson),
        };
        let mut pass = Pass {
            depth: 0,
            separators: 0,
            stride: 1,
            begins: vec![start + 1],
            samples: vec![start + 1],
            next_sample: one_of(1, 1),
            begins_max: begins_max.max(2),
        };
        let mut blocks = Blocks::new(bytes, start);
        let end = loop {
            let block = blocks.next_block().ok_or(NotJson)?;
            if let Some(end) = pass.take(&block) {
                break end;
            }
        };
        let closing = if is_object { b'}' } else { b']' };
        if bytes.get(end) != Some(&closing) {
            return Err(NotJson);
        }
        let inside = bytes.get(start + 1..end).ok_or(NotJson)?;
        let is_empty = pass.separators == 0 && inside.iter().all(u8::is_ascii_whitespace);
        let count = if is_empty { 0 } else { pass.separators + 1 };
        let Pass { stride, begins, samples, .. } = pass;
        Ok(Self { is_object, count, stride, begins, samples, end })
    }

    /// How many stretches of members there are from which [`Parts::sample`] has one.
    pub fn stretches(&self) -> usize {
        self.count.div_ceil(self.stride)
    }

    /// One member of a stretch: where it begins, and its number.
    pub fn sample(&self, stretch: usize) -> (usize, usize) {
        match self.samples.get(stretch) {
            Some(begin) => (*begin, one_of(stretch, self.stride)),
            // The last stretch may end before its turn comes.
            None => self.begin_before(stretch * self.stride),
        }
    }

    /// The noted beginning at or before a member, and that one's number.
    pub fn begin_before(&self, number: usize) -> (usize, usize) {
        let at = (number / self.stride).min(self.begins.len().saturating_sub(1));
        (self.begins.get(at).copied().unwrap_or(self.end), at * self.stride)
    }

    /// Where a member ends, if that was noted.
    pub fn end_of(&self, number: usize) -> Option<usize> {
        if number + 1 >= self.count {
            return (self.stride == 1).then_some(self.end);
        }
        let next = number + 1;
        let noted = next.is_multiple_of(self.stride).then(|| self.begins.get(next / self.stride))?;
        noted.map(|begin| begin - 1)
    }
}

/// The state of that pass.
struct Pass {
    depth: usize,
    separators: usize,
    stride: usize,
    begins: Vec<usize>,
    samples: Vec<usize>,
    /// The number of the member that comes into `samples` next.
    next_sample: usize,
    begins_max: usize,
}

impl Pass {
    /// Takes one block; says where the closing bracket is, if it is there.
    fn take(&mut self, block: &Block) -> Option<usize> {
        let (opened, closed) = (block.open.count_ones() as usize, block.close.count_ones() as usize);
        // Nothing in this block can come up to the members.
        if self.depth > 1 + closed {
            self.depth = self.depth + opened - closed;
            return None;
        }
        let mut brackets = block.open | block.close;
        let mut commas = block.comma;
        while brackets != 0 {
            let at = brackets.trailing_zeros();
            let bit = 1u64 << at;
            let before = bit - 1;
            if self.depth == 1 {
                self.separate(block.base, commas & before);
            }
            commas &= !before;
            brackets &= !bit;
            if block.open & bit != 0 {
                self.depth += 1;
                continue;
            }
            self.depth = self.depth.saturating_sub(1);
            if self.depth == 0 {
                return Some(block.base + at as usize);
            }
        }
        if self.depth == 1 {
            self.separate(block.base, commas);
        }
        None
    }

    /// Counts commas between members, and notes where those begin whose turn it is.
    fn separate(&mut self, base: usize, mut commas: u64) {
        let count = commas.count_ones() as usize;
        let turn = (self.begins.len() * self.stride).min(self.next_sample);
        if self.separators + count < turn {
            self.separators += count;
            return;
        }
        while commas != 0 {
            self.separators += 1;
            let begin = base + commas.trailing_zeros() as usize + 1;
            if self.separators == self.begins.len() * self.stride {
                self.begins.push(begin);
                self.thin_out();
            }
            if self.separators == self.next_sample {
                self.samples.push(begin);
                self.next_sample = one_of(self.samples.len(), self.stride);
            }
            commas &= commas - 1;
        }
    }

    /// Every second beginning goes when there are too many.
    fn thin_out(&mut self) {
        if self.begins.len() < self.begins_max {
            return;
        }
        let mut number = 0usize;
        self.begins.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.stride *= 2;
        let kept = (0..self.begins.len())
            .map_while(|at| self.samples.get(at * 2 + usize::from(is_second(at, self.stride))).copied());
        self.samples = kept.collect();
        self.next_sample = one_of(self.samples.len(), self.stride);
    }
}

/// Where the value ends that begins at or after `from`, inside of an array or object.
pub(super) fn end_of_member(text: &str, from: usize) -> Result<usize, NotJson> {
    gristmill_json_text::end_of_member(text.as_bytes(), from).ok_or(NotJson)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted_and_their_beginnings_thinned_out() {
        let items: Vec<String> = (0..1000).map(|number| format!("[{number},\"],\\\"\"]")).collect();
        let text = format!("[{}]", items.join(", "));
        let parts = Parts::of(&text, 0, 16).unwrap();
        assert_eq!((parts.count, parts.end, parts.is_object), (1000, text.len() - 1, false));
        assert!(parts.begins.len() <= 16 && parts.stride >= 64, "{parts:?}");
        for number in [0, 1, 500, 999] {
            let (mut at, mut reached) = parts.begin_before(number);
            while reached < number {
                at = end_of_member(&text, at).unwrap() + 1;
                reached += 1;
            }
            let end = end_of_member(&text, at).unwrap();
            assert_eq!(text[at..end].trim(), items[number]);
            assert!(parts.end_of(number).is_none_or(|noted| noted == end));
        }
        assert!(parts.samples.len() <= 16 && parts.samples.len() + 1 >= parts.stretches(), "{parts:?}");
        for stretch in 0..parts.stretches() {
            let (at, number) = parts.sample(stretch);
            assert_eq!(number / parts.stride, stretch);
            assert_eq!(text[at..end_of_member(&text, at).unwrap()].trim(), items[number]);
        }
    }

    #[test]
    fn what_does_not_close_is_not_json() {
        let check = |text: &str, expected: Option<usize>| {
            assert_eq!(Parts::of(text, 0, 16).ok().map(|parts| parts.count), expected, "{text}");
        };
        check("[]", Some(0));
        check("[ \n ]", Some(0));
        check("[1]", Some(1));
        check("{\"a\": [1, 2], \"b,\": 2}", Some(2));
        check("[1, 2", None);
        check("[1, 2}", None);
        check("\"a\"", None);
        check("[\"]", None);
        check("", None);
    }
}
