"""A client of the service: proofs, checks of proofs and circuits."""

import dataclasses
import ipaddress
import json
import os
import pathlib
import secrets
from typing import Optional

import grpc

from proofmill.errors import ProofmillError, RequestError, make_error
from proofmill.prove import ProveCall
from proofmill.retry import Deadline, Retrier, RetryPolicy
from proofmill.v1 import (circuits_pb2, circuits_pb2_grpc, common_pb2, prover_pb2, prover_pb2_grpc, uploads_pb2_grpc)

DEFAULT_TARGET = "127.0.0.1:50051"  # of `proofmill serve`
PROVE_TIMEOUT = 60.0
SHORT_TIMEOUT = 10.0
UNARY_BYTES_MAX = 1 << 20
PAGE_SIZE = 500
CHANNEL_OPTIONS = [
    ("grpc.max_receive_message_length", 64 << 20),  # a page of verification keys; witnesses only go out
    ("grpc.max_send_message_length", -1),
    ("grpc.enable_retries", 0),
    ("grpc.keepalive_time_ms", 30_000),  # the service refuses clients that ping more often than every 10 s
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5_000),
]
PRIORITIES = {"low": common_pb2.PRIORITY_LOW, "normal": common_pb2.PRIORITY_NORMAL, "high": common_pb2.PRIORITY_HIGH}


@dataclasses.dataclass(frozen=True)
class ProofResult:
    """A proof with what belongs to it. `proof` and `public_signals` are proof.json and public.json of snarkjs."""

    proof: dict
    public_signals: list
    circuit: str
    circuit_version: str
    request_id: str
    device: str  # such as "cpu" or "cuda:0"
    stages: dict  # seconds by step; steps may overlap
    queue_wait: float  # in seconds


@dataclasses.dataclass(frozen=True)
class Circuit:
    """A circuit that the service holds."""

    id: str
    version: str
    state: str  # "loading", "ready", "failed" or "unloading"
    failure: str
    warnings: list
    witness_bytes: int
    verification_key: Optional[dict]  # verification_key.json of snarkjs; from Client.circuit() only


