/** Every response carries `X-Request-Id` (decisions 2). */
import { randomUUID } from 'node:crypto';

const shape = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id when it has the allowed form, else a new one. */
export function requestIdFrom(header: string | undefined): string {
  return header !== undefined && shape.test(header) ? header : randomUUID();
}
