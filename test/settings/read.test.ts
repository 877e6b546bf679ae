import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiSettings } from '../../api/settings.ts';
import { authMigrateSettings, authSettings } from '../../auth/settings.ts';
import { secretVariables } from '../../domain/settings.ts';
import { readStartSettings } from '../../local/settings.ts';
import { type Environment, readSettings, SettingsError } from '../../settings/read.ts';
import { databaseSettings } from '../../store/connection/settings.ts';
import { objectSettings, platformAccess } from '../../store/objects/settings.ts';
import { temporalConnection, temporalSettings } from '../../workflows/settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdp-settings-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
function file(text: string): string {
  files += 1;
  const path = join(folder, `secret-${files}`);
  writeFileSync(path, text);
  return path;
}

const parts = {
  api: apiSettings,
  auth: authSettings,
  database: databaseSettings,
  objects: objectSettings,
  temporal: temporalSettings,
};
const good = {
  PARTICIPANT_KEY: 'p'.repeat(32),
  AUTH_SERVICE_KEY: 's'.repeat(32),
  TOKEN_KEY: 't'.repeat(32),
  SECRETS_KEY: 'k'.repeat(32),
  DATABASE_URL: 'postgres://u:p@127.0.0.1:5432/d',
  S3_ENDPOINT: 'http://127.0.0.1:7070',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
  TEMPORAL_ADDRESS: '127.0.0.1:7233',
};
const without = (...names: Array<keyof typeof good>) =>
  Object.fromEntries(Object.entries(good).filter(([name]) => !names.includes(name as keyof typeof good)));

function faultsOf(environment: Environment): readonly string[] {
  try {
    readSettings(parts, environment);
  } catch (error) {
    if (error instanceof SettingsError) return error.lines;
    throw error;
  }
  return [];
}

describe('a secret', () => {
  test('is read from the file that NAME_FILE names, without the end of its last line', () => {
    const environment = {
      ...without('TOKEN_KEY', 'DATABASE_URL'),
      TOKEN_KEY_FILE: file(`${'x'.repeat(40)}\n`),
      DATABASE_URL_FILE: file(`${good.DATABASE_URL}\r\n`),
    };
    const { auth, database } = readSettings(parts, environment);
    expect([auth.TOKEN_KEY, database.DATABASE_URL]).toEqual(['x'.repeat(40), good.DATABASE_URL]);
  });

  test('has one of both forms; every fault of a file is reported with all others, without its content', () => {
    const environment = {
      ...without('PARTICIPANT_KEY', 'TOKEN_KEY', 'SECRETS_KEY', 'DATABASE_URL'),
      AUTH_SERVICE_KEY_FILE: file('y'.repeat(40)),
      PARTICIPANT_KEY_FILE: file('too short'),
      TOKEN_KEY_FILE: join(folder, 'missing'),
      SECRETS_KEY_FILE: file('\n'),
      DATABASE_URL_FILE: folder,
      PORT: 'eighty',
    };
    const lines = faultsOf(environment);
    expect([...lines].sort()).toEqual([
      'AUTH_SERVICE_KEY_FILE: AUTH_SERVICE_KEY is set too; set only one of them.',
      `DATABASE_URL_FILE: ${folder} cannot be read: it is a folder.`,
      'PARTICIPANT_KEY_FILE: must hold at least 32 characters',
      'PORT: must be a whole number from 0 to 65535',
      'SECRETS_KEY_FILE: the file is empty.',
      `TOKEN_KEY_FILE: ${join(folder, 'missing')} cannot be read: the file does not exist.`,
    ]);
  });

  test('is exactly every variable that holds one', () => {
    const names = secretVariables({ ...parts, migrate: authMigrateSettings });
    expect(names).not.toContain('PORT');
    expect([...names]).toEqual(
      expect.arrayContaining([
        'ADMIN_PASSWORD',
        'AUTH_SERVICE_KEY',
        'DATABASE_URL',
        'PARTICIPANT_KEY',
        'S3_ACCESS_KEY_ID',
        'S3_SECRET_ACCESS_KEY',
        'SECRETS_KEY',
        'TEMPORAL_API_KEY',
        'TEMPORAL_TLS_CA',
        'TEMPORAL_TLS_CERT',
        'TEMPORAL_TLS_KEY',
        'TOKEN_KEY',
      ]),
    );
  });
});

