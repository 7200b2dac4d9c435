import { list_leads } from "./servers/crm";
export default await list_leads({ status: "won", owner: "Petra Novak", page_size: 5 });
