// The viewer in Chromium, with arrays of the command `tdb`.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { idle, launch, newPage, SCREENSHOTS, visibleCells } from "./browser.js";
import { HOSTILE, makeData, REPOSITORY, tdb } from "./data.js";
import { serve } from "./server.js";

const DIST = join(REPOSITORY, "integrations/web/viewer/dist");
const KEY = "0123456789abcdef0123456789ABCDEF";

let folder;
let server;
let browser;
/** Where the arrays are: on the server of the page. */
let survey;

/** Returns the rows that the native reader prints, with empty text for null. */
function native(array, ...parameters) {
  const text = tdb("read", join(folder, "survey", array), "--format", "jsonl", ...parameters);
  return text
    .trim()
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line, (_key, value, context) => (typeof value === "number" ? (context?.source ?? String(value)) : value)));
}

function cellOf(value) {
  return value === null || value === undefined ? "null" : Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}

function link(path, parts = {}) {
  const params = new URLSearchParams({ url: survey, ...(path && { path }), ...parts });
  return `${server.url}/#${params}`;
}

async function open(path, parts, options) {
  const opened = await newPage(browser, options);
  await opened.page.goto(link(path, parts));
  await idle(opened.page);
  return opened;
}

function shot(page, name) {
  return page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Moves the pointer to the middle of a cell of a plot, and returns the readout. */
async function readAt(page, column, row, columns, rows, isSquare = false) {
  const box = await page.locator(".plot canvas").boundingBox();
  const inner = { x: box.x + 72, y: box.y + 10, width: box.width - 86, height: box.height - 54 };
  const scale = isSquare ? Math.max(columns / inner.width, rows / inner.height) : 0;
  const [sx, sy] = isSquare ? [scale, scale] : [columns / inner.width, rows / inner.height];
  const left = inner.x + (inner.width - columns / sx) / 2;
  const top = inner.y + (inner.height - rows / sy) / 2;
  await page.mouse.move(left + (column + 0.5) / sx, top + (row + 0.5) / sy);
  return page.locator("#readout").textContent();
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "tdb-viewer-"));
  makeData(folder);
  const root = join(folder, "root");
  cpSync(DIST, root, { recursive: true });
  symlinkSync(folder, join(root, "data"));
  for (const [fixture, place] of [
    ["v22-by-2.30.0-dense-encrypted", "encrypted"],
    ["v22-by-2.30.0-dense-images-bgra", "packed"],
  ]) {
    mkdirSync(join(folder, place));
    execFileSync("tar", ["-xzf", join(REPOSITORY, `fixtures/${fixture}.tar.gz`), "-C", join(folder, place)]);
  }
  cpSync(join(REPOSITORY, "fixtures/v22-by-2.30.0-group"), join(folder, "v22-group"), { recursive: true });
  const list = [{ name: "survey", kind: "group", url: "/data/survey/" }];
  server = await serve(root, { list });
  survey = `${server.url}/data/survey`;
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("size", () => {
  test("script, style and engine stay below 1.5 MB", () => {
    const files = readdirSync(DIST, { recursive: true }).filter((name) => /\.(js|css|wasm|html)$/.test(name));
    const compressed = (name) => gzipSync(readFileSync(join(DIST, name)), { level: 9 }).length;
    const size = files.reduce((sum, name) => sum + compressed(name), 0);
    console.log(`${size} bytes, compressed with gzip`);
    assert(size < 1.5e6, `${size} bytes`);
    assert(files.some((name) => name.endsWith(".wasm")));
  });
});

