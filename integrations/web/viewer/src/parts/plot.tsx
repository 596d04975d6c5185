/** A canvas with axes that pans and zooms by pointer, wheel and keys. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Axis } from "../dimensions";
import { useSize } from "../hooks";
import type { Window } from "../link";
import { axisTicks } from "../ticks";
import { clampWindow, fitSquare, pan, zoom } from "../viewport";

export interface Screen {
  /** Size of the drawn area in CSS pixels. */
  width: number;
  height: number;
  /** The window that the area shows. */
  window: Window;
  x(value: number): number;
  y(value: number): number;
}

export interface Position {
  x: number;
  y: number;
}

interface Props {
  label: string;
  x: Axis;
  y: Axis;
  /** All cells. */
  extent: Window;
  /** `null` shows all cells. */
  window: Window | null;
  onWindow(window: Window | null): void;
  /** Both directions have the same scale, as in pictures. */
  isSquare: boolean;
  /** The first row is at the top, as in pictures and matrices. */
  isDown: boolean;
  /** Coordinates are cells with a width of one. */
  isCells: boolean;
  draw(context: CanvasRenderingContext2D, screen: Screen): void;
  /** Text of a position, for the readout. */
  read(position: Position): string | null;
  onScreen?(screen: Screen): void;
}

const MARGIN = { left: 72, right: 14, top: 10, bottom: 44 };

