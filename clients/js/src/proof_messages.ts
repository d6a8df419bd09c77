// Between the messages of the API and the shapes of snarkjs.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { durationMs, makeError, type ProofmillError } from "./errors.js";
import { Priority } from "./gen/proofmill/v1/common_pb.js";
import type { ItemError, ProofResult as ProofResultMessage, ProofSpecSchema } from "./gen/proofmill/v1/prover_pb.js";
import type { ClaimMessage } from "./proof_input.js";
import type { Groth16Proof, ProofFacts, ProofResult, ProveOptions, PublicSignals, WhirProofResult } from "./types.js";
import { toWhirProof } from "./whir.js";

const PRIORITIES = { low: Priority.LOW, normal: Priority.NORMAL, high: Priority.HIGH } as const;

export function makeSpec(
  circuit: string,
  requestId: string,
  options: Omit<ProveOptions, "transfer">,
  includeSnarkjsJson: boolean,
): MessageInitShape<typeof ProofSpecSchema> {
  const priority = options.priority ?? "normal";
  if (!(priority in PRIORITIES)) throw new TypeError(`priority: expected low, normal or high, got ${priority}`);
  return {
    circuit,
    circuitVersion: options.circuitVersion ?? "",
    priority: PRIORITIES[priority],
    requestId,
    includeSnarkjsJson,
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
    ...factsOf(message),
  };
}

/** Throws an error of code INTERNAL if there is no proof in it of the claims that were asked for. */
export function toWhirResult(message: ProofResultMessage | undefined, asked?: ClaimMessage[]): WhirProofResult {
  if (message?.proof.case !== "whir") {
    throw makeError(Code.Internal, "expected a WHIR proof in the answer of the service, got none", "");
  }
  return { ...toWhirProof(message.proof.value, asked), ...factsOf(message) };
}

function factsOf(message: ProofResultMessage): ProofFacts {
  return {
    circuit: message.circuit,
    circuitVersion: message.circuitVersion,
    requestId: message.requestId,
    device: message.device,
    stages: message.stages.map(({ stage, durationSeconds }) => ({ stage, durationMs: durationSeconds * 1000 })),
    queueWaitMs: message.queueWait === undefined ? 0 : durationMs(message.queueWait),
    runTimeMs: message.runTime === undefined ? 0 : durationMs(message.runTime),
  };
}

export function fromItemError(error: ItemError): ProofmillError {
  return makeError(error.code as Code, error.message, error.reason, error.retryDelay && durationMs(error.retryDelay));
}
