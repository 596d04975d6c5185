/** Calls the worker, and lists the running calls for the status bar. */

import { WorkerError } from "./errors";
import type { FromWorker, Method, Methods, Progress, ToWorker } from "./protocol";

export interface Task {
  id: number;
  label: string;
  progress: Progress;
  cancel(): void;
}

interface Pending {
  task: Task;
  signal: AbortSignal | undefined;
  onAbort: () => void;
  resolve(result: Methods[Method]["result"]): void;
  reject(error: Error): void;
}

export class Client {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<() => void>();
  #next = 1;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener("message", (event: MessageEvent<FromWorker>) => this.#receive(event.data));
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      const message = event.message || "the worker could not be loaded; reload the page";
      for (const id of [...this.#pending.keys()]) {
        this.#finish(id)?.reject(new Error(message));
      }
    });
  }

  /** Running calls, the oldest first. */
  get tasks(): Task[] {
    return [...this.#pending.values()].map((pending) => pending.task);
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  call<M extends Method>(
    method: M,
    params: Methods[M]["params"],
    label: string,
    signal?: AbortSignal,
  ): Promise<Methods[M]["result"]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(new DOMException("cancelled", "AbortError"));
        return;
      }
      const cancel = () => {
        const pending = this.#finish(id);
        if (pending) {
          this.#post({ kind: "cancel", id });
          pending.reject(new DOMException("cancelled", "AbortError"));
        }
      };
      const task = { id, label, progress: { requests: 0, bytes: 0, fraction: null, note: null }, cancel };
      this.#pending.set(id, { task, signal, onAbort: cancel, resolve: resolve as Pending["resolve"], reject });
      signal?.addEventListener("abort", cancel);
      this.#post({ kind: "call", id, method, params } as ToWorker);
      this.#changed();
    });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    if (message.kind === "progress") {
      const pending = this.#pending.get(message.id);
      if (pending) {
        pending.task.progress = message.progress;
        this.#changed();
      }
    } else if (message.kind === "result") {
      this.#finish(message.id)?.resolve(message.result);
    } else {
      this.#finish(message.id)?.reject(new WorkerError(message.failure));
    }
  }

  #finish(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending) {
      this.#pending.delete(id);
      pending.signal?.removeEventListener("abort", pending.onAbort);
      this.#changed();
    }
    return pending;
  }

  #changed(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}
