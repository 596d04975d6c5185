/** The service worker of the page. */

/**
 * Lets the page work offline after the first visit, except for the page of `tdb serve`.
 *
 * Another program may use the address of `tdb serve` later. A service worker would hide its pages.
 */
export async function setOffline(
  workers: ServiceWorkerContainer,
  page: Pick<Document, "querySelector">,
): Promise<void> {
  try {
    if (page.querySelector('meta[name="tdb-serve"]')) {
      const registration = await workers.getRegistration("./");
      await registration?.unregister();
    } else {
      await workers.register("./sw.js");
    }
  } catch {
    // Some hosts and private windows forbid service workers. The page works without.
  }
}
