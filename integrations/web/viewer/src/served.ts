/** The list of arrays and groups that `tdb serve` offers. */

export interface Served {
  name: string;
  kind: string;
  url: string;
}

/** Asks the server of the page. Other servers have no list. */
export async function servedData(signal: AbortSignal): Promise<Served[]> {
  const root = new URL("data/", document.baseURI);
  if (!/^https?:$/.test(root.protocol)) {
    return [];
  }
  try {
    const response = await fetch(root, { signal, headers: { accept: "application/json" } });
    const isList = response.ok && /^application\/json\b/.test(response.headers.get("content-type") ?? "");
    return isList ? parseServed(await response.json(), root) : [];
  } catch {
    // The page works offline, and on servers without a list.
    return [];
  }
}

/** Returns the entries of a list. Ignores addresses of other servers. */
export function parseServed(answer: unknown, root: URL): Served[] {
  const list = Array.isArray(answer) ? answer : [];
  return list.flatMap((entry: unknown) => {
    const { name, kind, url } = (entry ?? {}) as { name?: unknown; kind?: unknown; url?: unknown };
    if (typeof name !== "string" || typeof url !== "string" || !URL.canParse(url, root)) {
      return [];
    }
    const address = new URL(url, root);
    const isOwn = address.origin === root.origin;
    return isOwn ? [{ name, kind: kind === "group" ? "group" : "array", url: address.href }] : [];
  });
}
