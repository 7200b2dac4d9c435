//# microtasks come before timers
setTimeout(() => console.log("timeout"), 0);
Promise.resolve().then(() => console.log("then 1")).then(() => console.log("then 2"));
queueMicrotask(() => console.log("microtask"));
(async () => { console.log("async start"); await null; console.log("async after"); })();
console.log("sync");
await new Promise((done) => setTimeout(done, 20));
//# timers in their order
const order = [];
setTimeout(() => order.push("b"), 150); setTimeout(() => order.push("a"), 5); setTimeout(() => order.push("c"), 150);
const cancelled = setTimeout(() => order.push("never"), 10); clearTimeout(cancelled);
let ticks = 0; const interval = setInterval(() => { if (++ticks === 3) clearInterval(interval); }, 3);
await new Promise((done) => setTimeout(done, 400));
console.log(order, ticks);
//# combinators
const wait = (ms, value) => new Promise((done) => setTimeout(done, ms, value));
const fail = (ms, message) => new Promise((_, reject) => setTimeout(() => reject(new Error(message)), ms));
console.log(await Promise.all([wait(9, "a"), wait(3, "b"), "c"]), await Promise.race([wait(20, "slow"), wait(2, "fast")]), await Promise.any([fail(1, "x"), wait(5, "ok")]));
console.log((await Promise.allSettled([wait(1, 1), fail(1, "no")])).map((one) => one.status + ":" + (one.value ?? one.reason.message)));
try { await Promise.any([fail(1, "p"), fail(1, "q")]); } catch (error) { console.log(error.name, error.errors.map((one) => one.message)); }
//# errors through promises
const risky = async (n) => { if (n > 1) throw new RangeError(`n is ${n}`); return n; };
console.log(await risky(1).then((v) => v + 1), await risky(5).catch((error) => error.message), await risky(2).finally(() => console.log("done")).catch(() => "caught"));
//# how promises print
const pending = new Promise(() => {});
const rejected = Promise.reject(new Error("x")); rejected.catch(() => {});
console.log(Promise.resolve({ a: 1 }), pending, [Promise.resolve(1)], async () => {}, (await Promise.resolve([1])));
//# retry with backoff
let attempts = 0;
const flaky = async () => { if (++attempts < 3) throw new Error("flaky"); return "ok"; };
const retry = async (fn, times) => { for (let i = 0; ; i++) { try { return await fn(); } catch (error) { if (i >= times) throw error; await new Promise((done) => setTimeout(done, 2 ** i)); } } };
console.log(await retry(flaky, 5), attempts);
//# a pool of workers
const limit = async (tasks, most) => { const results = []; let next = 0; const work = async () => { while (next < tasks.length) { const at = next++; results[at] = await tasks[at](); } }; await Promise.all(Array.from({ length: most }, work)); return results; };
let running = 0, peak = 0;
const task = (n) => async () => { running++; peak = Math.max(peak, running); await new Promise((done) => setTimeout(done, 5)); running--; return n * n; };
console.log(await limit([1, 2, 3, 4, 5, 6].map(task), 2), peak);
//# abort controllers
const controller = new AbortController();
const job = new Promise((_, reject) => controller.signal.addEventListener("abort", () => reject(controller.signal.reason)));
controller.abort(); console.log(controller.signal.aborted, await job.catch((error) => error.name));
try { AbortSignal.abort("why").throwIfAborted(); } catch (reason) { console.log(reason); }
console.log(await new Promise((done) => AbortSignal.timeout(5).addEventListener("abort", (event) => done(event.type)) || setTimeout(() => {}, 30)));
//# withResolvers by hand, then chaining order
const events = [];
const p = Promise.resolve(); p.then(() => events.push(1)); p.then(() => { events.push(2); return Promise.resolve(); }).then(() => events.push(5)); p.then(() => events.push(3)).then(() => events.push(4));
await new Promise((done) => setTimeout(done, 5)); console.log(events);
//# await in order, and thenables
const thenable = { then(resolve) { resolve("thenable"); } };
console.log(await thenable, await 5, await Promise.resolve(thenable)); for (const n of [1, 2]) console.log(await (async () => n)());
//# promisify and timers promises
const util = require("node:util"); const { setTimeout: sleep } = require("node:timers/promises");
const old = (value, callback) => setTimeout(() => (value ? callback(null, value) : callback(new Error("none"))), 1);
console.log(await util.promisify(old)(7), await util.promisify(old)(0).catch((error) => error.message), await sleep(2, "slept"));
//# event emitters
const { EventEmitter } = require("node:events"); const emitter = new EventEmitter();
emitter.on("data", (v) => console.log("data", v)); emitter.once("data", (v) => console.log("once", v)); console.log(emitter.emit("data", 1), emitter.emit("data", 2), emitter.emit("none"), emitter.listenerCount("data"));
