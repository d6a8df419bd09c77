// One proof, over all of its attempts: what was sent and is known of it survives a lost connection.

import { Code, type Client as RpcClient } from "@connectrpc/connect";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { sha256 } from "@noble/hashes/sha2";
import { crc32c } from "./checksum.js";
import { durationMs, makeError, type ProofmillError } from "./errors.js";
import { Job_State, type Job, type JobService } from "./gen/proofmill/v1/jobs_pb.js";
import {
  JobProgress_State,
  type Admitted,
  type ProofResult as ProofResultMessage,
  type ProofSpecSchema,
  type ProverService,
  type ProveRequestSchema,
  type ProveStreamRequestSchema,
} from "./gen/proofmill/v1/prover_pb.js";
import type { Upload, UploadService } from "./gen/proofmill/v1/uploads_pb.js";
import type { Operation } from "./operation.js";
import type { ProofInput } from "./proof_input.js";
import { fromItemError } from "./proof_messages.js";
import { Retrier, type RetryPolicy } from "./retry.js";
import type { Phase, Progress, Transfer } from "./types.js";

export interface Services {
  prover: RpcClient<typeof ProverService>;
  uploads: RpcClient<typeof UploadService>;
  jobs: RpcClient<typeof JobService>;
}

export interface ProveLimits {
  /** Witnesses up to this size, in bytes, go in one message. */
  unaryBytesMax: number;
  /** Pieces of uploads, in bytes; the service may want smaller ones. */
  pieceBytes: number;
}

const CHUNK_BYTES_MAX = 1 << 20; // of a stream: larger chunks gain nothing
const RESTARTS_MAX = 3;
const CLEANUP_TIMEOUT_MS = 5000;

export class ProveCall {
  private readonly retrier: Retrier;
  private readonly progress: Progress;
  private readonly bytes: Uint8Array;
  private upload = ""; // its name, once there is one
  private job = "";
  private pieceBytes: number;
  private committedBytes = 0;
  private restarts = 0;
  private jobsReachable = true; // behind this gateway
  private digest: Uint8Array | undefined;

  constructor(
    private readonly services: Services,
    retry: RetryPolicy,
    private readonly limits: ProveLimits,
    private readonly operation: Operation,
    private readonly spec: MessageInitShape<typeof ProofSpecSchema>,
    private readonly input: ProofInput,
    private readonly onProgress: ((progress: Progress) => void) | undefined,
    /** What a job may take, in milliseconds, if not what is left of the operation; undefined is the most that the service allows. */
    private readonly jobTimeout?: { ms: number | undefined },
  ) {
    this.bytes = input.bytes;
    this.retrier = new Retrier(retry, operation);
    this.pieceBytes = limits.pieceBytes;
    this.progress = { phase: "connecting", sentBytes: 0, sizeBytes: this.bytes.length, jobsAhead: 0, stage: "" };
  }

  /** Proves by this transfer, which is not "auto". When it fails, what the service holds of the proof is given up. */
  run(transfer: Exclude<Transfer, "auto">): Promise<ProofResultMessage | undefined> {
    return this.persist(() => this.attempt(transfer));
  }

  /** Makes a job of it, and leaves it to itself. */
  startJob(): Promise<Job> {
    return this.persist(() => this.createJob());
  }

  private async persist<T>(attempt: () => Promise<T>): Promise<T> {
    try {
      return await this.retrier.run(
        () => this.attemptWithRestarts(attempt),
        (error, delayMs) => this.reportWait(error, delayMs),
      );
    } catch (error) {
      this.giveUp();
      throw error;
    }
  }

