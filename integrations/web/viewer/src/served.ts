/** The list of arrays and groups that `tdb serve` offers. */

export interface Served {
  name: string;
  url: string;
}

/** Asks the server of the page. Other servers have no list. */
export async function servedData(signal: AbortSignal): Promise<Served[]> {
  if (!document.querySelector('meta[name="tdb-serve"]')) {
    return [];
  }
  const root = new URL("data/", document.baseURI);
  const response = await fetch(root, { signal, headers: { accept: "application/json" } });
  if (!response.ok) {
    return [];
  }
  return parseServed(await response.json(), root);
}

/** Returns the names in the answer of the server. */
export function parseServed(answer: unknown, root: URL): Served[] {
  const list = Array.isArray(answer) ? answer : [];
  return list.flatMap((entry: unknown) => {
    const name = typeof entry === "string" ? entry : (entry as { name?: unknown } | null)?.name;
    return typeof name === "string" && name ? [{ name, url: new URL(encodeURIComponent(name), root).href }] : [];
  });
}
