/** Addresses at which a browser downloads an output on its own: a link cannot carry a bearer token. */
import { z } from 'zod';
import { access } from '../../domain/access/access.ts';
import { Problem } from '../../domain/errors.ts';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { formatTimestamp } from '../../domain/timestamp.ts';
import { downloadHeaders, downloadResponses } from '../../http/bodies/download.ts';
import { nameText, timestampOut } from '../../http/schemas.ts';
import type { SecretBox } from '../../store/objects/secrets.ts';
import { findOutput } from '../../store/outputs/outputs.ts';
import { serveOutput } from '../output-data.ts';
import { defineRoute } from '../route.ts';
import { nodeOutputParams } from './schema.ts';

const tags = ['Node outputs'] as const;
const purpose = 'address of a download';
const ticketCharacters = 2_000;

interface Ticket {
  readonly nodeOutputId: number;
  readonly fileName: string | undefined;
  readonly untilMs: number;
}

/** Undefined for a text that no process of this platform made. */
function readTicket(secrets: SecretBox, text: string): Ticket | undefined {
  try {
    return JSON.parse(secrets.decrypt(text, purpose)) as Ticket;
  } catch {
    return undefined;
  }
}

const downloadAddressSchema = z
  .object({
    address: z.string().meta({ description: 'Path at the address of the platform.' }),
    expiresAt: timestampOut(),
  })
  .meta({
    id: 'DownloadAddress',
    example: {
      address: '/api/v2/downloads/v1.mZ0u3lqA6fUe4kP1x9bWcg',
      expiresAt: exampleValues.processedAt,
    },
  });

const downloadAddress = defineRoute({
  id: 'getDownloadAddress',
  method: 'GET',
  path: '/api/v2/node-instance/outputs/{nodeOutputId}/download-address',
  summary: 'Returns an address at which the output can be downloaded without a token',
  description:
    'For links and for downloads by a browser. The address opens this output alone, for five minutes; a download that has ' +
    'begun may take longer.',
  tags,
  access: access.outputRead,
  params: nodeOutputParams,
  query: z.object({
    fileName: nameText().optional().meta({
      description: 'Name of the saved file; default: the identifier of the output.',
      example: 'lap-12.csv',
    }),
  }),
  responses: {
    200: {
      description: 'The address.',
      schema: downloadAddressSchema,
      headers: { 'cache-control': '`no-store`: the address expires.' },
    },
  },
  errors: ['nodeOutputNotFound'],
  refusals: { params: 'nodeOutputNotFound' },
  async handler({ params: { nodeOutputId }, query: { fileName }, services: { database, objects } }) {
    if ((await findOutput(database, nodeOutputId)) === undefined) throw new Problem('nodeOutputNotFound');
    const untilMs = Date.now() + limits.downloadAddressSeconds * 1_000;
    const ticket: Ticket = { nodeOutputId, fileName, untilMs };
    const text = objects.secrets.encrypt(JSON.stringify(ticket), purpose);
    return {
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: { address: `/api/v2/downloads/${text}`, expiresAt: formatTimestamp(new Date(untilMs)) },
    };
  },
});

const download = defineRoute({
  id: 'downloadOutput',
  method: 'GET',
  path: '/api/v2/downloads/{ticket}',
  summary: 'Downloads an output by an address that the platform made',
  description: 'As the data of the output.',
  tags,
  access: access.open,
  params: z.object({
    ticket: z.string().max(ticketCharacters).meta({
      description: 'The last part of the address.',
      example: 'v1.mZ0u3lqA6fUe4kP1x9bWcg',
    }),
  }),
  headers: downloadHeaders,
  responses: downloadResponses,
  errors: ['downloadAddressNotFound', 'rangeNotSatisfiable', 'upstreamFailed'],
  refusals: { params: 'downloadAddressNotFound' },
  async handler({ params, services, request, signal }) {
    const ticket = readTicket(services.objects.secrets, params.ticket);
    if (ticket === undefined || ticket.untilMs < Date.now()) throw new Problem('downloadAddressNotFound');
    const { nodeOutputId, fileName } = ticket;
    const found = await findOutput(services.database, nodeOutputId);
    if (found === undefined) throw new Problem('downloadAddressNotFound');
    // Not from the store: a browser that cannot reach it has no other way.
    const options = { ...request, signal, ...(fileName && { fileName }) };
    return await serveOutput(services, found.dataSource, found.output, options).catch((error) => {
      throw error instanceof Problem && error.key === 'nodeOutputNotFound'
        ? new Problem('downloadAddressNotFound', { cause: error })
        : error;
    });
  },
});

export const downloadAddressRoutes = [downloadAddress, download];
