export function startGateway(options: {
  target: string;
  port?: number;
  folder: string;
}): Promise<{ url: string; close(): Promise<void> }>;
