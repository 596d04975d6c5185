import { Client } from "./client";

/** The worker that reads all data. */
export const client = new Client(
  new Worker(new URL("./worker/main.ts", import.meta.url), { type: "module", name: "tdb" }),
);
