import { afterEach, expect, test, vi } from 'vitest';

type Navigate = (address: string, options: { readonly replace: boolean }) => void;
/** Imported by its name: the types of the console's library would bring those of a browser in place of Node's. */
const router = '../../../web/src/router.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** A window at `/runs` that records when its address is replaced. */
function windowAtRuns() {
  const location = { origin: 'http://console.example', pathname: '/runs', search: '' };
  const writtenAt: number[] = [];
  const replaceState = (_state: unknown, _title: string, address: string) => {
    writtenAt.push(performance.now());
    location.search = new URL(address, location.origin).search;
  };
  vi.stubGlobal('window', {
    location,
    history: { state: null, replaceState },
    addEventListener: () => undefined,
    setTimeout: (work: () => void, ms: number) => setTimeout(work, ms),
    clearTimeout: (timer: NodeJS.Timeout) => clearTimeout(timer),
  });
  return { location, writtenAt };
}

test('an address that changes with every frame is replaced less often than WebKit refuses', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { location, writtenAt } = windowAtRuns();
  const { navigate } = (await import(router)) as { navigate: Navigate };
  navigate('/runs?from=0', { replace: true });
  expect(location.search).toBe('?from=0');
  const frames = 60 * 40;
  for (let frame = 1; frame <= frames; frame += 1) {
    navigate(`/runs?from=${frame}`, { replace: true });
    vi.advanceTimersByTime(1000 / 60);
  }
  vi.advanceTimersByTime(1000);
  expect(location.search).toBe(`?from=${frames}`);
  const inTenSeconds = writtenAt.map(
    (at) => writtenAt.filter((one) => one >= at && one < at + 10_000).length,
  );
  // WebKit throws at the 101st in ten seconds. New pages and places of scrolling count too.
  expect(Math.max(...inTenSeconds)).toBeLessThan(70);
});
