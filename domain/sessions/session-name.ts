/** The default name of a session (decisions 5). */
import { formatTimestamp } from '../timestamp.ts';

const maxTemplatePart = 220;

/** The template's name and the time. */
export function defaultSessionName(templateName: string, now: Date): string {
  const name = [...templateName].slice(0, maxTemplatePart).join('');
  return `${name} ${formatTimestamp(now)}`.trim();
}
