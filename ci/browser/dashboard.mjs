// Clicks through the dashboard. On standard input: {link, chromium, screenshots, tried}. With `tried`, a program for
// the playground, only pictures for the docs are made. Says `begin N` when the Nth
// program should start, and ends with 1 if anything is not as it should be.

import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { picture } from "./pictures.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const asked = JSON.parse(readFileSync(0, "utf8"));
const origin = new URL(asked.link).origin;
const problems = [];
const SOON = 20_000;
const LEARNED = "/dashboard/servers/shop/tools/list_orders";
const OVERVIEW_BYTES_MAX = 200 * 1024;
const WAYS = [
  { name: "light", colorScheme: "light", viewport: { width: 1280, height: 900 } },
  { name: "dark", colorScheme: "dark", viewport: { width: 1280, height: 900 } },
  { name: "phone", colorScheme: "light", viewport: { width: 390, height: 844 } },
];

function check(holds, what) {
  if (!holds) {
    problems.push(what);
    console.log(`PROBLEM: ${what}`);
  }
}

function watch(page) {
  const about = (what) => check(false, `${new URL(page.url()).pathname}: ${what}`);
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && about(message.text()));
  page.on("pageerror", (error) => about(String(error)));
  page.on("dialog", (dialog) => (about(`a dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    if (!request.url().startsWith(origin)) about(`asked for ${request.url()}`);
  });
}

async function looked(page, path, way) {
  const answer = await page.goto(origin + path, { waitUntil: "load" });
  check(answer.status() === 200, `${path} answered ${answer.status()}`);
  check((await page.title()) !== "broken", `${path} ran what it was to show`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wide <= 0, `${path} (${way.name}) is ${wide} pixels too wide`);
  if (asked.screenshots) {
    mkdirSync(asked.screenshots, { recursive: true });
    const name = path.replace(/^\/dashboard\/?/, "").replace(/[^a-z0-9]+/gi, "-") || "overview";
    await page.screenshot({ path: join(asked.screenshots, `${name}-${way.name}.png`), fullPage: true });
  }
}

async function accessible(page, path, way) {
  // Through the debugger: the page's own policy lets no script in.
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
  for (const { id, nodes } of serious) {
    check(false, `${path} (${way.name}): ${id}: ${nodes[0].html.slice(0, 200)}`);
  }
}

// What a tool's answers have taught is learned beside the programs.
async function learned(page) {
  await page.goto(origin + LEARNED);
  const taught = page.getByRole("row").filter({ hasText: "orders: [{" });
  for (let tries = 0; tries < 40 && !(await taught.count()); tries++) {
    await page.waitForTimeout(500);
    await page.reload();
  }
  check((await taught.innerText()).includes("14 calls"), "a tool's page doesn't say what its answers have taught");
}

async function every_page(page) {
  const links = await page.$$eval("nav a[href^='/dashboard']", (all) => all.map((one) => one.getAttribute("href")));
  return [...new Set(links.filter((link) => !link.includes("logout")))];
}

// The pages behind the first links of a list.
async function details(page, path) {
  await page.goto(origin + path);
  const links = await page.$$eval("main a[href^='/dashboard/']", (all) => all.map((one) => one.getAttribute("href")));
  const deeper = links.filter((link) => link.startsWith(`${path}/`) && !link.includes("?"));
  return [...new Set(deeper)].slice(0, 6);
}

async function see_all(browser, state) {
  const pages = new Set();
  for (const way of WAYS) {
    const context = await browser.newContext({ ...way, storageState: state, reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.goto(`${origin}/dashboard`);
    if (pages.size === 0) {
      const main = await every_page(page);
      check(main.length >= 10, `only ${main.length} pages are linked: ${main}`);
      for (const path of main) pages.add(path);
      for (const path of main.slice(1)) for (const deeper of await details(page, path)) pages.add(deeper);
      pages.add(LEARNED);
    }
    watch(page);
    for (const path of pages) {
      await looked(page, path, way);
      await accessible(page, path, way);
    }
    await context.close();
  }
  console.log(`${pages.size} pages in ${WAYS.length} ways`);
}

// Without scripts everything can be read, and the login holds.
async function without_scripts(browser, state) {
  const context = await browser.newContext({ storageState: state, javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`${origin}/dashboard/executions`);
  check((await page.locator("main table tbody tr").count()) >= 5, "executions aren't listed without scripts");
  await context.close();
  const stranger = await browser.newContext();
  const outside = await stranger.newPage();
  const answer = await outside.goto(`${origin}/dashboard/executions`);
  check(answer.status() === 401, `a stranger gets ${answer.status()}`);
  check((await outside.content()).includes("gristmill dashboard"), "a stranger isn't told how to log in");
  const again = await outside.goto(asked.link);
  const button = outside.locator("main form button");
  if (again.status() === 200 && (await button.count())) await button.first().click();
  await outside.goto(`${origin}/dashboard/executions`);
  check(outside.url().includes("login") || !(await outside.locator("main table").count()), "a link worked twice");
  await stranger.close();
}

async function weigh(page) {
  let bytes = 0;
  const count = async (response) => (bytes += (await response.body().catch(() => Buffer.alloc(0))).length);
  page.on("response", count);
  await page.goto(`${origin}/dashboard`, { waitUntil: "load" });
  await page.waitForTimeout(300);
  page.off("response", count);
  check(bytes > 0 && bytes <= OVERVIEW_BYTES_MAX, `the overview weighs ${bytes} bytes`);
  const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime);
  console.log(`the overview: ${bytes} bytes, first paint after ${Math.round(paint ?? 0)} ms`);
}

async function approve(page) {
  // Without a webhook and without a question in the client, the open page is who can be asked.
  await page.goto(`${origin}/dashboard/approvals`);
  await page.waitForTimeout(1_500);
  console.log("begin 0");
  const question = page.locator("article.question").first();
  await question.waitFor({ timeout: SOON });
  check((await question.innerText()).includes("6 * 9"), "a question doesn't show its arguments");
  await question.getByRole("button", { name: /once/i }).click();
  await page.goto(`${origin}/dashboard/executions`);
  await page.locator("main table tbody tr").first().locator("a").first().click();
  await page.getByText("54").filter({ visible: true }).first().waitFor({ timeout: SOON });
  console.log("a waiting call was approved, and its program went on");
}

async function deny(page) {
  await page.goto(`${origin}/dashboard/approvals`);
  await page.waitForTimeout(1_500);
  console.log("begin 2");
  const question = page.locator("article.question").first();
  await question.waitFor({ timeout: SOON });
  await question.getByLabel(/reason/i).fill("nothing below zero");
  // As people do: Enter must not be a yes.
  await question.getByLabel(/reason/i).press("Enter");
  await page.getByText("Denied. The program is told.").waitFor({ timeout: SOON });
  check((await page.locator("main").innerText()).includes("nothing below zero"), "the reason of a no isn't shown");
  await page.goto(`${origin}/dashboard/executions`);
  await page.locator("main table tbody tr").first().locator("a").first().click();
  await page.getByText("nothing below zero").filter({ visible: true }).first().waitFor({ timeout: SOON });
  console.log("a call was denied, and its program was told why");
}

// The test of an execution is on the clipboard, or selected for whoever copies by hand.
async function copy(page, context) {
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await page.goto(`${origin}/dashboard/executions?q=6+*+7`);
  await page.locator("main table tbody tr").first().locator("a").first().click();
  await page.getByRole("button", { name: "Copy as test" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor({ timeout: SOON });
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(copied.startsWith("#!/bin/sh") && copied.includes("6 * 7"), `this was copied: ${copied.slice(0, 200)}`);
  console.log("an execution was copied as a test");
}

async function follow(page) {
  console.log("begin 1");
  const running = page.locator("main a[href^='/dashboard/executions/']").first();
  await page.waitForTimeout(1_500);
  await page.goto(`${origin}/dashboard/executions`);
  await running.click();
  await page.getByText("line 3").filter({ visible: true }).first().waitFor({ timeout: SOON });
  const body = await page.locator("main").innerText();
  check(!body.includes("line 39"), "a running program's output came only at its end");
  console.log("a running program's output was seen as it came");
}

async function play(page) {
  await page.goto(`${origin}/dashboard/playground`);
  await page.locator("#code").fill("from servers.calculator import evaluate\nprint('ground')\nresult = await evaluate(expression='2 + 3')");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText("ground", { exact: false }).last().waitFor({ timeout: SOON });
  const is_there = () => /"value":\s*5\b/.test(document.querySelector("section.run")?.innerText ?? "");
  await page.waitForFunction(is_there, null, { timeout: SOON });
  console.log("the playground ran a program");
}

const launched = { executablePath: asked.chromium, args: ["--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"] };
if (process.getuid?.() === 0) launched.args.push("--no-sandbox");
const browser = await chromium.launch(launched);
try {
  const context = await browser.newContext({ viewport: WAYS[0].viewport });
  const page = await context.newPage();
  await page.goto(asked.link);
  const enter = page.locator("main form button").first();
  if (await enter.count()) await enter.click();
  await page.waitForURL(`${origin}/dashboard`, { timeout: SOON });
  watch(page);
  if (asked.tried) {
    await picture(browser, await context.storageState(), asked, origin);
  } else {
    await weigh(page);
    await approve(page);
    await deny(page);
    await follow(page);
    await play(page);
    await copy(page, context);
    await learned(page);
    const state = await context.storageState();
    await without_scripts(browser, state);
    await see_all(browser, state);
  }
} finally {
  await browser.close();
}
console.log(problems.length ? `${problems.length} problems` : "the dashboard is as it should be");
process.exit(problems.length ? 1 : 0);
