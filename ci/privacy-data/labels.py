"""What the labels of other detectors mean here, and the one place that both scripts keep their data in."""

import os
from pathlib import Path

CLONE = Path(__file__).resolve().parents[2]

# Presidio's entities by our kinds. Entities that aren't here (organizations, places, plates, companies'
# numbers) are no kind of ours, and cases of them are left out.
ENTITIES = {
    "email": ["EMAIL_ADDRESS"],
    "phone": ["PHONE_NUMBER", "PH_MOBILE_NUMBER", "TR_PHONE_NUMBER"],
    "ssn": ["US_SSN"],
    "national_id": [
        "US_ITIN", "UK_NHS", "UK_NINO", "ES_NIF", "ES_NIE", "IT_FISCAL_CODE", "PL_PESEL", "SG_NRIC_FIN",
        "AU_TFN", "AU_MEDICARE", "IN_PAN", "IN_AADHAAR", "FI_PERSONAL_IDENTITY_CODE", "KR_RRN", "TH_TNIN",
        "TR_NATIONAL_ID", "CA_SIN", "SE_PERSONNUMMER", "DE_TAX_ID", "ZA_ID_NUMBER",
    ],
    "credit_card": ["CREDIT_CARD"],
    "iban": ["IBAN_CODE"],
    "bank_account": ["ABA_ROUTING_NUMBER", "US_BANK_NUMBER"],
    "ip_address": ["IP_ADDRESS"],
    "mac_address": ["MAC_ADDRESS"],
    "postal_address": ["STREET_ADDRESS"],
    "passport": ["US_PASSPORT", "UK_PASSPORT", "DE_PASSPORT", "ES_PASSPORT", "IN_PASSPORT", "IT_PASSPORT",
                 "KR_PASSPORT"],
    "driving_license": ["US_DRIVER_LICENSE", "UK_DRIVING_LICENCE", "IT_DRIVER_LICENSE", "KR_DRIVER_LICENSE",
                        "DE_FUEHRERSCHEIN"],
    "crypto_address": ["CRYPTO"],
    "person_name": ["PERSON"],
}

KIND_OF = {entity: kind for kind, entities in ENTITIES.items() for entity in entities}


def data_folder(chosen: str | None) -> Path:
    """Where data goes: never into the clone, so that none of it is ever committed."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(chosen).resolve() if chosen else cache / "gristmill" / "privacy-data"
    if folder.is_relative_to(CLONE):
        raise SystemExit(f"{folder} is inside the clone; choose a folder elsewhere with --into")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