describe("start page", () => {
  test("opens an address", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(server.url);
    await page.getByRole("heading", { name: "Open TileDB arrays and groups" }).waitFor();
    await shot(page, "start");
    await page.getByLabel("URL of an array or group").fill(survey);
    await page.getByRole("button", { name: "Open the address" }).click();
    await page.getByRole("treeitem", { name: /elevation/ }).waitFor();
    await idle(page);
    const members = await page.locator("tbody th").allTextContents();
    assert.deepEqual(members, ["elevation", "field", "photo", "quakes", "rainfall"]);
    await shot(page, "group");
    check();
  });

  test("lists the data of the server", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(server.url);
    await page.getByRole("button", { name: "survey" }).click();
    await page.getByRole("heading", { name: "survey" }).waitFor();
    await idle(page);
    check();
  });

  test("opens a folder of this computer", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(server.url);
    await page.locator("input[type=file]").setInputFiles(join(folder, "survey"));
    await page.getByRole("treeitem", { name: /quakes/ }).click();
    await page.getByRole("heading", { name: "quakes" }).waitFor();
    assert.match(page.url(), /folder=survey&path=quakes/);
    await page.reload();
    await page.getByRole("heading", { name: "Open the folder “survey” again" }).waitFor();
    await page.locator("input[type=file]").setInputFiles(join(folder, "survey"));
    await page.getByRole("heading", { name: "quakes" }).waitFor();
    await idle(page);
    check();
  });

  test("works offline", async () => {
    const { page, context, check } = await newPage(browser, { allowed: /ERR_INTERNET_DISCONNECTED/ });
    await page.goto(server.url);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await context.setOffline(true);
    await page.reload();
    await page.locator("input[type=file]").setInputFiles(join(folder, "survey/elevation"));
    await page.getByRole("heading", { name: "elevation" }).waitFor();
    await idle(page);
    check();
  });

  test("leaves the address when `tdb serve` uses it", async () => {
    const { page, check } = await newPage(browser);
    const registered = () => page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length);
    await page.goto(server.url);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    assert.equal(await registered(), 1);
    const names = await page.evaluate(() => caches.keys());
    assert.equal(names.length, 1);
    assert(names[0].startsWith(`tdb-viewer ${server.url}/ `), names[0]);
    server.settings.isMarked = true;
    try {
      await page.reload();
      await page.waitForFunction(async () => (await navigator.serviceWorker.getRegistrations()).length === 0);
      await page.reload();
      await idle(page);
      assert.equal(await registered(), 0);
    } finally {
      server.settings.isMarked = false;
    }
    check();
  });
});

