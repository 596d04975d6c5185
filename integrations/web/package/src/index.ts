export { objectType, openArray, openGroup, TileArray, type Group } from "./array.js";
export { GoneError, initialize } from "./engine.js";
export { TdbError, type ErrorCategory } from "./errors.js";
export { folderSource } from "./folder.js";
export { httpSource } from "./http.js";
export { s3Source } from "./s3.js";
export { Column, Table } from "./table.js";
export type * from "./types.js";
