import { useEffect, useRef, useState } from "preact/hooks";
import { parseKey } from "../keys";

interface KeyProps {
  onKey(key: Uint8Array | null): Promise<void>;
  onClose(): void;
}

/** Asks for the key of encrypted arrays. The key stays in the memory of the worker. */
export function KeyDialog({ onKey, onClose }: KeyProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      await onKey(text === "" ? null : parseKey(text));
    } catch (error) {
      setError(error instanceof Error ? error.message : String(error));
    }
  };
  const readFile = async (file: File | undefined) => {
    if (!file) {
      return;
    }
    if (file.size === 32) {
      await onKey(new Uint8Array(await file.arrayBuffer()));
    } else {
      setText((await file.slice(0, 256).text()).trim());
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="key-title" onClose={onClose}>
      <form onSubmit={submit}>
        <h2 id="key-title">Encryption key</h2>
        <p>
          AES-256: 64 hexadecimal digits, or 32 characters. The key stays in memory until the page is closed, and no
          link holds it.
        </p>
        <label>
          Key
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
            aria-describedby="key-error"
          />
        </label>
        <label>
          or a key file
          <input type="file" onChange={(event) => readFile(event.currentTarget.files?.[0])} />
        </label>
        <p id="key-error" class="field-error" role="alert">
          {error}
        </p>
        <div class="buttons">
          <button type="submit" class="primary">
            {text === "" ? "Use no key" : "Use the key"}
          </button>
          <button type="button" onClick={onClose}>
            Close
          </button>
        </div>
      </form>
    </dialog>
  );
}