export function Plot(props: Props) {
  const { extent, isSquare, isDown, isCells, onWindow } = props;
  const [frame, width, height] = useSize<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [pointer, setPointer] = useState<Position | null>(null);
  const [isKeyboard, setKeyboard] = useState(false);
  const [scheme, setScheme] = useState(0);
  const drag = useRef<{ x: number; y: number; window: Window } | null>(null);

  useEffect(() => {
    const media = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setScheme((before) => before + 1);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, []);

  const inner = {
    width: Math.max(1, width - MARGIN.left - MARGIN.right),
    height: Math.max(1, height - MARGIN.top - MARGIN.bottom),
  };
  const chosen = props.window ?? extent;
  const shown = isSquare ? fitSquare(chosen, inner) : chosen;
  const unitsX = (shown.x1 - shown.x0) / inner.width;
  const unitsY = (shown.y1 - shown.y0) / inner.height;
  const screen: Screen = {
    ...inner,
    window: shown,
    x: (value) => MARGIN.left + (value - shown.x0) / unitsX,
    y: (value) => MARGIN.top + (isDown ? value - shown.y0 : shown.y1 - value) / unitsY,
  };
  const key = [width, height, ...Object.values(shown)].join(",");
  useEffect(() => {
    if (width > 0 && height > 0) {
      props.onScreen?.(screen);
    }
  }, [key]);

  const center = { x: (shown.x0 + shown.x1) / 2, y: (shown.y0 + shown.y1) / 2 };
  const read = isKeyboard ? center : pointer;

  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0 || height === 0) {
      return;
    }
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(element);
    const color = (name: string) => style.getPropertyValue(name).trim();
    context.save();
    context.beginPath();
    context.rect(MARGIN.left, MARGIN.top, inner.width, inner.height);
    context.clip();
    context.fillStyle = color("--plot");
    context.fillRect(MARGIN.left, MARGIN.top, inner.width, inner.height);
    props.draw(context, screen);
    if (isKeyboard) {
      context.strokeStyle = color("--accent");
      context.lineWidth = 1.5;
      context.beginPath();
      const [x, y] = [screen.x(center.x), screen.y(center.y)];
      context.moveTo(x - 12, y);
      context.lineTo(x + 12, y);
      context.moveTo(x, y - 12);
      context.lineTo(x, y + 12);
      context.stroke();
    }
    context.restore();
    drawAxes(context, props, screen, color);
  });

  const toPosition = (event: MouseEvent): Position | null => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) {
      return null;
    }
    const px = event.clientX - box.left - MARGIN.left;
    const py = event.clientY - box.top - MARGIN.top;
    if (px < 0 || py < 0 || px >= inner.width || py >= inner.height) {
      return null;
    }
    return { x: shown.x0 + px * unitsX, y: isDown ? shown.y0 + py * unitsY : shown.y1 - py * unitsY };
  };
  const least = isCells ? 2 : Math.max(1e-12, Math.min(extent.x1 - extent.x0, extent.y1 - extent.y0) * 1e-9);
  const change = (window: Window) => {
    const clamped = isSquare ? window : clampWindow(window, extent);
    const isAll =
      clamped.x0 <= extent.x0 && clamped.x1 >= extent.x1 && clamped.y0 <= extent.y0 && clamped.y1 >= extent.y1;
    onWindow(isAll ? null : clamped);
  };

  useEffect(() => {
    const element = canvas.current;
    if (!element) {
      return;
    }
    const wheel = (event: WheelEvent) => {
      const position = toPosition(event);
      if (position && !event.ctrlKey) {
        event.preventDefault();
        change(zoom(shown, Math.exp(Math.sign(event.deltaY) * 0.2), position.x, position.y, least));
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  });

  const onKeyDown = (event: KeyboardEvent) => {
    const dx = (shown.x1 - shown.x0) / 10;
    const dy = ((shown.y1 - shown.y0) / 10) * (isDown ? 1 : -1);
    const by = (factor: number) => change(zoom(shown, factor, center.x, center.y, least));
    const actions: Record<string, () => void> = {
      ArrowLeft: () => change(pan(shown, -dx, 0)),
      ArrowRight: () => change(pan(shown, dx, 0)),
      ArrowUp: () => change(pan(shown, 0, -dy)),
      ArrowDown: () => change(pan(shown, 0, dy)),
      "+": () => by(0.7),
      "=": () => by(0.7),
      "-": () => by(1 / 0.7),
      "0": () => onWindow(null),
      Home: () => onWindow(null),
    };
    const action = actions[event.key];
    if (action && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      setKeyboard(true);
      action();
    }
  };

  return (
    <div class="plot">
      <div class="plot-tools">
        <button
          type="button"
          aria-label="Zoom in"
          title="Zoom in (+)"
          onClick={() => change(zoom(shown, 0.6, center.x, center.y, least))}
        >
          +
        </button>
        <button
          type="button"
          aria-label="Zoom out"
          title="Zoom out (−)"
          onClick={() => change(zoom(shown, 1 / 0.6, center.x, center.y, least))}
        >
          −
        </button>
        <button type="button" title="Show all cells (0)" onClick={() => onWindow(null)}>
          All
        </button>
      </div>
      <div class="plot-frame" ref={frame}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={`${props.label}. Arrow keys move, plus and minus zoom, 0 shows all.`}
          aria-describedby="readout"
          onKeyDown={onKeyDown}
          onFocus={(event) => setKeyboard(event.currentTarget.matches(":focus-visible"))}
          onBlur={() => setKeyboard(false)}
          onPointerDown={(event) => {
            if (event.button === 0) {
              event.currentTarget.setPointerCapture(event.pointerId);
              drag.current = { x: event.clientX, y: event.clientY, window: shown };
            }
          }}
          onPointerMove={(event) => {
            setKeyboard(false);
            setPointer(toPosition(event));
            const start = drag.current;
            if (start && (Math.abs(event.clientX - start.x) > 2 || Math.abs(event.clientY - start.y) > 2)) {
              const dx = -(event.clientX - start.x) * unitsX;
              const dy = -(event.clientY - start.y) * unitsY * (isDown ? 1 : -1);
              change(pan(start.window, dx, dy));
            }
          }}
          onPointerUp={() => {
            drag.current = null;
          }}
          onPointerLeave={() => setPointer(null)}
          onDblClick={(event) => {
            const position = toPosition(event);
            if (position) {
              change(zoom(shown, 0.5, position.x, position.y, least));
            }
          }}
        />
      </div>
      <output id="readout" class="readout" aria-live={isKeyboard ? "polite" : "off"} data-scheme={scheme}>
        {(read && props.read(read)) ||
          (isCells ? "Move the pointer over the plot to read values" : "Move the pointer over a point to read it")}
      </output>
    </div>
  );
}

function drawAxes(
  context: CanvasRenderingContext2D,
  props: Props,
  screen: Screen,
  color: (name: string) => string,
): void {
  const { width, height, window } = screen;
  const left = MARGIN.left;
  const bottom = MARGIN.top + height;
  context.strokeStyle = color("--line-strong");
  context.lineWidth = 1;
  context.strokeRect(left - 0.5, MARGIN.top - 0.5, width + 1, height + 1);
  context.fillStyle = color("--soft");
  context.font = `11px ${color("--mono")}`;
  context.textAlign = "center";
  context.textBaseline = "top";
  const center = props.isCells;
  const isDate = (axis: Axis) => /^datetime/i.test(axis.datatype);
  let end = Number.NEGATIVE_INFINITY;
  for (const tick of axisTicks(props.x, window.x0, window.x1, width / (isDate(props.x) ? 150 : 80), center)) {
    const at = screen.x(tick.offset);
    const half = context.measureText(tick.label).width / 2;
    context.fillRect(at - 0.5, bottom, 1, 5);
    if (at - half > end + 6 && at + half < left + width + MARGIN.right) {
      context.fillText(tick.label, at, bottom + 8);
      end = at + half;
    }
  }
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of axisTicks(props.y, window.y0, window.y1, height / 48, center)) {
    const at = screen.y(tick.offset);
    context.fillRect(left - 5, at - 0.5, 5, 1);
    context.fillText(short(context, tick.label, left - 24), left - 8, at);
  }
  context.fillStyle = color("--text");
  context.font = `600 12px ${color("--sans")}`;
  context.textAlign = "center";
  context.textBaseline = "bottom";
  context.fillText(axisTitle(props.x), left + width / 2, bottom + MARGIN.bottom - 4);
  context.save();
  context.translate(12, MARGIN.top + height / 2);
  context.rotate(-Math.PI / 2);
  context.textBaseline = "middle";
  context.fillText(axisTitle(props.y), 0, 0);
  context.restore();
}

function axisTitle(axis: Axis): string {
  const unit = /^datetime_(.+)$/i.exec(axis.datatype);
  return unit ? `${axis.name} (UTC)` : axis.name;
}

function short(context: CanvasRenderingContext2D, text: string, width: number): string {
  let result = text;
  while (result.length > 3 && context.measureText(result).width > width) {
    result = `${result.slice(0, -2)}…`;
  }
  return result;
}
