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
  for (const note of result.notes) lines.push(...wrapped(`note: ${note}`));
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

/** The same as JUnit XML, which build servers read: warnings and notes are in the output of a test. */
export function junitReport(results: readonly Result[]): string {
  const count = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).length;
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const head = `name="conformance" tests="${results.length}" failures="${count('fail')}" errors="0" skipped="${count('skip')}" time="${seconds.toFixed(1)}"`;
  const cases = results.map((result) => {
    const { name, verdict, title, findings, skipped } = result;
    const failed = findings.filter(({ level }) => level === 'fail').map(({ saw }) => saw);
    const body = [
      ...(verdict === 'fail'
        ? [
            `<failure message="${xml(failed.join(' '))}">${xml(resultLines(result, false).join('\n'))}</failure>`,
          ]
        : []),
      ...(verdict === 'skip' ? [`<skipped message="${xml(skipped ?? '')}"/>`] : []),
      `<system-out>${xml([title, ...resultLines(result, false).slice(1)].join('\n'))}</system-out>`,
    ];
    return `  <testcase classname="conformance" name="${xml(name)}" time="${result.seconds.toFixed(1)}">${body.join('')}</testcase>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite ${head}>\n${cases.join('\n')}\n</testsuite>\n`;
}

/** Text for an element or an attribute; XML has no form for control characters. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '?')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
