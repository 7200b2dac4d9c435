// attack: types written so that taking them out would leave other code behind
// expect: ok | error
// forbid: PWNED
type Trick = "}); globalThis.out = 1; (async () => {";
interface Hidden { then: () => "*/ globalThis.out = 1 /*"; "${globalThis.out = 1}": 1 }
const generic = <T extends { a: "`${globalThis.out = 1}`" }>(value: T): value is T & Trick => !!value as boolean satisfies boolean;
declare const out: { "globalThis.out = 1": () => void };
abstract class Odd<in out T> { declare private readonly x: T; constructor(protected y: string = "*/" as const, public z?: (a: number) => "=> globalThis.out = 1") {} abstract get(): T; }
enum Names { "constructor" = 1, "__proto__" = 2, a = `${1}`.length, b = a << 3 }
namespace Space { export const inner = 1; export namespace Deep { export let value: `${number}` = "1"; } }
let assertion = (<any>globalThis).out!;
const after = generic < number > (1 as any), more = [] as unknown as Array<Array<() => void>>;
if ((globalThis as any).out !== undefined) console.log("PW" + "NED: a type was executed");
if (({} as any)[1] !== undefined) console.log("PW" + "NED: an enum polluted every object");
export default [assertion, after, more.length, Names.a, Space.Deep.value, typeof Odd];
