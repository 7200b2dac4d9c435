//! TypeScript as JavaScript: what goes, what stays, and where.

use gristmill_checks::typescript::{TopLevel, prepare, prepare_module};

const START: &str = "\"use strict\";(async () => { ";
const END: &str = "\n}) // ";

/// The program alone, without the function around it and what is told of its lines.
fn body(made: &str) -> &str {
    let made = made.strip_prefix(START).and_then(|made| made.rsplit_once(END));
    made.expect("the function around it").0
}

/// What a program's script tells of its lines.
fn told(code: &str) -> String {
    let made =
        prepare(code, TopLevel::Forget).unwrap_or_else(|finding| panic!("{code}: {}", finding.message));
    made.rsplit_once(END).expect("the end of the function").1.to_owned()
}

fn made(code: &str) -> String {
    match prepare(code, TopLevel::Forget) {
        Ok(made) => body(&made).to_owned(),
        Err(finding) => panic!("{code}\nline {}: {}", finding.line, finding.message),
    }
}

fn kept(code: &str) -> String {
    body(&prepare(code, TopLevel::Keep).unwrap_or_else(|finding| panic!("{code}: {}", finding.message)))
        .to_owned()
}

fn module(code: &str) -> String {
    body(&prepare_module(code).unwrap_or_else(|finding| panic!("{code}: {}", finding.message))).to_owned()
}

/// Without what a table shows only by its length.
fn squeezed(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    lines.join("\n")
}

fn expect(cases: &[(&str, &str)]) {
    for (code, expected) in cases {
        let made = made(code);
        assert_eq!(squeezed(&made), squeezed(expected), "{code}");
        assert_eq!(made.lines().count(), code.lines().count(), "{code}");
    }
}

#[test]
fn types_become_blanks_and_columns_stay() {
    for (code, expected) in [
        ("const x: number = 1;\nf();x;", "const x         = 1;\nf();__gristmill.last = (x);"),
        ("let y: Array<{a: string}> | null = null;", "let y                            = null;"),
        ("if (a as any) { b!.c(d!); }", "if (a       ) { b .c(d ); }"),
        (
            "for (const [k, v] of Object.entries(o) as [string, number][]) {}",
            "for (const [k, v] of Object.entries(o)                      ) {}",
        ),
        ("const é: Ü = 'ü' as Ü; { é }", "const é    = 'ü'     ; { é }"),
    ] {
        assert_eq!(made(code), expected, "{code}");
    }
}

