import { formatAgo, formatDateTime } from '../format.ts';

/** `3 minutes ago`, with the time itself as its tooltip. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatDateTime(at)}>
      {formatAgo(at, Date.now())}
    </time>
  );
}
