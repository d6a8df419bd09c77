// A client of the service over some transport: proofs in the shapes of snarkjs, and the circuits that the service holds.

import { createClient, type Client as RpcClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { bytesToHex, randomBytes } from "@noble/hashes/utils";
import { exportSolidityCallData } from "./calldata.js";
import { toCircuitInfo, type CircuitInfo } from "./circuits.js";
import { BusyError, ProofmillError, RequestError } from "./errors.js";
import { CircuitService } from "./gen/proofmill/v1/circuits_pb.js";
import { JobService, type Job } from "./gen/proofmill/v1/jobs_pb.js";
import { ProverService } from "./gen/proofmill/v1/prover_pb.js";
import { UploadService } from "./gen/proofmill/v1/uploads_pb.js";
import { Jobs, type JobInput, type JobOptions } from "./jobs.js";
import { Operation, type OperationOptions } from "./operation.js";
import { groth16Input, whirInput, type ProofInput } from "./proof_input.js";
import { makeSpec, toProofResult, toWhirResult } from "./proof_messages.js";
import { ProveCall, type ProveLimits, type Services } from "./prove.js";
import { DEFAULT_RETRY, Retrier, type RetryPolicy } from "./retry.js";
import type {
  CircuitInput,
  Evaluations,
  FileSource,
  Groth16Proof,
  ProofResult,
  ProveOptions,
  PublicSignals,
  Transfer,
  VerificationKey,
  WhirClaim,
  WhirProof,
  WhirProofResult,
} from "./types.js";
import { verifyLocally } from "./verify.js";
import { claimMessages, evaluationBytes } from "./whir.js";
import { computeWitness, readSource, type ReadFile } from "./witness.js";

const PROVE_TIMEOUT_MS = 60_000;
const SHORT_TIMEOUT_MS = 10_000;
const PAGE_SIZE = 500;

/** What every client can be told, whatever its transport. */
export interface CommonOptions {
  retry?: Partial<RetryPolicy>;
  /** Witnesses up to this size go in one message, in bytes. Default: 1 MiB. */
  unaryBytesMax?: number;
  /** Pieces of uploads, in bytes. Default: 128 KiB. */
  pieceBytes?: number;
  /** Sent with each call, for instance to be led to the same replica, or for a trace. */
  headers?: Record<string, string>;
  /** The time for a proof, if a call does not say, in milliseconds. Default: one minute. */
  timeoutMs?: number;
}

/** What a transport can do. */
export interface Platform {
  transport: Transport;
  /** Whether streams can go up: they cannot from browsers. */
  streamsUp: boolean;
  readFile: ReadFile;
  /** To another process of the same service, whose address that service told; absent where that cannot be reached. */
  reach?: (address: string) => Transport;
  close(): void;
}

/** The functions of snarkjs's `groth16`, with a circuit's id where snarkjs has a .zkey file. */
export interface Groth16 {
  prove(
    circuitId: string,
    wtns: FileSource,
    options?: ProveOptions,
  ): Promise<{ proof: Groth16Proof; publicSignals: PublicSignals }>;
  fullProve(
    input: CircuitInput,
    wasm: FileSource,
    circuitId: string,
    options?: ProveOptions,
  ): Promise<{ proof: Groth16Proof; publicSignals: PublicSignals }>;
  /** With a verification key the proof is checked here; with a circuit's id the service is asked. */
  verify(
    keyOrCircuitId: VerificationKey | string,
    publicSignals: PublicSignals,
    proof: Groth16Proof,
    options?: OperationOptions,
  ): Promise<boolean>;
  exportSolidityCallData(proof: Groth16Proof, publicSignals: PublicSignals): Promise<string>;
}

/** Proofs of values of a polynomial. They are NOT hiding: a proof reveals values of the polynomial. */
export interface Whir {
  /**
   * Commits to the polynomial and proves its values at the points of `claims`, as many as the circuit's parameters say. Rejects as
   * `prove` does.
   */
  prove(
    circuitId: string,
    evaluations: Evaluations,
    claims: readonly WhirClaim[],
    options?: ProveOptions,
  ): Promise<WhirProofResult>;
  /** Whether the proof shows its claims for its commitment, by the service, which has to be trusted for that. */
  verify(circuitId: string, proof: WhirProof, options?: OperationOptions): Promise<boolean>;
}

// `Bearer KEY`. Throws an Error if it would travel in clear text to another machine.
function authorization(apiKey: string, baseUrl: string): string {
  if (!/^[\x21-\x7e]+$/.test(apiKey)) throw new TypeError("apiKey: expected printable ASCII without blanks, got something else");
  const { protocol, hostname } = new URL(baseUrl);
  const isLoopback = hostname === "localhost" || hostname === "[::1]" || /^127(\.\d{1,3}){3}$/.test(hostname);
  if (protocol !== "https:" && !isLoopback) {
    throw new Error(`${baseUrl}: expected https or a loopback address for calls with an API key, got clear text`);
  }
  return `Bearer ${apiKey}`;
}

/** Adds headers and the API key to each call. Throws an Error if the key would travel in clear text to another machine. */
export function addHeaders(baseUrl: string, headers: Record<string, string> | undefined, apiKey: string | undefined): Interceptor {
  const all = { ...headers, ...(apiKey === undefined ? {} : { authorization: authorization(apiKey, baseUrl) }) };
  return (next) => (request) => {
    for (const [name, value] of Object.entries(all)) request.header.set(name, value);
    return next(request);
  };
}

// The service's message limit is below this witness's size; uploads have no such limit.
function needsPieces(error: unknown): boolean {
  if (!(error instanceof ProofmillError) || error.retryDelayMs !== undefined) return false;
  return error.reason === "MESSAGE_TOO_LARGE" || (error instanceof BusyError && error.reason === "");
}

export class Client {
  readonly groth16: Groth16;
  readonly whir: Whir;
  readonly jobs: Jobs;
  private readonly services: Services;
  private readonly circuitService: RpcClient<typeof CircuitService>;
  private readonly retry: RetryPolicy;
  private readonly limits: ProveLimits;

  constructor(
    private readonly platform: Platform,
    private readonly options: CommonOptions,
  ) {
    const { transport } = platform;
    this.services = {
      prover: createClient(ProverService, transport),
      uploads: createClient(UploadService, transport),
      jobs: createClient(JobService, transport),
    };
    this.circuitService = createClient(CircuitService, transport);
    this.retry = { ...DEFAULT_RETRY, ...options.retry };
    this.limits = { unaryBytesMax: options.unaryBytesMax ?? 1 << 20, pieceBytes: options.pieceBytes ?? 128 << 10 };
    this.groth16 = {
      prove: async (circuitId, wtns, options) => withoutExtras(await this.prove(circuitId, wtns, options)),
      fullProve: async (input, wasm, circuitId, options) => withoutExtras(await this.fullProve(input, wasm, circuitId, options)),
      verify: (keyOrCircuitId, publicSignals, proof, options) => this.verify(keyOrCircuitId, publicSignals, proof, options),
      exportSolidityCallData: async (proof, publicSignals) => exportSolidityCallData(proof, publicSignals),
    };
    this.whir = {
      prove: (circuitId, evaluations, claims, options) => this.proveWhir(circuitId, evaluations, claims, options),
      verify: (circuitId, proof, options) => this.verifyWhir(circuitId, proof, options),
    };
    this.jobs = new Jobs(this.services.jobs, this.retry, (input, options) => this.startJob(input, options), platform.reach);
  }

  /**
   * Proves a witness, the content of a .wtns file. Rejects with a ProofmillError, or with the signal's reason. The client
   * keeps no copy of the witness; the caller wipes its own.
   */
  async prove(circuitId: string, wtns: FileSource, options: ProveOptions = {}): Promise<ProofResult> {
    const operation = new Operation(options, this.options.timeoutMs ?? PROVE_TIMEOUT_MS);
    const bytes = await readSource(wtns, "wtns", this.platform.readFile, options.signal);
    return this.proveBytes(operation, circuitId, bytes, options);
  }

  /** Computes the witness of `input` with circom's calculator, proves it, and wipes it. Needs the package circom_runtime. */
  async fullProve(input: CircuitInput, wasm: FileSource, circuitId: string, options: ProveOptions = {}): Promise<ProofResult> {
    const operation = new Operation(options, this.options.timeoutMs ?? PROVE_TIMEOUT_MS);
    options.onProgress?.({ phase: "computing_witness", sentBytes: 0, sizeBytes: 0, jobsAhead: 0, stage: "" });
    const code = await readSource(wasm, "wasm", this.platform.readFile, options.signal);
    operation.check();
    const wtns = await computeWitness(input, code);
    try {
      return await this.proveBytes(operation, circuitId, wtns, options);
    } finally {
      wtns.fill(0);
    }
  }

  /**
   * Whether a proof holds. With a verification key it is checked here, and nothing is sent; with a circuit's id the service is
   * asked. What is not a proof by its numbers is not valid either.
   */
  async verify(
    keyOrCircuitId: VerificationKey | string,
    publicSignals: PublicSignals,
    proof: Groth16Proof,
    options: OperationOptions = {},
  ): Promise<boolean> {
    if (typeof keyOrCircuitId !== "string") return verifyLocally(keyOrCircuitId, publicSignals, proof);
    const snarkjs = { proofJson: JSON.stringify(proof), publicJson: JSON.stringify(publicSignals) };
    const request = { circuit: keyOrCircuitId, statement: { case: "snarkjs" as const, value: snarkjs } };
    try {
      return await this.shortCall(options, async (call) => (await this.services.prover.verify(request, call.callOptions())).valid);
    } catch (error) {
      const reason = error instanceof RequestError ? error.reason : "";
      if (reason === "PROOF_MALFORMED" || reason === "PUBLIC_SIGNALS_MALFORMED") return false;
      throw error;
    }
  }

  /** One circuit with its verification key. */
  async circuit(id: string, options: OperationOptions = {}): Promise<CircuitInfo> {
    return this.shortCall(options, async (call) => {
      const { circuit } = await this.circuitService.getCircuit({ id }, call.callOptions());
      return toCircuitInfo(circuit!);
    });
  }

  /** All circuits, without their verification keys. */
  async circuits(options: OperationOptions = {}): Promise<CircuitInfo[]> {
    return this.shortCall(options, async (call) => {
      const circuits: CircuitInfo[] = [];
      let pageToken = "";
      do {
        const page = await this.circuitService.listCircuits({ pageSize: PAGE_SIZE, pageToken }, call.callOptions());
        circuits.push(...page.circuits.map(toCircuitInfo));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return circuits;
    });
  }

  /** Closes the connection. A process may end without: an idle connection does not keep it alive. */
  close(): void {
    this.platform.close();
  }

  private shortCall<T>(options: OperationOptions, attempt: (operation: Operation) => Promise<T>): Promise<T> {
    const operation = new Operation(options, SHORT_TIMEOUT_MS);
    return new Retrier(this.retry, operation).run(() => attempt(operation));
  }

  private async proveBytes(operation: Operation, circuitId: string, wtns: Uint8Array, options: ProveOptions): Promise<ProofResult> {
    const input = groth16Input(wtns);
    return this.send(options, input, async (transfer, requestId) => {
      const spec = makeSpec(circuitId, requestId, options, true);
      return toProofResult(await this.call(operation, spec, input, options).run(transfer));
    });
  }

  private async proveWhir(
    circuitId: string,
    evaluations: Evaluations,
    claims: readonly WhirClaim[],
    options: ProveOptions = {},
  ): Promise<WhirProofResult> {
    const operation = new Operation(options, this.options.timeoutMs ?? PROVE_TIMEOUT_MS);
    const asked = claimMessages(claims);
    const { bytes, isCopy } = await evaluationBytes(evaluations, this.platform.readFile, options.signal);
    const input = whirInput(bytes, asked);
    try {
      return await this.send(options, input, async (transfer, requestId) => {
        const spec = makeSpec(circuitId, requestId, options, false);
        return toWhirResult(await this.call(operation, spec, input, options).run(transfer), asked);
      });
    } finally {
      if (isCopy) bytes.fill(0);
    }
  }

  private async verifyWhir(circuitId: string, whir: WhirProof, options: OperationOptions = {}): Promise<boolean> {
    const value = { proof: whir.proof, commitment: whir.commitment, claims: claimMessages(whir.claims) };
    const request = { circuit: circuitId, statement: { case: "whir" as const, value } };
    return this.shortCall(options, async (call) => (await this.services.prover.verify(request, call.callOptions())).valid);
  }

  private async startJob(what: JobInput, options: JobOptions): Promise<Job> {
    const operation = new Operation(options, this.options.timeoutMs ?? PROVE_TIMEOUT_MS);
    const isWhir = "evaluations" in what;
    const { bytes, isCopy } = isWhir
      ? await evaluationBytes(what.evaluations, this.platform.readFile, options.signal)
      : { bytes: await readSource(what.wtns, "wtns", this.platform.readFile, options.signal), isCopy: false };
    try {
      const input = isWhir ? whirInput(bytes, claimMessages(what.claims)) : groth16Input(bytes);
      const spec = makeSpec(what.circuit, options.requestId ?? randomId(), options, !isWhir);
      return await this.call(operation, spec, input, options, { ms: options.jobTimeoutMs }).startJob();
    } finally {
      if (isCopy) bytes.fill(0);
    }
  }

  private call(
    operation: Operation,
    spec: ReturnType<typeof makeSpec>,
    input: ProofInput,
    options: JobOptions,
    jobTimeout?: { ms: number | undefined },
  ): ProveCall {
    return new ProveCall(this.services, this.retry, this.limits, operation, spec, input, options.onProgress, jobTimeout);
  }

  // By the transfer that the options say, and in pieces if one message turns out to be too small.
  private async send<T>(
    options: ProveOptions,
    { bytes }: ProofInput,
    attempt: (transfer: Exclude<Transfer, "auto">, requestId: string) => Promise<T>,
  ): Promise<T> {
    const requestId = options.requestId ?? randomId();
    const transfer = this.chooseTransfer(bytes, options);
    try {
      return await attempt(transfer, requestId);
    } catch (error) {
      if (options.transfer !== undefined && options.transfer !== "auto") throw error;
      if (transfer !== "unary" || !needsPieces(error)) throw error;
      return attempt(this.platform.streamsUp ? "stream" : "upload", requestId);
    }
  }

  private chooseTransfer(bytes: Uint8Array, options: ProveOptions): Exclude<Transfer, "auto"> {
    const transfer = options.transfer ?? "auto";
    if (transfer === "stream" && !this.platform.streamsUp) {
      throw new TypeError('transfer: expected one of "unary", "upload" and "job", since browsers cannot stream up, got "stream"');
    }
    if (transfer !== "auto") return transfer;
    if (bytes.length <= this.limits.unaryBytesMax && options.onProgress === undefined) return "unary";
    return this.platform.streamsUp ? "stream" : "job";
  }
}

const randomId = (): string => bytesToHex(randomBytes(16));

function withoutExtras({ proof, publicSignals }: ProofResult): { proof: Groth16Proof; publicSignals: PublicSignals } {
  return { proof, publicSignals };
}
