/**
 * The fields of a session query (contract: Session query model), as people choose them. Pure: tested without a browser.
 */

export type Operator =
  | 'eq'
  | 'ne'
  | 'contains'
  | 'startsWith'
  | 'endsWith'
  | 'gt'
  | 'gte'
  | 'lt'
  | 'lte'
  | 'in'
  | 'exists'
  | 'absent'
  | 'empty'
  | 'filled';

/** The type of a property, which decides its input. */
export type FieldType = 'uuid' | 'text' | 'project' | 'template' | 'time' | 'state' | 'owner' | 'metadata';

export interface Field {
  /** Empty for a path into the metadata. */
  path: string;
  label: string;
  type: FieldType;
  nullable: boolean;
}

export const fields: readonly Field[] = [
  { path: 'name', label: 'Name', type: 'text', nullable: false },
  { path: 'state', label: 'State', type: 'state', nullable: false },
  { path: 'simulationName', label: 'Simulation', type: 'text', nullable: true },
  { path: 'projectId', label: 'Project', type: 'project', nullable: false },
  { path: 'sessionTemplateId', label: 'Template', type: 'template', nullable: false },
  { path: 'createdAt', label: 'Created', type: 'time', nullable: true },
  { path: 'lastActivityAt', label: 'Last activity', type: 'time', nullable: false },
  { path: 'owner', label: 'Owner', type: 'owner', nullable: false },
  { path: 'email', label: 'Owner, by email', type: 'text', nullable: false },
  { path: 'userId', label: 'Owner, by account id', type: 'uuid', nullable: true },
  { path: 'id', label: 'Session id', type: 'uuid', nullable: false },
  { path: 'logoUrl', label: 'Logo address', type: 'text', nullable: true },
];
export const metadataField: Field = { path: '', label: 'Metadata …', type: 'metadata', nullable: true };

/** The field of a path; a path without a property leads into the metadata. */
export function fieldOf(path: string): Field {
  return fields.find((field) => field.path === path) ?? metadataField;
}

const equality: readonly Operator[] = ['eq', 'ne'];
const textual: readonly Operator[] = ['contains', 'startsWith', 'endsWith'];
const ordered: readonly Operator[] = ['gt', 'gte', 'lt', 'lte'];
const nothing: readonly Operator[] = ['empty', 'filled'];

export function operatorsOf(field: Field): readonly Operator[] {
  if (field.type === 'metadata')
    return [...equality, ...textual, ...ordered, 'in', 'exists', 'absent', 'empty', 'filled'];
  const own: Record<Exclude<FieldType, 'metadata'>, readonly Operator[]> = {
    uuid: equality,
    text: [...textual.slice(0, 1), ...equality, ...textual.slice(1)],
    project: equality,
    template: equality,
    state: equality,
    owner: equality,
    time: ['gte', 'lt', 'gt', 'lte', 'eq', 'ne'],
  };
  return field.nullable ? [...own[field.type], ...nothing] : own[field.type];
}

export function operatorLabel(operator: Operator, type: FieldType): string {
  if (type === 'time') {
    const times: Partial<Record<Operator, string>> = {
      gt: 'is after',
      gte: 'is at or after',
      lt: 'is before',
      lte: 'is at or before',
    };
    return times[operator] ?? labels[operator];
  }
  return labels[operator];
}

const labels: Record<Operator, string> = {
  eq: 'is',
  ne: 'is not',
  contains: 'contains',
  startsWith: 'starts with',
  endsWith: 'ends with',
  gt: 'is greater than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  in: 'is one of',
  exists: 'exists',
  absent: 'does not exist',
  empty: 'is empty or missing',
  filled: 'is not empty',
};

/** Operators that need no value beside them. */
export function isBare(operator: Operator): boolean {
  return ['exists', 'absent', 'empty', 'filled'].includes(operator);
}

export const queryLimits = { conditions: 100, levels: 10, orderings: 10 } as const;