describe("panels", () => {
  test("schema", async () => {
    const { page, check } = await open("field/samples");
    const names = await page.locator("tbody th").allTextContents();
    assert.deepEqual(names, ["site", "day", "species", "count", "status", HOSTILE, "seen"]);
    assert.equal(await page.locator("img[src=x]").count(), 0);
    await page.getByText("states", { exact: true }).click();
    await page.locator(".values li").first().waitFor();
    assert.deepEqual(await page.locator(".values li").allTextContents(), ["draft", "checked", "rejected"]);
    await shot(page, "schema");
    check();
  });

  test("fragments", async () => {
    const { page, check } = await open("rainfall", { view: "fragments" });
    await page.getByRole("heading", { name: "12 fragments" }).waitFor();
    assert.equal(await page.locator("tbody tr").count(), 12);
    assert.equal(await page.locator("figure").first().locator(".fragment").count(), 12);
    await shot(page, "fragments");
    check();
  });

  test("metadata", async () => {
    const { page, check } = await open("elevation", { view: "metadata" });
    const rows = await page.$$eval("tbody tr", (rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    assert.deepEqual(rows.sort(), [
      ["limits", "float64", "2", "[0, 1600]"],
      ["unit", "string_utf8", "1", "metre"],
    ]);
    check();
  });
});

describe("cells", () => {
  test("of a dense array equal the native reader, at any place", async () => {
    const { page, check } = await open("elevation", { view: "cells" });
    const expected = (first) =>
      native("elevation", "--range", `y=${Math.floor(first / 400)}..${Math.min(299, Math.floor(first / 400) + 1)}`)
        .slice(first % 400)
        .map((row) => Object.values(row).map(cellOf));
    const compare = async () => {
      const rows = await visibleCells(page);
      const first = Number(rows[0][0].replaceAll(",", ""));
      assert(rows.length > 5);
      assert.deepEqual(
        rows.map((row) => row.slice(1)),
        expected(first).slice(0, rows.length),
      );
      return first;
    };
    assert.equal(await compare(), 0);
    assert.match(await page.locator(".table-note").textContent(), /120,000 rows/);
    await shot(page, "cells-dense");
    await page.getByLabel("Go to row").fill("70,123");
    await page.keyboard.press("Enter");
    await idle(page);
    assert.equal(await compare(), 70_123);
    await page.locator(".grid").focus();
    await page.keyboard.press("Control+End");
    await idle(page);
    const last = (await visibleCells(page)).at(-1);
    assert.deepEqual(last.slice(1), expected(119_999)[0]);
    check();
  });

  test("of dense arrays are the written cells, in every order, filter and export", async () => {
    const places = Array.from({ length: 100 }, (_, index) => [500 + Math.floor(index / 10), 500 + (index % 10)]);
    const byColumn = places.map(([y, x]) => [x, y]);
    for (const [parts, expected] of [
      [{ order: "row-major" }, places],
      [{ order: "column-major" }, byColumn],
      [{ order: "row-major", where: "a < 600000" }, places],
    ]) {
      const { page, context, check } = await open("corner", { view: "cells", ...parts });
      const cells = expected.map(([y, x]) => [y, x, y * 1000 + x].map(String));
      const rows = await visibleCells(page);
      assert(rows.length > 5);
      assert.deepEqual(rows.map((row) => row.slice(1)), cells.slice(0, rows.length));
      assert.equal(await page.locator(".table-note strong").textContent(), "100 rows");
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Export CSV" }).click()]);
      const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
      assert.deepEqual(lines, ["y,x,a", ...cells.map((row) => row.join(","))]);
      check();
      await context.close();
    }
  });

  test("of strings, nulls, dates and enumerations equal the native reader", async () => {
    const { page, check } = await open("field/samples", { view: "cells", order: "row-major" });
    const rows = await visibleCells(page);
    const expected = native("field/samples", "--order", "row-major", "--limit", String(rows.length));
    assert.deepEqual(
      rows.map((row) => row.slice(1)),
      expected.map((row) => Object.values(row).map(cellOf)),
    );
    assert.equal(await page.locator("img[src=x], .grid b").count(), 0);
    await shot(page, "cells");
    check();
  });

  test("are filtered by a condition", async () => {
    const { page, check } = await open("field/samples", { view: "cells" });
    await page.getByLabel("Filter").fill("count > 600 and status = checked");
    await page.getByRole("button", { name: "Apply" }).click();
    await idle(page);
    const expected = native("field/samples", "--where", "count > 600 and status = checked").length;
    assert.equal(await page.locator(".table-note strong").textContent(), `${expected} rows`);
    assert.match(page.url(), /where=count/);
    await page.getByLabel("Filter").fill("count >");
    await page.getByRole("button", { name: "Apply" }).click();
    const error = page.locator(".cells .box.error");
    await error.waitFor();
    await shot(page, "filter-error");
    assert.match(await error.textContent(), /expected|unexpected/);
    await page.getByRole("button", { name: "Clear" }).click();
    await idle(page);
    assert((await visibleCells(page)).length > 10);
    check();
  });

  test("have columns and ranges of choice", async () => {
    const { page, check } = await open("field/samples", { view: "cells" });
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.getByRole("checkbox", { name: "species" }).uncheck();
    await page.getByRole("checkbox", { name: HOSTILE }).uncheck();
    await page.locator("summary", { hasText: "Columns" }).click();
    await page.locator("summary", { hasText: "Ranges" }).click();
    await page.getByRole("textbox", { name: "day" }).fill("2024-02-01..2024-02-10");
    await page.keyboard.press("Enter");
    await idle(page);
    const headers = await page.locator(".grid-head button > span:first-child").allTextContents();
    assert.deepEqual(headers, ["site", "day", "count", "status", "seen"]);
    assert.equal(await page.locator(".table-note strong").textContent(), "10 rows");
    check();
  });

  test("of a month end with its last day", async () => {
    const { page, check } = await open("field/samples", { view: "cells", "s.day": "2024-01..2024-02" });
    assert.equal(await page.locator(".table-note strong").textContent(), "60 rows");
    assert.equal(native("field/samples", "--range", "day=2024-01..2024-02").length, 60);
    check();
  });

  test("are neither read nor exported while a range is invalid", async () => {
    const { page, check } = await open("field/samples", { view: "cells", "s.day": "May" });
    assert.match(await page.locator(".cells .box.error").textContent(), /expected a date.*found "May"/);
    assert.equal(await page.locator(".grid").count(), 0);
    assert.equal(await page.getByRole("button", { name: "Export" }).count(), 0);
    await page.locator("summary", { hasText: "Ranges" }).click();
    await page.getByRole("textbox", { name: "day" }).fill("2024-05-01");
    await page.keyboard.press("Enter");
    await idle(page);
    assert.equal(await page.locator(".table-note strong").textContent(), "1 row");
    check();
  });

  test("sort within the loaded rows, and say so", async () => {
    const { page, check } = await open("field/samples", { view: "cells", order: "row-major" });
    await page.getByRole("columnheader", { name: /count/ }).getByRole("button").click();
    await page.getByText("within the 200 loaded rows only").waitFor();
    const loaded = native("field/samples", "--order", "row-major", "--limit", "200").map(({ count }) => count);
    const expected = loaded.filter((count) => count !== null).sort((a, b) => a - b);
    const shown = (await visibleCells(page)).map((row) => row[4]);
    assert.deepEqual(shown, expected.slice(0, shown.length).map(String));
    assert.equal(await page.getByRole("columnheader", { name: /count/ }).getAttribute("aria-sort"), "ascending");
    check();
  });

  test("are exported as CSV and Arrow", async () => {
    const { page, check } = await open("field/samples", { view: "cells", order: "row-major", where: "count > 600" });
    const save = async (name) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
      return [download.suggestedFilename(), readFileSync(await download.path())];
    };
    const [csvName, csv] = await save("Export CSV");
    assert.equal(csvName, "samples.csv");
    const array = join(folder, "survey/field/samples");
    assert.equal(csv.toString(), tdb("read", array, "--order", "row-major", "--where", "count > 600", "--format", "csv"));
    const [arrowName, arrow] = await save("Export Arrow");
    assert.equal(arrowName, "samples.arrows");
    const table = tableFromIPC(arrow);
    const expected = native("field/samples", "--order", "row-major", "--where", "count > 600");
    assert.deepEqual([...table.getChild("count")].map(String), expected.map(({ count }) => String(count)));
    assert.deepEqual([...table.getChild("species")], expected.map(({ species }) => species));
    check();
  });
});

describe("heat map", () => {
  test("shows the values of cells", async () => {
    const { page, check } = await open("elevation", { view: "heatmap" });
    const [cell] = native("elevation", "--range", "y=110", "--range", "x=260");
    assert.equal(await readAt(page, 260, 110, 400, 300), `x 260, y 110: ${cell.height}`);
    const colors = await page.$eval(".plot canvas", (canvas) => {
      const { data } = canvas.getContext("2d").getImageData(100, 40, 400, 300);
      return new Set(new Uint32Array(data.buffer)).size;
    });
    assert(colors > 100, `${colors} colors`);
    await shot(page, "heatmap");
    check();
  });

  test("zooms and pans by keys, and the link keeps the window", async () => {
    const { page, check } = await open("elevation", { view: "heatmap" });
    await page.locator(".plot canvas").focus();
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    await page.keyboard.press("ArrowRight");
    await idle(page);
    const readout = await page.locator("#readout").textContent();
    const [, x, y, value] = /^x (\d+), y (\d+): (.+)$/.exec(readout);
    const [cell] = native("elevation", "--range", `y=${y}`, "--range", `x=${x}`);
    assert.equal(value, String(cell.height));
    assert.match(page.url(), /window=/);
    await page.keyboard.press("0");
    await page.waitForFunction(() => !location.hash.includes("window="));
    check();
  });

  test("slices other dimensions", async () => {
    const { page, check } = await open("rainfall", { view: "heatmap", "s.month": "5" });
    const at = (month) => native("rainfall", "--range", `month=${month}`, "--range", "y=7", "--range", "x=13")[0].rain;
    assert.equal(await readAt(page, 12, 6, 60, 40), `x 13, y 7: ${at(5)}`);
    await page.getByLabel("month, slider").focus();
    await page.keyboard.press("ArrowRight");
    await idle(page);
    assert.equal(await readAt(page, 12, 6, 60, 40), `x 13, y 7: ${at(6)}`);
    assert.equal(await readAt(page, 44, 27, 60, 40), "x 45, y 28: null");
    await page.getByLabel("Across").selectOption("month");
    await idle(page);
    assert.match(await page.locator("canvas[role=application]").getAttribute("aria-label"), /rain over month and y/);
    check();
  });
});

describe("time", () => {
  test("shows the array as of a write", async () => {
    const { page, check } = await open("rainfall", { view: "fragments" });
    await page.getByLabel("Time", { exact: true }).focus();
    for (let step = 0; step < 8; step++) {
      await page.keyboard.press("ArrowLeft");
    }
    await page.getByRole("heading", { name: "5 fragments" }).waitFor();
    assert.match(page.url(), new RegExp(`at=${Date.UTC(2023, 4, 28, 12)}`));
    await page.getByRole("button", { name: "Newest" }).click();
    await page.getByRole("heading", { name: "12 fragments" }).waitFor();
    check();
  });
});

describe("image", () => {
  test("has the colors of the pixels", async () => {
    const { page, check } = await open("photo", { view: "image" });
    const values = native("photo/l_0.tdb", "--range", "Y=20", "--range", "X=300").map(({ intensity }) => Number(intensity));
    assert.equal(
      await readAt(page, 300, 20, 320, 240, true),
      `X 300, Y 20: red ${values[0]}, green ${values[1]}, blue ${values[2]} (level 0)`,
    );
    await shot(page, "image");
    await page.getByLabel("Resolution").selectOption("2");
    await idle(page);
    const coarse = native("photo/l_2.tdb", "--range", "Y=5", "--range", "X=75").map(({ intensity }) => Number(intensity));
    assert.match(await readAt(page, 300, 20, 320, 240, true), new RegExp(`red ${coarse[0]}, green ${coarse[1]}, blue ${coarse[2]} \\(level 2\\)`));
    await page.getByLabel("Show as separate channels").check();
    await idle(page);
    assert.equal(await page.locator(".channel").count(), 3);
    check();
  });

  test("unpacks colors that lie side by side", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(`${server.url}/#${new URLSearchParams({ url: `${server.url}/data/packed/array`, view: "image" })}`);
    await page.locator(".plot canvas").waitFor();
    await idle(page);
    const array = join(folder, "packed/array");
    // The rows are -10 to 8. Each pixel has blue, green, red and alpha at four columns from 7 on.
    const cells = tdb("read", array, "--range", "y=-7", "--range", `x=${7 + 5 * 4}..${7 + 5 * 4 + 3}`, "--format", "jsonl");
    const [blue, green, red, alpha] = cells.trim().split("\n").map((line) => JSON.parse(line).pixels);
    assert.equal(await readAt(page, 5, 3, 23, 19, true), `x 5, y -7: red ${red}, green ${green}, blue ${blue}, alpha ${alpha}`);
    check();
  });

  test("reads the level that suits the zoom", async () => {
    const { page, check } = await open("photo", { view: "image", window: "-1500,1820,-1500,1740" });
    assert.match(await page.locator(".plot-side").textContent(), /by zoom \(level 2\)/);
    check();
  });
});

