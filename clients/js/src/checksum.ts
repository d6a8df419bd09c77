// CRC-32C (Castagnoli) of the pieces of an upload, as RFC 3720, appendix B.4, has it.

const POLYNOMIAL = 0x82f63b78; // bits reversed
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

export function crc32c(data: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of data) value = TABLE[(value ^ byte) & 0xff]! ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
