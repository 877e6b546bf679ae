/**
 * Examples of bodies and parameters, made from the schemas (`.meta({ example })`): an object's example needs only the
 * fields whose own schemas have none. No example is written twice.
 */
import { z } from 'zod';

/** A value that the schema accepts, in its wire form; undefined when a part of it has no example. */
export function exampleOf(schema: z.core.$ZodType): unknown {
  const object = objectOf(schema);
  const own = exampleBeside(schema) ?? (object && exampleBeside(object));
  if (object !== null) return exampleOfObject(object, own);
  return own ?? exampleByKind(schema);
}

const exampleBeside = (schema: z.core.$ZodType): unknown => z.globalRegistry.get(schema)?.example;

/** The object schema inside a schema, if its fields can be inspected. */
function objectOf(schema: z.core.$ZodType): z.core.$ZodObject | null {
  if (schema instanceof z.ZodObject) return schema;
  if (schema instanceof z.ZodPipe) return objectOf(schema.def.in);
  return schema instanceof z.ZodPrefault ? objectOf(schema.def.innerType) : null;
}

function exampleOfObject(schema: z.core.$ZodObject, own: unknown): unknown {
  const given = typeof own === 'object' && own !== null ? (own as Readonly<Record<string, unknown>>) : {};
  const example: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(schema._zod.def.shape)) {
    const value = Object.hasOwn(given, name) && given[name] !== undefined ? given[name] : exampleOf(part);
    if (value !== undefined) example[name] = value;
    else if (part._zod.optin === undefined) return undefined;
  }
  return example;
}

function exampleByKind(schema: z.core.$ZodType): unknown {
  if (schema instanceof z.ZodArray) {
    if (schema.def.element instanceof z.ZodNever) return [];
    const item = exampleOf(schema.def.element);
    return item === undefined ? undefined : [item];
  }
  if (schema instanceof z.ZodNullable) return exampleOf(schema.def.innerType) ?? null;
  if (schema instanceof z.ZodOptional) {
    // Absent rather than null.
    const { innerType } = schema.def;
    return exampleOf(innerType instanceof z.ZodNullable ? innerType.def.innerType : innerType);
  }
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    // A number parameter arrives as text; its metadata describe the number.
    const initial =
      z.globalRegistry.get(schema)?.default ?? z.globalRegistry.get(schema.def.innerType)?.default;
    return exampleOf(schema.def.innerType) ?? initial ?? schema.def.defaultValue;
  }
  if (schema instanceof z.ZodPipe) return exampleOf(schema.def.in);
  if (schema instanceof z.ZodLiteral) return schema.def.values[0];
  if (schema instanceof z.ZodEnum) return Object.values(schema.def.entries)[0];
  if (schema instanceof z.ZodUnion) return schema.def.options.map(exampleOf).find((one) => one !== undefined);
  return schema instanceof z.ZodNull ? null : undefined;
}
