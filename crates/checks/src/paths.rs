//! Names as they are written with dots.

use ruff_python_ast::Expr;

/// More parts than anybody writes.
const PARTS_MAX: usize = 8;

/// `a.b.c` as its parts; `None` for anything else.
pub(crate) fn path_of(expr: &Expr) -> Option<Vec<&str>> {
    let mut parts = Vec::new();
    let mut expr = expr;
    while let Expr::Attribute(attribute) = expr {
        parts.push(attribute.attr.as_str());
        if parts.len() > PARTS_MAX {
            return None;
        }
        expr = &attribute.value;
    }
    let Expr::Name(name) = expr else { return None };
    parts.push(name.id.as_str());
    parts.reverse();
    Some(parts)
}

/// The first name of `a.b.c`, however many parts it has; `None` for anything else.
pub(crate) fn first_name_of(expr: &Expr) -> Option<&str> {
    let mut expr = expr;
    while let Expr::Attribute(attribute) = expr {
        expr = &attribute.value;
    }
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}

/// `os` of `os.path`.
pub(crate) fn first_part(path: &str) -> &str {
    path.split('.').next().unwrap_or(path)
}

/// The text of a string literal.
pub(crate) fn text_of(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(literal) => Some(literal.value.to_str()),
        _ => None,
    }
}
