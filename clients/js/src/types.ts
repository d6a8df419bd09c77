// The shapes of snarkjs, and what the client adds to them.

import type { OperationOptions } from "./operation.js";

/** proof.json of snarkjs: numbers as decimal strings, points with their third coordinate. */
export interface Groth16Proof {
  pi_a: string[];
  pi_b: string[][];
  pi_c: string[];
  protocol: string;
  curve: string;
}

/** public.json of snarkjs: numbers as decimal strings. */
export type PublicSignals = string[];

/** verification_key.json of snarkjs; it has more fields, which are not needed. */
export interface VerificationKey {
  protocol: string;
  curve: string;
  nPublic: number;
  vk_alpha_1: string[];
  vk_beta_2: string[][];
  vk_gamma_2: string[][];
  vk_delta_2: string[][];
  IC: string[][];
}

/** A file as snarkjs takes it: its bytes, or where they are (a path in Node, a URL in browsers). */
export type FileSource = string | Uint8Array | ArrayBuffer | { type: "mem"; data?: Uint8Array };

/** The inputs of a circuit by name, as snarkjs takes them. */
export type SignalValue = string | number | bigint | boolean | SignalValue[];
export type CircuitInput = Record<string, SignalValue>;

export type Phase = "computing_witness" | "connecting" | "sending" | "queued" | "running" | "waiting_to_retry";

/** What a proof is waiting for, as far as the service tells. */
export interface Progress {
  phase: Phase;
  /** Of the witness, in bytes, as the service confirmed or took them. */
  sentBytes: number;
  /** Of the witness, in bytes. */
  sizeBytes: number;
  /** In the queue. */
  jobsAhead: number;
  /** The step of the proof that ended last; "" before the first. */
  stage: string;
  /** In the queue, if the service told. */
  estimatedWaitMs?: number;
  /** Why the last attempt failed, and how long the next one waits. */
  retryReason?: string;
  retryDelayMs?: number;
}

/**
 * How the witness travels.
 * - auto: in one message if it fits and nobody listens to progress; else as a stream where the transport has them, as a job
 *   where it does not (browsers).
 * - unary: in one message; no word until the proof is made.
 * - stream: ProveStream, Node only; goes on where it stopped after a lost connection.
 * - upload: UploadService in pieces if the witness does not fit into one message, then one call.
 * - job: as upload, but the proof is made as a job that is watched, so that no long call is open.
 */
export type Transfer = "auto" | "unary" | "stream" | "upload" | "job";

export interface ProveOptions extends OperationOptions {
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Default: "auto". */
  transfer?: Transfer | undefined;
  /** Default: "normal". */
  priority?: "low" | "normal" | "high" | undefined;
  /** If set, the version that the circuit must have: BLAKE2b-512 of its key file in hexadecimal digits. */
  circuitVersion?: string | undefined;
  /** Your own name for the request, also in logs; never a secret. Default: a random one. */
  requestId?: string | undefined;
}

export interface StageTime {
  stage: string;
  durationMs: number;
}

/** How a proof came about. */
export interface ProofFacts {
  circuit: string;
  circuitVersion: string;
  requestId: string;
  /** The device that made it, such as "cpu" or "cuda:0". */
  device: string;
  /** How long each step took; steps may overlap. */
  stages: StageTime[];
  queueWaitMs: number;
  /** How long the device had it, the check included. */
  runTimeMs: number;
}

/** A proof of Groth16 with what belongs to it. */
export interface ProofResult extends ProofFacts {
  proof: Groth16Proof;
  publicSignals: PublicSignals;
}

/**
 * An element of the extension field of WHIR: its 5 (or 4) coefficients, that of X^0 first, each from 0 to 2013265920. The files
 * of `proofmill whir prove` have the same form.
 */
export type WhirElement = readonly number[];

/** "The value of the polynomial at this point is this." */
export interface WhirClaim {
  /** An element for each variable; variable 0 is the most significant bit of the index of a value. */
  point: readonly WhirElement[];
  /** Left out, the service computes it. */
  value?: WhirElement | undefined;
}

/** The values of a polynomial on the hypercube: numbers from 0 to 2013265920, or a file of them, 4 bytes each, little-endian. */
export type Evaluations = Uint32Array | readonly number[] | FileSource;

/** A proof of WHIR. It is NOT hiding: it reveals values of the polynomial. */
export interface WhirProof {
  /** 32 bytes. */
  commitment: Uint8Array;
  /** What it shows, in the order of the request, each with its value. */
  claims: Array<{ point: number[][]; value: number[] }>;
  proof: Uint8Array;
}

/** A proof of WHIR with what belongs to it. */
export interface WhirProofResult extends ProofFacts, WhirProof {}
