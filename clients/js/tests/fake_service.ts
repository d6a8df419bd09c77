// A service that does what a test tells it: over gRPC for the Node client, over HTTP/1.1 for the browser client.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import {
  createServer as createHttp2Server,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import * as v1 from "@proofmill/client/v1";
import { ErrorInfoSchema, RetryInfoSchema } from "../dist/gen/google/rpc/error_details_pb.js";

/** An error as the service makes it. */
export function refusal(code: Code, reason: string, delayMs?: number, trailers: Record<string, string> = {}): ConnectError {
  const details: ConstructorParameters<typeof ConnectError>[3] = [];
  if (reason !== "") details.push({ desc: ErrorInfoSchema, value: { domain: "proofmill", reason } });
  if (delayMs !== undefined) {
    const retryDelay = { seconds: BigInt(Math.floor(delayMs / 1000)), nanos: (delayMs % 1000) * 1e6 };
    details.push({ desc: RetryInfoSchema, value: { retryDelay } });
  }
  return new ConnectError(`refused: ${reason}`, code, trailers, details);
}

export const PROOF = {
  pi_a: ["1", "2", "1"],
  pi_b: [
    ["3", "4"],
    ["5", "6"],
    ["1", "0"],
  ],
  pi_c: ["7", "8", "1"],
  protocol: "groth16",
  curve: "bn128",
};

/** A result whose only public signal is the number of bytes that the service got. */
export function resultOf(witness: Uint8Array, requestId = ""): v1.ProofResult {
  return create(v1.ProofResultSchema, {
    circuit: "fake",
    circuitVersion: "00",
    device: "cpu",
    requestId,
    stages: [{ stage: "ntt", durationSeconds: 0.25 }],
    queueWait: { seconds: 0n, nanos: 2_000_000 },
    runTime: { seconds: 1n, nanos: 0 },
    snarkjsProofJson: JSON.stringify(PROOF),
    snarkjsPublicJson: JSON.stringify([String(witness.length), String(witness.reduce((sum, byte) => sum + byte, 0))]),
  });
}

interface StoredUpload {
  data: Uint8Array;
  committed: number;
}

type Handler = (context: HandlerContext) => void | Promise<void>;

export class FakeService {
  /** The methods that were called, in order. */
  readonly calls: string[] = [];
  readonly headers: Headers[] = [];
  readonly uploads = new Map<string, StoredUpload>();
  readonly jobs = new Map<string, v1.Job>();
  readonly signals: AbortSignal[] = [];
  chunkBytesMax = 100;
  private readonly scripts = new Map<string, Handler[]>();
  private readonly sockets = new Set<Socket>();
  private readonly sessions = new Set<ServerHttp2Session>();
  private server: Server | undefined;
  private uploadCount = 0;

  /** Makes the next calls of a method do this first; what a handler throws is the answer. */
  script(method: string, ...handlers: Handler[]): void {
    this.scripts.set(method, [...(this.scripts.get(method) ?? []), ...handlers]);
  }

