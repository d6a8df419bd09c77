// Jobs: proofs that outlive a connection. A job lives in one process of the service. Another one tells where it is, and a client
// that can reach that process (in Node) asks there.

import { Code, createClient, type CallOptions, type Client as RpcClient, type Transport } from "@connectrpc/connect";
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { makeError, ProofmillError } from "./errors.js";
import { Job_State, JobService, type Job } from "./gen/proofmill/v1/jobs_pb.js";
import { Operation, type OperationOptions } from "./operation.js";
import { fromItemError, toProofResult, toWhirResult } from "./proof_messages.js";
import { Retrier, type RetryPolicy } from "./retry.js";
import type { Evaluations, FileSource, ProofResult, ProveOptions, WhirClaim, WhirProofResult } from "./types.js";

const SHORT_TIMEOUT_MS = 10_000;
const PAGE_SIZE = 500;
const HOPS_MAX = 2;
const OWNERS_MAX = 64; // processes that are known; more are forgotten, and found again

export type JobState = "queued" | "running" | "succeeded" | "failed" | "cancelled" | "unknown";

/** What a job is to prove: a witness for a circuit of Groth16, or a polynomial for one of WHIR. */
export type JobInput =
  | { circuit: string; wtns: FileSource }
  | { circuit: string; evaluations: Evaluations; claims: readonly WhirClaim[] };

/** `timeoutMs` bounds the making of the job; a job of the same `requestId` and content is made once only. */
export interface JobOptions extends Omit<ProveOptions, "transfer"> {
  /** How long the job may wait and run, in milliseconds. Default: the longest that the service allows. */
  jobTimeoutMs?: number | undefined;
}

/** A job as the service last told of it. */
export interface JobInfo {
  /** Keep it: it finds the job, from anywhere, until it expires. */
  name: string;
  state: JobState;
  circuit: string;
  circuitVersion: string;
  requestId: string;
  /** In the queue. */
  jobsAhead: number;
  /** The step of the proof that ended last; "" before the first. */
  stage: string;
  createTime: Date | undefined;
  /** When its time is up. */
  deadline: Date | undefined;
  /** When it ended; undefined before. */
  endTime: Date | undefined;
  /** When the service forgets it; undefined before it has ended. */
  expireTime: Date | undefined;
  /** Its proof, if it succeeded; not in a list. */
  result?: ProofResult | WhirProofResult;
  /** Why it has none, if it failed or was cancelled. */
  error?: ProofmillError;
}

const STATES: Record<Job_State, JobState> = {
  [Job_State.UNSPECIFIED]: "unknown",
  [Job_State.QUEUED]: "queued",
  [Job_State.RUNNING]: "running",
  [Job_State.SUCCEEDED]: "succeeded",
  [Job_State.FAILED]: "failed",
  [Job_State.CANCELLED]: "cancelled",
};

const dateOf = (time: Timestamp | undefined): Date | undefined => time && timestampDate(time);

/** Throws an error of code INTERNAL if there is no job. */
export function toJobInfo(job: Job | undefined): JobInfo {
  if (job === undefined) throw makeError(Code.Internal, "expected a job in the answer of the service, got none", "");
  const { name, circuit, circuitVersion, requestId, jobsAhead, stage, outcome } = job;
  const info: JobInfo = {
    name,
    state: STATES[job.state] ?? "unknown",
    circuit,
    circuitVersion,
    requestId,
    jobsAhead,
    stage,
    createTime: dateOf(job.createTime),
    deadline: dateOf(job.deadline),
    endTime: dateOf(job.endTime),
    expireTime: dateOf(job.expireTime),
  };
  if (outcome.case === "error") info.error = fromItemError(outcome.value);
  if (outcome.case === "result") {
    info.result = outcome.value.proof.case === "whir" ? toWhirResult(outcome.value) : toProofResult(outcome.value);
  }
  return info;
}

const hasEnded = ({ state }: JobInfo): boolean => state === "succeeded" || state === "failed" || state === "cancelled";

type Rpc = RpcClient<typeof JobService>;

export class Jobs {
  private readonly owners = new Map<string, Rpc>();

  constructor(
    private readonly first: Rpc,
    private readonly retry: RetryPolicy,
    private readonly start: (input: JobInput, options: JobOptions) => Promise<Job>,
    private readonly reach: ((address: string) => Transport) | undefined,
  ) {}

  /** Makes a job, and resolves when it has its place in the queue. With your own `requestId` it is safe to repeat. */
  async create(input: JobInput, options: JobOptions = {}): Promise<JobInfo> {
    return toJobInfo(await this.start(input, options));
  }

