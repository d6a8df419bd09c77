// What can go wrong, as classes. Every error of the service has a code, a reason from docs/errors.md and, where waiting
// helps, a delay; the class says what kind of thing to do about it. Aborted calls reject with the signal's reason instead.

import { Code, ConnectError } from "@connectrpc/connect";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { ErrorInfoSchema, RetryInfoSchema } from "./gen/google/rpc/error_details_pb.js";

const DOMAIN = "proofmill";
const PUSHBACK_TRAILER = "grpc-retry-pushback-ms";

export interface ErrorParts {
  /** The status code by its name in gRPC, such as "RESOURCE_EXHAUSTED". */
  code: string;
  /** The reason, such as "QUEUE_FULL"; "" if the error did not come from the service itself. */
  reason: string;
  /** How long the service wants to be left alone, in milliseconds; absent if it did not say. */
  retryDelayMs?: number;
  /** True if the same call may work later. */
  retryable: boolean;
  /** For WRONG_INSTANCE: the process that holds the job, if the service told. */
  address?: string;
  cause?: unknown;
}

/** An error of a call. */
export class ProofmillError extends Error {
  readonly code: string;
  readonly reason: string;
  readonly retryDelayMs: number | undefined;
  readonly retryable: boolean;
  readonly address: string | undefined;

  constructor(message: string, parts: ErrorParts) {
    super(message, parts.cause === undefined ? undefined : { cause: parts.cause });
    this.name = new.target.name;
    this.code = parts.code;
    this.reason = parts.reason;
    this.retryDelayMs = parts.retryDelayMs;
    this.retryable = parts.retryable;
    this.address = parts.address;
  }
}

/** The service has no room now (RESOURCE_EXHAUSTED): come back after `retryDelayMs`. */
export class BusyError extends ProofmillError {}
/** The service cannot be reached, or cannot prove now (UNAVAILABLE). */
export class UnavailableError extends ProofmillError {}
/** The time for the call is over, or would not be enough (DEADLINE_EXCEEDED). */
export class DeadlineError extends ProofmillError {}
/** The witness is not one of this circuit, or does not satisfy it: `reason` is one of WITNESS_*. */
export class WitnessError extends ProofmillError {}
/** Something else about the request is wrong, or too large. */
export class RequestError extends ProofmillError {}
/** The circuit is unknown, failed to load, or has another version. */
export class CircuitError extends ProofmillError {}
/** The credential is missing, wrong, or does not allow the call. */
export class AuthenticationError extends ProofmillError {}
/** A fault of the service. */
export class ServiceError extends ProofmillError {}

type ErrorClass = new (message: string, parts: ErrorParts) => ProofmillError;

const CLASS_OF_CODE: Partial<Record<Code, ErrorClass>> = {
  [Code.InvalidArgument]: RequestError,
  [Code.AlreadyExists]: RequestError,
  [Code.OutOfRange]: RequestError,
  [Code.Unimplemented]: RequestError,
  [Code.NotFound]: RequestError,
  [Code.FailedPrecondition]: RequestError,
  [Code.ResourceExhausted]: BusyError,
  [Code.Unavailable]: UnavailableError,
  [Code.DeadlineExceeded]: DeadlineError,
  [Code.Unauthenticated]: AuthenticationError,
  [Code.PermissionDenied]: AuthenticationError,
};

function classOf(code: Code, reason: string): ErrorClass {
  if (reason.startsWith("WITNESS_")) return WitnessError;
  if (["CIRCUIT_UNKNOWN", "CIRCUIT_FAILED", "VERSION_MISMATCH", "KEY_UNSAFE"].includes(reason)) return CircuitError;
  if (reason === "MESSAGE_TOO_LARGE") return RequestError;
  return CLASS_OF_CODE[code] ?? ServiceError;
}

// The error as gRPC names its code: "DEADLINE_EXCEEDED" for Code.DeadlineExceeded.
function nameOf(code: Code): string {
  if (code === Code.Canceled) return "CANCELLED";
  return (Code[code] ?? "Unknown").replace(/(?<!^)([A-Z])/g, "_$1").toUpperCase();
}

/** Milliseconds, rounded up so that a wait is never cut short. */
export function durationMs(duration: Duration): number {
  return Number(duration.seconds) * 1000 + Math.ceil(duration.nanos / 1e6);
}

/** An error from its parts, as a job or an item of a batch carries them. */
export function makeError(code: Code, message: string, reason: string, delayMs?: number, cause?: unknown): ProofmillError {
  // A drop that the service does not explain is a process that was shutting down or a connection that broke. Proving has no
  // effect but the proof, so that repeating it is always safe.
  const dropped = (code === Code.Canceled || code === Code.Aborted) && reason === "";
  const known = dropped ? Code.Unavailable : code;
  return new (classOf(known, reason))(message, {
    code: nameOf(known),
    reason,
    ...(delayMs === undefined ? {} : { retryDelayMs: delayMs }),
    retryable: known === Code.Unavailable || delayMs !== undefined,
    cause,
  });
}

// The push-back trailer says the same as RetryInfo and reaches clients behind proxies that drop the details; a negative or
// garbled value forbids another try.
function pushbackOf(error: ConnectError): number | "never" | undefined {
  const text = error.metadata.get(PUSHBACK_TRAILER);
  if (text === null) return undefined;
  return /^\d+$/.test(text) ? Number(text) : "never";
}

// fetch() reports a connection that failed as a TypeError and nothing more; Node gives errors of its sockets, of TLS and of
// HTTP/2 a code of their own.
function isConnectionFailure(error: ConnectError): boolean {
  if (error.code !== Code.Unknown && error.code !== Code.Internal) return false;
  return error.cause instanceof TypeError || typeof (error.cause as { code?: unknown } | undefined)?.code === "string";
}

/** What a call was rejected with, as a ProofmillError; throws what did not come from a call as it is. */
export function fromRejection(error: unknown): ProofmillError {
  if (error instanceof ProofmillError) return error;
  if (!(error instanceof ConnectError)) throw error;
  const info = error.findDetails(ErrorInfoSchema).find((detail) => detail.domain === DOMAIN);
  const advice = error.findDetails(RetryInfoSchema).find((detail) => detail.retryDelay !== undefined)?.retryDelay;
  const pushback = pushbackOf(error);
  const delays = [advice === undefined ? -1 : durationMs(advice), pushback === undefined || pushback === "never" ? -1 : pushback];
  const delayMs = Math.max(...delays);
  const code = info === undefined && isConnectionFailure(error) ? Code.Unavailable : error.code;
  const out = makeError(code, error.rawMessage, info?.reason ?? "", delayMs < 0 ? undefined : delayMs, error);
  const address = out.reason === "WRONG_INSTANCE" ? info?.metadata["address"] : undefined;
  const mayRetry = pushback !== "never" || !out.retryable;
  if (mayRetry && address === undefined) return out;
  const { message, reason, retryDelayMs } = out;
  return new (out.constructor as ErrorClass)(message, {
    code: out.code,
    reason,
    ...(retryDelayMs === undefined || !mayRetry ? {} : { retryDelayMs }),
    retryable: out.retryable && mayRetry,
    ...(address === undefined ? {} : { address }),
    cause: error,
  });
}
