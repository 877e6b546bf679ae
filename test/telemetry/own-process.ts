/** Metrics of this process itself. Run by telemetry.test.ts on its database. */
import { describe, expect, test } from 'vitest';
import type { Database, Tx } from '../../store/connection/database.ts';
import { renewLease } from '../../store/runners/lease.ts';
import { endTask } from '../../store/runs/end-task.ts';
import { releaseHeldTask } from '../../store/runs/release-claim.ts';
import { readPlatform, watchPlatform } from '../../telemetry/platform-gauges.ts';
import { registry, scrape } from '../../telemetry/registry.ts';
import { formatTraceparent, parseTraceparent } from '../../telemetry/trace-parent.ts';
import { chain, claim, makeGraph, outsideTemplate, upload as storeUpload } from '../support/graph.ts';
import { stretched } from '../support/stretched.ts';
import { readExposition } from './exposition.ts';

export function ownProcessTests(database: Database): void {
  describe('an end', () => {
    test('is counted once, when it is committed: lost leases, failed attempts, runs by outcome', async () => {
      const name = 'telemetry-lost';
      await outsideTemplate(database, name);
      const lost = await makeGraph(database, chain(1, name));
      await storeUpload(database, lost, 'input');
      const identity = { holder: 'telemetry', instanceId: 'one' };
      const first = (await claim(database, identity, name))!;
      await renewLease(database, { ...identity, taskId: first.taskId });
      await releaseHeldTask(database, identity);
      const second = (await claim(database, identity, name))!;
      const end = { kind: 'fail', category: 'validation', reason: 'no' } as const;
      for (const digest of ['same', 'same'])
        await endTask(database, { ...identity, taskId: second.taskId }, end, { digest, jitter: 0 });
      const seen = readExposition(await registry.metrics());
      const labels = { template: name };
      expect(seen.value('sdp_leases_lost_total', labels)).toBe(1);
      expect(seen.value('sdp_attempts_failed_total', { ...labels, category: 'lost' })).toBe(1);
      expect(seen.value('sdp_attempts_failed_total', { ...labels, category: 'validation' })).toBe(1);
      expect(seen.value('sdp_runs_ended_total', { ...labels, outcome: 'failed' })).toBe(1);
      expect(seen.value('sdp_claim_latency_seconds_count', labels)).toBe(2);
    });

    test('that is rolled back is not counted', async () => {
      const announced: string[] = [];
      const record = (name: string, isBroken: boolean) => async (tx: Tx) => {
        if (name.startsWith('entities')) await tx.em.execute('select 1');
        tx.onCommit(() => void announced.push(name));
        if (isBroken) throw new Error('broken');
      };
      await expect(database.transaction(record('rolled back', true))).rejects.toThrow('broken');
      await expect(database.transaction(record('entities rolled back', true))).rejects.toThrow('broken');
      await database.transaction(record('statements', false));
      await database.transaction(record('entities', false));
      expect(announced).toEqual(['statements', 'entities']);
    });
  });

  describe('a scrape', () => {
    test('does not wait for a database that does not answer, and reports it', async () => {
      const never = () => new Promise<never>(() => undefined);
      const unwatch = watchPlatform({
        state: never,
        parts: {
          database: never,
          storage: async () => undefined,
          temporal: () => Promise.reject(new Error('down')),
        },
        claimsWaiting: () => 3,
      });
      try {
        const startedAtMs = performance.now();
        await readPlatform();
        const seen = readExposition(await scrape());
        expect(performance.now() - startedAtMs).toBeLessThan(stretched(10_000));
        expect(seen.value('sdp_scrape_database_up')).toBe(0);
        expect(seen.value('sdp_part_up', { part: 'database' })).toBe(0);
        expect(seen.value('sdp_part_up', { part: 'storage' })).toBe(1);
        expect(seen.value('sdp_part_up', { part: 'temporal' })).toBe(0);
        expect(seen.value('sdp_sessions_wanted')).toBeUndefined();
        expect(seen.value('sdp_claims_waiting')).toBe(3);
      } finally {
        unwatch();
      }
    });
  });

  describe('a traceparent', () => {
    test('is read and written by the W3C recommendation', () => {
      const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      expect(formatTraceparent(parseTraceparent(good)!)).toBe(good);
      // A later version may add fields after its flags.
      expect(formatTraceparent(parseTraceparent(`cc${good.slice(2)}-what-follows`)!)).toBe(good);
      const bad = [
        undefined,
        null,
        '',
        'garbage',
        good.toUpperCase(),
        `ff${good.slice(2)}`,
        `${good}-more`,
        good.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
        good.replace('b7ad6b7169203331', '0'.repeat(16)),
      ];
      for (const text of bad) expect(parseTraceparent(text)).toBeUndefined();
    });
  });
}
