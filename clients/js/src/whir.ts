// The shapes of WHIR, and their bytes in the API: elements of BabyBear are 4 bytes, little-endian, canonical; an element of the
// extension is its coefficients one after the other.

import { Code } from "@connectrpc/connect";
import { makeError } from "./errors.js";
import type { WhirClaim as ClaimAnswer, WhirProof as ProofAnswer } from "./gen/proofmill/v1/common_pb.js";
import type { ClaimMessage } from "./proof_input.js";
import type { Evaluations, WhirClaim, WhirElement, WhirProof } from "./types.js";
import { readSource, type ReadFile } from "./witness.js";

/** The order of BabyBear: 2^31 - 2^27 + 1. */
const P = 2013265921;
const WORD = 4;
const IS_LITTLE_ENDIAN = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;

const isList = (value: unknown): value is readonly number[] => Array.isArray(value);
const isElement = (word: unknown): boolean => typeof word === "number" && Number.isInteger(word) && word >= 0 && word < P;

function toBytes(words: readonly number[] | Uint32Array): Uint8Array {
  const bytes = new Uint8Array(words.length * WORD);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < words.length; ++i) view.setUint32(i * WORD, words[i]!, true);
  return bytes;
}

/**
 * The bytes of a polynomial's values; `isCopy` if they are not those of the caller. Throws a TypeError for what is no list of
 * elements, without the value, which is secret.
 */
export async function evaluationBytes(
  source: Evaluations,
  readFile: ReadFile,
  signal?: AbortSignal,
): Promise<{ bytes: Uint8Array; isCopy: boolean }> {
  if (source instanceof Uint32Array) {
    if (!IS_LITTLE_ENDIAN) return { bytes: toBytes(source), isCopy: true };
    return { bytes: new Uint8Array(source.buffer, source.byteOffset, source.byteLength), isCopy: false };
  }
  if (!isList(source)) {
    const bytes = await readSource(source, "evaluations", readFile, signal);
    return { bytes, isCopy: typeof source === "string" };
  }
  const bad = source.findIndex((word) => !isElement(word));
  if (bad >= 0) throw new TypeError(`evaluations[${bad}]: expected an integer from 0 to ${P - 1}, got something else`);
  return { bytes: toBytes(source), isCopy: true };
}

function elementBytes(element: WhirElement, what: string): Uint8Array {
  if (!Array.isArray(element) || (element.length !== 4 && element.length !== 5) || !element.every(isElement)) {
    throw new TypeError(`${what}: expected a list of 4 or 5 integers from 0 to ${P - 1}, got something else`);
  }
  return toBytes(element);
}

function concatenate(parts: Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((offset, part) => (bytes.set(part, offset), offset + part.length), 0);
  return bytes;
}

/** Throws a TypeError for what is no list of claims. */
export function claimMessages(claims: readonly WhirClaim[]): ClaimMessage[] {
  if (!Array.isArray(claims)) throw new TypeError(`claims: expected a list, got ${typeof claims}`);
  return claims.map((claim: WhirClaim, i) => {
    const { point, value } = claim;
    if (!Array.isArray(point)) throw new TypeError(`claims[${i}].point: expected a list, got ${typeof point}`);
    const parts = point.map((element: WhirElement, j) => elementBytes(element, `claims[${i}].point[${j}]`));
    return {
      point: concatenate(parts),
      value: value === undefined ? new Uint8Array() : elementBytes(value, `claims[${i}].value`),
    };
  });
}

function toElements(bytes: Uint8Array, degree: number): number[][] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / WORD / degree }, (_, i) =>
    Array.from({ length: degree }, (_, k) => view.getUint32((i * degree + k) * WORD, true)),
  );
}

const equal = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, i) => byte === b[i]);

function answers({ point, value }: ClaimAnswer, asked: ClaimMessage): boolean {
  return equal(point, asked.point!) && (asked.value!.length === 0 ? value.length > 0 : equal(value, asked.value!));
}

/** Throws an error of code INTERNAL unless it is a proof of what was asked for; nothing is compared without `asked`. */
export function toWhirProof({ commitment, claims, proof }: ProofAnswer, asked?: ClaimMessage[]): WhirProof {
  const degree = (claims[0]?.value.length ?? WORD) / WORD;
  const isAnswer = asked === undefined || (claims.length === asked.length && claims.every((claim, i) => answers(claim, asked[i]!)));
  const isWhole = claims.every(
    ({ point, value }) => [4, 5].includes(degree) && value.length === degree * WORD && point.length % value.length === 0,
  );
  if (!isAnswer || !isWhole) {
    throw makeError(Code.Internal, "expected a proof of the claims of the request in the answer of the service, got another", "");
  }
  return {
    commitment,
    claims: claims.map(({ point, value }) => ({ point: toElements(point, degree), value: toElements(value, degree)[0]! })),
    proof,
  };
}
