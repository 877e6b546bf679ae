/** Small rules of sessions (contract: Session; decisions 5). */
import { isJsonObject, type JsonObject } from '../text.ts';

/** What a session's `logoUrl` is by its metadata: `""` until the key is set. */
export function logoUrlOf(metadata: JsonObject | null): string {
  const logo = metadata !== null && Object.hasOwn(metadata, 'logoUrl') ? metadata.logoUrl : undefined;
  return typeof logo === 'string' ? logo : '';
}

/**
 * The node that receives a session's data: its only Input node, or the one that the template's configuration names as
 * `defaultIngestionNode`; null when neither exists.
 * @param templateConfiguration JSON text, as stored
 */
export function defaultIngestionNodeId(
  nodes: readonly { readonly id: number; readonly name: string; readonly nodeTemplateType: string }[],
  templateConfiguration: string,
): number | null {
  const inputs = nodes.filter((node) => node.nodeTemplateType === 'Input');
  if (inputs.length === 1) return inputs[0]?.id ?? null;
  const name = namedNode(templateConfiguration);
  return nodes.find((node) => node.name === name)?.id ?? null;
}

function namedNode(templateConfiguration: string): unknown {
  try {
    const parsed: unknown = JSON.parse(templateConfiguration);
    return isJsonObject(parsed) && Object.hasOwn(parsed, 'defaultIngestionNode')
      ? parsed.defaultIngestionNode
      : undefined;
  } catch {
    return undefined;
  }
}