describe("scatter plot", () => {
  test("draws many points as density, and few points as points", async () => {
    const { page, check } = await open("quakes", { view: "points", attr: "magnitude" });
    assert.match(await page.locator(".plot-main > p").textContent(), /60,000 points in view, drawn as density/);
    await shot(page, "density");
    const near = await open("quakes", { view: "points", attr: "magnitude", window: "-76,-70,-33,-27" });
    const count = native("quakes", "--range", "lon=-76..-70", "--range", "lat=-33..-27").length;
    assert.equal(await near.page.locator(".plot-main > p").textContent(), `${count.toLocaleString("en-US")} points in view.`);
    await shot(near.page, "points");
    near.check();
    check();
  });
});

describe("links", () => {
  test("restore the view, and back and forward work", async () => {
    const { page, context, check } = await open("elevation", { view: "cells", col: "height", where: "height > 1400" });
    const rows = await visibleCells(page);
    const other = await context.newPage();
    await other.goto(page.url());
    await idle(other);
    assert.deepEqual(await visibleCells(other), rows);
    await page.getByRole("tab", { name: "Heat map" }).click();
    await page.getByRole("treeitem", { name: /quakes/ }).click();
    await page.getByRole("heading", { name: "quakes" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "elevation" }).waitFor();
    assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Heat map");
    await page.goBack();
    await page.locator(".grid").waitFor();
    await page.goForward();
    await page.goForward();
    await page.getByRole("heading", { name: "quakes" }).waitFor();
    await idle(page);
    check();
  });
});

