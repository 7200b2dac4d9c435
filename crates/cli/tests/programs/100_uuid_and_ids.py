import hashlib
import uuid


def slug(text):
    kept = "".join(c.lower() if c.isalnum() else "-" for c in text)
    return "-".join(part for part in kept.split("-") if part)


def short_id(*parts, length=10):
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:length]


{
    "uuid5": str(uuid.uuid5(uuid.NAMESPACE_DNS, "example.com")),
    "valid": uuid.UUID("12345678-1234-5678-1234-567812345678").version,
    "random_version": uuid.uuid4().version,
    "slug": slug("  Hello, World -- été 2026! "),
    "id": short_id("order", "17"),
}
