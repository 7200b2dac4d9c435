import { query } from "./servers/database";
const { rows } = await query({ sql: "SELECT status, count(*) AS tickets FROM tickets GROUP BY status ORDER BY status" });
export default rows;
