from servers.crm import update_record
from servers.documents import get_document

document = await get_document(document_id="DOC-0107")
changed = await update_record(type="meeting", id="MTG-0042", fields={"notes": document["text"], "status": "held"})
result = {"words": document["words"], "changed": changed["updated_fields"]}
