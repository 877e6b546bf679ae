/** The field's words in names, inside as outside: docs/concepts.md has them. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkout } from '../local/settings.ts';

/** Words in earlier names, and their replacements. */
const replaced: ReadonlyArray<readonly [RegExp, string]> = [
  [/^(look|looks|looked)(?!up)[A-Z]|(?:[a-z]|^)Look(?!up|Up)([A-Z]|$|s$)/, 'reconcile, read, check'],
  [/^beat(s|ing)?([A-Z]|$)|[a-z]Beat(s|$|[A-Z])/, 'heartbeat'],
  [/^(tell|tells)[A-Z]|^(told|Told)([A-Z]|$)|[a-z](Tell|Told)([A-Z]|$)/, 'notify, report, print, log'],
  [/^(heed|foresee)/, 'onShutdown, prefetch'],
  [/^(give|gave)[A-Z]|(?:[a-z]|^)Give(Up|Back)/, 'release, abort, requeue'],
  [/^take[A-Z]/, 'acquire, claim, read, handle'],
  [/^(wanted_seq|advanced_seq|next_look_at|fair_rank|beat_at|platform_alive)$/, 'see migration 0026'],
  [/^(session_card|session_tally|session_user_entry|unnamed_outputs|unnamed_from)$/, 'see migration 0026'],
];

/** The same in the console, the command line and the kits. */
const replacedInClients: typeof replaced = [
  ...replaced,
  [/^(set)?[Ss]aid$/, 'message, result, headers, metadata'],
];
const ofClients = /^(web|client|cli|sdk)\//;

/** Names that histories in Temporal or callers of public kits know. */
const known = new Set([
  'lookAtWindow',
  'lookAgain',
  'lookInMs',
  'looksLikeTime',
  'looksLikeJson',
  'lookUp',
  'lookUpUsers',
]);

/** Statements of SQL are in backticks, and stay. */
const withoutProse = (text: string) =>
  text
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '')
    .replace(/'[^'\n]*'|"[^"\n]*"/g, "''");

function files(): string[] {
  const listed = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: checkout, encoding: 'utf8' });
  return listed.split('\n').filter((file) => file !== '' && file !== 'test/words.test.ts');
}

test('no name says an old word where the field has one', () => {
  const found = files().flatMap((file) => {
    const names = new Set(
      withoutProse(readFileSync(join(checkout, file), 'utf8')).match(/[A-Za-z_$][\w$]*/g),
    );
    return [...names].flatMap((name) =>
      (ofClients.test(file) ? replacedInClients : replaced).flatMap(([word, instead]) =>
        word.test(name) && !known.has(name) ? [`${file}: ${name} (${instead})`] : [],
      ),
    );
  });
  expect(found).toEqual([]);
});
