"""A service that does what a test tells it, on a port of its own."""

import collections
import concurrent.futures
import threading

import grpc
from proofmill.errors import ErrorInfo, RetryInfo, Status
from proofmill.v1 import prover_pb2, prover_pb2_grpc, uploads_pb2, uploads_pb2_grpc

CHUNK_BYTES_MAX = 100


class Refusal(Exception):
    """An error as the service makes it."""

    def __init__(self, code, reason="", delay=None, pushback=None):
        super().__init__(reason)
        self.code, self.reason, self.delay, self.pushback = code, reason, delay, pushback

    def abort(self, context):
        status = Status(code=self.code.value[0])
        if self.reason:
            self._add(status, ErrorInfo(reason=self.reason, domain="proofmill"))
        if self.delay is not None:
            info = RetryInfo()
            info.retry_delay.seconds, info.retry_delay.nanos = int(self.delay), int(self.delay % 1 * 1e9)
            self._add(status, info)
        trailers = [("grpc-status-details-bin", status.SerializeToString())]
        if self.pushback is not None:
            trailers.append(("grpc-retry-pushback-ms", self.pushback))
        context.set_trailing_metadata(trailers)
        context.abort(self.code, f"refused: {self.reason}")

    @staticmethod
    def _add(status, message):
        detail = status.details.add()
        detail.type_url = "type.googleapis.com/" + message.DESCRIPTOR.full_name
        detail.value = message.SerializeToString()


class FakeService(prover_pb2_grpc.ProverServiceServicer, uploads_pb2_grpc.UploadServiceServicer):
    def __init__(self):
        self.calls, self.request_ids, self.authorizations, self.uploads = [], [], [], {}
        self._scripts = collections.defaultdict(collections.deque)
        self._lock = threading.Lock()
        self._server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        prover_pb2_grpc.add_ProverServiceServicer_to_server(self, self._server)
        uploads_pb2_grpc.add_UploadServiceServicer_to_server(self, self._server)
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    def stop(self):
        self._server.stop(None).wait()

    def script(self, method, *steps):
        """The next calls of `method` end with these Refusals; None lets one pass."""
        self._scripts[method].extend(steps)

    def _enter(self, method, context):
        with self._lock:
            self.calls.append(method)
            self.authorizations.append(dict(context.invocation_metadata()).get("authorization"))
            step = self._scripts[method].popleft() if self._scripts[method] else None
        if step is not None:
            step.abort(context)

    @staticmethod
    def _result(witness, spec):
        return prover_pb2.ProofResult(circuit=spec.circuit, request_id=spec.request_id, device="cpu", snarkjs_proof_json='{"pi_a": []}',
                                      snarkjs_public_json=f'["{len(witness)}", "{sum(witness)}"]')

    def Prove(self, request, context):
        self.request_ids.append(request.spec.request_id)
        self._enter("Prove", context)
        return prover_pb2.ProveResponse(result=self._result(request.groth16.wtns, request.spec))

    def Verify(self, request, context):
        self._enter("Verify", context)
        return prover_pb2.VerifyResponse(valid=True)

    def ProveStream(self, requests, context):
        self._enter("ProveStream", context)
        header = next(requests).header
        name = header.upload or f"uploads/{len(self.calls)}"
        if header.upload and name not in self.uploads:
            Refusal(grpc.StatusCode.NOT_FOUND, "UPLOAD_UNKNOWN").abort(context)
        data = self.uploads.setdefault(name, bytearray())
        yield prover_pb2.ProveStreamResponse(admitted=prover_pb2.Admitted(upload=name, chunk_bytes_max=CHUNK_BYTES_MAX,
                                                                          committed_bytes=len(data)))
        for request in requests:
            assert request.chunk.offset_bytes == len(data) and len(request.chunk.data) <= CHUNK_BYTES_MAX
            data.extend(request.chunk.data)
            self._enter("chunk", context)
        yield prover_pb2.ProveStreamResponse(progress=prover_pb2.JobProgress(state=prover_pb2.JobProgress.STATE_QUEUED, jobs_ahead=2))
        yield prover_pb2.ProveStreamResponse(progress=prover_pb2.JobProgress(state=prover_pb2.JobProgress.STATE_RUNNING, stage="ntt"))
        yield prover_pb2.ProveStreamResponse(result=self._result(data, header.spec))

    def DeleteUpload(self, request, context):
        self._enter("DeleteUpload", context)
        self.uploads.pop(request.name, None)
        return uploads_pb2.DeleteUploadResponse()
