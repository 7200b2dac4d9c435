// attack: reach a listener on the host with what browsers have
// expect: ok
// forbid: PWNED
const url = "http://127.0.0.1:@@PORT@@/";
const ways = {
  fetch: () => fetch(url),
  "fetch of a request": () => fetch({ url, method: "POST" }, { body: "x" }),
  xhr: () => {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.send();
  },
  socket: () => new WebSocket(url.replace("http", "ws")),
  events: () => new EventSource(url),
  beacon: () => navigator.sendBeacon(url, "x"),
  image: () => Object.assign(new Image(), { src: url }),
  scripts: () => importScripts(url),
  worker: () => new Worker(url),
};
for (const [name, way] of Object.entries(ways)) {
  try {
    await way();
    console.log("PW" + "NED:", name);
  } catch (error) {
    console.log(name, error.name);
  }
}
export default "tried";
