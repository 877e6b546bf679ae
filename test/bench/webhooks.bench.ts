/**
 * How long a fact takes to its receiver. Run: `npm run bench:webhooks [-- --facts 200]`.
 *
 * Each fact is an upload that makes `output.published`, in a session without other work. The time runs from the sending of
 * the upload until the receiver has the message: it includes the upload. The aim is a p95 of 300 milliseconds.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { importTemplate, register, upload } from './support/outside-runner.ts';
import { printFigure, printMachine, startBenchPlatform } from './support/platform.ts';
import { createSession } from './support/sessions.ts';

const { values } = parseArgs({ options: { facts: { type: 'string', default: '200' } } });
const facts = Number(values.facts);

let received: (() => void) | undefined;
const receiver = createServer(async (request, response) => {
  await json(request);
  received?.();
  response.end();
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;

printMachine();
process.env.WEBHOOK_ALLOWLIST = '127.0.0.1';
const platform = await startBenchPlatform();
try {
  const { client } = platform;
  await register(client, 'notified-node');
  const template = await importTemplate(client, 'notified-node', 1, 3);
  const sessions = await Promise.all(
    Array.from({ length: 20 }, () => createSession(client, template, 'input')),
  );
  await client.expect(201, 'POST', '/api/v2/admin/webhooks', { url, events: ['output.published'] });
  const uploadMs: number[] = [];
  const receivedMs: number[] = [];
  for (let fact = -3; fact < facts; fact++) {
    const arrived = new Promise<void>((resolve) => {
      received = resolve;
    });
    const startedAt = performance.now();
    await upload(client, sessions[(fact + 3) % sessions.length]!.inputId);
    const uploadedMs = performance.now() - startedAt;
    await arrived;
    if (fact >= 0) {
      uploadMs.push(uploadedMs);
      receivedMs.push(performance.now() - startedAt);
    }
    // Not in the rhythm of anything that the platform does by itself.
    await delay(50 + Math.random() * 100);
  }
  printFigure('upload sent -> answered', uploadMs);
  printFigure('upload sent -> webhook received', receivedMs, { aim: { of: 'p95', most: 300 } });
} finally {
  await platform.stop();
  receiver.close();
}
