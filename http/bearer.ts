/** The `Authorization: Bearer <token>` header. */

const shape = /^bearer +([\x21-\x7e]{1,1024})$/i;

/** The token, or null when the header is absent or is no bearer header. */
export function readBearer(header: string | undefined): string | null {
  if (header === undefined) return null;
  return shape.exec(header.trim())?.[1] ?? null;
}
