/** The state of the page. Every change is a link. */

import { useEffect, useState } from "preact/hooks";
import { EMPTY, formatLink, parseLink, type State } from "./link";

type Listener = (state: State) => void;

class Store {
  #state: State = parseLink(location.hash);
  readonly #listeners = new Set<Listener>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    const restore = () => {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      if (formatLink(this.#state) !== location.hash) {
        this.#set(parseLink(location.hash));
      }
    };
    addEventListener("popstate", restore);
    addEventListener("hashchange", restore);
  }

  get state(): State {
    return this.#state;
  }

  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Changes the state and adds an entry to the history. */
  push(changes: Partial<State>): void {
    this.#flush();
    this.#set({ ...this.#state, ...changes });
    history.pushState(null, "", this.#address());
  }

  /** Changes the state within the current entry of the history. Browsers limit the rate, so the address follows later. */
  replace(changes: Partial<State>): void {
    this.#set({ ...this.#state, ...changes });
    this.#timer ??= setTimeout(() => this.#flush(), 250);
  }

  reset(): void {
    this.push(EMPTY);
  }

  #flush(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
      history.replaceState(null, "", this.#address());
    }
  }

  #address(): string {
    return formatLink(this.#state) || location.pathname + location.search;
  }

  #set(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) {
      listener(state);
    }
  }
}

export const store = new Store();

export function useStore(): State {
  const [state, setState] = useState(store.state);
  useEffect(() => {
    setState(store.state);
    return store.subscribe(setState);
  }, []);
  return state;
}
