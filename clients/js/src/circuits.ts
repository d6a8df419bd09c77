// What the service tells of its circuits.

import { durationMs } from "./errors.js";
import { Circuit_State, type Circuit } from "./gen/proofmill/v1/circuits_pb.js";
import { ProofSystem } from "./gen/proofmill/v1/common_pb.js";
import type { VerificationKey } from "./types.js";

/** A circuit that the service holds. */
export interface CircuitInfo {
  id: string;
  proofSystem: "groth16" | "whir" | "unknown";
  version: string;
  /** Other names of it. */
  aliases: string[];
  state: "loading" | "ready" | "failed" | "unloading" | "unloaded" | "unknown";
  /** Why it failed; "" if it did not. */
  failure: string;
  warnings: string[];
  /** From client.circuit() only. */
  verificationKey?: VerificationKey;
  /** Of the witness, or of the polynomial's values. */
  witnessBytes: number;
  estimatedWaitMs: number;
}

const CIRCUIT_STATES = {
  [Circuit_State.UNSPECIFIED]: "unknown",
  [Circuit_State.LOADING]: "loading",
  [Circuit_State.READY]: "ready",
  [Circuit_State.FAILED]: "failed",
  [Circuit_State.UNLOADING]: "unloading",
  [Circuit_State.UNLOADED]: "unloaded",
} as const;

const PROOF_SYSTEMS = {
  [ProofSystem.UNSPECIFIED]: "unknown",
  [ProofSystem.GROTH16_BN254]: "groth16",
  [ProofSystem.WHIR_BABYBEAR]: "whir",
} as const;

export function toCircuitInfo(circuit: Circuit): CircuitInfo {
  return {
    id: circuit.id,
    proofSystem: PROOF_SYSTEMS[circuit.proofSystem] ?? "unknown",
    version: circuit.version,
    aliases: circuit.aliases,
    state: CIRCUIT_STATES[circuit.state] ?? "unknown",
    failure: circuit.failure,
    warnings: circuit.warnings,
    ...(circuit.verificationKeyJson === "" ? {} : { verificationKey: JSON.parse(circuit.verificationKeyJson) as VerificationKey }),
    witnessBytes: Number(circuit.limits?.witnessBytes ?? 0),
    estimatedWaitMs: circuit.estimatedWait === undefined ? 0 : durationMs(circuit.estimatedWait),
  };
}
