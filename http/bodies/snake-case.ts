/** The snake_case form of a camelCase wire value: schema and value are derived, so that each field is written once. */
import { z } from 'zod';

type SnakeKey<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeKey<Rest>}`
  : '';

/** The value with every key of a declared object in snake_case. Free JSON, whose keys are the caller's, stays as it is. */
export type Snake<Value> = Value extends readonly (infer Item)[]
  ? Snake<Item>[]
  : Value extends object
    ? string extends keyof Value
      ? Value
      : { [Key in keyof Value as Key extends string ? SnakeKey<Key> : never]: Snake<Value[Key]> }
    : Value;

const snakeKey = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** The schema with the keys of all its objects in snake_case. Component names and examples are dropped. */
export function snakeSchema<Schema extends z.ZodType>(
  schema: Schema,
): z.ZodType<Snake<z.output<Schema>>, Snake<z.input<Schema>>> {
  return derive(schema) as never;
}

function derive(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape).map(([key, field]) => [snakeKey(key), derive(field)]);
    return described(z.object(Object.fromEntries(fields)), schema);
  }
  if (schema instanceof z.ZodArray) return described(z.array(derive(schema.element as z.ZodType)), schema);
  if (schema instanceof z.ZodNullable)
    return described(derive(schema.unwrap() as z.ZodType).nullable(), schema);
  return schema;
}

function described(derived: z.ZodType, from: z.ZodType): z.ZodType {
  const description = from.meta()?.description;
  return description === undefined ? derived : derived.meta({ description });
}

/** The fields of `value` that `schema` (camelCase) declares, with keys in snake_case. */
export function snakeValue<Schema extends z.ZodType>(
  schema: Schema,
  value: z.input<Schema>,
): Snake<z.input<Schema>> {
  return convert(schema, value) as Snake<z.input<Schema>>;
}

function convert(schema: z.ZodType, value: unknown): unknown {
  if (value === null || value === undefined) return value;
  if (schema instanceof z.ZodNullable) return convert(schema.unwrap() as z.ZodType, value);
  if (schema instanceof z.ZodArray)
    return (value as unknown[]).map((item) => convert(schema.element as z.ZodType, item));
  if (!(schema instanceof z.ZodObject)) return value;
  const fields = Object.entries(schema.shape).map(([key, field]) => [
    snakeKey(key),
    convert(field, (value as Record<string, unknown>)[key]),
  ]);
  return Object.fromEntries(fields);
}
