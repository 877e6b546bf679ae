/** A node's stored configuration against its template's schema, each time that a task is made (decisions 10). */
import { configurationValidator } from './configuration-schema.ts';

const faultsTold = 3;

/**
 * What is wrong with a configuration, for the node's details; null when it is as its template wants it.
 * @param text JSON, as stored
 */
export function configurationFault(text: string, schema: unknown): string | null {
  let configuration: unknown;
  try {
    configuration = JSON.parse(text);
  } catch {
    return 'The node configuration is not valid JSON.';
  }
  const issues = configurationValidator(schema)(configuration, []);
  if (issues.length === 0) return null;
  const told = issues.slice(0, faultsTold).map(({ path, message }) => `${path}: ${message}`);
  const more = issues.length > faultsTold ? ` (and ${issues.length - faultsTold} more)` : '';
  return `The node configuration does not match the schema of its node template. ${told.join(' ')}${more}`;
}
