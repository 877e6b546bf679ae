/** Revisions as entity tags: `If-Match` refuses a change that was meant for an earlier one (RFC 9110, 13.1.1). */
import { z } from 'zod';
import { textHeader } from '../http/schemas.ts';

export const ifMatchHeaders = z.object({
  'if-match': z.string().max(1_000).optional().meta({
    description: 'The revision that the change is meant for, as the `ETag` of the answer before.',
    example: '"1"',
  }),
});

export const ifNoneMatchHeaders = z.object({
  'if-none-match': textHeader("The tag of the caller's copy: 304 when it is current.", '"2a584f50"'),
});

/** The entry of a response's `headers`. */
export const etagHeader = { etag: 'The revision, for `If-Match`.' };

export const etagOf = (revision: number) => ({ etag: `"${revision}"` });

/**
 * The header lists entity tags: one must be the present revision, or `*` for any. Weak tags never match. A bare number
 * counts as well, since bodies show the revision so.
 */
export function expectedRevision({
  'if-match': header,
}: z.output<typeof ifMatchHeaders>): (revision: number) => boolean {
  const tags = header?.split(',').map((tag) => tag.trim());
  return (revision) =>
    tags === undefined || tags.some((tag) => ['*', `"${revision}"`, `${revision}`].includes(tag));
}
