"""What can go wrong. Every error of the service has a code, a reason from docs/errors.md and, where waiting helps, a delay."""

import importlib.resources

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

DOMAIN = "proofmill"
DETAILS_TRAILER = "grpc-status-details-bin"
PUSHBACK_TRAILER = "grpc-retry-pushback-ms"


def _load_google_rpc():
    """The classes of google.rpc, in a pool of their own: whoever else brings messages of these names is not disturbed."""
    files = descriptor_pb2.FileDescriptorSet()
    files.ParseFromString(importlib.resources.files("proofmill").joinpath("google_rpc.binpb").read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)

    def load(name):
        descriptor = pool.FindMessageTypeByName(f"google.rpc.{name}")
        if hasattr(message_factory, "GetMessageClass"):
            return message_factory.GetMessageClass(descriptor)
        return message_factory.MessageFactory(pool).GetPrototype(descriptor)

    return load("Status"), load("ErrorInfo"), load("RetryInfo")


Status, ErrorInfo, RetryInfo = _load_google_rpc()


class ProofmillError(Exception):
    """An error of a call.

    code         a grpc.StatusCode
    reason       such as "QUEUE_FULL"; "" if the error did not come from the service itself
    retry_delay  how long the service wants to be left alone, in seconds; None if it did not say
    retryable    whether the same call may work later
    address      for WRONG_INSTANCE: the process that holds the job; "" if the service did not say
    """

    def __init__(self, message, code, reason="", retry_delay=None, retryable=None, address=""):
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.retry_delay = retry_delay
        self.address = address
        self.retryable = (code is grpc.StatusCode.UNAVAILABLE or retry_delay is not None) if retryable is None else retryable

    def __str__(self):
        return f"{self.reason}: {self.message}" if self.reason else self.message


class BusyError(ProofmillError):
    """The service has no room now (RESOURCE_EXHAUSTED): come back after `retry_delay`."""


class UnavailableError(ProofmillError):
    """The service cannot be reached, or cannot prove now."""


class DeadlineError(ProofmillError):
    """The time for the call is over, or would not be enough."""


class WitnessError(ProofmillError):
    """The witness is not one of this circuit, or does not satisfy it: `reason` is one of WITNESS_*."""


class RequestError(ProofmillError):
    """Something else about the request is wrong, or too large."""


class CircuitError(ProofmillError):
    """The circuit is unknown, failed to load, or has another version."""


class AuthenticationError(ProofmillError):
    """The credential is missing, wrong, or does not allow the call."""


class ServiceError(ProofmillError):
    """A fault of the service."""


_CLASS_OF_CODE = {
    grpc.StatusCode.INVALID_ARGUMENT: RequestError,
    grpc.StatusCode.ALREADY_EXISTS: RequestError,
    grpc.StatusCode.OUT_OF_RANGE: RequestError,
    grpc.StatusCode.UNIMPLEMENTED: RequestError,
    grpc.StatusCode.NOT_FOUND: RequestError,
    grpc.StatusCode.FAILED_PRECONDITION: RequestError,
    grpc.StatusCode.RESOURCE_EXHAUSTED: BusyError,
    grpc.StatusCode.UNAVAILABLE: UnavailableError,
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineError,
    grpc.StatusCode.UNAUTHENTICATED: AuthenticationError,
    grpc.StatusCode.PERMISSION_DENIED: AuthenticationError,
}


def make_error(message, code, reason="", retry_delay=None, retryable=None, address=""):
    """An error of the class that its reason, else its code, calls for."""
    # This package cancels no call that it goes on with, so a cancellation that the service does not explain is a server that
    # was shutting down.
    if code is grpc.StatusCode.CANCELLED and not reason:
        code = grpc.StatusCode.UNAVAILABLE
    if reason.startswith("WITNESS_"):
        kind = WitnessError
    elif reason in ("CIRCUIT_UNKNOWN", "CIRCUIT_FAILED", "VERSION_MISMATCH", "KEY_UNSAFE"):
        kind = CircuitError
    elif reason == "MESSAGE_TOO_LARGE":
        kind = RequestError
    else:
        kind = _CLASS_OF_CODE.get(code, ServiceError)
    return kind(message, code, reason, retry_delay, retryable, address)


def _unpack(details, kind):
    for detail in details:
        if detail.type_url.rsplit("/", 1)[-1] == kind.DESCRIPTOR.full_name:
            yield kind.FromString(detail.value)


def from_rpc(error):
    """A grpc.RpcError of a call that ended, as a ProofmillError."""
    trailers = dict(error.trailing_metadata() or ())
    status = Status()
    try:
        status.ParseFromString(trailers.get(DETAILS_TRAILER, b""))
    except Exception:  # what a proxy garbled says nothing; protobuf's class for this differs between its implementations
        status = Status()
    info = next((info for info in _unpack(status.details, ErrorInfo) if info.domain == DOMAIN), ErrorInfo())
    reason, address = info.reason, info.metadata.get("address", "")
    delays = [retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9 for retry in _unpack(status.details, RetryInfo)]
    # The trailer reaches clients behind proxies that drop the details; a negative or garbled value forbids another try.
    pushback = trailers.get(PUSHBACK_TRAILER)
    if pushback is not None and not pushback.isdecimal():
        return make_error(error.details(), error.code(), reason, retryable=False, address=address)
    if pushback is not None:
        delays.append(int(pushback) / 1000)
    return make_error(error.details(), error.code(), reason, max(delays) if delays else None, address=address)
