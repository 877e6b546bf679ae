/** The platform's connections in an external installation: with TLS, keys, roles and other addressing. */
import { type ChildProcess, spawn } from 'node:child_process';
import dns from 'node:dns';
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import { afterAll, describe, expect, test } from 'vitest';
import { freePort } from '../../local/ports.ts';
import { findPrograms } from '../../local/programs.ts';
import { readSettings } from '../../settings/read.ts';
import { Database } from '../../store/connection/database.ts';
import { databaseSettings } from '../../store/connection/settings.ts';
import { makeBucket } from '../../store/make-bucket.ts';
import { openObjectStore } from '../../store/objects/object-store.ts';
import { objectSettings, platformAccess } from '../../store/objects/settings.ts';
import { sessionWorkflowId } from '../../workflows/contract.ts';
import { HttpRunner, outsideChain } from '../faults/http-runner.ts';
import { graphEnds } from '../faults/soak/graph-facts.ts';
import { startTestApi, tokenOf } from '../support/api.ts';
import { eventually } from '../support/eventually.ts';
import { certificate, secureTemporal } from '../support/network/secured-temporal.ts';
import { testProcesses } from '../support/processes.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment({ ownStack: true });
const processes = testProcesses(platform.environment);
const folder = mkdtempSync(join(tmpdir(), 'sdp-connections-'));
chmodSync(folder, 0o755);
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
const withQuery = (query: string) => `${platform.databaseUrl}?${query}`;

describe('PostgreSQL with TLS', () => {
  /** Only its own user may read the key; the server reads it again on a reload. */
  async function turnOn(database: Database): Promise<void> {
    for (const name of ['server.pem', 'server.key']) {
      cpSync(certificate(name), join(folder, name));
      chmodSync(join(folder, name), 0o600);
      if (process.getuid?.() === 0) chownSync(join(folder, name), 65_534, 65_534);
    }
    await database.query(`alter system set ssl_cert_file = '${join(folder, 'server.pem')}'`);
    await database.query(`alter system set ssl_key_file = '${join(folder, 'server.key')}'`);
    await database.query('alter system set ssl = on');
    await database.query('select pg_reload_conf()');
    await eventually('TLS is on', async () => {
      const [row] = await database.query<{ ssl: string }>('show ssl');
      return row!.ssl === 'on';
    });
  }

  test('is used by every connection of the API, and only to a server of the authority that is named', async () => {
    const plain = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 1 });
    try {
      await turnOn(plain);
      const DATABASE_URL = withQuery(`sslmode=verify-full&sslrootcert=${certificate('ca.pem')}`);
      const api = await startTestApi({ ...platform.environment, DATABASE_URL });
      try {
        await tokenOf(api.url, platform.administrator.username, platform.administrator.password);
        const connections = await eventually('two pools and a listener are connected', async () => {
          const open = await plain.query<{ name: string; ssl: boolean }>(
            `select application_name as name, ssl from pg_stat_ssl join pg_stat_activity using (pid)
              where datname = current_database() and pid <> pg_backend_pid()`,
          );
          return open.length >= 3 && open;
        });
        expect(connections.filter(({ ssl }) => !ssl)).toEqual([]);
        expect(connections.map(({ name }) => name)).toContain('authentication');
      } finally {
        await api.stop();
      }
      const asks = async (query: string) => {
        const { database } = readSettings({ database: databaseSettings }, { DATABASE_URL: withQuery(query) });
        const own = await Database.open({ databaseUrl: database.DATABASE_URL, poolSize: 1 });
        return await own
          .query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
          .then(
            ([row]) => row!.ssl,
            (error: Error) => error.message,
          )
          .finally(() => own.close());
      };
      // Encrypted, to any server.
      expect(await asks('sslmode=require')).toBe(true);
      expect(await asks(`sslmode=verify-full&sslrootcert=${certificate('other-ca.pem')}`)).toMatch(
        /verify|certificate/,
      );
    } finally {
      await plain.close();
    }
  });
});

describe('Temporal', () => {
  test('is reached over TLS with a certificate and an API key, in a namespace of its own, by API and workers', async () => {
    const apiKey = 'key-for-the-tests';
    const secured = await secureTemporal(platform.temporalAddress, apiKey);
    const variables = {
      TEMPORAL_ADDRESS: secured.address,
      TEMPORAL_NAMESPACE: 'platform-apart',
      TEMPORAL_TLS_CA_FILE: certificate('ca.pem'),
      TEMPORAL_TLS_SERVER_NAME: 'server.test',
      TEMPORAL_TLS_CERT_FILE: certificate('client.pem'),
      TEMPORAL_TLS_KEY_FILE: certificate('client.key'),
      TEMPORAL_API_KEY: apiKey,
    };
    const connection = await Connection.connect({ address: platform.temporalAddress });
    const database = await Database.open({ databaseUrl: platform.databaseUrl, poolSize: 2 });
    try {
      const [api] = await Promise.all([
        processes.startApi({ variables }),
        processes.startWorker('workflows', { variables }),
      ]);
      const token = await tokenOf(api.url, platform.administrator.username, platform.administrator.password);
      const graph = await outsideChain(database, 1);
      const runner = new HttpRunner(api.url, token);
      await runner.upload(graph.nodes.input!, 'one');
      await runner.work(graph.template);
      await graphEnds(database, graph.sessionId, 2);
      const operator = new Client({ connection, namespace: variables.TEMPORAL_NAMESPACE });
      await eventually(
        'the workflow has ended in that namespace',
        async () => {
          const handle = operator.workflow.getHandle(sessionWorkflowId(graph.sessionId));
          return (await handle.describe()).status.name === 'COMPLETED';
        },
        60_000,
      );
      expect(secured.calls.admitted).toBeGreaterThan(5);
      expect(secured.calls.refused).toBe(0);
    } finally {
      await connection.close();
      await database.close();
    }
  });
});

