// Makes the arrays of the tests with the `tdb` command.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const REPOSITORY = resolve(dirname(fileURLToPath(import.meta.url)), "../../..");

/** The command: the variable `TDB`, or a build of this repository. */
export const TDB =
  process.env.TDB ??
  ["target/release/tdb", "target/debug/tdb"].map((path) => join(REPOSITORY, path)).find((path) => existsSync(path)) ??
  "tdb";

export function tdb(...parameters) {
  return execFileSync(TDB, parameters, { encoding: "utf8", maxBuffer: 1 << 30, stdio: ["ignore", "pipe", "pipe"] });
}

/** Unpacks a fixture into a folder, and returns the folder of its array. */
export function unpack(fixture, folder) {
  const place = join(folder, fixture);
  mkdirSync(place, { recursive: true });
  execFileSync("tar", ["-xzf", join(REPOSITORY, `fixtures/${fixture}.tar.gz`), "-C", place]);
  return join(place, "array");
}

/** Returns numbers between 0 and 1 that are the same in every run. */
function randoms(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function importCsv(folder, name, schema, header, rows, more = []) {
  const file = join(folder, `${name.replaceAll("/", "_")}.csv`);
  writeFileSync(file, `${header}\n${rows.join("\n")}\n`);
  const array = join(folder, "survey", name);
  const isNew = !existsSync(array);
  if (isNew) {
    writeFileSync(`${file}.toml`, schema);
  }
  tdb("import", array, file, ...(isNew ? ["--schema", `${file}.toml`] : []), ...more);
}

const height = (y, x) =>
  900 + 420 * Math.sin(x / 47) * Math.cos(y / 61) + 260 * Math.exp(-((x - 260) ** 2 + (y - 110) ** 2) / 3200) + 60 * Math.sin((x + y) / 19);

/** 300 by 400 numbers, and a second attribute. */
function elevation(folder) {
  const rows = [];
  for (let y = 0; y < 300; y++) {
    for (let x = 0; x < 400; x++) {
      rows.push(`${y},${x},${height(y, x).toFixed(2)},${(y * 400 + x) * 1_000_003}`);
    }
  }
  const dimension = (name, last) => `[[dimension]]\nname = "${name}"\ndatatype = "int32"\ndomain = [0, ${last}]\ntile_extent = 100\nfilters = ["zstd"]\n`;
  const schema = `array_type = "dense"\n${dimension("y", 299)}${dimension("x", 399)}
[[attribute]]\nname = "height"\ndatatype = "float32"\nfilters = ["byteshuffle", "zstd"]
[[attribute]]\nname = "id"\ndatatype = "int64"\nfilters = ["double_delta", "zstd"]\n`;
  importCsv(folder, "elevation", schema, "y,x,height,id", rows);
  tdb("meta", join(folder, "survey/elevation"), "--put", "unit=string_utf8:metre", "--put", "limits=float64:0,1600");
}

/** 10 by 10 cells in the middle of a domain of 1000 by 1000. */
function corner(folder) {
  const rows = [];
  for (let y = 500; y < 510; y++) {
    for (let x = 500; x < 510; x++) {
      rows.push(`${y},${x},${y * 1000 + x}`);
    }
  }
  const dimension = (name) => `[[dimension]]\nname = "${name}"\ndatatype = "int32"\ndomain = [1, 1000]\ntile_extent = 10\n`;
  const schema = `array_type = "dense"\n${dimension("y")}${dimension("x")}[[attribute]]\nname = "a"\ndatatype = "int32"\n`;
  importCsv(folder, "corner", schema, "y,x,a", rows);
}

/** Twelve months of a field over a time axis, each written at another time. */
function rainfall(folder) {
  const schema = `array_type = "dense"
[[dimension]]\nname = "month"\ndatatype = "uint16"\ndomain = [1, 12]\ntile_extent = 1
[[dimension]]\nname = "y"\ndatatype = "uint16"\ndomain = [1, 40]\ntile_extent = 20
[[dimension]]\nname = "x"\ndatatype = "uint16"\ndomain = [1, 60]\ntile_extent = 20
[[attribute]]\nname = "rain"\ndatatype = "uint16"\nnullable = true\nfilters = ["zstd"]\n`;
  for (let month = 1; month <= 12; month++) {
    const rows = [];
    const date = `2023-${String(month).padStart(2, "0")}`;
    for (let y = 1; y <= 40; y++) {
      for (let x = 1; x <= 60; x++) {
        const isMissing = (x - 45) ** 2 + (y - 28) ** 2 < 25;
        const value = Math.round(110 + 50 * Math.sin((x + month * 9) / 14) + 40 * Math.cos((y - month * 5) / 11));
        rows.push(`${month},${y},${x},${isMissing ? "" : value}`);
      }
    }
    importCsv(folder, "rainfall", schema, "month,y,x,rain", rows, ["--timestamp", `${date}-28T12:00:00Z`]);
  }
}

/** An RGB picture with three levels, as converters of microscope images write it. */
function photo(folder) {
  tdb("group", "create", join(folder, "survey/photo"));
  const levels = [];
  for (const [level, scale] of [1, 2, 4].entries()) {
    const [h, w] = [240 / scale, 320 / scale];
    const rows = [];
    for (let y = 0; y < h; y++) {
      for (let x = 0; x < w; x++) {
        const [py, px] = [y * scale, x * scale];
        const inside = (px - 160) ** 2 + (py - 120) ** 2 < 8000;
        const color = [
          inside ? 230 : (px / 320) * 255,
          inside ? 90 + 60 * Math.sin(px / 6) : (py / 240) * 255,
          inside ? 60 : 255 - (px / 320) * 160,
        ];
        color.forEach((value, channel) => rows.push(`${y},${x},${channel},${Math.round(value)}`));
      }
    }
    const dimension = (name, last, extent) => `[[dimension]]\nname = "${name}"\ndatatype = "uint32"\ndomain = [0, ${last}]\ntile_extent = ${extent}\n`;
    const schema = `array_type = "dense"\n${dimension("Y", h - 1, Math.min(h, 64))}${dimension("X", w - 1, Math.min(w, 64))}${dimension("C", 2, 3)}
[[attribute]]\nname = "intensity"\ndatatype = "uint8"\nfilters = ["zstd"]\n`;
    importCsv(folder, `photo/l_${level}.tdb`, schema, "Y,X,C,intensity", rows);
    tdb("group", "add", join(folder, "survey/photo"), `l_${level}.tdb`);
    levels.push({ level, name: `l_${level}.tdb`, axes: "YXC", shape: [h, w, 3] });
  }
  const file = JSON.stringify(levels);
  tdb("meta", join(folder, "survey/photo"), "--put", `levels=string_utf8:${file}`);
}

/** 60,000 points around four centres. */
function quakes(folder) {
  const random = randoms(7);
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const centers = [
    [-120, 36, 4],
    [140, 38, 6],
    [-72, -30, 5],
    [28, 38, 9],
  ];
  const rows = [];
  for (let index = 0; index < 60_000; index++) {
    const [lon, lat, spread] = centers[Math.floor(random() ** 1.4 * 4)];
    const x = Math.max(-180, Math.min(180, lon + normal() * spread));
    const y = Math.max(-90, Math.min(90, lat + normal() * spread * 0.6));
    rows.push(`${x.toFixed(5)},${y.toFixed(5)},${(2 - Math.log(1 - random())).toFixed(2)},${Math.round(random() * 500)}`);
  }
  const schema = `array_type = "sparse"\nallows_duplicates = true\ncapacity = 5000
[[dimension]]\nname = "lon"\ndatatype = "float64"\ndomain = [-180.0, 180.0]\ntile_extent = 20.0
[[dimension]]\nname = "lat"\ndatatype = "float64"\ndomain = [-90.0, 90.0]\ntile_extent = 20.0
[[attribute]]\nname = "magnitude"\ndatatype = "float64"\nfilters = ["zstd"]
[[attribute]]\nname = "depth"\ndatatype = "int32"\nfilters = ["zstd"]\n`;
  importCsv(folder, "quakes", schema, "lon,lat,magnitude,depth", rows);
}

export const HOSTILE = "<img src=x onerror=alert(1)>";

/** Strings, nulls, dates and an enumeration, with names and values that look like markup. */
function samples(folder) {
  const schema = `array_type = "sparse"
[[dimension]]\nname = "site"\ndatatype = "string_ascii"
[[dimension]]\nname = "day"\ndatatype = "datetime_day"\ndomain = ["2020-01-01", "2029-12-31"]\ntile_extent = 30
[[attribute]]\nname = "species"\ndatatype = "string_utf8"\nvalues_per_cell = "var"\nnullable = true
[[attribute]]\nname = "count"\ndatatype = "int32"\nnullable = true
[[attribute]]\nname = "status"\ndatatype = "uint8"\nenumeration = "states"
[[attribute]]\nname = "${HOSTILE}"\ndatatype = "string_utf8"\nvalues_per_cell = "var"
[[attribute]]\nname = "seen"\ndatatype = "datetime_ms"
[[enumeration]]\nname = "states"\ndatatype = "string_ascii"\nvalues_per_value = "var"\nvalues = ["draft", "checked", "rejected"]\n`;
  const species = ["Passer domesticus", "Pica pica", "Grüner Specht", "", null, '"quoted", text', "=1+1"];
  const rows = [];
  for (let index = 0; index < 500; index++) {
    const name = species[index % species.length];
    const text = name === null ? "" : `"${name.replaceAll('"', '""')}"`;
    const day = new Date(Date.UTC(2024, 0, 1 + index)).toISOString().slice(0, 10);
    rows.push(
      `site-${String(index % 9).padStart(2, "0")},${day},${text},${index % 5 === 0 ? "" : index * 3},${["draft", "checked", "rejected"][index % 3]},<b>${index}</b>,${day}T06:${String(index % 60).padStart(2, "0")}:00.250`,
    );
  }
  importCsv(folder, "field/samples", schema, `site,day,species,count,status,${HOSTILE},seen`, rows);
}

/** Writes all arrays into a new folder, as members of nested groups. */
export function makeData(folder) {
  mkdirSync(folder, { recursive: true });
  const root = join(folder, "survey");
  tdb("group", "create", root);
  tdb("group", "create", join(root, "field"));
  elevation(folder);
  corner(folder);
  rainfall(folder);
  photo(folder);
  quakes(folder);
  samples(folder);
  tdb("group", "add", join(root, "field"), "samples");
  for (const member of ["elevation", "rainfall", "photo", "quakes", "field"]) {
    tdb("group", "add", root, member);
  }
  tdb("meta", root, "--put", "title=string_utf8:Field survey");
  return root;
}
