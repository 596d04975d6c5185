// Folders that a person drops on the viewer or chooses, in Chromium.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { compareCells, idle, launch, newPage } from "./browser.js";
import { REPOSITORY, unpack } from "./data.js";
import { serve } from "./server.js";

const DIST = join(REPOSITORY, "integrations/web/viewer/dist");
const FIXTURES = ["v22-by-2.30.0-dense-2d-col-row", "v22-by-2.30.0-sparse-2d-col-row"];

let folder;
let server;
let browser;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tdb-folder-"));
  for (const fixture of FIXTURES) {
    unpack(fixture, folder);
  }
  mkdirSync(join(folder, "pictures"));
  writeFileSync(join(folder, "pictures/readme.txt"), "no array\n");
  server = await serve(DIST);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Drops files and folders on the middle of a page, as the file manager does. */
async function drop(page, ...paths) {
  const devtools = await page.context().newCDPSession(page);
  const data = { items: [], files: paths.map((path) => join(folder, path)), dragOperationsMask: 1 };
  for (const type of ["dragEnter", "dragOver", "drop"]) {
    await devtools.send("Input.dispatchDragEvent", { type, x: 640, y: 400, data });
  }
  await devtools.detach();
}

async function start() {
  const opened = await newPage(browser);
  await opened.page.goto(server.url);
  await opened.page.getByRole("heading", { name: "Open TileDB arrays and groups" }).waitFor();
  return opened;
}

describe("a drop", () => {
  for (const fixture of FIXTURES) {
    test(`of ${fixture} shows its cells`, async () => {
      const { page, check } = await start();
      await drop(page, `${fixture}/array`);
      await compareCells(page, join(folder, fixture, "array"));
      check();
    });
  }

  test("of a file is an error, and the next drop works", async () => {
    const { page, check } = await start();
    await drop(page, "pictures/readme.txt");
    const error = page.locator(".toast .box.error");
    await error.waitFor();
    assert.match(await error.textContent(), /drop the folder of an array, or of a group/);
    await drop(page, `${FIXTURES[0]}/array`);
    await compareCells(page, join(folder, FIXTURES[0], "array"));
    assert.equal(await error.count(), 0);
    check();
  });

  test("of two folders is an error, and the next drop works", async () => {
    const { page, check } = await start();
    await drop(page, ...FIXTURES.map((fixture) => `${fixture}/array`));
    const error = page.locator(".toast .box.error");
    await error.waitFor();
    assert.match(await error.textContent(), /drop one folder/);
    await drop(page, `${FIXTURES[1]}/array`);
    await compareCells(page, join(folder, FIXTURES[1], "array"));
    check();
  });

  test("of a folder without arrays says what to do, and the next drop works", async () => {
    const { page, check } = await start();
    await drop(page, "pictures");
    const note = page.locator(".content .box.error, .content .empty").first();
    await note.waitFor();
    assert.match(await note.textContent(), /No array or group here.*Open the folder that contains/s);
    await drop(page, `${FIXTURES[0]}/array`);
    await compareCells(page, join(folder, FIXTURES[0], "array"));
    check();
  });

  test("of another folder with the same name shows the new folder", async () => {
    const { page, check } = await start();
    await drop(page, `${FIXTURES[0]}/array`);
    await compareCells(page, join(folder, FIXTURES[0], "array"));
    await drop(page, `${FIXTURES[1]}/array`);
    await idle(page);
    await compareCells(page, join(folder, FIXTURES[1], "array"));
    check();
  });
});

test("a chosen folder shows its cells", async () => {
  const { page, check } = await start();
  await page.locator("input[type=file]").setInputFiles(join(folder, "pictures"));
  await page.locator(".content .box.error, .content .empty").first().waitFor();
  await page.getByRole("button", { name: "Open…" }).click();
  await page.locator("input[type=file]").setInputFiles(join(folder, FIXTURES[0], "array"));
  await compareCells(page, join(folder, FIXTURES[0], "array"));
  check();
});
