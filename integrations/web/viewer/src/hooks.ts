import { useEffect, useRef, useState } from "preact/hooks";
import { isAbort } from "./errors";

export interface Task<T> {
  data: T | null;
  error: unknown;
  isRunning: boolean;
  isCancelled: boolean;
  retry(): void;
}

/**
 * Runs an asynchronous step again whenever a dependency changes, and aborts the step before.
 *
 * The data of the step before stays until the next step ends. `run` is `null` if there is nothing to do.
 */
export function useTask<T>(run: ((signal: AbortSignal) => Promise<T>) | null, dependencies: unknown[]): Task<T> {
  const [outcome, setOutcome] = useState<{ data: T | null; error: unknown; isRunning: boolean; isCancelled: boolean }>({
    data: null,
    error: null,
    isRunning: run !== null,
    isCancelled: false,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!run) {
      setOutcome({ data: null, error: null, isRunning: false, isCancelled: false });
      return;
    }
    const controller = new AbortController();
    setOutcome((before) => ({ ...before, isRunning: true, isCancelled: false }));
    run(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) {
          setOutcome({ data, error: null, isRunning: false, isCancelled: false });
        }
      },
      (error: unknown) => {
        if (!controller.signal.aborted) {
          const isCancelled = isAbort(error);
          setOutcome((before) => ({
            data: isCancelled ? before.data : null,
            error: isCancelled ? null : error,
            isRunning: false,
            isCancelled,
          }));
        }
      },
    );
    return () => controller.abort();
  }, [...dependencies, round]);
  return { ...outcome, retry: () => setRound((before) => before + 1) };
}

/** Returns a value once it has been the same for a while. */
export function useSettled<T>(value: T, delay: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delay);
    return () => clearTimeout(timer);
  }, [JSON.stringify(value)]);
  return settled;
}

/** Returns the size of an element in CSS pixels. */
export function useSize<E extends HTMLElement>(): [ref: { current: E | null }, width: number, height: number] {
  const ref = useRef<E>(null);
  const [size, setSize] = useState([0, 0]);
  useEffect(() => {
    const element = ref.current;
    if (!element) {
      return;
    }
    const measure = () => setSize([element.clientWidth, element.clientHeight]);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size[0]!, size[1]!];
}
