/** Key figures of a session, from its small JSON outputs. Pure: tested without a browser. */

import { formatValue } from '../../format.ts';

export interface Figure {
  readonly label: string;
  readonly value: string;
  readonly unit: string;
}

/** The numbers at the top of a document: `topSpeed: 341.7`, or `topSpeed: { value: 341.7, unit: 'km/h' }`. */
export function figuresOf(json: unknown): Figure[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([key, value]): Figure[] => {
    const named = labelOf(key);
    if (typeof value === 'number') return [{ ...named, value: formatValue(value) }];
    if (typeof value !== 'object' || value === null) return [];
    const { value: number, unit } = value as { value?: unknown; unit?: unknown };
    if (typeof number !== 'number') return [];
    return [{ ...named, value: formatValue(number), unit: typeof unit === 'string' ? unit : named.unit }];
  });
}

/** `top speed [km/h]` has a unit; `lapCount` reads `Lap count`. */
function labelOf(key: string): { label: string; unit: string } {
  const [, name = key, unit = ''] = /^(.*?)\s*\[([^\]]+)\]$/.exec(key) ?? [];
  const words = name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/[-_]+/g, ' ')
    .trim();
  return { label: words.charAt(0).toUpperCase() + words.slice(1).toLowerCase(), unit };
}
