/** Cells as a table. Only the pages in view are read. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Axis, parseRange, sliceRanges } from "../dimensions";
import { isAbort, WorkerError } from "../errors";
import { expectedRows } from "../expected";
import { useSize } from "../hooks";
import { compareCells, Pages } from "../pages";
import { Menu } from "../parts/menu";
import { ErrorBox } from "../parts/messages";
import { RangeField } from "../parts/slices";
import type { Cell, Order, Selection } from "../protocol";
import { saveFile } from "../save";
import { store, useStore } from "../store";
import { cellText, countText } from "../values";
import { pagesOf, scrollHeight, scrollTopOf, visibleRows } from "../window";
import { client } from "../worker-client";
import type { ArrayData } from "./array";

const ROW = 26;
const PAGE = 200;
/** Rows that an export may hold. */
const EXPORT_ROWS = 5_000_000;

const ORDER_NAMES: Record<Order, string> = {
  "row-major": "row-major",
  "column-major": "column-major",
  global: "as stored (global)",
  unordered: "any (fastest)",
};

export function CellsView({ data, onKey }: { data: ArrayData; onKey(): void }) {
  const state = useStore();
  const { schema } = data;
  const allColumns = useMemo(
    () => [...schema.dimensions.map(({ name }) => name), ...schema.attributes.map(({ name }) => name)],
    [schema],
  );
  const columns = state.columns?.filter((name) => allColumns.includes(name)) ?? allColumns;
  const order: Order = state.order ?? (schema.arrayType === "dense" ? "row-major" : "unordered");
  const errors = rangeErrors(data.axes, state.slices);
  const hasError = Object.keys(errors).length > 0;
  const selection: Selection = {
    columns: columns.length > 0 ? columns : allColumns,
    ranges: hasError ? {} : sliceRanges(data.axes, state.slices),
    where: state.where,
    order,
  };
  const key = `${selection.columns.join("\n")}\0${state.where}\0${order}\0${JSON.stringify(state.slices)}`;
  return (
    <div class="cells">
      <Controls data={data} allColumns={allColumns} columns={columns} order={order} errors={errors} />
      {hasError ? (
        <ErrorBox error={rangeError(Object.values(errors))} onRetry={null} />
      ) : (
        <Grid key={key} data={data} selection={selection} onKey={onKey} />
      )}
    </div>
  );
}

function rangeErrors(axes: Axis[], slices: Record<string, string>): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const axis of axes) {
    try {
      parseRange(axis, slices[axis.name] ?? "");
    } catch (error) {
      errors[axis.name] = error instanceof Error ? error.message : String(error);
    }
  }
  return errors;
}

/** Replaces the table and its exports, which would hold cells outside of the intended ranges. */
function rangeError(messages: string[]): WorkerError {
  const hint = "correct the range, or clear it";
  return new WorkerError({ category: "usage", message: messages.join("; "), path: null, field: null, hint });
}

interface ControlsProps {
  data: ArrayData;
  allColumns: string[];
  columns: string[];
  order: Order;
  errors: Record<string, string>;
}

