/**
 * How fluently a dashboard follows a hand. Run: `npm run bench:panning [-- --seconds 5]`. Needs Chromium (`CHROMIUM` names
 * another one).
 *
 * A recording of 200,000 rows and 14 channels is zoomed to a sixteenth and panned by the wheel, sixty turns in a second, to and
 * fro. The browser's own trace says when it drew: frames in a second (the aim is 60), and the time between two. The floor is a page
 * that moves one box.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import { buildConsole, startBrowser } from '../web/support/browser.ts';
import { findChromium } from '../web/support/chromium.ts';
import { signInAs } from '../web/support/sign-in.ts';
import { report } from './support/figures.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession, dashboardOf, shippedTemplate } from './support/sessions.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
const seconds = Number(values.seconds);
const rows = 200_000;
const channels = 14;
/** Pixels of a turn of the wheel. */
const step = 8;
const person = { username: 'panning-bench', password: 'password of the panning bench' };

async function prepare({ client }: BenchPlatform): Promise<string> {
  await client.expect(201, 'POST', '/api/authorization/users', {
    ...person,
    role: 'Developer',
    firstName: 'Panning',
    lastName: 'Bench',
    email: 'panning-bench@example.org',
  });
  const session = await createSession(client, await shippedTemplate(client), 'tabular-upload');
  const names = Array.from({ length: channels }, (_, index) => `channel ${index} [u${index}]`);
  const lines = Array.from({ length: rows }, (_, row) => {
    const wave = (index: number) => (Math.sin(row / (40 + 9 * index)) * (index + 1)).toFixed(3);
    return `${row * 10},${names.map((_, index) => wave(index)).join(',')}`;
  });
  const csv = Buffer.from(`time [ms],${names.join(',')}\n${lines.join('\n')}\n`);
  await client.expect(201, 'POST', `/api/v2/node-instance/${session.inputId}/outputs/data`, csv);
  const { path } = await dashboardOf(client, session.id);
  return `/dashboards/${path.split('/').at(-1)}`;
}

/** Times between the frames that the browser drew while some work went on, in milliseconds. */
async function framesOf(cdp: CDPSession, work: () => Promise<void>): Promise<number[]> {
  const drawn: number[] = [];
  const listen = ({ value }: { value: Record<string, unknown>[] }) => {
    for (const event of value) if (event.name === 'DrawFrame') drawn.push(Number(event.ts) / 1000);
  };
  cdp.on('Tracing.dataCollected', listen as never);
  const done = new Promise<void>((resolve) => cdp.once('Tracing.tracingComplete', () => resolve()));
  await cdp.send('Tracing.start', {
    traceConfig: {
      includedCategories: ['disabled-by-default-devtools.timeline.frame', 'devtools.timeline.frame'],
    },
    transferMode: 'ReportEvents',
  } as never);
  await work();
  await cdp.send('Tracing.end');
  await done;
  cdp.off('Tracing.dataCollected', listen as never);
  drawn.sort((a, b) => a - b);
  return drawn.slice(1).map((time, index) => time - (drawn[index] as number));
}

/** One turn of a wheel sideways at each sixtieth of a second, to and fro; it does not wait for what it causes. */
async function turnWheel(cdp: CDPSession, at: { x: number; y: number }, turns: number): Promise<void> {
  const startedAt = performance.now();
  const sent: Promise<unknown>[] = [];
  for (let turn = 0; turn < turns; turn++) {
    const deltaX = turn % 120 < 60 ? step : -step;
    sent.push(cdp.send('Input.dispatchMouseEvent', { type: 'mouseWheel', ...at, deltaX, deltaY: 0 }));
    await delay(Math.max(0, startedAt + ((turn + 1) * 1000) / 60 - performance.now()));
  }
  await Promise.all(sent);
}

/** The box moves as the wheel says. */
const bare = `<!doctype html><title>bare</title><div id="box" style="width:64px;height:64px;background:teal"></div>
<script>let x = 300; addEventListener('wheel', (event) => { event.preventDefault(); x += event.deltaX / 4;
box.style.transform = 'translateX(' + x + 'px)'; }, { passive: false })</script>`;

async function measure(name: string, page: Page, at: { x: number; y: number }): Promise<number[]> {
  const cdp = await page.context().newCDPSession(page);
  await page.mouse.move(at.x, at.y);
  await turnWheel(cdp, at, 60);
  const between = await framesOf(cdp, () => turnWheel(cdp, at, 60 * seconds));
  const inSeconds = between.reduce((sum, time) => sum + time, 0) / 1000;
  const rate = between.length / inSeconds;
  console.log(`${name}: frames in a second`.padEnd(58), rate.toFixed(1));
  report({
    name: `${name}: frames in a second`,
    unit: 'a second',
    values: [rate],
    aim: { of: 'median', least: 60 },
  });
  return between;
}

const program = findChromium();
if (program === null) throw new Error('There is no Chromium on this machine; CHROMIUM may name one.');
printMachine();
await buildConsole();
const platform = await startBenchPlatform();
const url = `http://127.0.0.1:${platform.port}`;
const browser = await startBrowser(program, url);
try {
  const address = await prepare(platform);
  const plain = await browser.newPage();
  await plain.setContent(bare);
  const floor = {
    name: 'one box',
    values: await measure('one box that follows the wheel', plain, { x: 400, y: 400 }),
  };
  await plain.close();
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  await signInAs(page, url + address, person);
  const plot = page.locator('.chart-plot').first();
  await plot.focus();
  for (let zoom = 0; zoom < 4; zoom++) await page.keyboard.press('+');
  await page.locator('.chart[aria-busy="false"] .chart-plot:not([data-points="0"])').first().waitFor();
  const box = (await plot.boundingBox())!;
  const between = await measure(`dashboard of ${channels} channels, panned`, page, {
    x: box.x + box.width / 2,
    y: box.y + box.height / 2,
  });
  printFigure(`dashboard of ${channels} channels, panned: time between two frames`, between, { floor });
} finally {
  await browser.close();
  await platform.stop();
}
