// The pictures of docs/dashboard.md: small, and with nothing of the machine that made them.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const BYTES_MAX = 60 * 1024;
const VIEW = { width: 1180, height: 760 };
const SOON = 30_000;

async function shot(page, asked, name) {
  // Where the gateway keeps its data is nobody's business.
  await page.evaluate(() => document.querySelectorAll(".top .gateway").forEach((it) => { it.textContent = "workstation"; }));
  const session = await page.context().newCDPSession(page);
  for (const quality of [82, 70, 55, 40]) {
    const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
    const bytes = Buffer.from(data, "base64");
    if (bytes.length > BYTES_MAX && quality > 40) continue;
    writeFileSync(join(asked.screenshots, `${name}.webp`), bytes);
    console.log(`${name}.webp: ${bytes.length} bytes, quality ${quality}`);
    return;
  }
}

export async function picture(browser, storageState, asked, origin) {
  mkdirSync(asked.screenshots, { recursive: true });
  const opened = async (colorScheme) => {
    const context = await browser.newContext({ viewport: VIEW, colorScheme, storageState, reducedMotion: "reduce" });
    return context.newPage();
  };
  const [light, dark] = [await opened("light"), await opened("dark")];
  await light.goto(`${origin}/dashboard/playground`);
  await light.locator("#code").fill(asked.tried);
  await light.getByRole("button", { name: "Run" }).click();
  await light.getByText("tickets are urgent").last().waitFor({ timeout: SOON });
  // Its result is there, too.
  await light.waitForTimeout(6_000);
  await light.evaluate(() => document.activeElement?.blur());
  await shot(light, asked, "playground-light");
  await dark.goto(`${origin}/dashboard/approvals`);
  await dark.waitForTimeout(1_500);
  console.log("begin 0");
  await dark.locator("article.question").first().waitFor({ timeout: SOON });
  await shot(dark, asked, "approvals-dark");
  await light.goto(`${origin}/dashboard`);
  await light.waitForTimeout(1_000);
  await shot(light, asked, "overview-light");
  const other = await opened("dark");
  await other.goto(`${origin}/dashboard`);
  await other.waitForTimeout(1_000);
  await shot(other, asked, "overview-dark");
  await light.goto(`${origin}/dashboard/executions?q=transcript&outcome=ok`);
  await light.locator("main table tbody tr").first().locator("a").first().click();
  await light.waitForTimeout(500);
  await shot(light, asked, "execution-light");
  await dark.locator("article.question").first().getByRole("button", { name: /deny/i }).click();
}