  private async attemptWithRestarts<T>(attempt: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        this.report("connecting");
        return await attempt();
      } catch (reason) {
        const error = this.operation.failure(reason);
        if (!this.restartHelps(error)) throw error;
      }
    }
  }

  private attempt(transfer: Exclude<Transfer, "auto">): Promise<ProofResultMessage | undefined> {
    if (transfer === "stream") return this.attemptStream();
    if (transfer === "job" && this.jobsReachable) return this.attemptJob();
    return this.attemptUnary(transfer === "upload" && this.bytes.length > this.limits.unaryBytesMax);
  }

  // Forgets what the service does not know any more, and says whether another attempt can do without.
  private restartHelps(error: ProofmillError): boolean {
    if (error.reason === "JOB_UNKNOWN" && this.job !== "") {
      this.job = "";
    } else if ((error.reason === "UPLOAD_UNKNOWN" || error.reason === "UPLOAD_CHECKSUM") && this.upload !== "") {
      this.upload = "";
      this.committedBytes = 0;
    } else {
      return false;
    }
    return ++this.restarts <= RESTARTS_MAX;
  }

  private async attemptUnary(uploads: boolean): Promise<ProofResultMessage | undefined> {
    const request = uploads ? await this.requestOfUpload() : this.requestOfBytes();
    this.report("running");
    return (await this.services.prover.prove(request, this.operation.callOptions())).result;
  }

  private requestOfBytes(): MessageInitShape<typeof ProveRequestSchema> {
    return { spec: this.spec, input: this.input.inMessage() };
  }

  private async requestOfUpload(): Promise<MessageInitShape<typeof ProveRequestSchema>> {
    await this.findUpload();
    while (this.committedBytes < this.bytes.length) await this.sendPiece();
    return { spec: this.spec, input: this.input.inUpload(this.upload) };
  }

  private async findUpload(): Promise<void> {
    const options = this.operation.callOptions();
    if (this.upload !== "") {
      this.takeUpload((await this.services.uploads.getUpload({ name: this.upload }, options)).upload);
      return;
    }
    const request = { circuit: this.spec.circuit ?? "", sizeBytes: BigInt(this.bytes.length), sha256: this.sha256() };
    this.takeUpload((await this.services.uploads.createUpload(request, options)).upload);
  }

  private async sendPiece(): Promise<void> {
    const data = this.bytes.subarray(this.committedBytes, this.committedBytes + this.pieceBytes);
    const request = { name: this.upload, offsetBytes: BigInt(this.committedBytes), data, crc32c: crc32c(data) };
    const before = this.committedBytes;
    this.takeUpload((await this.services.uploads.writeUpload(request, this.operation.callOptions())).upload);
    if (this.committedBytes <= before) {
      throw makeError(Code.Internal, "expected the service to take a piece of the witness, got no more bytes than before", "");
    }
    this.report("sending");
  }

  private takeUpload(upload: Upload | undefined): void {
    if (upload === undefined) throw makeError(Code.Internal, "expected an upload in the answer of the service, got none", "");
    this.upload = upload.name;
    this.pieceBytes = Math.min(Math.max(Number(upload.chunkBytesMax), 1), this.limits.pieceBytes);
    this.noteCommitted(upload.committedBytes);
  }

  private noteCommitted(bytes: bigint): void {
    const committed = Math.min(Number(bytes), this.bytes.length);
    if (committed > this.committedBytes) this.retrier.noteProgress();
    this.committedBytes = committed;
    this.progress.sentBytes = committed;
  }

  private sha256(): Uint8Array {
    this.digest ??= sha256(this.bytes);
    return this.digest;
  }

  private async attemptStream(): Promise<ProofResultMessage | undefined> {
    let admit: (admitted: Admitted | undefined) => void = () => {};
    const admission = new Promise<Admitted | undefined>((resolve) => (admit = resolve));
    let result: ProofResultMessage | undefined;
    try {
      for await (const { message } of this.services.prover.proveStream(
        this.streamRequests(admission),
        this.operation.callOptions(),
      )) {
        if (message.case === "admitted") {
          this.takeAdmission(message.value);
          admit(message.value);
        } else if (message.case === "progress") {
          this.progress.stage = message.value.stage;
          this.progress.jobsAhead = message.value.jobsAhead;
          this.report(message.value.state === JobProgress_State.RUNNING ? "running" : "queued");
        } else if (message.case === "result") {
          result = message.value;
        }
      }
    } finally {
      admit(undefined);
    }
    return result;
  }

  private takeAdmission(admitted: Admitted): void {
    this.upload = admitted.upload;
    if (admitted.estimatedWait !== undefined) this.progress.estimatedWaitMs = durationMs(admitted.estimatedWait);
    this.noteCommitted(admitted.committedBytes);
  }

  // Only the header until the service admits it, so that a refusal costs nothing.
  private async *streamRequests(
    admission: Promise<Admitted | undefined>,
  ): AsyncGenerator<MessageInitShape<typeof ProveStreamRequestSchema>> {
    const { whirClaims } = this.input;
    const header = {
      spec: this.spec,
      sizeBytes: BigInt(this.bytes.length),
      sha256: this.sha256(),
      upload: this.upload,
      whirClaims,
    };
    yield { message: { case: "header", value: header } };
    const admitted = await admission;
    if (admitted === undefined) return;
    const chunkBytes = Math.min(Math.max(Number(admitted.chunkBytesMax), 1), CHUNK_BYTES_MAX);
    for (let offset = this.committedBytes; offset < this.bytes.length; offset += chunkBytes) {
      const data = this.bytes.subarray(offset, offset + chunkBytes);
      yield { message: { case: "chunk", value: { offsetBytes: BigInt(offset), data } } };
      this.progress.sentBytes = offset + data.length;
      this.report("sending");
    }
  }

  private async attemptJob(): Promise<ProofResultMessage | undefined> {
    if (this.job === "") await this.createJob();
    try {
      return await this.watchJob();
    } catch (reason) {
      const error = this.operation.failure(reason);
      // The process that holds the job is going, or the gateway leads elsewhere. The same request id finds the job again if
      // it is still there, and makes it anew if not; a witness that fits into one message needs no job.
      if (error.reason === "WRONG_INSTANCE" || error.reason === "DRAINING") this.job = "";
      if (error.reason === "WRONG_INSTANCE" && this.bytes.length <= this.limits.unaryBytesMax) this.jobsReachable = false;
      throw error;
    }
  }

  private async createJob(): Promise<Job> {
    const request = this.bytes.length > this.limits.unaryBytesMax ? await this.requestOfUpload() : this.requestOfBytes();
    this.report("sending");
    const options = this.operation.callOptions();
    const { job } = await this.services.jobs.createJob({ request, ...this.timeoutOfJob() }, options);
    if (job === undefined) throw makeError(Code.Internal, "expected a job in the answer of the service, got none", "");
    this.job = job.name;
    this.progress.sentBytes = this.bytes.length;
    this.report("sending");
    return job;
  }

  private timeoutOfJob(): { timeout?: { seconds: bigint; nanos: number } } {
    const given = this.jobTimeout === undefined ? this.operation.remainingMs() : this.jobTimeout.ms;
    if (given === undefined) return {};
    const ms = Math.max(1, Math.ceil(given));
    return { timeout: { seconds: BigInt(Math.floor(ms / 1000)), nanos: (ms % 1000) * 1_000_000 } };
  }

  // Reads the stream to its end: to leave it earlier would leave its timer behind.
  private async watchJob(): Promise<ProofResultMessage> {
    let outcome: Job["outcome"] = { case: undefined };
    for await (const { job } of this.services.jobs.watchJob({ name: this.job }, this.operation.callOptions())) {
      if (job === undefined) continue;
      outcome = job.outcome;
      if (outcome.case !== undefined) continue;
      this.progress.stage = job.stage;
      this.progress.jobsAhead = job.jobsAhead;
      this.report(job.state === Job_State.RUNNING ? "running" : "queued");
    }
    if (outcome.case === undefined) {
      throw makeError(Code.Unavailable, "expected the end of the job on its stream, got the end of the stream", "");
    }
    this.forgetJob();
    if (outcome.case === "error") throw fromItemError(outcome.value);
    return outcome.value;
  }

  private report(phase: Phase): void {
    this.progress.phase = phase;
    this.onProgress?.({ ...this.progress });
  }

  private reportWait(error: ProofmillError, delayMs: number): void {
    this.progress.retryReason = error.reason === "" ? error.message : error.reason;
    this.progress.retryDelayMs = delayMs;
    this.report("waiting_to_retry");
  }

  // These spare the service what it would keep until it expires. Nobody waits for them, and what fails expires.

  private forgetJob(): void {
    this.services.jobs.deleteJob({ name: this.job }, { timeoutMs: CLEANUP_TIMEOUT_MS }).catch(() => {});
    this.job = "";
  }

  private giveUp(): void {
    const options = { timeoutMs: CLEANUP_TIMEOUT_MS };
    if (this.job !== "") this.services.jobs.cancelJob({ name: this.job }, options).catch(() => {});
    if (this.upload !== "") this.services.uploads.deleteUpload({ name: this.upload }, options).catch(() => {});
  }
}