test('the public address is one without a path, of which nothing would be heeded', () => {
  for (const address of [
    'https://sdp.example.org/app',
    'https://sdp.example.org/?a=b',
    'http://a:b@sdp.test',
  ]) {
    const fault = 'PUBLIC_URL: must be an address without a path: the platform cannot be below one';
    expect(faultsOf({ ...good, PUBLIC_URL: address })).toEqual([fault]);
    expect(() => readStartSettings({ PUBLIC_URL: address })).toThrow(fault);
  }
  expect(faultsOf({ ...good, PUBLIC_URL: 'sdp' })).toEqual([
    'PUBLIC_URL: must be an http:// or https:// address',
  ]);
  for (const address of ['https://sdp.example.org', 'HTTPS://sdp.test:8443/', 'http://[::1]:8080'])
    expect(faultsOf({ ...good, PUBLIC_URL: address })).toEqual([]);
});

describe('connections', () => {
  test('to PostgreSQL use the standard meaning of sslmode, and name existing files', () => {
    const address = (query: string) => `${good.DATABASE_URL}?${query}`;
    const read = (DATABASE_URL: string) => readSettings(parts, { ...good, DATABASE_URL });
    const ca = file('authority');
    expect(read(address('sslmode=require')).database.DATABASE_URL).toBe(
      address('sslmode=require&uselibpqcompat=true'),
    );
    expect(read(address(`sslmode=verify-full&sslrootcert=${ca}`)).auth.DATABASE_URL).toContain('verify-full');
    const faults = (query: string) => faultsOf({ ...good, DATABASE_URL: address(query) });
    expect(faults('sslmode=maybe')).toHaveLength(1);
    expect(faults('sslmode=verify-ca')).toEqual([expect.stringContaining('requires sslrootcert')]);
    expect(faults('sslcert=/a')).toContainEqual(expect.stringContaining('must be set together'));
    expect(faults('sslmode=verify-full&sslrootcert=/not/there')).toEqual([
      'DATABASE_URL: /not/there cannot be read: the file does not exist.',
    ]);
  });

  test('to S3 use both keys, or none for the identity of the process', () => {
    const { objects } = readSettings(parts, without('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'));
    expect(platformAccess(objects)).toMatchObject({ usesOwnIdentity: true, forcePathStyle: true });
    expect(faultsOf({ ...without('S3_ACCESS_KEY_ID'), PORT: 'x' })).toEqual(
      expect.arrayContaining([
        'S3_ACCESS_KEY_ID: is required with S3_SECRET_ACCESS_KEY',
        expect.stringMatching(/^PORT/),
      ]),
    );
  });

  test('to Temporal use TLS as soon as one of its variables is set, and certificates require keys', () => {
    const pem = (kind: string) => file(`-----BEGIN ${kind}-----\nAAAA\n-----END ${kind}-----\n`);
    const given = {
      ...good,
      TEMPORAL_TLS_CA_FILE: pem('CERTIFICATE'),
      TEMPORAL_TLS_CERT_FILE: pem('CERTIFICATE'),
      TEMPORAL_TLS_KEY_FILE: pem('EC PRIVATE KEY'),
    };
    const { temporal } = readSettings(parts, given);
    expect(temporalConnection(temporal)).toMatchObject({
      tls: {
        serverRootCACertificate: expect.any(Uint8Array),
        clientCertPair: { crt: expect.any(Uint8Array) },
      },
    });
    expect(temporalConnection(readSettings(parts, good).temporal)).toEqual({
      address: good.TEMPORAL_ADDRESS,
      tls: false,
    });
    const { TEMPORAL_TLS_KEY_FILE: _, ...keyless } = given;
    expect(faultsOf({ ...keyless, TEMPORAL_TLS: 'false', TEMPORAL_ADDRESS: '' })).toEqual([
      'TEMPORAL_ADDRESS is required.',
      'TEMPORAL_TLS_KEY: is required with TEMPORAL_TLS_CERT',
      expect.stringContaining('TEMPORAL_TLS: must not be false with'),
    ]);
    expect(faultsOf({ ...good, TEMPORAL_TLS_CA: '/a/path' })).toEqual([
      expect.stringContaining('must be PEM'),
    ]);
  });
});

describe('npm start', () => {
  test('accepts your own servers in the same forms: a file for the address, a role instead of keys', () => {
    const { external } = readStartSettings({
      DATABASE_URL_FILE: file(good.DATABASE_URL),
      S3_ENDPOINT: good.S3_ENDPOINT,
      S3_FORCE_PATH_STYLE: 'false',
    });
    expect(external).toMatchObject({
      databaseUrl: good.DATABASE_URL,
      objectStore: { endpoint: good.S3_ENDPOINT, accessKeyId: '', forcePathStyle: false },
    });
    expect(() => readStartSettings({ ADMIN_PASSWORD_FILE: file('short') })).toThrow(/^ADMIN_PASSWORD_FILE:/);
  });
});
