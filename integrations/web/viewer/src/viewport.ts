/** Windows of plots: pan, zoom and fit. Pure arithmetic in offsets from the first coordinates. */

import type { Axis } from "./dimensions";
import type { Window } from "./link";

export interface Size {
  width: number;
  height: number;
}

/** Expands a window so that both directions have the same scale. */
export function fitSquare(window: Window, { width, height }: Size): Window {
  if (width <= 0 || height <= 0) {
    return window;
  }
  const w = window.x1 - window.x0;
  const h = window.y1 - window.y0;
  const scale = Math.max(w / width, h / height);
  const growX = (scale * width - w) / 2;
  const growY = (scale * height - h) / 2;
  return { x0: window.x0 - growX, x1: window.x1 + growX, y0: window.y0 - growY, y1: window.y1 + growY };
}

/** Scales a window about a point. Never shows less than `least` of an axis. */
export function zoom(window: Window, factor: number, x: number, y: number, least: number): Window {
  const limit = Math.max(factor, least / (window.x1 - window.x0), least / (window.y1 - window.y0));
  const f = factor < 1 ? Math.min(1, limit) : factor;
  return {
    x0: x - (x - window.x0) * f,
    x1: x + (window.x1 - x) * f,
    y0: y - (y - window.y0) * f,
    y1: y + (window.y1 - y) * f,
  };
}

export function pan(window: Window, dx: number, dy: number): Window {
  return { x0: window.x0 + dx, x1: window.x1 + dx, y0: window.y0 + dy, y1: window.y1 + dy };
}

/** Moves and shrinks a window so that it shows the extent and not much else. */
export function clampWindow(window: Window, extent: Window): Window {
  const [x0, x1] = clampSpan(window.x0, window.x1, extent.x0, extent.x1);
  const [y0, y1] = clampSpan(window.y0, window.y1, extent.y0, extent.y1);
  return { x0, x1, y0, y1 };
}

function clampSpan(from: number, to: number, low: number, high: number): [number, number] {
  const length = to - from;
  if (length >= high - low) {
    return [low, high];
  }
  const start = Math.min(Math.max(from, low), high - length);
  return [start, start + length];
}

/** Returns a window of coordinates as offsets. Links hold coordinates, because the first one differs between times. */
export function toOffsets(window: Window, x: Axis, y: Axis): Window {
  return pan(window, -Number(x.low), -Number(y.low));
}

export function toCoordinates(window: Window, x: Axis, y: Axis): Window {
  return pan(window, Number(x.low), Number(y.low));
}
