import { expect, test } from 'vitest';
import { isWebhookUrl, webhookPauseSeconds } from '../../../domain/webhooks/webhook.ts';

test('attempts are spread over three days, whatever the receiver asks for', () => {
  const pauses = Array.from({ length: 14 }, (_, index) => webhookPauseSeconds(index + 1, null));
  expect(pauses).toEqual(pauses.toSorted((a, b) => a - b));
  expect([pauses[0], pauses.at(-1)]).toEqual([5, 12 * 3_600]);
  expect(webhookPauseSeconds(1, 60)).toBe(60);
  expect(webhookPauseSeconds(3, 0)).toBe(120);
  expect(webhookPauseSeconds(1, 10 ** 9)).toBe(12 * 3_600);
});

test('the address of a webhook is http or https, without user, password and fragment', () => {
  for (const url of ['https://example.org/hook?a=b', 'http://10.0.0.1:8080'])
    expect(isWebhookUrl(url)).toBe(true);
  for (const url of [
    '',
    'example.org',
    'ftp://example.org',
    'https://user@example.org',
    'https://:secret@example.org',
    'https://example.org/#part',
  ])
    expect([url, isWebhookUrl(url)]).toEqual([url, false]);
});
