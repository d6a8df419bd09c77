// The arguments of the verifier contract that snarkjs exports.

import type { Groth16Proof, PublicSignals } from "./types.js";

const word = (number: string): string => `"0x${BigInt(number).toString(16).padStart(64, "0")}"`;
const words = (...numbers: string[]): string => `[${numbers.map(word).join(", ")}]`;

/**
 * The arguments of `verifyProof(a, b, c, publicSignals)`, in the text that snarkjs prints: hexadecimal words of 32 bytes, the
 * parts of b in the order of EIP-197. Throws a TypeError if the proof lacks a number.
 */
export function exportSolidityCallData(proof: Groth16Proof, publicSignals: PublicSignals): string {
  const [a0, a1] = proof.pi_a;
  const [[b00, b01] = [], [b10, b11] = []] = proof.pi_b;
  const [c0, c1] = proof.pi_c;
  const coordinates = [a0, a1, b00, b01, b10, b11, c0, c1];
  if (coordinates.some((coordinate) => typeof coordinate !== "string")) {
    throw new TypeError("proof: expected two coordinates of each of pi_a, pi_b and pi_c, got fewer");
  }
  const b = `[${words(b01!, b00!)},${words(b11!, b10!)}]`;
  return `${words(a0!, a1!)},${b},${words(c0!, c1!)},[${publicSignals.map(word).join(",")}]`;
}