class Client:
    """A connection to the service, made when it is used. Every method may be called from any thread.

    target    "host:port"; default: the environment's PROOFMILL_TARGET, else 127.0.0.1:50051
    tls       True for TLS with the system's roots; any of the three files turns it on as well
    ca_file, cert_file, key_file    PEM: roots, and this client's certificate with its key for mutual TLS
    tls_server_name    the name that the server's certificate must carry, if it is not the host of the target
    api_key   sent as `authorization: Bearer KEY`, only over TLS or to a loopback address; default: PROOFMILL_API_KEY, if set

    Calls raise a ProofmillError once what can be retried has been retried; ValueError for arguments that cannot be.
    """

    def __init__(self, target=None, *, tls=False, ca_file=None, cert_file=None, key_file=None, tls_server_name=None, api_key=None,
                 retry=RetryPolicy(), unary_bytes_max=UNARY_BYTES_MAX):
        self._target = target or os.environ.get("PROOFMILL_TARGET", DEFAULT_TARGET)
        self._retry = retry
        self._unary_bytes_max = unary_bytes_max
        secure = tls or bool(ca_file or cert_file or key_file)
        self._metadata = _authorization(api_key or os.environ.get("PROOFMILL_API_KEY"), self._target, secure)
        self._channel = _make_channel(self._target, secure, ca_file, cert_file, key_file, tls_server_name)
        self._prover = prover_pb2_grpc.ProverServiceStub(self._channel)
        self._uploads = uploads_pb2_grpc.UploadServiceStub(self._channel)
        self._circuits = circuits_pb2_grpc.CircuitServiceStub(self._channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._channel.close()

    def prove(self, circuit, wtns, *, timeout=PROVE_TIMEOUT, on_progress=None, priority="normal", circuit_version="", request_id=None):
        """Proves a witness: the bytes of a .wtns file, or its path. `timeout`, in seconds, bounds the whole operation.

        `on_progress` is called with a Progress, perhaps on a thread of gRPC's. Witnesses over `unary_bytes_max`, and those of
        whom progress is wanted, go by a stream, which goes on where it stopped after a lost connection.
        """
        deadline = Deadline(timeout)
        data = wtns if isinstance(wtns, (bytes, bytearray, memoryview)) else pathlib.Path(wtns).read_bytes()
        if priority not in PRIORITIES:
            raise ValueError(f"priority: expected low, normal or high, got {priority}")
        spec = prover_pb2.ProofSpec(circuit=circuit, circuit_version=circuit_version, priority=PRIORITIES[priority],
                                    request_id=request_id or secrets.token_hex(16), include_snarkjs_json=True)

        def call():
            return ProveCall(self._prover, self._uploads, self._metadata, self._retry, deadline, spec, data, on_progress)

        if len(data) > self._unary_bytes_max or on_progress is not None:
            return _to_result(call().stream())
        try:
            return _to_result(call().unary())
        except ProofmillError as error:
            if not _needs_stream(error):
                raise
        return _to_result(call().stream())

    def verify(self, circuit, public_signals, proof, *, timeout=SHORT_TIMEOUT):
        """Whether a proof holds, by the service. What is not a proof by its numbers is not valid either."""
        statement = prover_pb2.SnarkjsProof(proof_json=json.dumps(proof), public_json=json.dumps(public_signals))
        request = prover_pb2.VerifyRequest(circuit=circuit, snarkjs=statement)
        try:
            return self._call(self._prover.Verify, request, Deadline(timeout)).valid
        except RequestError as error:
            if error.reason in ("PROOF_MALFORMED", "PUBLIC_SIGNALS_MALFORMED"):
                return False
            raise

    def circuit(self, id, *, timeout=SHORT_TIMEOUT):
        """One circuit with its verification key."""
        return _to_circuit(self._call(self._circuits.GetCircuit, circuits_pb2.GetCircuitRequest(id=id), Deadline(timeout)).circuit)

    def circuits(self, *, timeout=SHORT_TIMEOUT):
        """All circuits, without their verification keys."""
        deadline = Deadline(timeout)
        request = circuits_pb2.ListCircuitsRequest(page_size=PAGE_SIZE)
        circuits = []
        while True:
            page = self._call(self._circuits.ListCircuits, request, deadline)
            circuits.extend(_to_circuit(circuit) for circuit in page.circuits)
            if not page.next_page_token:
                return circuits
            request.page_token = page.next_page_token

    def _call(self, method, request, deadline):
        return Retrier(self._retry, deadline).run(lambda: method(request, timeout=deadline.timeout(), metadata=self._metadata))


def _is_loopback(target):
    if target.startswith("unix:"):
        return True
    host = target.removeprefix("dns:///").rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _authorization(api_key, target, secure):
    if not api_key:
        return []
    if not all("!" <= character <= "~" for character in api_key):
        raise ValueError("api_key: expected printable ASCII without blanks, got something else")
    if not secure and not _is_loopback(target):
        raise ValueError(f"{target}: expected TLS or a loopback address for calls with an API key, got clear text")
    return [("authorization", f"Bearer {api_key}")]


def _make_channel(target, secure, ca_file, cert_file, key_file, tls_server_name):
    if bool(cert_file) != bool(key_file):
        raise ValueError("expected a client certificate and its key, got only one of them")
    options = list(CHANNEL_OPTIONS)
    if tls_server_name:
        options.append(("grpc.ssl_target_name_override", tls_server_name))
    if not secure:
        return grpc.insecure_channel(target, options)
    ca, key, cert = (pathlib.Path(file).read_bytes() if file else None for file in (ca_file, key_file, cert_file))
    return grpc.secure_channel(target, grpc.ssl_channel_credentials(ca, key, cert), options)


def _needs_stream(error):
    """The service's message limit is below this witness's size; a stream has no such limit."""
    return error.code is grpc.StatusCode.RESOURCE_EXHAUSTED and error.retry_delay is None and error.reason in ("", "MESSAGE_TOO_LARGE")


def _to_result(message):
    if not message.snarkjs_proof_json or not message.snarkjs_public_json:
        raise make_error("expected a Groth16 proof in the answer of the service, got none", grpc.StatusCode.INTERNAL)
    return ProofResult(
        proof=json.loads(message.snarkjs_proof_json),
        public_signals=json.loads(message.snarkjs_public_json),
        circuit=message.circuit,
        circuit_version=message.circuit_version,
        request_id=message.request_id,
        device=message.device,
        stages={stage.stage: stage.duration_seconds for stage in message.stages},
        queue_wait=message.queue_wait.seconds + message.queue_wait.nanos / 1e9,
    )


def _to_circuit(message):
    state = circuits_pb2.Circuit.State.Name(message.state) if message.state in circuits_pb2.Circuit.State.values() else "STATE_UNKNOWN"
    return Circuit(
        id=message.id,
        version=message.version,
        state=state.removeprefix("STATE_").lower(),
        failure=message.failure,
        warnings=list(message.warnings),
        witness_bytes=message.limits.witness_bytes,
        verification_key=json.loads(message.verification_key_json) if message.verification_key_json else None,
    )