describe("keyboard", () => {
  test("walks the tree, the tabs and the table", async () => {
    const { page, check } = await open("");
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await page.getByRole("treeitem", { name: /elevation/ }).waitFor();
    await page.getByRole("treeitem", { name: /survey/ }).first().focus();
    await page.keyboard.press("ArrowDown");
    assert.match(await focused(), /elevation/);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("treeitem", { name: /samples/ }).waitFor();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => /samples/.test(document.activeElement.textContent));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "samples" }).waitFor();
    await page.getByRole("tab", { name: "Schema" }).focus();
    await page.keyboard.press("End");
    await page.locator(".grid").waitFor();
    await idle(page);
    await page.locator(".grid").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    const active = await page.locator(".grid .active").textContent();
    assert.equal(active, (await visibleCells(page))[1][2]);
    await page.keyboard.press("PageDown");
    await idle(page);
    assert(Number(await page.locator(".grid-row:has(.active) .grid-number").textContent()) > 10);
    check();
  });

  test("reaches every control of a view by Tab", async () => {
    const { page, check } = await open("elevation", { view: "heatmap" });
    const seen = new Set();
    for (let step = 0; step < 30; step++) {
      await page.keyboard.press("Tab");
      seen.add(await page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent));
    }
    for (const name of ["Skip to the content", "Copy link", "Heat map", "Zoom in"]) {
      assert([...seen].some((text) => text.startsWith(name)), `${name} in ${[...seen].join(" | ")}`);
    }
    check();
  });

  test("names every control", async () => {
    for (const [path, view] of [["elevation", "heatmap"], ["photo", "image"], ["quakes", "points"], ["field/samples", "cells"]]) {
      const { page, check } = await open(path, { view });
      const nameless = await page.$$eval("button, input, select, [role=tab], [role=treeitem], canvas[tabindex]", (elements) =>
        elements
          .filter((element) => !element.closest("[aria-hidden=true]") && element.getAttribute("aria-hidden") !== "true")
          .filter((element) => !(element.textContent.trim() || element.getAttribute("aria-label") || element.labels?.length || element.title))
          .map((element) => element.outerHTML),
      );
      assert.deepEqual(nameless, []);
      check();
    }
  });
});

