/**
 * What people wait for in the console. Run: `npm run bench:console [-- --rounds 15]`. Needs Chromium (`CHROMIUM` names
 * another one).
 *
 * JavaScript that is sent before the first page and before a dashboard (the aim is under 120 KB), and the time from
 * opening the page of a session of 200 nodes until all of them are shown and a click on one selects it: with an empty
 * cache, with what the browser kept, and on a processor a quarter as fast. The floor is a page of as many boxes without
 * any script but the answer to the click, from a bare server.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import { buildConsole, startBrowser } from '../web/support/browser.ts';
import { findChromium } from '../web/support/chromium.ts';
import { signInAs } from '../web/support/sign-in.ts';
import { report } from './support/figures.ts';
import { register, upload } from './support/outside-runner.ts';
import { type BenchPlatform, printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession, dashboardOf, shippedTemplate, type Template } from './support/sessions.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '15' }, nodes: { type: 'string', default: '200' } },
});
const rounds = Number(values.rounds);
const nodeCount = Number(values.nodes);
const layer = 10;
const person = { username: 'console-bench', password: 'password of the console bench' };

/** Layers of ten below one input, each node below two of the layer before. */
async function importGraph({ client }: BenchPlatform): Promise<Template> {
  await register(client, 'console-node');
  const name = (index: number) => `stage-${Math.floor(index / layer)}-part-${index % layer}`;
  const parents = (index: number) => {
    const above = index - layer;
    return above < 0 ? ['input'] : [name(above), name(above - (above % layer) + ((above + 1) % layer))];
  };
  const nodes = Array.from({ length: nodeCount - 1 }, (_, index) => ({
    Name: name(index),
    NodeTemplateName: 'console-node',
    DefaultConfiguration: {},
    Parents: parents(index),
  }));
  return client.expect<Template>(201, 'POST', '/api/v2/admin/session-templates', {
    TemplateVersion: '1.0.0',
    Name: 'console-bench',
    Description: '',
    Configuration: {},
    Nodes: [
      {
        Name: 'input',
        NodeTemplateName: 'input-node',
        DefaultConfiguration: { dataSourceName: 'platform' },
        Parents: [],
      },
      ...nodes,
    ],
  });
}

/** As many boxes, and one of them is chosen by a click. */
function barePage(): string {
  const boxes = Array.from(
    { length: nodeCount },
    (_, index) =>
      `<button data-node="${index}" aria-pressed="false" style="left:${Math.floor(index / layer) * 252}px;` +
      `top:${(index % layer) * 84}px">stage ${index}</button>`,
  );
  return `<!doctype html><title>bare</title><style>button{position:absolute;width:204px;height:64px}</style>${boxes.join('')}
<script>document.addEventListener('click', (event) => event.target.setAttribute('aria-pressed', 'true'))</script>`;
}

/** Clicks the last node as soon as all are shown, and notes when the page shows it. Runs before the page's own scripts. */
const watch = `(() => {
  let clicked = null;
  const look = () => {
    const nodes = document.querySelectorAll('[data-node]');
    if (clicked === null && nodes.length >= ${nodeCount}) {
      clicked = nodes[nodes.length - 1].getAttribute('data-node');
      window.benchDrawnMs = performance.now();
      nodes[nodes.length - 1].click();
    }
    const chosen = clicked === null ? null : document.querySelector('[data-node="' + clicked + '"]');
    if (chosen?.getAttribute('aria-pressed') === 'true') window.benchInteractiveMs = performance.now();
    else requestAnimationFrame(look);
  };
  look();
})()`;

interface Opened {
  readonly drawnMs: number;
  readonly interactiveMs: number;
}

async function open(page: Page, address: string): Promise<Opened> {
  await page.goto(address, { waitUntil: 'commit' });
  // Asked now and then, since the page's policy refuses what would wait within it.
  for (const until = Date.now() + 60_000; Date.now() < until; await delay(50)) {
    const found = '({ drawnMs: window.benchDrawnMs, interactiveMs: window.benchInteractiveMs })';
    const times = (await page.evaluate(found)) as Partial<Opened>;
    if (times.interactiveMs !== undefined) return times as Opened;
  }
  const shown = await page.locator('body').innerText();
  throw new Error(`${address} is not there within a minute, but: ${shown.slice(0, 300)}`);
}

async function opened(page: Page, address: string): Promise<Opened[]> {
  const all: Opened[] = [];
  await open(page, address);
  for (let round = 0; round < rounds; round++) all.push(await open(page, address));
  return all;
}

