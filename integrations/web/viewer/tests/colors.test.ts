import { describe, expect, it } from "vitest";
import {
  channelColor,
  colorMap,
  lutIndex,
  MAP_NAMES,
  paintChannels,
  paintDensity,
  paintPlane,
  paintRgb,
  parseColor,
  rangeOf,
} from "../src/colors";

const plane = (values: number[], validity?: number[]) => ({
  values: Float64Array.from(values),
  validity: validity ? Uint8Array.from(validity) : null,
});

describe("color maps", () => {
  it("have 256 colors", () => {
    for (const name of MAP_NAMES) {
      expect(colorMap(name)).toHaveLength(768);
    }
  });

  it("fall back to viridis for unknown names", () => {
    expect(colorMap("constructor")).toBe(colorMap("viridis"));
  });

  it("have monotonic lightness where they are perceptual", () => {
    for (const name of ["viridis", "cividis", "magma", "inferno", "gray"]) {
      const lut = colorMap(name);
      const light = (index: number) =>
        0.2126 * lut[index * 3]! + 0.7152 * lut[index * 3 + 1]! + 0.0722 * lut[index * 3 + 2]!;
      for (let index = 8; index < 256; index += 8) {
        expect(light(index)).toBeGreaterThan(light(index - 8));
      }
    }
  });
});

describe("ranges", () => {
  it("clamp values", () => {
    expect([-1, 0, 0.5, 1, 2].map((value) => lutIndex(value, 0, 1))).toEqual([0, 0, 128, 255, 255]);
    expect(lutIndex(5, 5, 5)).toBe(128);
  });

  it("ignore nulls, NaN and infinities", () => {
    expect(rangeOf(plane([1, 9, Number.NaN, 3, Number.POSITIVE_INFINITY], [1, 0, 1, 1, 1]))).toEqual({
      low: 1,
      high: 3,
    });
    expect(rangeOf(plane([Number.NaN]))).toBeNull();
  });

  it("can leave out outliers", () => {
    const values = Array.from({ length: 1000 }, (_, index) => (index === 0 ? 1e9 : index));
    expect(rangeOf(plane(values), 0.01)!.high).toBeLessThan(1000);
  });
});

describe("pictures", () => {
  it("leave nulls transparent", () => {
    const out = new Uint8ClampedArray(8);
    paintPlane(plane([0, 1], [1, 0]), colorMap("gray"), { low: 0, high: 1 }, out);
    expect([...out]).toEqual([0, 0, 0, 255, 0, 0, 0, 0]);
  });

  it("copy RGB and alpha", () => {
    const out = new Uint8ClampedArray(4);
    paintRgb([plane([3]), plane([2]), plane([1]), plane([128])], [0, 1, 2, 3], out);
    expect([...out]).toEqual([3, 2, 1, 128]);
  });

  it("add channels", () => {
    const out = new Uint8ClampedArray(4);
    const channel = (color: string, visible: boolean) => ({ name: "", color, visible, range: { low: 0, high: 10 } });
    paintChannels(
      [plane([10]), plane([5]), plane([10])],
      [channel("#ff0000", true), channel("#0000ff", true), channel("#00ff00", false)],
      out,
    );
    expect([...out]).toEqual([255, 0, 128, 255]);
  });

  it("show density by its logarithm", () => {
    const out = new Uint8ClampedArray(12);
    expect(paintDensity(Uint32Array.from([0, 1, 100]), colorMap("gray"), out)).toBe(100);
    expect(out[3]).toBe(0);
    expect(out[4]!).toBeGreaterThan(0);
    expect(out[8]).toBe(255);
  });
});

it("colors are parsed", () => {
  expect(parseColor("#0a0B0c")).toEqual([10, 11, 12]);
  expect(parseColor("rgb(1, 2, 3)")).toEqual([1, 2, 3]);
  expect(channelColor(0, 1)).toBe("#ffffff");
  expect(channelColor(9, 12)).toBe(channelColor(1, 12));
});
