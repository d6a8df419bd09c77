"""Jobs: proofs that outlive a connection. A job lives in one process of the service; another one tells where it is, and it is asked
there."""

import secrets
import threading
import time

import grpc

from proofmill.errors import from_rpc, make_error
from proofmill.results import to_job
from proofmill.retry import Deadline, Retrier
from proofmill.v1 import jobs_pb2, jobs_pb2_grpc

SHORT_TIMEOUT = 10.0
NO_TIMEOUT = float("inf")
PAGE_SIZE = 500
HOPS_MAX = 2
OWNERS_MAX = 64  # processes that are known; more are forgotten, and found again


class Jobs:
    """`start` makes a job and gives its message; `reach` opens a channel to another process, by its address."""

    def __init__(self, channel, metadata, policy, start, reach):
        self._first = jobs_pb2_grpc.JobServiceStub(channel)
        self._metadata = metadata
        self._policy = policy
        self._start = start
        self._reach = reach
        self._lock = threading.Lock()
        self._owners = {}  # (channel, stub) by instance

    def close(self):
        with self._lock:
            for channel, _ in self._owners.values():
                channel.close()
            self._owners.clear()

    def create(self, circuit, wtns=None, *, evaluations=None, claims=None, timeout=60.0, job_timeout=None, on_progress=None,
               priority="normal", circuit_version="", request_id=None):
        """Makes a job of a witness, or of a polynomial and its claims, and returns once it has its place in the queue.

        `job_timeout`, in seconds, is what the job may take, by default the most that the service allows. The same `request_id` with
        the same content is the same job, so that with one of your own this is safe to repeat.
        """
        if (wtns is None) == (evaluations is None) or (evaluations is None) != (claims is None):
            raise ValueError("expected a witness, or evaluations and claims, got neither or both")
        return to_job(self._start(self._first, circuit, wtns, evaluations, claims, Deadline(timeout), job_timeout, on_progress,
                                  priority, circuit_version, request_id or secrets.token_hex(16)))

    def get(self, name, *, timeout=SHORT_TIMEOUT):
        """The job as it is now."""
        return to_job(self._call("GetJob", jobs_pb2.GetJobRequest(name=name), timeout).job)

    def cancel(self, name, *, timeout=SHORT_TIMEOUT):
        """Gives a job up, as far as that is still possible; it may not have ended yet."""
        return to_job(self._call("CancelJob", jobs_pb2.CancelJobRequest(name=name), timeout).job)

    def delete(self, name, *, timeout=SHORT_TIMEOUT):
        """Lets the service forget a job and its result. Does not cancel it."""
        self._call("DeleteJob", jobs_pb2.DeleteJobRequest(name=name), timeout)

    def list(self, *, timeout=SHORT_TIMEOUT):
        """Your jobs in the process that answers, the oldest first, without their results."""
        deadline = Deadline(timeout)
        request = jobs_pb2.ListJobsRequest(page_size=PAGE_SIZE)
        jobs = []
        while True:
            page = Retrier(self._policy, deadline).run(
                lambda: self._first.ListJobs(request, timeout=deadline.timeout(), metadata=self._metadata))
            jobs.extend(to_job(job) for job in page.jobs)
            if not page.next_page_token:
                return jobs
            request.page_token = page.next_page_token

    def watch(self, name, *, timeout=NO_TIMEOUT):
        """The job as it is now, and again after each change, until it has ended; over lost connections too. To leave the loop does
        nothing to the job."""
        deadline = Deadline(timeout)
        retrier = Retrier(self._policy, deadline)
        while True:
            error = make_error("expected the end of the job on its stream, got the end of the stream", grpc.StatusCode.UNAVAILABLE)
            try:
                for job in self._watch_once(name, deadline):
                    retrier.note_progress()
                    yield job
                    if job.has_ended:
                        return
            except grpc.RpcError as rpc_error:
                error = from_rpc(rpc_error)
            delay = retrier.next_delay(error)
            if delay is None:
                raise error
            time.sleep(delay)

    def result(self, name, *, timeout=NO_TIMEOUT):
        """Waits for the end of the job, and returns its proof; raises its error if there is none."""
        for job in self.watch(name, timeout=timeout):
            if job.error is not None:
                raise job.error
            if job.result is not None:
                return job.result
        raise make_error("expected the outcome of the job in the answer of the service, got none", grpc.StatusCode.INTERNAL)

    def _call(self, method, request, timeout):
        deadline = Deadline(timeout)

        def attempt():
            for hop in range(HOPS_MAX + 1):
                try:
                    return getattr(self._owner(request.name), method)(request, timeout=deadline.timeout(), metadata=self._metadata)
                except grpc.RpcError as rpc_error:
                    if hop == HOPS_MAX or not self._follow(request.name, from_rpc(rpc_error)):
                        raise

        return Retrier(self._policy, deadline).run(attempt)

    def _watch_once(self, name, deadline):
        for hop in range(HOPS_MAX + 1):
            call = self._owner(name).WatchJob(jobs_pb2.WatchJobRequest(name=name), timeout=deadline.timeout(), metadata=self._metadata)
            try:
                for response in call:
                    yield to_job(response.job)
                return
            except grpc.RpcError as rpc_error:
                if hop == HOPS_MAX or not self._follow(name, from_rpc(rpc_error)):
                    raise
            finally:
                call.cancel()

    def _owner(self, name):
        with self._lock:
            _, stub = self._owners.get(_instance(name), (None, self._first))
        return stub

    def _follow(self, name, error):
        """Whether the error tells of a process that can be asked instead."""
        if error.reason != "WRONG_INSTANCE" or not error.address:
            return False
        channel = self._reach(error.address)
        with self._lock:
            if len(self._owners) >= OWNERS_MAX:
                self._owners.clear()
            self._owners[_instance(name)] = (channel, jobs_pb2_grpc.JobServiceStub(channel))
        return True


def _instance(name):
    parts = name.split("/")
    return parts[1] if len(parts) == 3 else ""
