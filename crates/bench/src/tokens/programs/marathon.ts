import { convert_units } from "./servers/calculator";
export default await convert_units({ value: 26.2188, from: "mile", to: "km" });
