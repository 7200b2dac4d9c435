//! The fields of a result on one short line, with types left out: `{id, items: [{sku, price}]}`.

use super::Language;
use super::inert_text::key;
use super::types::{Body, Type, Types};

/// How deep fields are named, from the most to the least.
const LEVELS: [usize; 4] = [4, 3, 2, 1];

/// The outline within so many characters; `None` if the type has no fields to name.
pub(super) fn outline(types: &Types, result: &Type, chars_max: usize) -> Option<String> {
    let mut made = String::new();
    for levels in LEVELS {
        made = text(types, result, levels, usize::MAX)?;
        if made.chars().count() <= chars_max {
            return Some(made);
        }
    }
    // One level is too long: as many of its fields as fit.
    let mut fields = made.matches(", ").count();
    while fields > 1 && made.chars().count() > chars_max {
        fields -= 1;
        made = text(types, result, 1, fields)?;
    }
    Some(made)
}

fn text(types: &Types, value: &Type, levels: usize, fields_max: usize) -> Option<String> {
    if levels == 0 {
        return None;
    }
    match value {
        Type::List(item) => Some(format!("[{}]", text(types, item, levels, fields_max)?)),
        Type::Map(item) => Some(format!("{{[key]: {}}}", text(types, item, levels, fields_max)?)),
        Type::Union(members) => members.iter().find_map(|member| text(types, member, levels, fields_max)),
        Type::Named(id) => match &types.get(*id)?.1.body {
            Body::Alias(value) => text(types, value, levels, fields_max),
            Body::Object { fields, is_open } => {
                let mut shown: Vec<String> = fields
                    .iter()
                    .take(fields_max)
                    .map(|field| {
                        let name = key(Language::TypeScript, &field.name);
                        let mark = if field.is_required { "" } else { "?" };
                        match text(types, &field.value, levels - 1, fields_max) {
                            Some(below) => format!("{name}{mark}: {below}"),
                            None => format!("{name}{mark}"),
                        }
                    })
                    .collect();
                if *is_open || fields.len() > fields_max {
                    shown.push("…".to_owned());
                }
                Some(format!("{{{}}}", shown.join(", ")))
            }
        },
        Type::Any
        | Type::Null
        | Type::Bool
        | Type::Int
        | Type::Float
        | Type::Str
        | Type::Literal(_)
        | Type::Tuple(..) => None,
    }
}
