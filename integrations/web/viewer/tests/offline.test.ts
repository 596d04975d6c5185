import { expect, it } from "vitest";
import { setOffline } from "../src/offline";

/** Service workers of a browser that record calls. */
function workers(isRegistered: boolean) {
  const calls: string[] = [];
  const registration = { unregister: async () => calls.push("unregister") > 0 };
  const container = {
    getRegistration: async () => (isRegistered ? registration : undefined),
    register: async (url: string) => calls.push(`register ${url}`),
  };
  return { container: container as unknown as ServiceWorkerContainer, calls };
}

function page(mark: string | null) {
  return { querySelector: (selector: string) => (selector === mark ? {} : null) } as unknown as Document;
}

it("a hosted page works offline", async () => {
  const { container, calls } = workers(false);
  await setOffline(container, page(null));
  expect(calls).toEqual(["register ./sw.js"]);
});

it("the page of tdb serve leaves no service worker", async () => {
  for (const [isRegistered, expected] of [
    [true, ["unregister"]],
    [false, []],
  ] as const) {
    const { container, calls } = workers(isRegistered);
    await setOffline(container, page('meta[name="tdb-serve"]'));
    expect(calls).toEqual(expected);
  }
});

it("hosts that forbid service workers cause no error", async () => {
  const container = { register: () => Promise.reject(new Error("forbidden")) } as unknown as ServiceWorkerContainer;
  await expect(setOffline(container, page(null))).resolves.toBeUndefined();
});
