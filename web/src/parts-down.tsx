import { useEffect, useState } from 'preact/hooks';
import { partsDown } from './health.ts';
import { platform } from './http.ts';
import { useAbilities } from './role.ts';
import { Notice } from './ui/notice.tsx';

const checkEveryMs = 60_000;

/** The effects for people while a part of the platform does not answer. */
const meanings: Record<string, string> = {
  database: 'The database is unavailable. Data cannot be read or changed.',
  storage: 'The object store is unavailable. Uploads and downloads fail.',
  temporal: 'Temporal is unavailable. Uploads are accepted, and runs wait.',
};

/** Prometheus text, which is not in the interface document. */
async function readMetrics(signal: AbortSignal): Promise<string> {
  const response = await fetch('/metrics', { headers: await platform.authorization(), signal });
  if (!response.ok) throw new Error(`The metrics were refused with ${response.status}.`);
  return response.text();
}

/** Shows operators which parts of the platform are down, from its metrics. */
export function PartsDown() {
  const { operate } = useAbilities();
  const [down, setDown] = useState<string[]>([]);
  useEffect(() => {
    if (!operate) return;
    const controller = new AbortController();
    const check = () => {
      if (document.hidden) return;
      readMetrics(controller.signal)
        .then((text) => setDown(partsDown(text)))
        // A failed read says nothing about the parts; the page's own requests show the error.
        .catch(() => undefined);
    };
    check();
    const timer = window.setInterval(check, checkEveryMs);
    return () => {
      window.clearInterval(timer);
      controller.abort();
    };
  }, [operate]);
  if (down.length === 0) return null;
  return (
    <div class="parts-down">
      {down.map((part) => (
        <Notice key={part} tone="error">
          {meanings[part] ?? `A part of the platform is unavailable: ${part}.`}
        </Notice>
      ))}
    </div>
  );
}
