"""How the client behaves when the service, or the way to it, does not."""

import time
import unittest

import grpc
import proofmill
from fake_service import FakeService, Refusal
from proofmill.retry import Deadline, Retrier

WITNESS = b"wtns" + bytes(i % 251 for i in range(346))
SIGNALS = [str(len(WITNESS)), str(sum(WITNESS))]
QUICK = proofmill.RetryPolicy(backoff_first=0.001, backoff_max=0.005)
UNAVAILABLE, EXHAUSTED = grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.RESOURCE_EXHAUSTED


class RetryTest(unittest.TestCase):
    def delays(self, count, policy=proofmill.RetryPolicy(), timeout=1000, **error):
        retrier = Retrier(policy, Deadline(timeout))
        return [retrier.next_delay(proofmill.UnavailableError("", UNAVAILABLE, **error)) for _ in range(count)]

    def test_without_advice_delays_stay_under_their_bounds_and_attempts_end(self):
        *delays, last = self.delays(8)

        self.assertIsNone(last)
        for delay, bound in zip(delays, [0.1, 0.2, 0.4, 0.8, 1.6, 2, 2]):
            self.assertTrue(0 <= delay <= bound)

    def test_advice_is_kept_in_full_and_uses_up_no_attempts(self):
        for delay in self.delays(20, retry_delay=1.0):
            self.assertTrue(1 <= delay <= 1.25)

    def test_a_wait_that_would_pass_the_deadline_is_not_begun(self):
        self.assertEqual(self.delays(1, timeout=0.5, retry_delay=0.6), [None])

    def test_a_timeout_that_is_not_positive_is_refused(self):
        for timeout in (0, -1, float("nan")):
            with self.assertRaises(ValueError):
                Deadline(timeout)


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.fake = FakeService()
        self.addCleanup(self.fake.stop)

    def client(self, **options):
        client = proofmill.Client(self.fake.target, retry=QUICK, **options)
        self.addCleanup(client.close)
        return client

    def test_a_refusal_with_a_delay_is_repeated_after_it_with_the_same_request_id(self):
        self.fake.script("Prove", Refusal(EXHAUSTED, "QUEUE_FULL", delay=0.12), Refusal(UNAVAILABLE, "CIRCUIT_LOADING", pushback="80"))
        started = time.monotonic()
        result = self.client().prove("fake", WITNESS)

        self.assertEqual(result.public_signals, SIGNALS)
        self.assertGreaterEqual(time.monotonic() - started, 0.2)
        self.assertEqual(self.fake.request_ids, [result.request_id] * 3)

    def test_a_push_back_below_zero_forbids_another_try(self):
        self.fake.script("Prove", Refusal(UNAVAILABLE, "DRAINING", delay=0.01, pushback="-1"))

        with self.assertRaises(proofmill.UnavailableError) as caught:
            self.client().prove("fake", WITNESS)
        self.assertEqual((caught.exception.reason, caught.exception.retryable), ("DRAINING", False))
        self.assertEqual(self.fake.calls, ["Prove"])

    def test_the_class_of_an_error_follows_its_reason_then_its_code(self):
        for code, reason, kind in [(grpc.StatusCode.INVALID_ARGUMENT, "WITNESS_LENGTH", proofmill.WitnessError),
                                   (grpc.StatusCode.NOT_FOUND, "CIRCUIT_UNKNOWN", proofmill.CircuitError),
                                   (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED", proofmill.AuthenticationError),
                                   (grpc.StatusCode.INTERNAL, "SELF_CHECK_FAILED", proofmill.ServiceError)]:
            self.fake.script("Prove", Refusal(code, reason))
            with self.assertRaises(kind) as caught:
                self.client().prove("fake", WITNESS)
            self.assertEqual((caught.exception.code, caught.exception.reason), (code, reason))

    def test_a_deadline_that_passes_tells_what_the_attempt_before_failed_with(self):
        self.fake.script("Prove", *[Refusal(UNAVAILABLE, "NO_DEVICE", delay=0.05)] * 100)

        with self.assertRaises(proofmill.ProofmillError) as caught:
            self.client().prove("fake", WITNESS, timeout=0.4)
        self.assertIn("NO_DEVICE", str(caught.exception))

    def test_a_stream_goes_on_where_it_stopped(self):
        self.fake.script("chunk", None, None, Refusal(UNAVAILABLE))
        seen = []
        result = self.client(unary_bytes_max=100).prove("fake", WITNESS, on_progress=seen.append)

        self.assertEqual(result.public_signals, SIGNALS)
        self.assertEqual((self.fake.calls.count("ProveStream"), self.fake.calls.count("chunk")), (2, 4))
        self.assertEqual([(p.phase, p.jobs_ahead, p.stage) for p in seen[-2:]], [("queued", 2, ""), ("running", 0, "ntt")])
        self.assertIn("waiting_to_retry", [p.phase for p in seen])

    def test_nothing_but_the_header_goes_out_before_the_service_admits_it(self):
        self.fake.script("ProveStream", Refusal(grpc.StatusCode.INVALID_ARGUMENT, "WITNESS_LENGTH"))

        with self.assertRaises(proofmill.WitnessError):
            self.client(unary_bytes_max=100).prove("fake", WITNESS)
        self.assertEqual(self.fake.calls, ["ProveStream"])

    def test_an_upload_that_is_forgotten_begins_anew(self):
        self.fake.script("chunk", None, Refusal(UNAVAILABLE))
        client = self.client(unary_bytes_max=100)

        def forget(progress):
            if progress.phase == "waiting_to_retry":
                self.fake.uploads.clear()

        self.assertEqual(client.prove("fake", WITNESS, on_progress=forget).public_signals, SIGNALS)
        self.assertEqual(self.fake.calls.count("ProveStream"), 3)

    def test_what_was_sent_is_given_up_when_proving_fails(self):
        self.fake.script("chunk", None, Refusal(grpc.StatusCode.INTERNAL, "INTERNAL"))

        with self.assertRaises(proofmill.ServiceError):
            self.client(unary_bytes_max=100).prove("fake", WITNESS)
        self.assertEqual(self.fake.uploads, {})

    def test_a_witness_over_the_message_limit_goes_by_a_stream(self):
        self.fake.script("Prove", Refusal(EXHAUSTED, "MESSAGE_TOO_LARGE"))

        self.assertEqual(self.client().prove("fake", WITNESS).public_signals, SIGNALS)
        self.assertEqual(self.fake.calls[:2], ["Prove", "ProveStream"])

    def test_nobody_at_the_address_is_unavailable(self):
        self.fake.stop()

        with self.assertRaises(proofmill.UnavailableError):
            proofmill.Client(self.fake.target, retry=proofmill.RetryPolicy(attempts_max=2)).prove("fake", WITNESS)

    def test_an_api_key_goes_out_with_each_call_but_not_in_clear_text_to_another_machine(self):
        client = self.client(api_key="secret")
        client.prove("fake", WITNESS)
        client.verify("fake", [], {})

        self.assertEqual(self.fake.authorizations, ["Bearer secret"] * 2)
        for target in ("prover.example:50051", "127.0.0.1.example:1", "10.0.0.1:1"):
            with self.assertRaisesRegex(ValueError, "expected TLS or a loopback address"):
                proofmill.Client(target, api_key="secret")
        for target in ("[::1]:1", "localhost:1", "unix:/run/proofmill"):
            proofmill.Client(target, api_key="secret").close()

    def test_arguments_that_cannot_be_are_refused(self):
        with self.assertRaisesRegex(ValueError, "a client certificate and its key"):
            proofmill.Client("h:1", cert_file="c.pem")
        with self.assertRaisesRegex(ValueError, "priority: expected low, normal or high"):
            self.client().prove("fake", WITNESS, priority="urgent")
        with self.assertRaises(FileNotFoundError):
            self.client().prove("fake", "no/such/file.wtns")
        for wrong in (b"", b"wtn", b'{"x": "3"}' + WITNESS):
            with self.assertRaises(proofmill.WitnessError) as caught:
                self.client().prove("fake", wrong, on_progress=lambda progress: None)
            self.assertEqual(caught.exception.reason, "WITNESS_MALFORMED")
            self.assertNotIn('"x"', str(caught.exception))
        self.assertEqual(self.fake.calls, [], "nothing is sent")


if __name__ == "__main__":
    unittest.main()
