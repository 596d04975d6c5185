/** Parses an AES-256 key: 64 hexadecimal digits, or 32 ASCII characters. */
export function parseKey(text: string): Uint8Array {
  const trimmed = text.trim();
  if (/^[\da-f]{64}$/i.test(trimmed)) {
    return Uint8Array.from({ length: 32 }, (_, index) => Number.parseInt(trimmed.slice(index * 2, index * 2 + 2), 16));
  }
  const bytes = new TextEncoder().encode(text);
  if (bytes.length === 32) {
    return bytes;
  }
  throw new Error("a key has 64 hexadecimal digits, or 32 characters");
}
