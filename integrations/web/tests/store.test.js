// Arrays in a public bucket of an S3 server, in Chromium. The page has another origin than the server.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { compareCells, idle, launch, newPage } from "./browser.js";
import { REPOSITORY, tdb, unpack } from "./data.js";
import { serve } from "./server.js";

const DIST = join(REPOSITORY, "integrations/web/viewer/dist");
const FIXTURES = ["v22-by-2.30.0-dense-2d-col-row", "v22-by-2.30.0-sparse-2d-col-row"];

// `cargo xtask ci browser-viewer` starts the server, and sets the variables. Python has the package boto3.
const { AWS_ENDPOINT_URL: endpoint, TDB_S3_PYTHON: python } = process.env;
const skip = python === undefined ? "TDB_S3_PYTHON is not set to a Python with boto3" : false;

/** Anyone may read and list this bucket of the server. */
const BUCKET = "open";

/** A script with the arguments bucket, origin and folder. Uploads the files of the folder. */
const UPLOAD = `
import os, sys, boto3
from botocore.config import Config
bucket, origin, folder = sys.argv[1:]
s3 = boto3.client("s3", region_name=os.environ["AWS_REGION"], config=Config(s3={"addressing_style": "path"}))
if bucket not in [known["Name"] for known in s3.list_buckets()["Buckets"]]:
    s3.create_bucket(Bucket=bucket)
s3.put_bucket_cors(Bucket=bucket, CORSConfiguration={"CORSRules": [{
    "AllowedOrigins": [origin],
    "AllowedMethods": ["GET", "HEAD"],
    "AllowedHeaders": ["Range", "If-Range", "If-None-Match"],
    "ExposeHeaders": ["Accept-Ranges", "Content-Range", "Content-Length", "ETag"],
    "MaxAgeSeconds": 3600,
}]})
for place, _, names in os.walk(folder):
    for name in names:
        path = os.path.join(place, name)
        s3.upload_file(path, bucket, os.path.relpath(path, folder))
`;

let folder;
let server;
let browser;

before(async () => {
  if (skip) {
    return;
  }
  assert(endpoint, "AWS_ENDPOINT_URL is not set to the address of an S3 server");
  folder = mkdtempSync(join(tmpdir(), "tdb-store-"));
  for (const fixture of FIXTURES) {
    tdb("manifest", unpack(fixture, folder));
  }
  server = await serve(DIST);
  execFileSync(python, ["-c", UPLOAD, BUCKET, server.url, folder], { stdio: ["ignore", "inherit", "inherit"] });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  if (folder) {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe("a public bucket", { skip }, () => {
  for (const fixture of FIXTURES) {
    test(`has the cells of ${fixture} at its address`, async () => {
      const { page, check } = await newPage(browser);
      await page.goto(server.url);
      await page.getByLabel("URL of an array or group").fill(`${endpoint}/${BUCKET}/${fixture}/array`);
      await page.getByRole("button", { name: "Open the address" }).click();
      await compareCells(page, join(folder, fixture, "array"));
      check();
    });

    test(`has the cells of ${fixture} in its listing`, async () => {
      const { page, check } = await newPage(browser);
      await page.goto(server.url);
      await page.getByLabel("Endpoint").fill(endpoint);
      await page.getByLabel("Bucket").fill(BUCKET);
      await page.getByLabel("Prefix").fill(`${fixture}/array`);
      await page.getByRole("button", { name: "Open the bucket" }).click();
      await compareCells(page, join(folder, fixture, "array"));
      check();
    });
  }

  test("shows its folders", async () => {
    const { page, check } = await newPage(browser);
    await page.goto(`${server.url}/#${new URLSearchParams({ s3: endpoint, bucket: BUCKET })}`);
    await page.locator("tbody th").first().waitFor();
    await idle(page);
    assert.deepEqual((await page.locator("tbody th").allTextContents()).sort(), FIXTURES);
    check();
  });

  test("denies pages of other origins", async () => {
    const other = await serve(DIST);
    try {
      const { page } = await newPage(browser);
      await page.goto(`${other.url}/#${new URLSearchParams({ url: `${endpoint}/${BUCKET}/${FIXTURES[0]}/array` })}`);
      const error = page.locator(".content .box.error").first();
      await error.waitFor();
      assert.match(await error.textContent(), /Access-Control-Allow-Origin/);
    } finally {
      await other.close();
    }
  });
});
