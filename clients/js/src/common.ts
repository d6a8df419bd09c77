// What both entries of the package export.

export { Client, type CircuitInfo, type CommonOptions, type Groth16 } from "./client.js";
export * from "./errors.js";
export type { OperationOptions } from "./operation.js";
export type { RetryPolicy } from "./retry.js";
export type * from "./types.js";