function Controls({ data, allColumns, columns, order, errors }: ControlsProps) {
  const state = useStore();
  const [where, setWhere] = useState(state.where);
  useEffect(() => setWhere(state.where), [state.where]);
  const toggle = (name: string, isShown: boolean) => {
    const next = allColumns.filter((column) => (column === name ? isShown : columns.includes(column)));
    store.push({ columns: next.length === allColumns.length || next.length === 0 ? null : next });
  };
  const sliced = data.axes.filter(({ name }) => state.slices[name]).length;
  return (
    <div class="toolbar">
      <form
        class="filter"
        onSubmit={(event) => {
          event.preventDefault();
          store.push({ where: where.trim(), row: 0 });
        }}
      >
        <label for="where">Filter</label>
        <input
          id="where"
          type="text"
          class="mono"
          spellcheck={false}
          autocomplete="off"
          placeholder="such as: qual > 30 and name != 'A'"
          value={where}
          onInput={(event) => setWhere(event.currentTarget.value)}
        />
        <button type="submit">Apply</button>
        {state.where && (
          <button type="button" onClick={() => store.push({ where: "", row: 0 })}>
            Clear
          </button>
        )}
      </form>
      <div class="toolbar-rest">
        <Menu title="Columns" state={`${columns.length} of ${allColumns.length}`}>
          <legend class="visually-hidden">Columns</legend>
          {allColumns.map((name) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={columns.includes(name)}
                onChange={(event) => toggle(name, event.currentTarget.checked)}
              />
              {name || "(unnamed)"}
            </label>
          ))}
        </Menu>
        <Menu title="Ranges" state={sliced > 0 ? String(sliced) : "all"}>
          <legend class="soft">FIRST..LAST, or one coordinate. Both ends are included.</legend>
          {data.axes.map((axis) => (
            <RangeField
              key={axis.name}
              axis={axis}
              text={state.slices[axis.name] ?? ""}
              error={errors[axis.name] ?? null}
              onChange={(text) => store.push({ slices: { ...state.slices, [axis.name]: text }, row: 0 })}
            />
          ))}
        </Menu>
        <label class="inline">
          Order
          <select value={order} onChange={(event) => store.push({ order: event.currentTarget.value as Order, row: 0 })}>
            {Object.entries(ORDER_NAMES).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
    </div>
  );
}