describe("faults", () => {
  const network = /Failed to load resource|blocked by CORS policy|net::ERR/;
  /** Opens an address of another server, and returns the text of the error. */
  const failing = async (settings, path = "survey", parts = {}) => {
    const other = await serve(folder, settings);
    const opened = await newPage(browser, { allowed: network });
    await opened.page.goto(`${server.url}/#${new URLSearchParams({ url: `${other.url}/${path}`, ...parts })}`);
    await opened.page.locator(".content .box.error, .content .empty").first().waitFor();
    return { ...opened, other, text: await opened.page.locator(".content .box.error, .content .empty").first().textContent() };
  };
  const end = async ({ context, other, check }) => {
    check();
    await context.close();
    await other.close();
  };

  test("no CORS", async () => {
    const found = await failing({ hasCors: false });
    assert.match(found.text, /Access-Control-Allow-Origin/);
    await shot(found.page, "error");
    found.other.settings.hasCors = true;
    await found.page.getByRole("button", { name: "Try again" }).first().click();
    await found.page.locator("tbody th").first().waitFor();
    await end(found);
  });

  test("no manifest", async () => {
    const found = await failing({ hasManifest: false });
    assert.match(found.text, /tdb manifest/);
    await end(found);
  });

  test("truncated files", async () => {
    const found = await failing({ cut: 100 }, "survey/elevation", { view: "cells" });
    assert.match(found.text, /expected .*\d+ bytes/);
    await end(found);
  });

  test("no ranges: small files are read as a whole", async () => {
    const other = await serve(folder, { hasRanges: false });
    const { page, check, context } = await newPage(browser);
    await page.goto(`${server.url}/#${new URLSearchParams({ url: `${other.url}/survey/field/samples`, view: "cells", order: "row-major" })}`);
    await page.locator(".grid-rows .grid-row").first().waitFor();
    await idle(page);
    const rows = await visibleCells(page);
    const [first] = native("field/samples", "--order", "row-major", "--limit", "1");
    assert.deepEqual(rows[0].slice(1), Object.values(first).map(cellOf));
    await end({ context, other, check });
  });

  test("not an array", async () => {
    const found = await failing({}, "survey/elevation/__schema");
    assert.match(found.text, /No array or group here/);
    await end(found);
  });

  test("encrypted", async () => {
    const found = await failing({}, "encrypted/array", { view: "cells" });
    const { page } = found;
    assert.match(found.text, /encryption key/);
    await page.getByRole("button", { name: "Enter the key…" }).click();
    await page.locator("dialog input[type=password]").fill("00".repeat(32));
    await page.getByRole("button", { name: "Use the key" }).click();
    await page.locator(".content .box.error").first().waitFor();
    await page.getByRole("button", { name: "Enter the key…" }).click();
    await page.locator("dialog input[type=password]").fill(KEY);
    await page.getByRole("button", { name: "Use the key" }).click();
    await page.locator(".grid-rows .grid-row").first().waitFor();
    assert(!page.url().includes(KEY));
    await end(found);
  });

  test("a slow read can be cancelled, and repeated", async () => {
    const other = await serve(folder);
    const { page, check, context } = await newPage(browser);
    await page.goto(`${server.url}/#${new URLSearchParams({ url: `${other.url}/survey`, path: "elevation" })}`);
    await page.getByRole("tab", { name: "Heat map" }).waitFor();
    await idle(page);
    other.settings.delay = 60_000;
    await page.getByRole("tab", { name: "Heat map" }).click();
    await page.getByText(/^Reading/).first().waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Cancelled.").waitFor();
    other.settings.delay = 0;
    await page.getByRole("button", { name: "Try again" }).click();
    await idle(page);
    assert.match(await readAt(page, 260, 110, 400, 300), /^x 260, y 110: \d/);
    await end({ context, other, check });
  });
});

