import { render } from "preact";
import { App } from "./app";

const root = document.getElementById("app");
if (root) {
  render(<App />, root);
}

// The page works offline after the first visit. Workers of services need HTTPS or the local machine.
if (import.meta.env.PROD && "serviceWorker" in navigator && isSecureContext) {
  navigator.serviceWorker.register("./sw.js").catch(() => {
    // Some hosts and private windows forbid service workers. The page works without.
  });
}
