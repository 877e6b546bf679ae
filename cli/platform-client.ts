/** The platform over HTTP, as the command line uses it: calls with a deadline, and uploads with progress. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { pipeline } from 'node:stream/promises';
import { ApiClient, type Bearer, filled, type Reply } from '../client/api-client.ts';
import { NetworkError, refusalOf } from '../client/errors.ts';

const uploadRoute = 'POST /api/v2/node-instance/{nodeInstanceId}/outputs/data';
export type UploadReply = Reply<typeof uploadRoute>;

export class PlatformClient extends ApiClient {
  /**
   * @param address base address, e.g. `http://127.0.0.1:8080`
   * @param bearer the token of an earlier sign-in
   */
  constructor(address: string, bearer: Bearer = { token: () => undefined }) {
    super({ address, bearer, deadlineMs: 60_000 });
  }

  /**
   * Streams a file as raw bytes; memory stays constant for any size. It is sent once: after a 401 the caller decides.
   * @param onProgress called with the bytes sent so far and the file's size
   * @throws ApiError when the platform refuses; NetworkError when no answer comes
   */
  async upload(
    nodeInstanceId: number,
    file: string,
    headers: Readonly<Record<string, string>>,
    onProgress: (sentBytes: number, totalBytes: number) => void,
  ): Promise<UploadReply> {
    const { size } = await stat(file);
    const path = uploadRoute.slice('POST '.length);
    const url = new URL(this.address + filled(path, { params: { nodeInstanceId } }));
    const outgoing = (url.protocol === 'https:' ? secureRequest : request)(url, {
      method: 'POST',
      headers: { ...(await this.authorization()), ...headers, 'content-length': size },
    });
    const answered = answerOf(outgoing, this.address);
    let sentBytes = 0;
    const body = createReadStream(file).on('data', (chunk) => {
      sentBytes += chunk.length;
      onProgress(sentBytes, size);
    });
    try {
      // A refused upload ends the pipe early; the answer has the reason.
      await Promise.race([pipeline(body, outgoing).catch(() => answered), answered]);
      return await answered;
    } finally {
      body.destroy();
      outgoing.destroy();
    }
  }
}

function answerOf(outgoing: ClientRequest, address: string): Promise<UploadReply> {
  const answered = new Promise<UploadReply>((resolve, reject) => {
    const broken = (cause: unknown) =>
      reject(new NetworkError(`The connection to ${address} broke during the upload.`, { cause }));
    outgoing.on('error', broken);
    outgoing.on('response', (response) => {
      textOf(response).then((text) => {
        try {
          resolve(parseReply(response, text));
        } catch (error) {
          reject(error);
        }
      }, broken);
    });
  });
  // It is awaited once the upload has started.
  answered.catch(() => undefined);
  return answered;
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
}

function parseReply({ statusCode: status = 0, headers }: IncomingMessage, text: string): UploadReply {
  const refusal = () => refusalOf({ status, header: (name) => headers[name]?.toString(), text });
  if (status < 200 || status > 299) throw refusal();
  try {
    return JSON.parse(text);
  } catch {
    throw refusal();
  }
}
