/** The report for the author: a line for each scenario, its faults and the broken rules, and a summary. */
import { rules } from './rules.ts';
import type { Result, Verdict } from './run.ts';

const nameWidth = 22;
const lineWidth = 104;

export function resultLines(result: Result, isVerbose: boolean): string[] {
  const { verdict, name, title, seconds, findings, skipped } = result;
  const lines = [`${verdict.padEnd(5)} ${name.padEnd(nameWidth)} ${title} (${seconds.toFixed(1)} s)`];
  if (verdict === 'skip') lines.push(...wrapped(`not exercised: ${skipped}`));
  for (const finding of findings) {
    const { from, says } = rules[finding.rule];
    lines.push(...wrapped(`${finding.level === 'warn' ? 'warning: ' : ''}${finding.saw}`));
    lines.push(...wrapped(`rule ${finding.rule} (${from}): ${says}`));
  }
  const isBad = verdict === 'fail' || (isVerbose && verdict !== 'skip');
  if (!isBad) return lines;
  const shown = isVerbose ? result.calls : result.calls.slice(-12);
  lines.push(`      ${isVerbose ? 'calls' : 'last calls'}:`, ...shown.map((call) => `      ${call}`));
  const output = result.output
    .trimEnd()
    .split('\n')
    .slice(isVerbose ? -40 : -6);
  if (result.output.trim() !== '')
    lines.push('      runner wrote:', ...output.map((line) => `        ${line}`));
  return lines;
}

/** Indented lines of a sentence, broken between words. */
function wrapped(sentence: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of sentence.split(' ')) {
    if (line !== '' && line.length + word.length >= lineWidth) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((text) => `      ${text}`);
}

export function summaryLine(results: readonly Result[]): string {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const parts = [
    `${count('pass')} passed`,
    `${count('warn')} with warnings`,
    `${count('fail')} failed`,
    `${count('skip')} not exercised`,
  ];
  return parts.join(', ');
}

/** The same for programs. */
export function jsonReport(results: readonly Result[]): string {
  const scenarios = results.map((result) => ({
    ...result,
    findings: result.findings.map((finding) => ({
      ...finding,
      says: rules[finding.rule].says,
      from: rules[finding.rule].from,
    })),
  }));
  const isConformant = results.every(({ verdict }) => verdict !== 'fail');
  return JSON.stringify({ conformant: isConformant, scenarios }, null, 2);
}
