// Between the messages of the API and the shapes of snarkjs.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { durationMs, makeError } from "./errors.js";
import { Priority } from "./gen/proofmill/v1/common_pb.js";
import type { ItemError, ProofResult as ProofResultMessage, ProofSpecSchema } from "./gen/proofmill/v1/prover_pb.js";
import type { Groth16Proof, ProofResult, ProveOptions, PublicSignals } from "./types.js";

const PRIORITIES = { low: Priority.LOW, normal: Priority.NORMAL, high: Priority.HIGH } as const;

export function makeSpec(circuit: string, requestId: string, options: ProveOptions): MessageInitShape<typeof ProofSpecSchema> {
  const priority = options.priority ?? "normal";
  if (!(priority in PRIORITIES)) throw new TypeError(`priority: expected low, normal or high, got ${priority}`);
  return {
    circuit,
    circuitVersion: options.circuitVersion ?? "",
    priority: PRIORITIES[priority],
    requestId,
    includeSnarkjsJson: true,
  };
}

/** Throws an error of code INTERNAL if there is no proof in it. */
export function toProofResult(message: ProofResultMessage | undefined): ProofResult {
  if (message === undefined || message.snarkjsProofJson === "" || message.snarkjsPublicJson === "") {
    throw makeError(Code.Internal, "expected a Groth16 proof in the answer of the service, got none", "");
  }
  return {
    proof: JSON.parse(message.snarkjsProofJson) as Groth16Proof,
    publicSignals: JSON.parse(message.snarkjsPublicJson) as PublicSignals,
    circuit: message.circuit,
    circuitVersion: message.circuitVersion,
    requestId: message.requestId,
    device: message.device,
    stages: message.stages.map(({ stage, durationSeconds }) => ({ stage, durationMs: durationSeconds * 1000 })),
    queueWaitMs: message.queueWait === undefined ? 0 : durationMs(message.queueWait),
  };
}

export function fromItemError(error: ItemError): Error {
  return makeError(error.code as Code, error.message, error.reason, error.retryDelay && durationMs(error.retryDelay));
}
