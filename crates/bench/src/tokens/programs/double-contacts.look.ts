import { hubspot_list_objects } from "./servers/hubspot";
export default await hubspot_list_objects({ objectType: "contacts", limit: 1 });
