// A real service for the tests: the program of the release build, with the project's own circuits and, where ../shared is, those
// of real applications.

import assert from "node:assert/strict";
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const PROJECT = fileURLToPath(new URL("../../..", import.meta.url));
const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const SHARED_CASES = join(PROJECT, "../shared/cases");
const PROGRAM = process.env["PROOFMILL"] ?? join(PROJECT, "build/release/cli/proofmill");
const READY_MS_MAX = 60_000;

/** A circuit with a witness of it; `wasm` and `input` where fullProve can be tried. */
export interface Case {
  circuit: string;
  key: string;
  witness: string;
  wasm?: string;
  input?: Record<string, string[]>;
}

const run = (command: string, ...args: string[]) => execFileSync(command, args, { stdio: ["ignore", "ignore", "pipe"] });

// Compiles a circuit of our own with circom, and makes a test key for it: what a newcomer does, but for the ceremony.
function compileProduct(folder: string): Case {
  const circom = join(PACKAGE, "node_modules/circom2/cli.js");
  execFileSync(process.execPath, [circom, "product.circom", "--r1cs", "--wasm", "-o", folder], {
    cwd: join(PACKAGE, "tests/circuits"),
    stdio: ["ignore", "ignore", "pipe"],
  });
  const key = join(folder, "product.zkey");
  run(PROGRAM, "setup", join(folder, "product.r1cs"), key, "--insecure_test_setup");
  const wasm = join(folder, "product_js/product.wasm");
  return { circuit: "product", key, witness: "", wasm, input: { factors: ["2", "3", "5", "1000000007"] } };
}

/** A circuit of WHIR, "poly", that any machine proves in no time. */
export const WHIR_PARAMETERS = {
  num_variables: 10,
  folding: { constant: 2 },
  security_level: 30,
  max_pow_bits: 6,
  num_claims: 2,
};

/** Whether the program itself, without a service, finds that a proof shows these claims. */
export function programAccepts(claims: unknown, proof: Uint8Array): boolean {
  const folder = mkdtempSync(join(tmpdir(), "proofmill-js-"));
  const [statement, file] = [join(folder, "statement.json"), join(folder, "proof.bin")];
  writeFileSync(statement, JSON.stringify({ parameters: WHIR_PARAMETERS, claims }));
  writeFileSync(file, proof);
  try {
    return execFileSync(PROGRAM, ["whir", "verify", statement, file], { encoding: "utf8" }) === "OK\n";
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error;
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function bundledCase(): Case {
  const folder = join(PROJECT, "deploy/examples/circuits/epoch-key-lite");
  return { circuit: "epoch-key-lite", key: join(folder, "circuit.zkey"), witness: join(folder, "canary.wtns") };
}

function semaphoreCase(): Case | undefined {
  const folder = join(SHARED_CASES, "semaphore-20");
  if (!existsSync(folder)) return undefined;
  return { circuit: "semaphore-20", key: join(folder, "circuit.zkey"), witness: join(folder, "witness.wtns") };
}

export interface Service {
  target: string;
  bundled: Case;
  product: Case;
  semaphore: Case | undefined;
  stop(): Promise<void>;
}

/** Starts the service with all cases, and `flags` besides; resolves when it is ready. */
export async function startService(flags: (folder: string) => string[] = () => []): Promise<Service> {
  assert(existsSync(PROGRAM), `expected the program of the release build at ${PROGRAM} (or where PROOFMILL says), got nothing`);
  const folder = mkdtempSync(join(tmpdir(), "proofmill-js-"));
  const [bundled, product, semaphore] = [bundledCase(), compileProduct(folder), semaphoreCase()];
  for (const { circuit, key } of [bundled, product, ...(semaphore ? [semaphore] : [])]) {
    mkdirSync(join(folder, "circuits", circuit), { recursive: true });
    cpSync(key, join(folder, "circuits", circuit, "circuit.zkey"));
  }
  writeFileSync(join(folder, "circuits", "poly.whir.json"), JSON.stringify(WHIR_PARAMETERS));
  const ports = join(folder, "ports");
  const listeners = ["listen", "admin_listen", "metrics_listen"].flatMap((name) => [`--${name}`, "127.0.0.1:0"]);
  const args = [
    "serve",
    "--circuits",
    join(folder, "circuits"),
    "--allow_insecure_keys",
    "--backend",
    "cpu",
    "--port_file",
    ports,
    ...listeners,
  ];
  const child = spawn(PROGRAM, [...args, ...flags(folder)], { stdio: ["ignore", "ignore", "pipe"] });
  process.once("exit", () => child.kill("SIGKILL"));
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (log += text));
  const target = await readiness(child, ports, () => log);
  const stop = async () => {
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "exit");
    rmSync(folder, { recursive: true });
    assert.equal(child.exitCode, 0, `the service ended with status ${child.exitCode}: ${log.slice(-2000)}`);
  };
  return { target, bundled, product, semaphore, stop };
}

async function readiness(child: ChildProcess, ports: string, log: () => string): Promise<string> {
  const deadline = performance.now() + READY_MS_MAX;
  for (;;) {
    const [data, admin] = ["data", "admin"].map((name) => portOf(ports, name));
    if (data && admin && isReady(admin)) return data;
    if (child.exitCode !== null || performance.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`expected a ready service, got none: ${log().slice(-2000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function portOf(ports: string, name: string): string | undefined {
  return existsSync(ports) ? new RegExp(`^${name}=(.+)$`, "m").exec(readFileSync(ports, "utf8"))?.[1] : undefined;
}

function isReady(admin: string): boolean {
  try {
    run(PROGRAM, "client", "health", "--target", admin);
    return true;
  } catch {
    return false;
  }
}
