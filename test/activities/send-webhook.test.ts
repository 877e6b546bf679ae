import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { sendWebhook, webhookReach } from '../../activities/send-webhook.ts';

test('the allowlist of webhooks admits networks of both kinds of addresses, and hosts with or without their port', () => {
  const reachOf = webhookReach(['10.1.0.0/16', 'fd00:1::/32', 'hooks.example.org', 'other.example.org:8443']);
  const reachTo = (address: string) => reachOf(new URL(`https://${address}`));
  const { admits } = reachTo('example.org');
  const addresses = ['10.1.2.3', 'fd00:1::5', '[fd00:1::5]', '10.2.0.1', 'fd00:2::1'];
  expect(addresses.filter((address) => admits?.(address))).toEqual(addresses.slice(0, 3));
  const hosts = [
    'hooks.example.org',
    'hooks.example.org:9',
    'other.example.org:8443',
    'other.example.org',
    'example.org',
  ];
  expect(hosts.filter((host) => reachTo(host).inside)).toEqual(hosts.slice(0, 3));
});

test('an attempt whose connection fails says why, by the code of the system', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  const message = { id: 'one', body: '{}', at: new Date(), secrets: [] };
  const send = (url: string) =>
    sendWebhook({ ...message, url }, webhookReach(['127.0.0.0/8']), AbortSignal.timeout(10_000));
  const { attempt } = await send(`http://127.0.0.1:${port}`);
  expect(attempt).toMatchObject({ status: null, error: 'The connection failed (ECONNREFUSED).' });
});