describe('S3', () => {
  async function roundTrip(environment: Readonly<Record<string, string | undefined>>): Promise<string> {
    const { objects } = readSettings({ objects: objectSettings }, environment);
    await makeBucket(objects);
    await makeBucket(objects);
    const store = openObjectStore(platformAccess(objects));
    try {
      await store.probe();
      const signal = AbortSignal.timeout(30_000);
      await store.put('outputs/one', Readable.from([Buffer.from('some bytes')]), { maxBytes: 100, signal });
      return await text((await store.get('outputs/one')).stream);
    } finally {
      store.close();
    }
  }

  test('a store that does not answer or refuses is named with the reason, before anything starts', async () => {
    const reached = async (more: Record<string, string>) => {
      const { objects } = readSettings({ objects: objectSettings }, { ...platform.environment, ...more });
      return makeBucket(objects);
    };
    await expect(reached({ S3_ENDPOINT: 'http://127.0.0.1:1' })).rejects.toThrow(
      'at http://127.0.0.1:1 can be neither reached nor made: connect ECONNREFUSED 127.0.0.1:1.',
    );
    await expect(reached({ S3_SECRET_ACCESS_KEY: 'another' })).rejects.toThrow(
      /^S3_ENDPOINT: the bucket .* the store answers with status 403/,
    );
  });

  test('is signed in to by the role of the container where no key is given', async () => {
    let asked = 0;
    const { accessKeyId, secretAccessKey } = platform.s3;
    const role = createServer((request, response) => {
      if (request.headers.authorization === 'token of the container') asked += 1;
      const Expiration = new Date(Date.now() + 3_600_000).toISOString();
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token: '', Expiration }),
      );
    });
    await new Promise<void>((resolve) => role.listen(0, '127.0.0.1', resolve));
    const given = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `http://127.0.0.1:${(role.address() as AddressInfo).port}/role`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: 'token of the container',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    Object.assign(process.env, given);
    try {
      const { S3_ACCESS_KEY_ID: _, S3_SECRET_ACCESS_KEY: __, ...rest } = platform.environment;
      expect(await roundTrip({ ...rest, S3_BUCKET: 'by-role' })).toBe('some bytes');
      expect(asked).toBeGreaterThan(0);
      // A data source that an operator registered without keys does not get those of the platform.
      const access = {
        ...platformAccess(objectSettings.parse(platform.environment)),
        accessKeyId: '',
        secretAccessKey: '',
      };
      const before = asked;
      const store = openObjectStore({ ...access, usesOwnIdentity: false });
      await expect(store.probe()).rejects.toThrow();
      store.close();
      expect(asked).toBe(before);
    } finally {
      for (const name of Object.keys(given)) delete process.env[name];
      await new Promise((resolve) => role.close(resolve));
    }
  });

  test('may have the bucket in the host name', async () => {
    const { versitygw } = await findPrograms({ postgres: true, temporal: true, objectStore: false });
    const port = await freePort();
    const objects = join(folder, 'objects');
    mkdirSync(objects);
    mkdirSync(join(folder, 'metadata'));
    const args = [
      '--port',
      `127.0.0.1:${port}`,
      '--virtual-domain',
      's3.test',
      '--health',
      '/health',
      '--quiet',
    ];
    const child = spawn(versitygw!, [...args, 'posix', '--sidecar', join(folder, 'metadata'), objects], {
      env: { ROOT_ACCESS_KEY: 'key', ROOT_SECRET_KEY: 'secret-of-the-key' },
      stdio: 'ignore',
    });
    children.push(child);
    await eventually('the gateway answers', async () => (await fetch(`http://127.0.0.1:${port}/health`)).ok);
    // Every name below it resolves to this machine, as with a wildcard record.
    const asked: string[] = [];
    const { lookup } = dns;
    // biome-ignore lint/suspicious/noExplicitAny: the overloads of the function that it replaces.
    dns.lookup = ((host: string, ...rest: any[]) => {
      asked.push(host);
      return (lookup as (...all: unknown[]) => void)(host.endsWith('s3.test') ? '127.0.0.1' : host, ...rest);
    }) as typeof dns.lookup;
    syncBuiltinESMExports();
    try {
      const environment = {
        S3_ENDPOINT: `http://s3.test:${port}`,
        S3_BUCKET: 'recordings',
        S3_ACCESS_KEY_ID: 'key',
        S3_SECRET_ACCESS_KEY: 'secret-of-the-key',
        S3_FORCE_PATH_STYLE: 'false',
        SECRETS_KEY: platform.environment.SECRETS_KEY,
      };
      expect(await roundTrip(environment)).toBe('some bytes');
      expect(new Set(asked)).toEqual(new Set(['recordings.s3.test']));
    } finally {
      dns.lookup = lookup;
      syncBuiltinESMExports();
    }
  });
});
