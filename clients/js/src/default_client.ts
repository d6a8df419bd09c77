// The client behind the `groth16` and `whir` that stand alone, so that an application of snarkjs changes one import only.

import type { Client, Groth16, Whir } from "./client.js";

export class DefaultClient<Options> {
  private client: Client | undefined;

  constructor(
    private readonly connect: (options: Options) => Client,
    private options: Options,
  ) {}

  /** Later calls go where these options say; calls on their way are not disturbed. */
  configure(options: Options): void {
    this.options = options;
    this.client = undefined;
  }

  readonly groth16: Groth16 = {
    prove: (...args) => this.get().groth16.prove(...args),
    fullProve: (...args) => this.get().groth16.fullProve(...args),
    verify: (...args) => this.get().groth16.verify(...args),
    exportSolidityCallData: (...args) => this.get().groth16.exportSolidityCallData(...args),
  };

  readonly whir: Whir = {
    prove: (...args) => this.get().whir.prove(...args),
    verify: (...args) => this.get().whir.verify(...args),
  };

  private get(): Client {
    this.client ??= this.connect(this.options);
    return this.client;
  }
}
