// The private input of a proof: its bytes, and the messages that carry them.

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { makeError } from "./errors.js";
import type { WhirClaimSchema } from "./gen/proofmill/v1/common_pb.js";
import type { ProveRequestSchema } from "./gen/proofmill/v1/prover_pb.js";

type RequestInput = NonNullable<MessageInitShape<typeof ProveRequestSchema>["input"]>;
export type ClaimMessage = MessageInitShape<typeof WhirClaimSchema>;

export interface ProofInput {
  /** A .wtns file, or the values of a polynomial. */
  readonly bytes: Uint8Array;
  /** What the header of a stream says besides. */
  readonly whirClaims: ClaimMessage[];
  /** The input of a request that has the bytes in it. */
  inMessage(): RequestInput;
  /** The input of a request that names an upload of them. */
  inUpload(name: string): RequestInput;
}

const WTNS_MAGIC = [..."wtns"].map((letter) => letter.charCodeAt(0));

/**
 * The content of a .wtns file. Throws a WitnessError for what is none: on a stream the service sees its size first, and would find
 * only that wrong.
 */
export function groth16Input(wtns: Uint8Array): ProofInput {
  if (!WTNS_MAGIC.every((byte, i) => wtns[i] === byte)) {
    const got = `got ${wtns.length} bytes that do not`;
    throw makeError(
      Code.InvalidArgument,
      `witness: not a .wtns file: expected it to begin with "wtns", ${got}`,
      "WITNESS_MALFORMED",
    );
  }
  return {
    bytes: wtns,
    whirClaims: [],
    inMessage: () => ({ case: "groth16", value: { witness: { case: "wtns", value: wtns } } }),
    inUpload: (upload) => ({ case: "groth16", value: { witness: { case: "upload", value: upload } } }),
  };
}

export function whirInput(evaluations: Uint8Array, claims: ClaimMessage[]): ProofInput {
  return {
    bytes: evaluations,
    whirClaims: claims,
    inMessage: () => ({ case: "whir", value: { polynomial: { case: "evaluations", value: evaluations }, claims } }),
    inUpload: (upload) => ({ case: "whir", value: { polynomial: { case: "upload", value: upload }, claims } }),
  };
}
