// Verification without the service: the equation of Groth16 (https://eprint.iacr.org/2016/260, section 3.2) over BN254.

import { bn254 } from "@noble/curves/bn254";
import type { Groth16Proof, PublicSignals, VerificationKey } from "./types.js";

const G1 = bn254.G1.Point;
const G2 = bn254.G2.Point;
const { Fp, Fp2, Fp12, Fr } = bn254.fields;
type G1Point = InstanceType<typeof G1>;
type G2Point = InstanceType<typeof G2>;
interface Pair {
  g1: G1Point;
  g2: G2Point;
}

// A point or a number that no proof can have.
class NotInGroup extends Error {}

function toNumber(text: unknown, what: string): bigint {
  if (typeof text === "string" && /^\d+$/.test(text)) return BigInt(text);
  if (typeof text === "bigint" || (typeof text === "number" && Number.isSafeInteger(text))) return BigInt(text);
  throw new TypeError(`${what}: expected a decimal number, got ${typeof text === "string" ? "another string" : typeof text}`);
}

function toField(text: unknown, what: string): bigint {
  const value = toNumber(text, what);
  if (!Fp.isValid(value)) throw new NotInGroup(what);
  return value;
}

function list(value: unknown, length: number, what: string): unknown[] {
  if (Array.isArray(value) && value.length === length) return value;
  throw new TypeError(`${what}: expected a list of ${length}, got ${Array.isArray(value) ? value.length : typeof value}`);
}

function checked<P extends { assertValidity(): void; is0(): boolean }>(make: () => P, what: string): P {
  try {
    const point = make();
    if (!point.is0()) point.assertValidity();
    return point;
  } catch (cause) {
    throw new NotInGroup(what, { cause });
  }
}

// snarkjs writes points with a third coordinate: 1, or 0 for infinity.
function toG1(value: unknown, what: string): G1Point {
  const [x, y, z] = list(value, 3, what).map((number) => toField(number, what)) as [bigint, bigint, bigint];
  if (z === 0n) return G1.ZERO;
  if (z !== 1n) throw new NotInGroup(what);
  return checked(() => G1.fromAffine({ x, y }), what);
}

function toG2(value: unknown, what: string): G2Point {
  const [x, y, z] = list(value, 3, what).map((element) => {
    const [c0, c1] = list(element, 2, what).map((number) => toField(number, what)) as [bigint, bigint];
    return Fp2.create({ c0, c1 });
  }) as [typeof Fp2.ZERO, typeof Fp2.ZERO, typeof Fp2.ZERO];
  if (Fp2.is0(z)) return G2.ZERO;
  if (!Fp2.eql(z, Fp2.ONE)) throw new NotInGroup(what);
  return checked(() => G2.fromAffine({ x, y }), what);
}

// IC_0 + sum of s_i * IC_i.
function publicInput(ic: G1Point[], signals: bigint[]): G1Point {
  return signals.reduce((sum, signal, i) => (signal === 0n ? sum : sum.add(ic[i + 1]!.multiplyUnsafe(signal))), ic[0]!);
}

// Whether the product of the pairings is one; a pairing with infinity is one.
function productIsOne(pairs: Pair[]): boolean {
  const factors = pairs.filter(({ g1, g2 }) => !g1.is0() && !g2.is0());
  if (factors.length === 0) return true;
  return Fp12.eql(bn254.pairingBatch(factors), Fp12.ONE);
}

/**
 * Whether the proof holds for these public signals under this key. False too for numbers that are out of range, points off
 * their curve or group, and another count of signals than the key has.
 * Throws a TypeError for what has not the shape of snarkjs's files.
 */
export function verifyLocally(key: VerificationKey, publicSignals: PublicSignals, proof: Groth16Proof): boolean {
  if (key.protocol !== "groth16" || key.curve !== "bn128") {
    throw new TypeError(`verification key: expected groth16 over bn128, got ${key.protocol} over ${key.curve}`);
  }
  const ic = list(key.IC, key.nPublic + 1, "IC").map((point, i) => toG1(point, `IC[${i}]`));
  const [alpha, beta] = [toG1(key.vk_alpha_1, "vk_alpha_1"), toG2(key.vk_beta_2, "vk_beta_2")];
  const [gamma, delta] = [toG2(key.vk_gamma_2, "vk_gamma_2"), toG2(key.vk_delta_2, "vk_delta_2")];
  if (!Array.isArray(publicSignals)) throw new TypeError(`publicSignals: expected a list, got ${typeof publicSignals}`);
  const signals = publicSignals.map((signal, i) => toNumber(signal, `publicSignals[${i}]`));
  if (signals.length !== key.nPublic || signals.some((signal) => !Fr.isValid(signal))) return false;
  try {
    const [a, b, c] = [toG1(proof.pi_a, "pi_a"), toG2(proof.pi_b, "pi_b"), toG1(proof.pi_c, "pi_c")];
    return productIsOne([
      { g1: a.negate(), g2: b },
      { g1: alpha, g2: beta },
      { g1: publicInput(ic, signals), g2: gamma },
      { g1: c, g2: delta },
    ]);
  } catch (error) {
    if (error instanceof NotInGroup) return false;
    throw error;
  }
}
