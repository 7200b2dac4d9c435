//! A small, strict reader of the HTML that we write: tags are balanced, attributes quoted and never twice.

/// Elements that have no end.
const VOID: [&str; 5] = ["meta", "link", "input", "br", "hr"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    pub name: String,
    pub attributes: Vec<(String, Option<String>)>,
    /// Names of the elements around it.
    pub inside: Vec<String>,
}

impl Tag {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_deref().unwrap_or_default())
    }
}

/// Every opening tag, or what is wrong with the page.
pub fn read(page: &str) -> Result<Vec<Tag>, String> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").ok_or("no doctype")?;
    let (mut tags, mut open) = (Vec::new(), Vec::<String>::new());
    while let Some(start) = rest.find('<') {
        if rest[..start].contains('>') {
            return Err(format!("a bare > before {:.80}", &rest[start..]));
        }
        rest = &rest[start + 1..];
        if let Some(ending) = rest.strip_prefix('/') {
            let (name, after) = ending.split_once('>').ok_or("an end without an end")?;
            if open.pop().as_deref() != Some(name) {
                return Err(format!("</{name}> ends nothing"));
            }
            rest = after;
            continue;
        }
        let (tag, after) = opening(rest, &open)?;
        if !VOID.contains(&tag.name.as_str()) {
            open.push(tag.name.clone());
        }
        tags.push(tag);
        rest = after;
    }
    if open.is_empty() { Ok(tags) } else { Err(format!("left open: {open:?}")) }
}

fn opening<'a>(text: &'a str, open: &[String]) -> Result<(Tag, &'a str), String> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric()).ok_or("a tag without an end")?;
    if end == 0 {
        return Err(format!("a bare < before {text:.80}"));
    }
    let mut tag = Tag { name: text[..end].to_owned(), attributes: Vec::new(), inside: open.to_vec() };
    let mut rest = &text[end..];
    loop {
        if let Some(after) = rest.strip_prefix('>') {
            return Ok((tag, after));
        }
        rest = rest.strip_prefix(' ').ok_or_else(|| format!("<{} has {rest:.80}", tag.name))?;
        let end = rest.find(['=', ' ', '>']).ok_or("an attribute without an end")?;
        let name = rest[..end].to_owned();
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c.is_ascii_digit())
        {
            return Err(format!("<{} has an attribute {name:?}", tag.name));
        }
        if tag.attribute(&name).is_some() {
            return Err(format!("<{} has {name} twice", tag.name));
        }
        rest = &rest[end..];
        let mut value = None;
        if let Some(quoted) = rest.strip_prefix("=\"") {
            let (text, after) = quoted.split_once('"').ok_or("a value without an end")?;
            if text.contains('<') {
                return Err(format!("{name} has a bare <: {text:.80}"));
            }
            value = Some(text.to_owned());
            rest = after;
        }
        tag.attributes.push((name, value));
    }
}
