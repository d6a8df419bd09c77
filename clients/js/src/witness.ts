// Witnesses: where they come from.

import type { CircuitInput, FileSource } from "./types.js";

/** Reads a file by its name: a path in Node, a URL in browsers. */
export type ReadFile = (name: string, signal?: AbortSignal) => Promise<Uint8Array>;

/** The bytes of a file that is given as snarkjs takes it. Not a copy if the bytes were given. */
export async function readSource(source: FileSource, what: string, readFile: ReadFile, signal?: AbortSignal): Promise<Uint8Array> {
  if (typeof source === "string") return readFile(source, signal);
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  const data = (source as { data?: unknown } | null)?.data;
  if (data instanceof Uint8Array) return data;
  throw new TypeError(
    `${what}: expected bytes, a file's name or { type: "mem", data }, got ${source === null ? "null" : typeof source}`,
  );
}

interface WitnessCalculator {
  circom_version(): number;
  calculateWTNSBin(input: unknown): Promise<Uint8Array>;
}

type Builder = (wasm: Uint8Array) => Promise<WitnessCalculator>;

// The calculator that snarkjs uses too. Only fullProve() needs it, and it brings packages under other licences than ours, so
// that an application asks for it by installing it.
async function loadBuilder(): Promise<Builder> {
  try {
    const module = (await import("circom_runtime")) as { WitnessCalculatorBuilder: Builder };
    return module.WitnessCalculatorBuilder;
  } catch (cause) {
    throw new Error("fullProve: expected the package circom_runtime, got none: npm install circom_runtime", { cause });
  }
}

/** The witness of `input` as the content of a .wtns file. The caller wipes it. */
export async function computeWitness(input: CircuitInput, wasm: Uint8Array): Promise<Uint8Array> {
  const build = await loadBuilder();
  const calculator = await build(wasm);
  if (calculator.circom_version() === 1) {
    throw new TypeError("wasm: expected a witness calculator of circom 2, got one of circom 1: compile the circuit anew");
  }
  return calculator.calculateWTNSBin(toBigInts(input));
}

// Numbers as big integers, at any depth. The messages never hold a value: inputs are secret.
function toBigInts(value: unknown, path = "input"): unknown {
  if (typeof value === "bigint") return value;
  if (Array.isArray(value)) return value.map((item, i) => toBigInts(item, `${path}[${i}]`));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toBigInts(item, `${path}.${key}`)]));
  }
  if (typeof value === "boolean" || (typeof value === "number" && Number.isSafeInteger(value))) return BigInt(value);
  if (typeof value === "string" && /^(-?\d+|0x[0-9a-f]+)$/i.test(value)) return BigInt(value);
  throw new TypeError(
    `${path}: expected an integer, a string of one, or lists of them, got ${typeof value === "string" ? "another string" : typeof value}`,
  );
}
