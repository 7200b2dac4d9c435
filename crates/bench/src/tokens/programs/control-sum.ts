import { evaluate } from "./servers/calculator";
export default await evaluate({ expression: "2348.60 * 1.175" });
