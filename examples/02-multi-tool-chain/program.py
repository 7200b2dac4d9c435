from servers.crm import add_note, get_record, list_activities, search_records, update_record
from servers.documents import get_document, get_metadata

# Which meeting? The CRM knows, and knows its transcript.
found = await search_records(type="meeting", query="planning")
meeting = next(record for record in found["records"] if record["document_id"])
about = await get_metadata(document_id=meeting["document_id"])
print(f"{meeting['id']}: {meeting['name']}, {about['words']:,} words by {about['author']}")

# The text goes from one server into a record of another. It never leaves the program.
document = await get_document(document_id=meeting["document_id"])
await update_record(type="meeting", id=meeting["id"], fields={"notes": document["text"], "status": "held"})
await add_note(record_id=meeting["id"], text=f"Transcript attached: {document['title']}")

# What does the CRM have now?
stored = await get_record(type="meeting", id=meeting["id"])
activities = await list_activities(record_id=meeting["id"])
result = {
    "status": stored["status"],
    "notes_are_the_transcript": stored["notes"] == document["text"],
    "last_activity": activities["activities"][-1]["text"],
}
