import { formatAgo, formatDate, formatDateTime, formatExactly } from '../format.ts';
import { useNow } from '../hooks.ts';

/** How often the text is renewed, which shows no seconds. */
const everyMs = 30_000;

/** `3 min ago` or `14 Mar 2026`, with the time itself as its tooltip. */
export function Ago({ at }: { at: string }) {
  useNow(true, everyMs);
  return (
    <time dateTime={at} title={formatExactly(at)}>
      {formatAgo(at, Date.now(), formatDate)}
    </time>
  );
}

/** `14 Mar 2026, 09:30`, with seconds and zone as its tooltip. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExactly(at)}>
      {formatDateTime(at)}
    </time>
  );
}
