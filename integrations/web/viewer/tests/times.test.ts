import { describe, expect, it } from "vitest";
import { isVisible, stopOf, timeOf, timeStops } from "../src/times";

const fragments = [30, 10, 20, 20].map((time) => ({ timestamps: [time - 5, time] as [number, number] }));

describe("the time slider", () => {
  const stops = timeStops(fragments);

  it("stops at the end times of fragments", () => {
    expect(stops).toEqual([10, 20, 30]);
  });

  it("has the newest state after the last stop", () => {
    expect(stopOf(stops, null)).toBe(3);
    expect(timeOf(stops, 3)).toBeNull();
    expect(timeOf(stops, 0)).toBe(10);
  });

  it("shows the last stop before a time of a link", () => {
    expect(stopOf(stops, 25)).toBe(1);
    expect(stopOf(stops, 5)).toBe(0);
    expect(stopOf(stops, 99)).toBe(2);
    expect(stopOf([], 5)).toBe(0);
  });
});

it("fragments are visible from their end time on", () => {
  expect(fragments.map((fragment) => isVisible(fragment, 20))).toEqual([false, true, true, true]);
  expect(isVisible(fragments[0]!, null)).toBe(true);
});
