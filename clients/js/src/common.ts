// What both entries of the package export.

export type { CircuitInfo } from "./circuits.js";
export { Client, type CommonOptions, type Groth16, type Whir } from "./client.js";
export * from "./errors.js";
export type { JobInfo, JobInput, JobOptions, Jobs, JobState } from "./jobs.js";
export type { OperationOptions } from "./operation.js";
export type { RetryPolicy } from "./retry.js";
export type * from "./types.js";
