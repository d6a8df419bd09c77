// The package has no types of its own; src/witness.ts says what is used of it.
declare module "circom_runtime";
