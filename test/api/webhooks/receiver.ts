/** A receiver of webhooks that checks each message by the published library of Standard Webhooks. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

interface Received {
  readonly id: string;
  readonly headers: IncomingHttpHeaders;
  readonly type: string;
  readonly timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: the test asserts the form of what a server sends.
  readonly data: any;
  /** Whether the signature fits the secret that the receiver knows. */
  readonly isGenuine: boolean;
}

type Answer = (received: Received, response: ServerResponse) => void;

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  secret: string;
  /** What it answers; 200 unless a test says otherwise. */
  answer: Answer;
  stop(): Promise<void>;
}

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_received, response) => {
    response.writeHead(status, headers).end('noted');
  };

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const text = body.toString('utf8');
    const message = {
      id: String(request.headers['webhook-id']),
      headers: request.headers,
      ...JSON.parse(text),
    };
    const one: Received = { ...message, isGenuine: isGenuine(receiver.secret, text, request.headers) };
    receiver.received.push(one);
    receiver.answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?kind=test`,
    received: [],
    secret: '',
    answer: answerWith(200),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

function isGenuine(secret: string, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
