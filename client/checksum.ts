/** The SHA-256 of stored bytes, which their ETag is; undefined for another tag, by which nothing can be checked. */
export function sha256Of(etag: string | null | undefined): string | undefined {
  return /^"([0-9a-f]{64})"$/.exec(etag ?? '')?.[1];
}
