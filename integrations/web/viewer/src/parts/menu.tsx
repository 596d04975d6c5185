import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

interface Props {
  title: string;
  state: string;
  children: ComponentChildren;
}

/** A button that shows controls below it. Escape, and focus elsewhere, close it. */
export function Menu({ title, state, children }: Props) {
  const details = useRef<HTMLDetailsElement>(null);
  return (
    <details
      class="menu"
      ref={details}
      onKeyDown={(event) => {
        if (event.key === "Escape" && details.current?.open) {
          details.current.open = false;
          details.current.querySelector("summary")?.focus();
        }
      }}
      onFocusOut={(event) => {
        const next = event.relatedTarget;
        if (details.current && next instanceof Node && !details.current.contains(next)) {
          details.current.open = false;
        }
      }}
    >
      <summary>
        {title} <span class="soft">{state}</span>
      </summary>
      <fieldset class="menu-body">{children}</fieldset>
    </details>
  );
}
