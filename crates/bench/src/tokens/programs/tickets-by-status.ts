import { query } from "./servers/database";
export default await query({ sql: "SELECT status, count(*) AS tickets FROM tickets GROUP BY status ORDER BY status" });