function Grid({ data, selection, onKey }: { data: ArrayData; selection: Selection; onKey(): void }) {
  const state = useStore();
  const expected = expectedRows(data, selection);
  const [, redraw] = useState(0);
  const [error, setError] = useState<unknown>(null);
  const [isCancelled, setCancelled] = useState(false);
  const [counted, setCounted] = useState<number | null>(null);
  const [sort, setSort] = useState<{ column: number; isDown: boolean } | null>(null);
  const [active, setActive] = useState<{ row: number; column: number }>({ row: state.row, column: 0 });
  const [scrollTop, setScrollTop] = useState(0);
  const [frame, , height] = useSize<HTMLDivElement>();
  const pages = useRef(new Pages(PAGE)).current;
  const [generation, setGeneration] = useState(0);

  const viewHeight = Math.max(height - ROW, ROW);
  const bound = counted ?? (expected?.isExact ? expected.rows : null) ?? pages.end;
  const sorted = useMemo(() => {
    if (!sort) {
      return null;
    }
    const loaded = pages.loaded();
    return loaded.sort(
      (a, b) => compareCells(pages.cell(a, sort.column), pages.cell(b, sort.column)) * (sort.isDown ? -1 : 1),
    );
  }, [sort, pages.version]);
  const rows = sorted?.length ?? bound ?? Math.max(pages.reached, expected?.rows ?? 0);
  const { first, count, offset } = visibleRows(rows, ROW, viewHeight, scrollTop);

  // Reads the pages in view, one after the other.
  const firstPage = Math.floor(first / PAGE);
  const lastPage = Math.floor(Math.max(0, first + count - 1) / PAGE);
  useEffect(() => {
    if (sort || height === 0) {
      return;
    }
    const controller = new AbortController();
    const read = async () => {
      const wanted = rows === 0 && bound !== 0 ? [0] : pagesOf(first, count, PAGE);
      for (const page of wanted) {
        if (pages.has(page) || (bound !== null && page * PAGE >= bound)) {
          continue;
        }
        const params = { ref: data.target, selection, offset: page * PAGE, limit: PAGE };
        try {
          const result = await client.call(
            "rows",
            params,
            `Reading rows from ${countText(page * PAGE)}`,
            controller.signal,
          );
          pages.add(page, result);
          setError(null);
          redraw((before) => before + 1);
          if (result.rows === 0 && page > 0 && pages.end === null) {
            // The row is beyond the end, which only a count can find.
            const { ranges, where } = selection;
            const counting = { ref: data.target, ranges, where };
            setCounted(await client.call("count", counting, "Counting cells", controller.signal));
          }
        } catch (error) {
          if (controller.signal.aborted) {
            return;
          }
          if (isAbort(error)) {
            setCancelled(true);
          } else {
            setError(error);
          }
          return;
        }
      }
    };
    // Fast scrolling skips the pages between.
    const timer = setTimeout(read, pages.isEmpty ? 0 : 60);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [firstPage, lastPage, rows, height > 0, sort === null, generation]);

  const scrollTo = (row: number) => {
    const top = scrollTopOf(row, rows, ROW, viewHeight);
    if (frame.current) {
      frame.current.scrollTop = top;
    }
    setScrollTop(top);
  };
  // A link restores the row.
  const restored = useRef(false);
  useEffect(() => {
    if (!restored.current && rows > 0 && height > 0) {
      restored.current = true;
      if (state.row > 0) {
        requestAnimationFrame(() => scrollTo(Math.min(state.row, rows - 1)));
      }
    }
  }, [rows > 0, height > 0]);

  const move = (row: number, column: number) => {
    const next = {
      row: Math.max(0, Math.min(row, rows - 1)),
      column: Math.max(0, Math.min(column, selection.columns.length - 1)),
    };
    setActive(next);
    const visible = Math.max(1, Math.floor(viewHeight / ROW));
    if (next.row < first + (offset < 0 ? 1 : 0)) {
      scrollTo(next.row);
    } else if (next.row >= first + visible) {
      scrollTo(next.row - visible + 1);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { row, column } = active;
    const page = Math.max(1, Math.floor(viewHeight / ROW) - 1);
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(row + 1, column),
      ArrowUp: () => move(row - 1, column),
      ArrowLeft: () => move(row, column - 1),
      ArrowRight: () => move(row, column + 1),
      PageDown: () => move(row + page, column),
      PageUp: () => move(row - page, column),
      Home: () => (event.ctrlKey ? move(0, column) : move(row, 0)),
      End: () => (event.ctrlKey ? move(rows - 1, column) : move(row, selection.columns.length - 1)),
    };
    const action = actions[event.key];
    if (action) {
      event.preventDefault();
      action();
    }
  };

  const types = columnTypes(data, selection);
  const widths = useMemo(() => columnWidths(pages, selection, types), [pages.loadedPages > 0]);
  const template = `5.5rem ${widths.map((width) => `minmax(${width}ch, max-content)`).join(" ")}`;
  const total = widths.reduce((sum, width) => sum + width, 0);
  const source = (row: number) => sorted?.[row] ?? row;
  const drawn = Array.from({ length: count }, (_, index) => first + index);
  const activeCell = pages.cell(source(active.row), active.column);
  const isUnknown = bound === null;

  return (
    <>
      {error !== null && <ErrorBox error={error} onRetry={() => setGeneration((before) => before + 1)} onKey={onKey} />}
      {isCancelled && (
        <ErrorBox
          error={null}
          onRetry={() => {
            setCancelled(false);
            setGeneration((before) => before + 1);
          }}
        />
      )}
      <div class="table-note">
        <RowCount
          bound={bound}
          reached={pages.reached}
          expected={expected?.rows ?? null}
          onCount={
            isUnknown
              ? async () => {
                  const params = { ref: data.target, ranges: selection.ranges, where: selection.where };
                  try {
                    setCounted(await client.call("count", params, "Counting cells"));
                  } catch (error) {
                    if (!isAbort(error)) {
                      setError(error);
                    }
                  }
                }
              : null
          }
        />
        {sort ? (
          <span class="sorted" role="status">
            Sorted by {selection.columns[sort.column]} within the {countText(sorted?.length ?? 0)} loaded rows only.{" "}
            <button type="button" class="small" onClick={() => setSort(null)}>
              Back to the array's order
            </button>
          </span>
        ) : (
          <GoTo rows={rows} onGo={(row) => move(row, active.column)} onScroll={scrollTo} />
        )}
        <span class="spacer" />
        <Exports data={data} selection={selection} onError={setError} />
      </div>
      <div
        class="grid"
        role="grid"
        aria-label={`Cells of ${data.name}`}
        aria-rowcount={isUnknown ? -1 : rows + 1}
        aria-colcount={selection.columns.length + 1}
        aria-activedescendant={`cell-${active.row}-${active.column}`}
        tabIndex={0}
        ref={frame}
        onKeyDown={onKeyDown}
        onScroll={(event) => {
          const top = event.currentTarget.scrollTop;
          setScrollTop(top);
          if (!sort && restored.current) {
            store.replace({ row: visibleRows(rows, ROW, viewHeight, top).first });
          }
        }}
      >
        <div
          class="grid-inner"
          style={{ minWidth: `calc(5.5rem + ${total}ch)`, height: `${scrollHeight(rows, ROW, viewHeight) + ROW}px` }}
        >
          <div class="grid-window">
            <div class="grid-row grid-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
              <div role="columnheader" class="grid-number">
                Row
              </div>
              {selection.columns.map((name, index) => (
                <div
                  key={name}
                  role="columnheader"
                  aria-colindex={index + 2}
                  aria-sort={sort?.column === index ? (sort.isDown ? "descending" : "ascending") : "none"}
                  class={types[index]!.isNumber ? "number" : ""}
                >
                  <button
                    type="button"
                    tabIndex={-1}
                    title={`${name}: ${types[index]!.text}. Sorts the loaded rows.`}
                    onClick={() =>
                      setSort(
                        sort?.column !== index
                          ? { column: index, isDown: false }
                          : sort.isDown
                            ? null
                            : { column: index, isDown: true },
                      )
                    }
                  >
                    <span class={types[index]!.isDimension ? "dimension" : ""}>{name || "(unnamed)"}</span>{" "}
                    <span class="soft">{types[index]!.short}</span>
                    {sort?.column === index && <span aria-hidden="true">{sort.isDown ? " ▼" : " ▲"}</span>}
                  </button>
                </div>
              ))}
            </div>
            <div class="grid-rows" style={{ transform: `translateY(${offset}px)` }}>
              {drawn.map((row) => (
                <div
                  key={row}
                  class="grid-row"
                  role="row"
                  aria-rowindex={row + 2}
                  style={{ gridTemplateColumns: template }}
                >
                  <div role="rowheader" class="grid-number">
                    {countText(source(row))}
                  </div>
                  {selection.columns.map((name, column) => {
                    const cell = pages.cell(source(row), column);
                    const isActive = row === active.row && column === active.column;
                    return (
                      <div
                        key={name}
                        role="gridcell"
                        id={`cell-${row}-${column}`}
                        aria-colindex={column + 2}
                        class={`${types[column]!.isNumber ? "number" : ""}${cell === null ? " null" : ""}${isActive ? " active" : ""}`}
                        onClick={() => setActive({ row, column })}
                      >
                        {cell === undefined
                          ? "…"
                          : cell === null
                            ? "null"
                            : short(cellText(cell, pages.datatype(column)))}
                      </div>
                    );
                  })}
                </div>
              ))}
            </div>
          </div>
        </div>
        {rows === 0 && bound === 0 && (
          <p class="grid-empty">{selection.where ? "No cell matches the filter." : "No cells in this selection."}</p>
        )}
      </div>
      <output class="cell-value mono" aria-live="polite">
        <span class="soft">{selection.columns[active.column]}</span>{" "}
        {activeCell === undefined ? "" : cellText(activeCell, pages.datatype(active.column)).slice(0, 4000)}
      </output>
    </>
  );
}

const MAX_CELL = 200;

function short(text: string): string {
  return text.length > MAX_CELL ? `${text.slice(0, MAX_CELL)}…` : text;
}

interface ColumnType {
  text: string;
  short: string;
  isNumber: boolean;
  isDimension: boolean;
}

function columnTypes(data: ArrayData, selection: Selection): ColumnType[] {
  const { dimensions, attributes } = data.schema;
  return selection.columns.map((name) => {
    const dimension = dimensions.find((dimension) => dimension.name === name);
    const attribute = attributes.find((attribute) => attribute.name === name);
    const datatype = dimension?.datatype ?? attribute?.datatype ?? "";
    const isPlain = /^(u?int|float)/i.test(datatype);
    const isNumber =
      isPlain && (dimension !== undefined || (attribute?.cellValNum === 1 && attribute.enumeration === null));
    const kind = attribute?.enumeration ? `enumeration ${attribute.enumeration}` : datatype;
    const text = `${dimension ? "dimension" : "attribute"}, ${kind}${attribute?.nullable ? ", nullable" : ""}`;
    return {
      text,
      short: `${attribute?.enumeration ? "enum" : datatype}${attribute?.nullable ? "?" : ""}`,
      isNumber,
      isDimension: dimension !== undefined,
    };
  });
}

/** Returns widths in characters, from the first page and the headers. */
function columnWidths(pages: Pages, selection: Selection, types: ColumnType[]): number[] {
  return selection.columns.map((name, column) => {
    let width = name.length + types[column]!.short.length + 4;
    for (const row of pages.loaded().slice(0, PAGE)) {
      const cell = pages.cell(row, column);
      if (cell !== undefined) {
        width = Math.max(width, cellText(cell as Cell, pages.datatype(column)).length + 3);
      }
    }
    return Math.min(width, 42);
  });
}

interface CountProps {
  bound: number | null;
  reached: number;
  expected: number | null;
  onCount: (() => void) | null;
}

function RowCount({ bound, reached, expected, onCount }: CountProps) {
  if (bound !== null) {
    return <strong>{bound === 1 ? "1 row" : `${countText(bound)} rows`}</strong>;
  }
  return (
    <span>
      <strong>
        {expected === null ? `${countText(reached)} rows or more` : `at most ${countText(expected)} rows`}
      </strong>{" "}
      {onCount && (
        <button type="button" class="small" onClick={onCount} title="Reads what is needed to count exactly">
          Count
        </button>
      )}
    </span>
  );
}

function GoTo({ rows, onGo, onScroll }: { rows: number; onGo(row: number): void; onScroll(row: number): void }) {
  const [text, setText] = useState("");
  return (
    <form
      class="goto"
      onSubmit={(event) => {
        event.preventDefault();
        const row = Number(text.replace(/[\s,_]/g, ""));
        if (Number.isInteger(row) && row >= 0 && row < rows) {
          onGo(row);
          onScroll(row);
        }
      }}
    >
      <label class="inline">
        Go to row
        <input
          type="text"
          inputMode="numeric"
          size={9}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
    </form>
  );
}

function Exports({
  data,
  selection,
  onError,
}: {
  data: ArrayData;
  selection: Selection;
  onError(error: unknown): void;
}) {
  const [note, setNote] = useState("");
  const run = async (format: "csv" | "arrow") => {
    const params = { ref: data.target, selection, limit: EXPORT_ROWS, format };
    try {
      const { bytes, rows } = await client.call("export", params, `Exporting ${format === "csv" ? "CSV" : "Arrow"}`);
      saveFile(bytes, data.name, format);
      setNote(rows >= EXPORT_ROWS ? `Saved the first ${countText(rows)} rows` : `Saved ${countText(rows)} rows`);
    } catch (error) {
      if (!isAbort(error)) {
        onError(error);
      }
    }
  };
  return (
    <span class="exports">
      <span class="soft" aria-live="polite">
        {note}
      </span>
      <button
        type="button"
        onClick={() => run("csv")}
        title="All rows of the selection and filter, in the array's order"
      >
        Export CSV
      </button>
      <button type="button" onClick={() => run("arrow")} title="Arrow IPC stream: all rows of the selection and filter">
        Export Arrow
      </button>
    </span>
  );
}
