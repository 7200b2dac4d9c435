import { add_note, search_records } from "./servers/crm";
const [lead] = (await search_records({ type: "lead", query: "Amara Castellan" })).records;
const note = await add_note({ record_id: lead.id, text: "Called back; wants an offer by Friday." });
export default note.record_id;
