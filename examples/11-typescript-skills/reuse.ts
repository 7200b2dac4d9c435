import { wetDays, type WetDay } from "skills/wet_days";

const cities = ["Oslo", "Rome"];
const found: WetDay[][] = await Promise.all(cities.map((city) => wetDays(city, 3)));
cities.forEach((city, index) => console.log(`${city}: ${found[index].map((day) => day.date).join(", ")}`));