#[test]
fn the_authors_text_and_columns_of_rewritten_lines_go_along() {
    for (code, expected) in [
        ("f()\n{}", r#"[[1,"f()",[0,0,0,28,0,1]]]"#),
        (
            "const r = {};\nresult = { a: r.temp.foo };",
            r#"[[1,"const r = {};",[0,0,0,28,0,1]],[2,"result = { a: r.temp.foo };",[0,0,0,20,0,1,46,26,0,47,26,1]]]"#,
        ),
        (
            "f()\n\nexport default r.x;",
            r#"[[1,"f()",[0,0,0,28,0,1]],[3,"export default r.x;",[0,0,0,23,0,1,41,18,0,43,18,1]]]"#,
        ),
        (
            "f()\nlet x: A = 'é';\n{}",
            r#"[[1,"f()",[0,0,0,28,0,1]],[2,"let x: A = 'é';",[0,0,1,12,12,2,14,13,1]]]"#,
        ),
    ] {
        assert_eq!(told(code), expected, "{code}");
    }
    let imported = told("import { a } from 'b';a();{}");
    assert!(imported.starts_with("[[1,\"import { a } from 'b';a();{}\",[0,0,0,"), "{imported}");
}

#[test]
fn whatever_is_a_type_goes() {
    expect(&[
        ("interface A { x: string }\n{}", ";\n{}"),
        ("type A = string | number;\n{}", ";\n{}"),
        ("type A<T> = {\n  [K in keyof T]: T[K]\n}\n{}", ";\n\n\n{}"),
        ("declare const VERSION: string;\n{}", ";\n{}"),
        ("declare function f(x: number): void;\n{}", ";\n{}"),
        ("declare module 'x' { export const y: number; }\n{}", ";\n{}"),
        ("declare global { interface Window { x: string } }\n{}", ";\n{}"),
        ("declare class C { x: string; }\n{}", ";\n{}"),
        ("declare enum E { A }\n{}", ";\n{}"),
        ("export type A = 1;\n{}", ";\n{}"),
        ("export interface A {}\n{}", ";\n{}"),
        ("import type { A } from 'a';\n{}", ";\n{}"),
        ("export type { A } from 'a';\n{}", ";\n{}"),
        (
            "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) { }",
            ";\n;\nfunction f(a ) { }",
        ),
        ("const f = <T>(x: T): T => x;", "const f = (x ) => x;"),
        ("const f = <T,>(x: T) => x;", "const f = (x ) => x;"),
        ("const f = async <T extends object>(x: T): Promise<T> => x;", "const f = async (x ) => x;"),
        (
            "function f<T>(this: Window, a?: string, ...rest: T[]): asserts a is string { }",
            "function f ( a , ...rest ) { }",
        ),
        ("function f(this: Window) { }", "function f( ) { }"),
        (
            "function f(a: number = 1, {b, c}: {b: string; c?: number} = {b: ''}) { }",
            "function f(a = 1, {b, c} = {b: ''}) { }",
        ),
        (
            "g<string>(1); new Map<string, number>(); tag<T>`x`; 0",
            "g (1); new Map (); tag `x`; __gristmill.last = (0)",
        ),
        ("const m = new Map<string, Map<string, number[]>>();", "const m = new Map ();"),
        ("const h = f<string>;", "const h = f ;"),
        ("let x!: string;", "let x ;"),
        ("try { } catch (e: unknown) { }", "try { } catch (e ) { }"),
        ("const a = {b: 1} satisfies Record<string, number>;", "const a = {b: 1} ;"),
        ("const a = [1, 2] as const;", "const a = [1, 2] ;"),
        ("const a = x as unknown as string;", "const a = x ;"),
        ("const a = <string>x;", "const a = ( x);"),
        ("const f = () => <A>{b: 1};", "const f = () => ( {b: 1});"),
        ("(a as any).b = 1; a! = 2; (<any>c) = 3; {}", "(a ).b = 1; a = 2; (( c)) = 3; {}"),
        ("const {a, b}: {a: string, b: number} = c;", "const {a, b} = c;"),
        (
            "label: for (const x of y as string[]) { continue label }",
            "label: for (const x of y ) { continue label }",
        ),
        ("const x = y ? (z as A) : w!;", "const x = y ? (z ) : w ;"),
        ("const f = function<T>(x: T): T { return x };", "const f = function (x ) { return x };"),
        (
            "const o = { m<T>(x: T): T { return x }, get y(): number { return 1 }, async *g(): AsyncGenerator<number> {} };",
            "const o = { m (x ) { return x }, get y() { return 1 }, async *g() {} };",
        ),
        ("abstract class A { }", "class A { }"),
        ("export abstract class A { }", "class A { }"),
        ("let x: typeof import('a'); let y: A.B<C>['d']; {}", "let x ; let y ; {}"),
        ("let f: (a: number, b?: string) => void = g;", "let f = g;"),
        ("let f: new (...args: any[]) => object = g;", "let f = g;"),
        ("let t: `a${string}b` = 'aab';", "let t = 'aab';"),
        ("namespace Types { export interface A { } export type B = 1 }\n{}", ";\n{}"),
        ("import fs = require('fs');\n{}", "const fs = require('fs');\n{}"),
        ("#!/usr/bin/env node\n{}", "\n{}"),
    ]);
}

#[test]
fn classes_lose_their_modifiers_and_keep_their_members_apart() {
    expect(&[
        (
            "class A<T> extends B<T> implements C, D<E> {\n  private x: number = 1\n  readonly y?: string\n  static #z: T\n  [key: string]: any\n}",
            "class A extends B {\n; x = 1\n; y ;\nstatic #z;\n;\n}",
        ),
        (
            "class A {\n  x = 1\n  private ['y'] = 2\n  public static async *m() {}\n}",
            "class A {\nx = 1\n; ['y'] = 2\n; static async *m() {}\n}",
        ),
        (
            "class A {\n  get: any\n  x() {}\n  set?: B\n  y() {}\n  static: C\n  z() {}\n}",
            "class A {\nget;\nx() {}\nset ;\ny() {}\nstatic;\nz() {}\n}",
        ),
        (
            "class A {\n  declare x: string\n  abstract y: number\n  abstract m(): void\n  n?(): void\n  o(): void;\n  o(x?: any): void {}\n}",
            "class A {\n;\n;\n;\n;\n;\no(x ) {}\n}",
        ),
        (
            "class A { override m(): void {} protected get x(): number { return 1 } }",
            "class A { ; m() {} ; get x() { return 1 } }",
        ),
        (
            "class A { constructor(private x: number, public readonly y = 2, z?: string) { f() } }",
            "class A { constructor( x , y = 2, z ) { this.x = x; this.y = y; f() } }",
        ),
        (
            "class A extends B { constructor(readonly x: number) { super(x); f() } }",
            "class A extends B { constructor( x ) { super(x);; this.x = x; f() } }",
        ),
        ("class A { constructor(private x: number) {} }", "class A { constructor( x ) { this.x = x;} }"),
        (
            "class A { constructor(x: string);\n constructor(x: any) { } }",
            "class A { ;\nconstructor(x ) { } }",
        ),
        ("const C = class<T> { x!: T; };", "const C = class { x ; ; };"),
        ("class A { static { f(x as any) } accessor = 1; }", "class A { static { f(x ) } accessor = 1; }"),
    ]);
}

#[test]
fn enums_become_objects_where_they_stand() {
    expect(&[
        (
            "enum Color { Red, Green = 5, Blue }",
            "var Color; (Color => [ Color[Color[\"Red\"] = 0] = \"Red\" , Color[Color[\"Green\"] = 5] = \"Green\", Color[Color[\"Blue\"] = 6] = \"Blue\" ])(Color ||= {});",
        ),
        (
            "enum Mode {\n  On = 'on', // yes\n  Off = `off`,\n}",
            "var Mode; (Mode => [\nMode[\"On\"] = 'on', // yes\nMode[\"Off\"] = `off`,\n])(Mode ||= {});",
        ),
        (
            "const enum F { A = 1 << 0, B = 1 << 1, AB = A | B, C }",
            "var F; (F => [ F[F[\"A\"] = 1 << 0] = \"A\", F[F[\"B\"] = 1 << 1] = \"B\", F[F[\"AB\"] = F.A | F.B] = \"AB\", F[F[\"C\"] = 4] = \"C\" ])(F ||= {});",
        ),
        (
            "export enum G { 'a-b' = -1, c, d = 'x'.length }",
            "var G; (G => [ G[G[\"a-b\"] = -1] = \"a-b\", G[G[\"c\"] = 0] = \"c\" , G[G[\"d\"] = 'x'.length] = \"d\" ])(G ||= {});",
        ),
        ("enum Empty { }", "var Empty; (Empty => [ ])(Empty ||= {});"),
        (
            "enum S { A = 'a' as any, B = 'b' + A }",
            "var S; (S => [ S[S[\"A\"] = 'a' ] = \"A\", S[\"B\"] = 'b' + S.A ])(S ||= {});",
        ),
    ]);
}

#[test]
fn namespaces_become_objects_whose_exports_are_read_through_them() {
    expect(&[
        (
            "namespace A {\n  export const x: number = 1;\n  export function f() { return x }\n  const y = 2;\n  export interface I { }\n}",
            "var A; (((A) => { Object.defineProperties(A, {\"x\": {get: () => x, enumerable: true, configurable: true}, \"f\": {get: () => f, enumerable: true, configurable: true}});\nconst x = 1;\nfunction f() { return x }\nconst y = 2;\n;\n})(A ||= {}));",
        ),
        (
            "namespace A.B { export class C { } }",
            "var A; (((A) => { let B = A.B ||= {}; (((B) => { Object.defineProperties(B, {\"C\": {get: () => C, enumerable: true, configurable: true}}); class C { } })(B));})(A ||= {}));",
        ),
        (
            "namespace A { export namespace B { export let x = 1 } export enum E { X } }",
            "var A; (((A) => { Object.defineProperties(A, {\"B\": {get: () => B, enumerable: true, configurable: true}, \"E\": {get: () => E, enumerable: true, configurable: true}}); var B; (((B) => { Object.defineProperties(B, {\"x\": {get: () => x, enumerable: true, configurable: true}}); let x = 1 })(B ||= {})); var E; (E => [ E[E[\"X\"] = 0] = \"X\" ])(E ||= {}); })(A ||= {}));",
        ),
    ]);
}

#[test]
fn lines_that_a_type_kept_apart_stay_apart() {
    expect(&[
        ("const a = b\ntype A = 1\n(f)()", "const a = b\n;\n__gristmill.last = ((f)())"),
        ("const a = b\ninterface A { }\n[1].map(f)", "const a = b\n;\n__gristmill.last = ([1].map(f))"),
        ("const a = b as C\n(f)()\n{}", "const a = b ;\n(f)()\n{}"),
        ("let a = b satisfies C\n[0].x\n{}", "let a = b ;\n[0].x\n{}"),
        ("let a: C\n(f)()\n{}", "let a\n(f)()\n{}"),
        ("const f = (a: A):\n  Promise<B> => a", "const f = (a\n) => a"),
        ("const f = async <\n  T\n>(a: T) => a", "const f = async (\n\na ) => a"),
        ("function f() { return <A>\n  x }", "function f() { return (\nx) }"),
        ("function f() { return <\n  T\n>(a: T) => a }", "function f() { return (\n\na ) => a }"),
    ]);
}

#[test]
fn imports_stand_before_the_first_line() {
    for (code, expected) in [
        (
            "import { a, b as c } from './servers/crm';\na(); c();\n{}",
            "const {\"a\": a, \"b\": c} = await __gristmill.module(\"./servers/crm\", 1); ;\na(); c();\n{}",
        ),
        (
            "// first\nimport * as fs from 'node:fs';\nfs.x;{}",
            "const fs = await __gristmill.module(\"node:fs\", 2); // first\n;\nfs.x;{}",
        ),
        (
            "import d, { e } from 'x'; d(e);{}",
            "const {\"default\": d, \"e\": e} = await __gristmill.module(\"x\", 1); ; d(e);{}",
        ),
        (
            "import d, * as n from 'x'; d(n);{}",
            "const n = await __gristmill.module(\"x\", 1); const {\"default\": d} = n; ; d(n);{}",
        ),
        ("import 'x';{}", "await __gristmill.module(\"x\", 1); ; {}"),
        (
            "import { A, type B, c } from 'x'; let y: A = c;{}",
            "const {\"c\": c} = await __gristmill.module(\"x\", 1); ; let y = c;{}",
        ),
        ("import { A } from 'x'; let y: A;{}", "; let y ;{}"),
        (
            "import { A } from 'x'; export { A };{}",
            "const {\"A\": A} = await __gristmill.module(\"x\", 1); ; ; {}",
        ),
        ("const m = await import('x'); m;{}", "const m = await __gristmill.load ('x'); m;{}"),
        ("import.meta.url;{}", "__gristmill.meta .url;{}"),
        ("export { a } from 'x';{}", "await __gristmill.module(\"x\", 1); ; {}"),
        ("const f = require('fs');{}", "const f = require('fs');{}"),
    ] {
        assert_eq!(squeezed(&made(code)), squeezed(expected), "{code}");
    }
}

#[test]
fn a_program_gives_a_result_in_every_way() {
    expect(&[
        ("1 + 1", "__gristmill.last = (1 + 1)"),
        ("1 + 1; // two", "__gristmill.last = (1 + 1); // two"),
        ("const x = 1\nx // the end", "const x = 1\n__gristmill.last = (x) // the end"),
        ("f();\ntype A = 1;", "__gristmill.last = (f());\n;"),
        ("'text'", "__gristmill.last = ('text')"),
        ("await main() as string;", "__gristmill.last = (await main() );"),
        ("result = 5", "__gristmill.last = (result = 5)"),
        ("const result: number = 5; // five", "const result = 5;;__gristmill.result = result; // five"),
        ("let {result} = f()", "let {result} = f();__gristmill.result = result;"),
        ("export default {a: 1};", "__gristmill.default = ( {a: 1});;"),
        ("export default async function main() { }", "__gristmill.default = main; async function main() { }"),
        ("export default function () { }", "__gristmill.default = ( function () { });"),
        ("export default class A { }", "class A { };__gristmill.default = A;"),
        ("export default () => 1", "__gristmill.default = ( () => 1);"),
        ("export const a: A = 1;\n{}", "const a = 1;\n{}"),
        ("if (x) return 5;\nreturn 6", "if (x) return 5;\nreturn 6"),
        ("export = 5", "__gristmill.default = ( 5);"),
        ("", ""),
        ("// nothing", "// nothing"),
    ]);
}

#[test]
fn what_is_kept_becomes_properties_of_the_global_object() {
    let globals = |names: &str| {
        format!("for (const name of [{names}]) name in globalThis || (globalThis[name] = undefined); ")
    };
    for (code, names, expected) in [
        ("const x: number = 1;{}", "\"x\"", ";( x = 1);{}"),
        ("let a, b = 2\n{}", "\"a\", \"b\"", ";( a = undefined, b = 2)\n{}"),
        ("var v\n{}", "\"v\"", ";( v)\n{}"),
        ("const {a, b: [c], ...d} = e;{}", "\"a\", \"c\", \"d\"", ";( {a, b: [c], ...d} = e);{}"),
        ("class A { };{}", "\"A\"", ";A = class A { };;{}"),
        ("enum E { X }\n{}", "\"E\"", ";(E => [ E[E[\"X\"] = 0] = \"X\" ])(E ||= {});\n{}"),
        ("for (const i of x) { let y = i }", "", "for (const i of x) { let y = i }"),
        ("const result = 5;{}", "", ";( result = 5);{}"),
    ] {
        let expected = if names.is_empty() { expected.to_owned() } else { globals(names) + expected };
        assert_eq!(squeezed(&kept(code)), squeezed(&expected), "{code}");
    }
    assert_eq!(kept("function f() { }"), "globalThis.f = f; function f() { }");
    let imported = kept("import { a, T } from 'x'; let y: T;{}");
    assert_eq!(
        squeezed(&imported),
        squeezed(
            &(globals("\"y\", \"a\"")
                + "({\"a\": a} = await __gristmill.module(\"x\", 1)); ; ;( y = undefined);{}")
        )
    );
}

#[test]
fn a_module_gives_what_it_exports() {
    for (code, expected) in [
        ("export function f(): number { return 1 }", "function f() { return 1 };return {\"f\": f};"),
        ("export const a = 1, b = 2;", "const a = 1, b = 2;;return {\"a\": a, \"b\": b};"),
        ("const a = 1;\nexport { a as b };", "const a = 1;\n; ;return {\"b\": a};"),
        ("export default 5;", "const __default = ( 5);;;return {\"default\": __default};"),
        ("export default function f() { }", "function f() { };return {\"default\": f};"),
        ("export * from 'x';", "const __from0 = await __gristmill.module(\"x\", 1); ; ;return {...__from0};"),
        (
            "export { a as b } from 'x';",
            "const __from0 = await __gristmill.module(\"x\", 1); ; ;return {\"b\": __from0[\"a\"]};",
        ),
        (
            "export * as n from 'x';",
            "const __from0 = await __gristmill.module(\"x\", 1); ; ;return {\"n\": __from0};",
        ),
        ("f();", "f();;return {};"),
    ] {
        assert_eq!(squeezed(&module(code)), squeezed(expected), "{code}");
    }
}

#[test]
fn a_mistake_has_its_line_a_mark_and_what_to_write() {
    for (code, line, message, marked, hint) in [
        ("const x = 1;\nconst y = ;\n", 2, "Unexpected token", "const y = ;\n          ^", ""),
        (
            "function f() {\n  if (x) {\n}\n",
            3,
            "Expected `}` but found the end of the program (opened on line 1)",
            "}\n ^",
            "",
        ),
        ("f(1, 2", 1, "Expected `)` but found the end of the program", "f(1, 2\n      ^", ""),
        ("const s = 'abc", 1, "Unterminated string", "const s = 'abc\n          ^^^^", ""),
        (
            "@sealed\nclass A { }",
            1,
            "decorators aren't supported",
            "@sealed\n^^^^^^^",
            "call the function yourself",
        ),
        (
            "class A { @x m() { } }",
            1,
            "decorators aren't supported",
            "class A { @x m() { } }\n          ^^",
            "call the function",
        ),
        ("const x = <div>hi</div>;", 1, "", "", "JSX isn't supported"),
        ("const x = <div />;", 1, "", "", "JSX isn't supported"),
        ("def f(x):\n    return x", 1, "", "", "language \"python\""),
        ("# a comment\nconst x = 1;", 1, "", "", "comments begin with `//`"),
        (
            "const x;",
            1,
            "Missing initializer in const declaration",
            "const x;\n      ^",
            "Add an initializer",
        ),
    ] {
        let finding = prepare(code, TopLevel::Forget).expect_err(code);
        assert_eq!(finding.line, line, "{code}: {finding:?}");
        if !message.is_empty() {
            assert_eq!(finding.message, message, "{code}");
            assert_eq!(finding.marked(""), marked, "{code}");
        }
        let told = finding.hint.clone().unwrap_or_default();
        assert!(told.contains(hint), "{code}: {finding:?}");
    }
}

#[test]
fn fences_go_and_lines_stay() {
    assert_eq!(made("```ts\nconst x: number = 1;\n{}\n```\nThat's it."), "\nconst x         = 1;\n{}\n\n");
}

#[test]
fn no_text_brings_the_gateway_down() {
    let deep = |before: &str, part: &str, after: &str| format!("{before}{}{after}", part.repeat(100_000));
    for code in [
        deep("x = ", "(", ""),
        deep("x = ", "[", ""),
        deep("x = ", "a => ", "1"),
        deep("x = ", "`${", ""),
        deep("x = ", "!", "1"),
        deep("x = 1", " + 1", ""),
        deep("x = a", ".b", ""),
        deep("x = a", "()", ""),
        deep("x = a", "?.b", ""),
        deep("x = a", "[0]", ""),
        deep("x = a", "!", ""),
        deep("x = a", " as B", ""),
        deep("let x: ", "A<", "B"),
        deep("let x: A", "[]", ""),
        deep("let x: A", ".B", ""),
        deep("let x: A", " | A", ""),
        deep("x = a", " ?? b", ""),
        deep("x = a", "`b`", ""),
        deep("x = 1", ", 1", ""),
        deep("x = ", "<A>", "b"),
        deep("x = ", "<div>", ""),
        deep("", "if (a) b; else ", "c"),
        deep("", "{", ""),
        deep("", "a: ", "b"),
    ] {
        let shown: String = code.chars().take(40).collect();
        if let Err(finding) = prepare(&code, TopLevel::Forget) {
            assert!(finding.message.len() < 200, "{shown}: {}", finding.message);
        }
    }
}

#[test]
fn the_deepest_texts_that_are_let_through_are_parsed() {
    let deep = |part: &str, after: &str, count: usize, close: &str| {
        format!("x = {}{after}{}", part.repeat(count), close.repeat(count))
    };
    for code in [
        deep("(", "1", 120, ")"),
        deep("[", "1", 120, "]"),
        deep("{a: ", "1", 60, "}"),
        deep("f(", "1", 120, ")"),
        deep("a => ", "1", 240, ""),
        deep("!", "1", 240, ""),
        deep("`${", "1", 120, "}`"),
        deep("a ? b : ", "1", 120, ""),
        deep("function() { return ", "1", 40, "}"),
        format!("x = 1{}", " + 1".repeat(1_000)),
        format!("x = a{}", ".b(c)".repeat(400)),
        format!("let x: {}B{}", "A<".repeat(240), ">".repeat(240)),
    ] {
        let shown: String = code.chars().take(40).collect();
        let made = prepare(&code, TopLevel::Forget);
        assert!(made.is_ok(), "{shown}: {:?}", made.err().map(|finding| finding.message));
    }
}

#[test]
fn brackets_that_may_begin_an_arrow_function_take_no_longer_for_it() {
    let begun = std::time::Instant::now();
    for code in [
        format!("x = {}1{}", "(a = ".repeat(60), ")".repeat(60)),
        format!("x = {}c", "a ? (b) : ".repeat(80)),
        format!("x = {}c", "a ? (b, c) => (d) : ".repeat(40)),
        format!("x = {}a{}", "(".repeat(110), ")".repeat(110)),
        format!("x = {}a{}", "async (".repeat(80), ")".repeat(80)),
        format!("x = {}1", "a < b ? (c) : ".repeat(60)),
        format!("x = {}1{}", "f<a>(".repeat(60), ")".repeat(60)),
    ] {
        let _ = prepare(&code, TopLevel::Forget);
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn any_text_is_prepared_without_a_panic() {
    let mut random = 7u64;
    let parts = [
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "`",
        "${",
        "'",
        "\"",
        "/",
        "//",
        "/*",
        "*/",
        "\n",
        " ",
        "x",
        "=",
        ":",
        "?",
        "é",
        "\0",
        "\r",
        "```",
        "=>",
        "<",
        ">",
        "enum ",
        "class ",
        "namespace ",
        "as ",
        "!",
        "export ",
        "import ",
        "function ",
        "type ",
        ";",
        ",",
        ".",
        "\u{2028}",
        "\\",
        "@",
        "async ",
        "await ",
        "const ",
        "private ",
    ];
    for _ in 0..3_000 {
        let mut text = String::new();
        for _ in 0..25 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            text.push_str(parts[(random >> 33) as usize % parts.len()]);
        }
        for top in [TopLevel::Forget, TopLevel::Keep] {
            if let Ok(made) = prepare(&text, top) {
                assert_eq!(made.matches('\n').count(), text.matches('\n').count() + 1, "{text:?}\n{made:?}");
                let (_, told) = made.rsplit_once(END).expect("the end of the function");
                assert!(!told.contains(['\r', '\u{2028}', '\u{2029}']), "{text:?}\n{made:?}");
            }
        }
        let _ = prepare_module(&text);
    }
}
