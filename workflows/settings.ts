/** How to reach Temporal: one address, a namespace, a queue, and how to sign in where that is required. */
import { z } from 'zod';
import { hostAndPort } from '../domain/settings.ts';
import { defaultTaskQueue } from './contract.ts';

const pem = (kind: string, description: string) =>
  z
    .string()
    .regex(
      new RegExp(`-----BEGIN [A-Z ]*${kind}-----`),
      'must be PEM text; set the variable with _FILE to name a file',
    )
    .optional()
    .meta({ secret: true, description });

const temporalVariables = z.object({
  TEMPORAL_ADDRESS: hostAndPort().describe('Address of the Temporal frontend.'),
  TEMPORAL_NAMESPACE: z.string().min(1).default('default').describe('Namespace of the platform’s workflows.'),
  TEMPORAL_TASK_QUEUE: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, underscores or hyphens')
    .default(defaultTaskQueue)
    .describe('Task queue of the platform’s workflows; built-in nodes use the same name with “-builtin”.'),
  TEMPORAL_TLS: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .optional()
    .meta({
      description:
        'Whether to connect to Temporal over TLS; absent: yes if an authority, a server name, a certificate or an API key is set. ' +
        '`false` is refused with the first three.',
    }),
  TEMPORAL_TLS_CA: pem('CERTIFICATE', 'Certificate of the authority of Temporal’s server.'),
  TEMPORAL_TLS_SERVER_NAME: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Name in the server’s certificate, if it differs from the address.' }),
  TEMPORAL_TLS_CERT: pem('CERTIFICATE', 'The platform’s client certificate for Temporal.'),
  TEMPORAL_TLS_KEY: pem('PRIVATE KEY', 'Key of that certificate.'),
  TEMPORAL_API_KEY: z
    .string()
    .min(1)
    .optional()
    .meta({ secret: true, description: 'API key for Temporal, sent with every call.' }),
});
type Values = z.output<typeof temporalVariables>;

const tlsVariables = [
  'TEMPORAL_TLS_CA',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_TLS_CERT',
  'TEMPORAL_TLS_KEY',
] as const satisfies readonly (keyof Values)[];

/** Reported with the faults of other variables. */
const always = { when: () => true };

export const temporalSettings = temporalVariables
  .refine((values) => !values.TEMPORAL_TLS_CERT || values.TEMPORAL_TLS_KEY, {
    path: ['TEMPORAL_TLS_KEY'],
    error: 'is required with TEMPORAL_TLS_CERT',
    ...always,
  })
  .refine((values) => !values.TEMPORAL_TLS_KEY || values.TEMPORAL_TLS_CERT, {
    path: ['TEMPORAL_TLS_CERT'],
    error: 'is required with TEMPORAL_TLS_KEY',
    ...always,
  })
  .refine((values) => values.TEMPORAL_TLS !== 'false' || !tlsVariables.some((name) => values[name]), {
    path: ['TEMPORAL_TLS'],
    error: `must not be false with ${tlsVariables.join(', ')}`,
    ...always,
  });

export type TemporalSettings = z.output<typeof temporalSettings>;

/** The settings of a connection. */
export type TemporalAccess = Pick<TemporalSettings, 'TEMPORAL_ADDRESS'> & Partial<TemporalSettings>;

/** Options of a connection, the client's and the worker's alike. */
export function temporalConnection(settings: TemporalAccess) {
  const { TEMPORAL_API_KEY: apiKey, TEMPORAL_TLS: tls } = settings;
  const isTls =
    tls === undefined
      ? apiKey !== undefined || tlsVariables.some((name) => settings[name] !== undefined)
      : tls === 'true';
  return {
    address: settings.TEMPORAL_ADDRESS,
    tls: isTls ? tlsOptions(settings) : false,
    ...(apiKey === undefined ? {} : { apiKey }),
  };
}

function tlsOptions(settings: TemporalAccess) {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const { TEMPORAL_TLS_CA: ca, TEMPORAL_TLS_SERVER_NAME: name } = settings;
  const { TEMPORAL_TLS_CERT: crt, TEMPORAL_TLS_KEY: key } = settings;
  return {
    ...(ca === undefined ? {} : { serverRootCACertificate: bytes(ca) }),
    ...(name === undefined ? {} : { serverNameOverride: name }),
    ...(crt === undefined || key === undefined
      ? {}
      : { clientCertPair: { crt: bytes(crt), key: bytes(key) } }),
  };
}
