// What the tests use of snarkjs, which has no types of its own.
declare module "snarkjs" {
  type File = string | Uint8Array | { type: "mem"; data?: Uint8Array };
  interface Proof {
    pi_a: string[];
    pi_b: string[][];
    pi_c: string[];
    protocol: string;
    curve: string;
  }
  export const groth16: {
    prove(zkey: File, wtns: File): Promise<{ proof: Proof; publicSignals: string[] }>;
    verify(key: object, publicSignals: string[], proof: Proof): Promise<boolean>;
    exportSolidityCallData(proof: Proof, publicSignals: string[]): Promise<string>;
  };
  export const zKey: { exportVerificationKey(zkey: File): Promise<object> };
  export const wtns: { calculate(input: object, wasm: File, wtns: File): Promise<void> };
  export const curves: { getCurveFromName(name: string): Promise<{ terminate(): Promise<void> }> };
}
