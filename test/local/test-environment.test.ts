import { PutObjectCommand } from '@aws-sdk/client-s3';
import pg from 'pg';
import { expect, test } from 'vitest';
import { s3Client } from '../support/bucket.ts';
import { testEnvironment } from '../support/stack.ts';

const platform = await testEnvironment();

test('every test file has a migrated database and a bucket of its own', async () => {
  const client = new pg.Client({ connectionString: platform.databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ name: string; settings: string }>(
    "SELECT current_database() AS name, lower('ÄÖÜ') AS settings",
  );
  await client.end();
  expect(rows[0]?.name).toMatch(/^test_/);
  expect(rows[0]?.settings).toBe('äöü');
  const s3 = s3Client(platform.environment);
  await s3.send(new PutObjectCommand({ Bucket: platform.s3.bucket, Key: 'outputs/a', Body: 'bytes' }));
  s3.destroy();
});
