import { render } from "preact";
import { App } from "./app";
import { setOffline } from "./offline";

const root = document.getElementById("app");
if (root) {
  render(<App />, root);
}

// Service workers need HTTPS or the local machine.
if (import.meta.env.PROD && "serviceWorker" in navigator && isSecureContext) {
  void setOffline(navigator.serviceWorker, document);
}
