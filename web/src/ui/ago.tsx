import { formatAgo, formatDate, formatDateTime } from '../format.ts';

/** `3 min ago` or `14 Mar 2026`, with the time itself as its tooltip. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at, Date.now(), formatDate)}
    </time>
  );
}