describe("appearance", () => {
  test("light and dark have enough contrast", async () => {
    for (const colorScheme of ["light", "dark"]) {
      const { page, check } = await open("elevation", {}, { colorScheme });
      const ratios = await page.evaluate(() => {
        const style = getComputedStyle(document.documentElement);
        const light = (name) => {
          const canvas = document.createElement("canvas").getContext("2d");
          canvas.fillStyle = style.getPropertyValue(name).trim();
          canvas.fillRect(0, 0, 1, 1);
          const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((value) => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
        const texts = ["--text", "--soft", "--accent", "--error"];
        const backs = ["--back", "--panel", "--accent-soft"];
        return [
          ...texts.flatMap((text) => backs.map((back) => [`${text} on ${back}`, ratio(text, back)])),
          ["--accent-text on --accent", ratio("--accent-text", "--accent")],
          ["--error on --error-soft", ratio("--error", "--error-soft")],
          ["--soft on --note-soft", ratio("--soft", "--note-soft")],
          ["--soft on --error-soft", ratio("--soft", "--error-soft")],
        ];
      });
      assert.deepEqual(ratios.filter(([, ratio]) => ratio < 4.5), []);
      await shot(page, `schema-${colorScheme}`);
      check();
    }
  });

  test("fits a narrow screen", async () => {
    const { page, check } = await open("elevation", { view: "heatmap" }, { viewport: { width: 400, height: 800 } });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert(width <= 400, `${width} pixels`);
    await shot(page, "narrow");
    check();
  });
});

test("members outside of the source are listed, and cannot be opened", async () => {
  const { page, check } = await newPage(browser);
  await page.goto(`${server.url}/#${new URLSearchParams({ url: `${server.url}/data/v22-group/group` })}`);
  await page.locator("tbody th").first().waitFor();
  await idle(page);
  const expected = tdb("tree", join(folder, "v22-group/group"));
  for (const name of await page.locator("tbody th").allTextContents()) {
    assert(expected.includes(name), name);
  }
  check();
});
