import { update_record } from "./servers/crm";
import { get_document } from "./servers/documents";

const document = await get_document({ document_id: "DOC-0107" });
const changed = await update_record({ type: "meeting", id: "MTG-0042", fields: { notes: document.text, status: "held" } });
export default { words: document.words, changed: changed.updated_fields };
