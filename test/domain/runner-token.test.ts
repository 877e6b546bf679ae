import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { roles } from '../../domain/access/access.ts';
import { formatToken } from '../../domain/access/token-format.ts';
import type { Runtime } from '../../domain/runners/manifest-runner-types.ts';
import {
  reachesRuntime,
  refuseTokenRequest,
  standingOf,
  type TokenFacts,
} from '../../domain/runners/runner-token.ts';
import { runnerVersion } from '../../domain/runners/runner-version.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const after = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
const good: TokenFacts = {
  revokedAt: null,
  expiresAt: after(60),
  createdBy: 'somebody',
  creatorRole: 'Developer',
  creatorCheckedAt: after(-15),
  now,
};

describe('a runner token', () => {
  test('is valid by its own end, its creator and the age of the last check', () => {
    const cases: [string, Partial<TokenFacts>, object][] = [
      ['good', {}, { kind: 'good', role: 'Developer' }],
      ['revoked', { revokedAt: after(-1) }, { kind: 'over' }],
      ['revoked by a clock ahead', { revokedAt: after(1) }, { kind: 'over' }],
      ['expires now', { expiresAt: now }, { kind: 'over' }],
      ['expires next', { expiresAt: after(0.001) }, { kind: 'good', role: 'Developer' }],
      ['asked in time', { creatorCheckedAt: after(-30) }, { kind: 'good', role: 'Developer' }],
      ['not asked in time', { creatorCheckedAt: after(-30.001) }, { kind: 'unsure' }],
      ['never asked', { creatorCheckedAt: null, creatorRole: null }, { kind: 'unsure' }],
      ['creator gone', { creatorRole: null }, { kind: 'over' }],
      ['creator gone, long ago', { creatorRole: null, creatorCheckedAt: after(-99) }, { kind: 'unsure' }],
      ['ended, creator unknown', { revokedAt: now, creatorCheckedAt: null }, { kind: 'over' }],
      [
        'of the platform',
        { createdBy: null, creatorRole: null, creatorCheckedAt: null },
        { kind: 'good', role: 'Administrator' },
      ],
    ];
    for (const [name, change, standing] of cases)
      expect([name, standingOf({ ...good, ...change })]).toEqual([name, standing]);
  });

  test('of an Administrator covers deployed and external types, of a Developer external ones, of others none', () => {
    const runtimes = ['system', 'sdk', 'external'] as const;
    const reached = roles.map((role) => [role, runtimes.filter((runtime) => reachesRuntime(role, runtime))]);
    expect(reached).toEqual([
      ['Administrator', ['sdk', 'external']],
      ['Instructor', []],
      ['Trainee', []],
      ['Developer', ['external']],
    ]);
  });

  test('never exceeds the permissions of its creator', () => {
    const runtimes = new Map<string, Runtime>([
      ['own', 'system'],
      ['host', 'sdk'],
      ['outside', 'external'],
    ]);
    fc.assert(
      fc.property(
        fc.constantFrom('Administrator' as const, 'Developer' as const),
        fc.array(fc.constantFrom('own', 'host', 'outside', 'nobody', '__proto__'), { minLength: 1 }),
        fc.integer({ min: 1, max: 8760 }),
        (role, runnerTypes, ttlHours) => {
          const refusal = refuseTokenRequest(role, { runnerTypes, ttlHours }, runtimes);
          const isFine =
            runnerTypes.every((name) => reachesRuntime(role, runtimes.get(name) ?? 'system')) &&
            ttlHours <= (role === 'Administrator' ? 8760 : 720);
          expect(refusal === null).toBe(isFine);
        },
      ),
    );
  });
});

describe('the version of a runner', () => {
  test('is printable, bounded, without tokens and addresses, or nothing', () => {
    const token = formatToken('runner', Buffer.alloc(32, 7));
    const cases: [string | undefined, string | null][] = [
      [undefined, null],
      ['', null],
      [' \u0000\u00ff ', null],
      ['splitter/1.2', 'splitter/1.2'],
      ['a\r\nb\u0000c', 'a b c'],
      [`x ${token} y`, 'x [token] y'],
      ['bot (+mailto:ops@example.org)', 'bot (+mailto:[address])'],
      ['v'.repeat(1_000), 'v'.repeat(200)],
      // What is cut off must not leave half a token.
      [`${'v'.repeat(190)} ${token}`, `${'v'.repeat(190)} [token]`],
    ];
    for (const [given, version] of cases) expect([given, runnerVersion(given)]).toEqual([given, version]);
  });
});
