/** PascalCase routes also accept the same names in camelCase (decisions 2). */
import { z } from 'zod';
import { isJsonObject } from '../domain/text.ts';

/**
 * A copy of a parsed body with every name of the schema in PascalCase; unknown names are dropped. If both spellings are
 * sent, PascalCase wins. Values other than objects are returned unchanged.
 */
export function withPascalNames(body: unknown, schema: z.ZodType): unknown {
  const shape = shapeOf(schema);
  if (!isJsonObject(body) || shape === null) return body;
  const named: Record<string, unknown> = {};
  for (const name of Object.keys(shape)) {
    const camel = name.charAt(0).toLowerCase() + name.slice(1);
    if (Object.hasOwn(body, name)) named[name] = body[name];
    else if (Object.hasOwn(body, camel)) named[name] = body[camel];
  }
  return named;
}

/** The fields of an object schema, also of one whose result is transformed. */
function shapeOf(schema: unknown): Readonly<Record<string, unknown>> | null {
  if (schema instanceof z.ZodObject) return schema.shape;
  return schema instanceof z.ZodPipe ? shapeOf(schema.in) : null;
}
