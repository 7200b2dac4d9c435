import { current } from "./servers/weather";
export default await current({ city: "Oslo" });
