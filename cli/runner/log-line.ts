/** Lines of a kit's process for people: time, level, message and fields; other lines as they are. */
import { styleText } from 'node:util';
import { singleLine } from '../output.ts';

/** Ids and replies that say little in a terminal; they are in the log of the run. */
const hidden = new Set(['taskId', 'sessionId', 'nodeInstanceId', 'instanceIds', 'runId', 'reply', 'logger']);
const styles = { error: 'red', warn: 'yellow', warning: 'yellow', debug: 'gray' } as const;

export function readableLine(line: string): string {
  const entry = entryOf(line);
  if (entry === undefined) return line;
  const { time, level, message, stack, ...fields } = entry;
  const shown = Object.entries(fields).filter(([name]) => !hidden.has(name));
  const more = shown.length === 0 ? '' : `  ${JSON.stringify(Object.fromEntries(shown))}`;
  const trace = typeof stack === 'string' ? `\n${stack}` : '';
  const text = `${String(time).slice(11, 19)}  ${String(level).padEnd(7)}  ${singleLine(`${message}${more}`)}${trace}`;
  const style = styles[String(level) as keyof typeof styles];
  return style === undefined ? text : styleText(style, text, { stream: process.stdout });
}

function entryOf(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry = JSON.parse(line);
    return typeof entry.time === 'string' && 'level' in entry && 'message' in entry ? entry : undefined;
  } catch {
    return undefined;
  }
}
