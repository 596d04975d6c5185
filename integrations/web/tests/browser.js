// Chromium, and pages that fail on errors of the console and on violations of the content security policy.

import assert from "node:assert/strict";
import { existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { tdb } from "./data.js";

const HERE = dirname(fileURLToPath(import.meta.url));
const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const SWITCHES = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const SCREENSHOTS = join(HERE, "screenshots");

export function launch() {
  const executablePath = process.env.CHROMIUM ?? PROGRAMS.find((path) => existsSync(path));
  assert(executablePath, "no Chromium: run `apt-get install chromium`, or set CHROMIUM");
  mkdirSync(SCREENSHOTS, { recursive: true });
  return chromium.launch({ executablePath, args: SWITCHES });
}

/** Opens a page. `check` fails if the page has logged an error that `allowed` does not match. */
export async function newPage(browser, { allowed = null, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const problems = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !allowed?.test(message.text())) {
      problems.push(message.text());
    }
  });
  page.on("pageerror", (error) => problems.push(error.stack));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.addInitScript(() => {
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`content security policy: ${event.violatedDirective} ${event.blockedURI}`);
    });
  });
  const check = () => assert.deepEqual(problems, []);
  return { page, context, check };
}

/** Returns the visible rows of the table: the number of the row, and its cells. */
export function visibleCells(page) {
  return page.$$eval(".grid-rows .grid-row", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
}

/** Waits until nothing runs. */
export async function idle(page) {
  await page.waitForFunction(() => {
    const isBusy = document.querySelector(".status progress, .loading") !== null;
    globalThis.quiet = isBusy ? 0 : (globalThis.quiet ?? 0) + 1;
    return globalThis.quiet > 12;
  });
  await page.evaluate(() => {
    globalThis.quiet = 0;
  });
}

/** Opens the table of an array, and compares its visible rows with the native reader of `array`, a local folder. */
export async function compareCells(page, array) {
  await page.getByRole("heading", { name: basename(array), exact: true }).waitFor();
  await page.getByRole("tab", { name: "Cells" }).click();
  await page.locator(".grid-rows .grid-row").first().waitFor();
  await idle(page);
  const rows = (await visibleCells(page)).map((row) => row.slice(1));
  assert(rows.length > 3, `${rows.length} rows`);
  const text = tdb("read", array, "--format", "jsonl", "--limit", String(rows.length));
  const expected = text.trim().split("\n").map((line) => Object.values(JSON.parse(line)).map(String));
  assert.deepEqual(rows, expected);
}
