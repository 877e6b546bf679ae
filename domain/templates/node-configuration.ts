/** A node's stored configuration, and the check against its template's schema when a task is made (decisions 10). */
import { isJsonObject, type JsonObject } from '../text.ts';
import { type CheckBudget, configurationValidator } from './configuration-schema.ts';

const namedFaults = 3;

/** @param text JSON, as stored; one of an earlier version may be no object */
export function configurationOf(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

/**
 * What is wrong with a configuration, for the node's details; null when it matches.
 * @param text JSON, as stored
 * @param budget shared by the nodes that are checked together
 */
export function configurationFault(text: string, schema: unknown, budget: CheckBudget): string | null {
  let configuration: unknown;
  try {
    configuration = JSON.parse(text);
  } catch {
    return 'The node configuration is not valid JSON.';
  }
  const issues = configurationValidator(schema)(configuration, [], budget);
  if (issues.length === 0) return null;
  const named = issues.slice(0, namedFaults).map(({ path, message }) => `${path}: ${message}`);
  const more = issues.length > namedFaults ? ` (and ${issues.length - namedFaults} more)` : '';
  return `The node configuration does not match the schema of its node template. ${named.join(' ')}${more}`;
}