const interactive = (all: readonly Opened[]) => all.map(({ interactiveMs }) => interactiveMs);

/** Kilobytes of JavaScript that came over the line for the open page. */
async function scriptsSent(page: Page, address: string, awaited: string): Promise<number> {
  await page.goto(address);
  await page.locator(awaited).first().waitFor();
  const bytes = await page.evaluate(`performance.getEntriesByType('resource')
    .filter(({ name }) => new URL(name).pathname.endsWith('.js'))
    .reduce((sum, { transferSize }) => sum + transferSize, 0)`);
  return (bytes as number) / 1024;
}

async function measureScripts(page: Page, pages: Readonly<Record<string, [string, string]>>): Promise<void> {
  for (const [name, [address, awaited]] of Object.entries(pages)) {
    const kilobytes = await scriptsSent(page, address, awaited);
    const what = `JavaScript sent for ${name}`;
    console.log(what.padEnd(58), `${kilobytes.toFixed(1)} KB`);
    report({ name: what, unit: 'KB', values: [kilobytes], aim: { of: 'worst', most: 120 } });
  }
}

type Floor = { readonly name: string; readonly values: readonly number[] };

/** In a separate tab: a page from elsewhere would end the sign-in of the tab. */
async function measureBare(page: Page, address: string): Promise<Floor> {
  await page.addInitScript(watch);
  const floor = { name: 'bare page', values: interactive(await opened(page, address)) };
  printFigure(`bare page of ${nodeCount} boxes, interactive`, floor.values);
  await page.close();
  return floor;
}

async function measureSession(page: Page, cdp: CDPSession, address: string, floor: Floor): Promise<void> {
  const what = `session page of ${nodeCount} nodes`;
  const first = await opened(page, address);
  printFigure(`${what}, empty cache: interactive`, interactive(first), { floor });
  printFigure(
    `${what}, empty cache: all nodes stand there`,
    first.map(({ drawnMs }) => drawnMs),
    { floor },
  );
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: false });
  printFigure(`${what}, again: interactive`, interactive(await opened(page, address)), { floor });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  printFigure(
    `${what}, again, quarter of the processor: interactive`,
    interactive(await opened(page, address)),
  );
}

async function prepare(platform: BenchPlatform): Promise<{ sessionPage: string; dashboardPage: string }> {
  const { client } = platform;
  await client.expect(201, 'POST', '/api/authorization/users', {
    ...person,
    role: 'Developer',
    firstName: 'Console',
    lastName: 'Bench',
    email: 'console-bench@example.org',
  });
  const recorded = await createSession(client, await shippedTemplate(client), 'tabular-upload');
  const lines = Array.from({ length: 2_000 }, (_, row) => `${row / 100},${Math.sin(row / 50)}`);
  const csv = Buffer.from(`time [s],speed\n${lines.join('\n')}\n`);
  await client.expect(201, 'POST', `/api/v2/node-instance/${recorded.inputId}/outputs/data`, csv);
  const session = await createSession(client, await importGraph(platform), 'input');
  await upload(client, session.inputId);
  const { path } = await dashboardOf(client, recorded.id);
  return {
    sessionPage: `/sessions/${session.id}?tab=pipeline&view=graph`,
    dashboardPage: `/dashboards/${path.split('/').at(-1)}`,
  };
}

const program = findChromium();
if (program === null) throw new Error('There is no Chromium on this machine; CHROMIUM may name one.');
printMachine();
await buildConsole();
const html = barePage();
const bare = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(html);
});
await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
const platform = await startBenchPlatform();
const url = `http://127.0.0.1:${platform.port}`;
const browser = await startBrowser(program, url);
try {
  const { sessionPage, dashboardPage } = await prepare(platform);
  const floor = await measureBare(await browser.newPage(), bareUrl);
  const page = await browser.newPage();
  page.setDefaultTimeout(60_000);
  const cdp = await browser.context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
  await measureScripts(page, { 'the sign-in form': [url, 'form'] });
  await signInAs(page, url, person);
  await measureScripts(page, {
    'the page of a session': [`${url}${sessionPage}`, '[data-node]'],
    'a dashboard': [`${url}${dashboardPage}`, 'canvas'],
  });
  await page.addInitScript(watch);
  await measureSession(page, cdp, `${url}${sessionPage}`, floor);
} finally {
  await browser.close();
  bare.close();
  bare.closeAllConnections();
  await platform.stop();
}
