// The messages and services of the API themselves, for callers who need more than the client offers.

export * from "./gen/proofmill/v1/circuits_pb.js";
export * from "./gen/proofmill/v1/common_pb.js";
export * from "./gen/proofmill/v1/jobs_pb.js";
export * from "./gen/proofmill/v1/prover_pb.js";
export * from "./gen/proofmill/v1/uploads_pb.js";
