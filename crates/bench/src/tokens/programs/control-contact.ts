import { get_record } from "./servers/crm";
export default await get_record({ type: "contact", id: "CON-0017" });
