/** Returns a canvas of the given pixels. */
export function toCanvas(width: number, height: number, paint: (out: Uint8ClampedArray) => void): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d")!;
  const image = context.createImageData(width, height);
  paint(image.data);
  context.putImageData(image, 0, 0);
  return canvas;
}
