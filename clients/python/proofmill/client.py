"""A client of the service: proofs, checks of proofs, circuits and jobs."""

import ipaddress
import json
import os
import pathlib
import secrets

import grpc

from proofmill.errors import ProofmillError, RequestError
from proofmill.inputs import Groth16Input, WhirInput, claim_message
from proofmill.jobs import Jobs
from proofmill.prove import ProveCall
from proofmill.results import to_circuit, to_result, to_whir_result
from proofmill.retry import Deadline, Retrier, RetryPolicy
from proofmill.v1 import circuits_pb2, circuits_pb2_grpc, common_pb2, prover_pb2, prover_pb2_grpc, uploads_pb2_grpc

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

        def reach(address):
            """Another process must show a certificate for the same name: whoever could make up an address gains nothing by it."""
            _authorization("-" if self._metadata else "", address, secure)
            name = tls_server_name or (_host(self._target) if secure else None)
            return _make_channel(address, secure, ca_file, cert_file, key_file, name)

        self._channel = _make_channel(self._target, secure, ca_file, cert_file, key_file, tls_server_name)
        self.jobs = Jobs(self._channel, self._metadata, retry, self._start_job, reach)
        self._prover = prover_pb2_grpc.ProverServiceStub(self._channel)
        self._uploads = uploads_pb2_grpc.UploadServiceStub(self._channel)
        self._circuits = circuits_pb2_grpc.CircuitServiceStub(self._channel)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.jobs.close()
        self._channel.close()

    def prove(self, circuit, wtns, *, timeout=PROVE_TIMEOUT, on_progress=None, priority="normal", circuit_version="", request_id=None):
        """Proves a witness: the bytes of a .wtns file, or its path. `timeout`, in seconds, bounds the whole operation.

        `on_progress` is called with a Progress, perhaps on a thread of gRPC's. Witnesses over `unary_bytes_max`, and those of
        whom progress is wanted, go by a stream, which goes on where it stopped after a lost connection.
        """
        deadline = Deadline(timeout)
        spec = _spec(circuit, circuit_version, priority, request_id, include_snarkjs_json=True)
        return to_result(self._prove(spec, Groth16Input(wtns), deadline, on_progress))

    def prove_whir(self, circuit, evaluations, claims, *, timeout=PROVE_TIMEOUT, on_progress=None, priority="normal",
                   circuit_version="", request_id=None):
        """Commits to a polynomial and proves its values at the points of `claims`, as many as the circuit's parameters say.

        `evaluations` are its 2^num_variables values below 2013265921: an array of 4-byte words, any list of integers, their bytes
        (little-endian), or a file of these. A claim is `{"point": [element, ...]}`, an element being a list of 5 (or 4) coefficients;
        a "value" may be given. The proof is NOT hiding: it reveals values of the polynomial. The rest is as for prove().
        """
        deadline = Deadline(timeout)
        spec = _spec(circuit, circuit_version, priority, request_id)
        polynomial = WhirInput(evaluations, claims)
        return to_whir_result(self._prove(spec, polynomial, deadline, on_progress), polynomial.claims)

    def verify_whir(self, circuit, result, *, timeout=SHORT_TIMEOUT):
        """Whether a WhirResult holds, its claims for its commitment, by the service."""
        statement = prover_pb2.WhirStatement(proof=result.proof, commitment=result.commitment,
                                             claims=[claim_message(claim, f"claims[{i}]") for i, claim in enumerate(result.claims)])
        return self._call(self._prover.Verify, prover_pb2.VerifyRequest(circuit=circuit, whir=statement), Deadline(timeout)).valid

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
        return to_circuit(self._call(self._circuits.GetCircuit, circuits_pb2.GetCircuitRequest(id=id), Deadline(timeout)).circuit)

    def circuits(self, *, timeout=SHORT_TIMEOUT):
        """All circuits, without their verification keys."""
        deadline = Deadline(timeout)
        request = circuits_pb2.ListCircuitsRequest(page_size=PAGE_SIZE)
        circuits = []
        while True:
            page = self._call(self._circuits.ListCircuits, request, deadline)
            circuits.extend(to_circuit(circuit) for circuit in page.circuits)
            if not page.next_page_token:
                return circuits
            request.page_token = page.next_page_token

    def _prove(self, spec, proof_input, deadline, on_progress):
        def call():
            return ProveCall(self._prover, self._uploads, self._metadata, self._retry, deadline, spec, proof_input, on_progress)

        if len(proof_input.data) > self._unary_bytes_max or on_progress is not None:
            return call().stream()
        try:
            return call().unary()
        except ProofmillError as error:
            if not _needs_stream(error):
                raise
        return call().stream()

    def _start_job(self, jobs, circuit, wtns, evaluations, claims, deadline, job_timeout, on_progress, priority, circuit_version,
                   request_id):
        proof_input = WhirInput(evaluations, claims) if wtns is None else Groth16Input(wtns)
        spec = _spec(circuit, circuit_version, priority, request_id, include_snarkjs_json=wtns is not None)
        call = ProveCall(self._prover, self._uploads, self._metadata, self._retry, deadline, spec, proof_input, on_progress)
        return call.job(jobs, self._unary_bytes_max, job_timeout)

    def _call(self, method, request, deadline):
        return Retrier(self._retry, deadline).run(lambda: method(request, timeout=deadline.timeout(), metadata=self._metadata))


def _spec(circuit, circuit_version, priority, request_id, include_snarkjs_json=False):
    if priority not in PRIORITIES:
        raise ValueError(f"priority: expected low, normal or high, got {priority}")
    return prover_pb2.ProofSpec(circuit=circuit, circuit_version=circuit_version, priority=PRIORITIES[priority],
                                request_id=request_id or secrets.token_hex(16), include_snarkjs_json=include_snarkjs_json)


def _host(target):
    return target.removeprefix("dns:///").rpartition(":")[0].strip("[]")


def _is_loopback(target):
    if target.startswith("unix:"):
        return True
    host = _host(target)
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
