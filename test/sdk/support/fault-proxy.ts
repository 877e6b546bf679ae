/** An HTTP proxy before the platform that spoils chosen requests the way networks do. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { afterAll } from 'vitest';

type Fault =
  /** Breaks the connection before anything is passed on. */
  | 'refuse'
  /** Passes the request on, and breaks the connection when the platform has answered. */
  | 'no-answer'
  /** Passes on so many bytes of the request's body, then breaks both connections. */
  | { readonly requestBytes: number }
  /** Passes on so many bytes of the answer's body, then breaks the connection: at once, or when `cutWhen` resolves. */
  | { readonly answerBytes: number; readonly cutWhen?: Promise<void> }
  /** Passes the answer on with another byte at this place. */
  | { readonly otherByteAt: number }
  /** Passes the platform's answer on when this resolves. */
  | { readonly heldUntil: Promise<void> }
  /** Answers by itself. */
  | { readonly status: number; readonly headers?: Record<string, string> };

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

export interface FaultProxy {
  readonly url: string;
  /** All requests, spoilt or not. */
  readonly seen: readonly Seen[];
  /** How many of those whose `<method> <path>` fits the pattern. */
  count(pattern: RegExp): number;
  /** How many of those are under way. */
  underWay(pattern: RegExp): number;
  /** Spoils the next requests whose `<method> <path>` fits the pattern, one for each fault, in order. */
  spoil(pattern: RegExp, ...faults: Fault[]): void;
}

/** Ends after the file's last test. */
export async function faultProxy(platformUrl: string): Promise<FaultProxy> {
  const seen: Seen[] = [];
  const open = new Map<ServerResponse, string>();
  const plans: { readonly pattern: RegExp; readonly faults: Fault[] }[] = [];
  const server = createServer((request, response) => {
    const { method = '', url: path = '', headers } = request;
    seen.push({ method, path, headers });
    const line = `${method} ${path}`;
    open.set(response, line);
    response.once('close', () => open.delete(response));
    const plan = plans.find(({ pattern, faults }) => faults.length > 0 && pattern.test(line));
    pass(platformUrl, request, response, plan?.faults.shift());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    count: (pattern) => seen.filter(({ method, path }) => pattern.test(`${method} ${path}`)).length,
    underWay: (pattern) => [...open.values()].filter((line) => pattern.test(line)).length,
    spoil: (pattern, ...faults) => void plans.push({ pattern, faults }),
  };
}

function pass(
  platformUrl: string,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): void {
  const { socket } = request;
  if (fault === 'refuse') {
    socket.destroy();
    return;
  }
  if (typeof fault === 'object' && 'status' in fault) {
    request.resume();
    response.writeHead(fault.status, fault.headers).end();
    return;
  }
  const onward = httpRequest(platformUrl + request.url, { method: request.method, headers: request.headers });
  onward.on('error', () => response.destroy());
  response.on('close', () => {
    if (!response.writableFinished) onward.destroy();
  });
  const requestBytes = typeof fault === 'object' && 'requestBytes' in fault ? fault.requestBytes : undefined;
  if (requestBytes === undefined) request.pipe(onward);
  else
    void cutAfter(request, requestBytes, (chunk) => onward.write(chunk)).then(() => {
      onward.destroy();
      socket.destroy();
    });
  onward.on('response', (answer) => {
    // A caller that has gone must not fail the run.
    passAnswer(answer, response, fault).catch(() => response.destroy());
  });
}

async function passAnswer(
  answer: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  answer.on('error', () => response.destroy());
  if (fault === 'no-answer') {
    answer.resume().once('end', () => response.destroy());
    return;
  }
  if (typeof fault === 'object' && 'heldUntil' in fault) await fault.heldUntil;
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  if (typeof fault === 'object' && 'otherByteAt' in fault) {
    const bytes = await buffer(answer);
    bytes[fault.otherByteAt]! ^= 1;
    response.end(bytes);
    return;
  }
  if (typeof fault !== 'object' || !('answerBytes' in fault)) {
    answer.pipe(response);
    return;
  }
  const isCut = await cutAfter(answer, fault.answerBytes, (chunk) => response.write(chunk));
  if (!isCut) {
    response.end();
    return;
  }
  await fault.cutWhen;
  // The written bytes must arrive first.
  response.socket?.end();
  answer.destroy();
}

/** @returns whether the stream has so many bytes */
async function cutAfter(
  stream: IncomingMessage,
  bytes: number,
  write: (chunk: Buffer) => unknown,
): Promise<boolean> {
  let left = bytes;
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) return true;
    }
  } catch {
    // The other side has closed the connection.
  }
  return false;
}
