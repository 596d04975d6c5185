import { useRef, useState } from "preact/hooks";
import { isAbort } from "../errors";
import { chosenFolder, hasPicker, pickFolder } from "../folders";
import { useTask } from "../hooks";
import { isHttp } from "../link";
import type { OpenSource } from "../protocol";
import { servedData } from "../served";
import { ErrorBox } from "./messages";

interface Props {
  onOpen(source: OpenSource): void;
  /** Folder that a link names, and that the person must choose again. */
  missing: string | null;
}

/** Asks for a folder or an address. */
export function Welcome({ onOpen, missing }: Props) {
  const [error, setError] = useState<unknown>(null);
  const [url, setUrl] = useState("");
  const [s3, setS3] = useState({ endpoint: "", bucket: "", prefix: "" });
  const input = useRef<HTMLInputElement>(null);
  const served = useTask(servedData, []);

  const attempt = async (step: () => OpenSource | Promise<OpenSource>) => {
    setError(null);
    try {
      onOpen(await step());
    } catch (error) {
      if (!isAbort(error)) {
        setError(error);
      }
    }
  };
  const openUrl = (event: Event) => {
    event.preventDefault();
    void attempt(() => {
      const address = url.trim();
      if (!isHttp(address)) {
        throw new Error(`expected an address that begins with http:// or https://, found "${address}"`);
      }
      return { kind: "http", url: address };
    });
  };
  const openS3 = (event: Event) => {
    event.preventDefault();
    void attempt(() => {
      const endpoint = s3.endpoint.trim().replace(/\/+$/, "");
      const bucket = s3.bucket.trim();
      if (!isHttp(endpoint) || !bucket) {
        throw new Error("expected an endpoint that begins with http:// or https://, and a bucket");
      }
      return { kind: "s3", endpoint, bucket, prefix: s3.prefix.trim().replace(/^\/+|\/+$/g, "") };
    });
  };
  return (
    <div class="welcome">
      <h1>{missing ? `Open the folder “${missing}” again` : "Open TileDB arrays and groups"}</h1>
      <p class="lead">
        {missing
          ? "The link shows data of a folder on a computer. Choose that folder, and the view comes back."
          : "The page reads arrays itself, in the browser. Nothing is uploaded, and no server computes."}
      </p>
      {error !== null && <ErrorBox error={error} onRetry={null} onClose={() => setError(null)} />}
      <div class="cards">
        {served.data && served.data.length > 0 && (
          <section class="card wide">
            <h2>On this server</h2>
            <ul class="served">
              {served.data.map(({ name, kind, url }) => (
                <li key={url}>
                  <span class={`kind ${kind}`} aria-hidden="true" />{" "}
                  <button type="button" class="link" onClick={() => onOpen({ kind: "http", url })}>
                    {name}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        )}
        <section class="card drop">
          <h2>A folder of this computer</h2>
          <p>Drop the folder of an array or group anywhere on this page, or choose it.</p>
          <button
            type="button"
            class="primary"
            onClick={() => (hasPicker ? attempt(pickFolder) : input.current?.click())}
          >
            Choose a folder…
          </button>
          <input
            ref={input}
            type="file"
            class="visually-hidden"
            tabIndex={-1}
            aria-hidden="true"
            {...{ webkitdirectory: true }}
            onChange={(event) => {
              const { files } = event.currentTarget;
              if (files?.length) {
                void attempt(() => chosenFolder(files));
              }
            }}
          />
        </section>
        <section class="card">
          <h2>An address</h2>
          <form onSubmit={openUrl}>
            <label>
              URL of an array or group
              <input
                type="url"
                required
                placeholder="https://example.org/data/array"
                value={url}
                onInput={(event) => setUrl(event.currentTarget.value)}
              />
            </label>
            <p class="soft">
              The server needs byte ranges, CORS, and the file tdb-manifest.txt in the folder. The command{" "}
              <code>tdb serve</code> provides all three.
            </p>
            <button type="submit" class="primary">
              Open the address
            </button>
          </form>
        </section>
        <section class="card">
          <h2>A public S3 bucket</h2>
          <form onSubmit={openS3}>
            <label>
              Endpoint
              <input
                type="url"
                required
                placeholder="https://s3.us-east-1.amazonaws.com"
                value={s3.endpoint}
                onInput={(event) => setS3({ ...s3, endpoint: event.currentTarget.value })}
              />
            </label>
            <div class="pair">
              <label>
                Bucket
                <input
                  type="text"
                  required
                  value={s3.bucket}
                  onInput={(event) => setS3({ ...s3, bucket: event.currentTarget.value })}
                />
              </label>
              <label>
                Prefix
                <input
                  type="text"
                  placeholder="folder/array"
                  value={s3.prefix}
                  onInput={(event) => setS3({ ...s3, prefix: event.currentTarget.value })}
                />
              </label>
            </div>
            <button type="submit" class="primary">
              Open the bucket
            </button>
          </form>
        </section>
      </div>
    </div>
  );
}
