import { hubspot_search_objects } from "./servers/hubspot";
export default await hubspot_search_objects({ objectType: "deals", limit: 1 });
