//! The files that pages link to, inside the binary.

/// A file to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    pub content_type: &'static str,
    pub bytes: &'static [u8],
    /// With quotes, as the header has it. Changes with the bytes.
    pub etag: &'static str,
}

const STYLE: &[u8] = include_bytes!("../assets/style.css");
const SCRIPT: &[u8] = include_bytes!("../assets/app.js");
const ICON: &[u8] = include_bytes!("../assets/icon.svg");

const STYLE_TAG: [u8; 18] = etag(STYLE);
const SCRIPT_TAG: [u8; 18] = etag(SCRIPT);
const ICON_TAG: [u8; 18] = etag(ICON);

/// Names of all assets.
pub const NAMES: [&str; 3] = ["style.css", "app.js", "icon.svg"];

/// By its name, or by an address that ends with it.
pub fn find(path: &str) -> Option<Asset> {
    let name = path.strip_prefix("/dashboard/assets/").unwrap_or(path);
    let (content_type, bytes, tag) = match name {
        "style.css" => ("text/css; charset=utf-8", STYLE, &STYLE_TAG),
        "app.js" => ("text/javascript; charset=utf-8", SCRIPT, &SCRIPT_TAG),
        "icon.svg" => ("image/svg+xml", ICON, &ICON_TAG),
        _ => return None,
    };
    Some(Asset { content_type, bytes, etag: std::str::from_utf8(tag).unwrap_or("\"\"") })
}

/// Where a page finds it. The query changes with the bytes, so browsers may keep it forever.
pub(crate) fn address(name: &str) -> String {
    let tag = find(name).map(|asset| asset.etag.trim_matches('"')).unwrap_or_default();
    format!("{}?{tag}", crate::routes::fill(crate::routes::ASSET, &[name]))
}

/// FNV-1a: tells builds apart, and nothing else.
const fn etag(bytes: &[u8]) -> [u8; 18] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x100_0000_01b3);
        at += 1;
    }
    let mut tag = [b'"'; 18];
    let mut digit = 0;
    while digit < 16 {
        tag[digit + 1] = HEX[((hash >> (60 - 4 * digit)) & 15) as usize];
        digit += 1;
    }
    tag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_asset_is_found_by_name_and_by_address() {
        for name in NAMES {
            let asset = find(name).expect("it is there");
            assert_eq!(find(&format!("/dashboard/assets/{name}")), Some(asset));
            assert_eq!(asset.etag.len(), 18);
        }
        assert_eq!(find("../Cargo.toml"), None);
    }
}