  async start(protocol: "grpc" | "http1"): Promise<string> {
    const handler = connectNodeAdapter({ routes: (router) => this.routes(router) });
    if (protocol === "grpc") {
      const server = createHttp2Server(handler as (request: Http2ServerRequest, response: Http2ServerResponse) => void);
      server.on("session", (session) => this.sessions.add(session));
      this.server = server;
    } else {
      this.server = createServer((request: IncomingMessage, response: ServerResponse) => {
        delete request.headers["grpc-timeout"]; // the adapter's timer would outlive a connection that is cut
        (handler as (request: IncomingMessage, response: ServerResponse) => void)(request, response);
      });
    }
    this.server.on("connection", (socket: Socket) => this.sockets.add(socket));
    await new Promise<void>((resolve) => this.server!.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Breaks every connection. */
  cut(): void {
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  async stop(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    this.cut();
    await new Promise((resolve) => this.server!.close(resolve));
  }

  count(method: string): number {
    return this.calls.filter((call) => call === method).length;
  }

  private async enter(method: string, context: HandlerContext): Promise<void> {
    this.calls.push(method);
    this.headers.push(context.requestHeader);
    this.signals.push(context.signal);
    await this.scripts.get(method)?.shift()?.(context);
  }

  private uploadMessage(name: string): v1.Upload {
    const stored = this.uploads.get(name);
    if (stored === undefined) throw refusal(Code.NotFound, "UPLOAD_UNKNOWN");
    return create(v1.UploadSchema, {
      name,
      sizeBytes: BigInt(stored.data.length),
      committedBytes: BigInt(stored.committed),
      chunkBytesMax: BigInt(this.chunkBytesMax),
    });
  }

  private createUpload(size: bigint): string {
    const name = `uploads/${++this.uploadCount}`;
    this.uploads.set(name, { data: new Uint8Array(Number(size)), committed: 0 });
    return name;
  }

  private append(name: string, offset: bigint, data: Uint8Array): void {
    const stored = this.uploads.get(name);
    if (stored === undefined) throw refusal(Code.NotFound, "UPLOAD_UNKNOWN");
    if (data.length > this.chunkBytesMax) throw refusal(Code.ResourceExhausted, "MESSAGE_TOO_LARGE");
    if (Number(offset) > stored.committed) throw refusal(Code.InvalidArgument, "UPLOAD_OFFSET");
    stored.data.set(data, Number(offset));
    stored.committed = Math.max(stored.committed, Number(offset) + data.length);
  }

  private witnessOf(request: v1.ProveRequest | undefined): Uint8Array {
    const witness = request?.input.case === "groth16" ? request.input.value.witness : undefined;
    if (witness?.case === "wtns") return witness.value;
    const stored = this.uploads.get(witness?.value ?? "");
    if (stored === undefined) throw refusal(Code.NotFound, "UPLOAD_UNKNOWN");
    if (stored.committed < stored.data.length) throw refusal(Code.FailedPrecondition, "UPLOAD_INCOMPLETE");
    this.uploads.delete(witness!.value as string);
    return stored.data;
  }

  private routes(router: ConnectRouter): void {
    router.service(v1.ProverService, {
      prove: async (request, context) => {
        await this.enter("prove", context);
        return { result: resultOf(this.witnessOf(request), request.spec?.requestId) };
      },
      verify: async (request, context) => {
        await this.enter("verify", context);
        return { valid: request.statement.case === "snarkjs" && request.circuit === "fake" };
      },
      proveStream: (requests, context) => this.proveStream(requests, context),
    });
    router.service(v1.UploadService, {
      createUpload: async (request, context) => {
        await this.enter("createUpload", context);
        return { upload: this.uploadMessage(this.createUpload(request.sizeBytes)) };
      },
      writeUpload: async (request, context) => {
        await this.enter("writeUpload", context);
        this.append(request.name, request.offsetBytes, request.data);
        return { upload: this.uploadMessage(request.name) };
      },
      getUpload: async (request, context) => {
        await this.enter("getUpload", context);
        return { upload: this.uploadMessage(request.name) };
      },
      deleteUpload: async (request, context) => {
        await this.enter("deleteUpload", context);
        this.uploads.delete(request.name);
        return {};
      },
    });
    router.service(v1.JobService, {
      createJob: async (request, context) => {
        await this.enter("createJob", context);
        const name = `jobs/one/${this.jobs.size}`;
        const result = resultOf(this.witnessOf(request.request), request.request?.spec?.requestId);
        this.jobs.set(
          name,
          create(v1.JobSchema, { name, state: v1.Job_State.SUCCEEDED, outcome: { case: "result", value: result } }),
        );
        return { job: { name, state: v1.Job_State.QUEUED } };
      },
      watchJob: (request, context) => this.watchJob(request.name, context),
      cancelJob: async (request, context) => {
        await this.enter("cancelJob", context);
        return { job: { name: request.name } };
      },
      deleteJob: async (_request, context) => {
        await this.enter("deleteJob", context);
        return {};
      },
    });
  }

  private async *proveStream(requests: AsyncIterable<v1.ProveStreamRequest>, context: HandlerContext) {
    await this.enter("proveStream", context);
    let name = "";
    let requestId: string | undefined;
    for await (const { message } of requests) {
      if (message.case === "header") {
        requestId = message.value.spec?.requestId;
        name = message.value.upload === "" ? this.createUpload(message.value.sizeBytes) : message.value.upload;
        const { committedBytes } = this.uploadMessage(name);
        const admitted = {
          upload: name,
          chunkBytesMax: BigInt(this.chunkBytesMax),
          committedBytes,
          estimatedWait: { seconds: 1n, nanos: 0 },
        };
        yield { message: { case: "admitted" as const, value: admitted } };
      } else if (message.case === "chunk") {
        this.append(name, message.value.offsetBytes, message.value.data);
        await this.enter("chunk", context);
      }
    }
    const progress = { state: v1.JobProgress_State.RUNNING, stage: "ntt", jobsAhead: 0 };
    yield { message: { case: "progress" as const, value: progress } };
    yield { message: { case: "result" as const, value: resultOf(this.uploads.get(name)!.data, requestId) } };
  }

  private async *watchJob(name: string, context: HandlerContext) {
    await this.enter("watchJob", context);
    const job = this.jobs.get(name);
    if (job === undefined) throw refusal(Code.NotFound, "JOB_UNKNOWN");
    yield { job: { name, state: v1.Job_State.QUEUED, jobsAhead: 3 } };
    yield { job: { name, state: v1.Job_State.RUNNING, stage: "msm_a" } };
    await this.enter("jobRuns", context);
    yield { job };
  }
}