  /** The job as it is now. */
  async get(name: string, options: OperationOptions = {}): Promise<JobInfo> {
    return toJobInfo((await this.call(name, options, (jobs, call) => jobs.getJob({ name }, call))).job);
  }

  /**
   * The job as it is now, and again after each change, until it has ended; over lost connections too. Without `timeoutMs` it lasts
   * as long as the job. To leave it does nothing to the job.
   */
  async *watch(name: string, options: OperationOptions = {}): AsyncGenerator<JobInfo, void, undefined> {
    const operation = new Operation(options, Infinity);
    const retrier = new Retrier(this.retry, operation);
    for (;;) {
      try {
        for await (const job of this.watchOnce(name, operation)) {
          retrier.noteProgress();
          yield job;
          if (hasEnded(job)) return;
        }
        throw makeError(Code.Unavailable, "expected the end of the job on its stream, got the end of the stream", "");
      } catch (reason) {
        operation.check();
        const error = operation.failure(reason);
        const delayMs = retrier.nextDelayMs(error);
        if (delayMs === undefined) throw error;
        await operation.sleep(delayMs);
      }
    }
  }

  /** Waits for the end of the job, and resolves to its proof; rejects with its error if there is none. */
  async result(name: string, options: OperationOptions = {}): Promise<ProofResult | WhirProofResult> {
    for await (const { result, error } of this.watch(name, options)) {
      if (result !== undefined) return result;
      if (error !== undefined) throw error;
    }
    throw makeError(Code.Internal, "expected the outcome of the job in the answer of the service, got none", "");
  }

  /** Gives a job up, as far as that is still possible; it may not have ended yet. */
  async cancel(name: string, options: OperationOptions = {}): Promise<JobInfo> {
    return toJobInfo((await this.call(name, options, (jobs, call) => jobs.cancelJob({ name }, call))).job);
  }

  /** Lets the service forget a job and its result. Does not cancel it. */
  async delete(name: string, options: OperationOptions = {}): Promise<void> {
    await this.call(name, options, (jobs, call) => jobs.deleteJob({ name }, call));
  }

  /** Your jobs in the process that answers, the oldest first, without their results. */
  async list(options: OperationOptions = {}): Promise<JobInfo[]> {
    const operation = new Operation(options, SHORT_TIMEOUT_MS);
    return new Retrier(this.retry, operation).run(async () => {
      const all: JobInfo[] = [];
      let pageToken = "";
      do {
        const page = await this.first.listJobs({ pageSize: PAGE_SIZE, pageToken }, operation.callOptions());
        all.push(...page.jobs.map(toJobInfo));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return all;
    });
  }

  private call<T>(name: string, options: OperationOptions, attempt: (jobs: Rpc, call: CallOptions) => Promise<T>): Promise<T> {
    const operation = new Operation(options, SHORT_TIMEOUT_MS);
    return new Retrier(this.retry, operation).run(async () => {
      for (let hop = 0; ; ++hop) {
        try {
          return await attempt(this.ownerOf(name), operation.callOptions());
        } catch (reason) {
          const error = operation.failure(reason);
          if (hop === HOPS_MAX || !this.follow(name, error)) throw error;
        }
      }
    });
  }

  // One stream, wherever the job is. A timer and a signal of its own end it, also when its reader leaves: connect's timers would
  // stay behind then.
  private async *watchOnce(name: string, operation: Operation): AsyncGenerator<JobInfo, void, undefined> {
    for (let hop = 0; ; ++hop) {
      const { signal, release } = operation.linkedSignal();
      try {
        for await (const { job } of this.ownerOf(name).watchJob({ name }, { signal })) yield toJobInfo(job);
        return;
      } catch (reason) {
        operation.check();
        const error = operation.failure(reason);
        if (hop === HOPS_MAX || !this.follow(name, error)) throw error;
      } finally {
        release();
      }
    }
  }

  private ownerOf(name: string): Rpc {
    return this.owners.get(instanceOf(name)) ?? this.first;
  }

  // Whether the error tells of a process that can be asked instead.
  private follow(name: string, error: ProofmillError): boolean {
    if (error.reason !== "WRONG_INSTANCE" || error.address === undefined || this.reach === undefined) return false;
    if (this.owners.size >= OWNERS_MAX) this.owners.clear();
    this.owners.set(instanceOf(name), createClient(JobService, this.reach(error.address)));
    return true;
  }
}

const instanceOf = (name: string): string => name.split("/")[1] ?? "";
