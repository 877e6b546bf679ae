/** What differs between two versions of a session template, or between versions of two templates. */
import { isSameJson } from '../same-json.ts';
import type { JsonObject } from '../text.ts';
import { type AdoptableNode, adoptionOf, type TemplateChange } from './adoption.ts';

/** What a version says. */
export interface TemplateContent {
  readonly templateVersion: string;
  readonly description: string;
  readonly configuration: JsonObject;
  /** In the order of the file. */
  readonly nodes: readonly AdoptableNode[];
}

export const templateFields = ['templateVersion', 'description', 'configuration'] as const;

/** `before` and `after` are texts, or configurations of the template; `before` is null where there is no version before. */
interface TemplateFieldChange {
  readonly field: (typeof templateFields)[number];
  readonly before: string | JsonObject | null;
  readonly after: string | JsonObject;
}

export interface TemplateChanges {
  readonly fields: readonly TemplateFieldChange[];
  /** As a session that adopts the later one would see them: what is removed comes first. */
  readonly nodes: readonly TemplateChange[];
}

/** @param before null: nothing was before, so that everything is new */
export function templateChanges(before: TemplateContent | null, after: TemplateContent): TemplateChanges {
  const fields = templateFields.flatMap((field): TemplateFieldChange[] => {
    const [old, now] = [before?.[field] ?? null, after[field]];
    return isSameJson(old, now) || (old === null && isEmpty(now)) ? [] : [{ field, before: old, after: now }];
  });
  const present = (before?.nodes ?? []).map((node) => ({ ...node, hasRun: false, isEdited: false }));
  return { fields, nodes: adoptionOf(present, after.nodes).changes };
}

const isEmpty = (value: string | JsonObject) => value === '' || isSameJson(value, {});
