import { Empty } from "../parts/messages";
import type { Metadata } from "../protocol";
import { cellText, countText } from "../values";

/** Long values are cut, because one key may hold megabytes. */
const MAX_TEXT = 4096;

export function MetadataView({ metadata }: { metadata: Metadata }) {
  const entries = Object.entries(metadata);
  if (entries.length === 0) {
    return <Empty title="No metadata" text="No key was written to this object." />;
  }
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Type</th>
            <th scope="col" class="n">
              Values
            </th>
            <th scope="col">Value</th>
          </tr>
        </thead>
        <tbody>
          {entries.map(([key, { datatype, value }]) => {
            const text =
              Array.isArray(value) && value.length > 1000
                ? cellText(value.slice(0, 1000), datatype)
                : cellText(value, datatype);
            return (
              <tr key={key}>
                <th scope="row">{key}</th>
                <td class="type">{datatype}</td>
                <td class="n">{Array.isArray(value) ? countText(value.length) : 1}</td>
                <td class="mono value">{text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
