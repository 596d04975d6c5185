import { useState } from "preact/hooks";
import { useTask } from "../hooks";
import { ErrorBox } from "../parts/messages";
import type { Scalar } from "../protocol";
import { cellText, countText, scalarText } from "../values";
import { client } from "../worker-client";
import type { ArrayData } from "./array";

function range(pair: [Scalar, Scalar] | null | undefined, datatype: string): string {
  return pair ? `${scalarText(pair[0], datatype)} … ${scalarText(pair[1], datatype)}` : "any";
}

/** Returns text whose control characters can be seen, such as the zero byte that fills strings. */
function visible(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function values(count: number | "var"): string {
  return count === "var" ? "variable" : countText(count);
}

export function SchemaView({ data }: { data: ArrayData }) {
  const { schema, nonEmptyDomain } = data;
  const facts: [string, string][] = [
    ["Cell order", schema.cellOrder],
    ["Tile order", schema.tileOrder],
    ...(schema.arrayType === "sparse"
      ? ([
          ["Tile capacity", `${countText(schema.capacity)} cells`],
          ["Duplicates", schema.allowsDuplicates ? "allowed" : "not allowed"],
        ] as [string, string][])
      : []),
  ];
  return (
    <>
      <dl class="pairs">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h2>Dimensions</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Domain</th>
              <th scope="col">Cells in</th>
              <th scope="col" class="n">
                Tile extent
              </th>
              <th scope="col">Filters</th>
            </tr>
          </thead>
          <tbody>
            {schema.dimensions.map((dimension, index) => (
              <tr key={dimension.name}>
                <th scope="row">{dimension.name}</th>
                <td class="type">{dimension.datatype}</td>
                <td class="mono">{range(dimension.domain, dimension.datatype)}</td>
                <td class="mono">{nonEmptyDomain ? range(nonEmptyDomain[index], dimension.datatype) : "none"}</td>
                <td class="mono n">
                  {/* An extent of dates is a number of units, not a date. */}
                  {dimension.extent === null ? "" : String(dimension.extent)}
                </td>
                <td>{dimension.filters.join(", ") || <span class="soft">none</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <h2>Attributes</h2>
      <div class="scroll">
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Type</th>
              <th scope="col">Values per cell</th>
              <th scope="col">Nullable</th>
              <th scope="col">Fill value</th>
              <th scope="col">Enumeration</th>
              <th scope="col">Filters</th>
            </tr>
          </thead>
          <tbody>
            {schema.attributes.map((attribute) => (
              <tr key={attribute.name}>
                <th scope="row">{attribute.name || <span class="soft">(unnamed)</span>}</th>
                <td class="type">{attribute.datatype}</td>
                <td>{values(attribute.cellValNum)}</td>
                <td>{attribute.nullable ? "yes" : "no"}</td>
                <td class="mono">{visible(cellText(attribute.fill, attribute.datatype).slice(0, 80))}</td>
                <td>
                  {attribute.enumeration ? (
                    <Enumeration data={data} name={attribute.enumeration} />
                  ) : (
                    <span class="soft">none</span>
                  )}
                </td>
                <td>{attribute.filters.join(", ") || <span class="soft">none</span>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <details>
        <summary>Schema as text</summary>
        <pre class="text">{schema.text}</pre>
      </details>
    </>
  );
}

/** Reads the values of an enumeration when it is opened. */
function Enumeration({ data, name }: { data: ArrayData; name: string }) {
  const [isOpen, setOpen] = useState(false);
  const task = useTask(
    isOpen ? (signal) => client.call("enumeration", { ref: data.target, name }, `Reading ${name}`, signal) : null,
    [isOpen],
  );
  return (
    <details class="inline" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{name}</summary>
      {task.error ? <ErrorBox error={task.error} onRetry={task.retry} /> : null}
      {task.data && (
        <ol class="values" start={0}>
          {task.data.slice(0, 500).map((value, index) => (
            <li key={index}>{scalarText(value, "")}</li>
          ))}
          {task.data.length > 500 && <li class="soft">{countText(task.data.length - 500)} more</li>}
        </ol>
      )}
    </details>
  );
}
