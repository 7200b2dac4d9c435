import { forecast, list_cities } from "./servers/weather";

const { cities } = await list_cities();
const answers = await Promise.all(cities.slice(0, 40).map(({ city }) => forecast({ city, days: 1 })));
const heat = answers.map((answer) => [answer.city, answer.days[0].temp_max_c]);
export default heat.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).slice(0, 3);
