import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";

interface Props<T extends string> {
  label: string;
  tabs: [T, string][];
  selected: T;
  onSelect(tab: T): void;
  children: ComponentChildren;
}

export function Tabs<T extends string>({ label, tabs, selected, onSelect, children }: Props<T>) {
  const list = useRef<HTMLDivElement>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const index = tabs.findIndex(([name]) => name === selected);
    const next: Record<string, number> = {
      ArrowRight: (index + 1) % tabs.length,
      ArrowLeft: (index + tabs.length - 1) % tabs.length,
      Home: 0,
      End: tabs.length - 1,
    };
    const target = next[event.key];
    if (target !== undefined) {
      event.preventDefault();
      onSelect(tabs[target]![0]);
      (list.current?.children[target] as HTMLElement | undefined)?.focus();
    }
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(([name, text]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="panel"
            aria-selected={name === selected}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => name !== selected && onSelect(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${selected}`}>
        {children}
      </div>
    </>
  );
}
