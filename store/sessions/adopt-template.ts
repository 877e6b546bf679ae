/**
 * A session adopts a session template: what its own says by now, or another one. Nodes of the same name keep their
 * outputs and get its configuration; added nodes run over what their parents have.
 */

import { isSameJson } from '../../domain/same-json.ts';
import {
  type Adoption,
  type AdoptionRefusal,
  adoptionOf,
  type SessionNode,
  type TemplateChange,
} from '../../domain/templates/adoption.ts';
import { configurationOf } from '../../domain/templates/node-configuration.ts';
import { dropAudit } from '../connection/audit-scope.ts';
import type { Database, Tx } from '../connection/database.ts';
import { oncePerKey } from '../connection/idempotency.ts';
import { findTemplate, type TemplateWithNodes } from '../registry/session-templates.ts';
import { presentVersion } from '../registry/template-versions.ts';
import {
  type Change,
  changed,
  changeSessionWithin,
  type LockedSession,
  unchanged,
} from '../runs/change-session.ts';
import { planSession } from '../runs/plan-session.ts';
import { hasUploads } from '../uploads/uploads-of-node.ts';
import { saveRevisions } from './node-configuration.ts';

export interface AdoptionRequest {
  readonly sessionId: string;
  /** Null: the session's own template. */
  readonly sessionTemplateId: number | null;
  /** Only says what would change. */
  readonly dryRun: boolean;
  readonly changedBy: string;
}

export type AdoptionResult =
  | {
      readonly outcome: 'adopted';
      readonly template: { readonly id: number; readonly name: string };
      readonly changes: readonly TemplateChange[];
    }
  | { readonly outcome: 'refused'; readonly refusals: readonly AdoptionRefusal[] }
  | { readonly outcome: 'missing' | 'template-missing' | 'frozen' };

export async function adoptTemplate(database: Database, request: AdoptionRequest): Promise<AdoptionResult> {
  const { sessionId, dryRun } = request;
  // A dry run changes nothing, so there is nothing to record.
  if (dryRun) dropAudit();
  return database.transaction(
    oncePerKey(
      async (tx): Promise<AdoptionResult> =>
        (await changeSessionWithin(tx, { sessionId }, (session) => adoptWithin(tx, session, request))) ?? {
          outcome: 'missing',
        },
      ({ outcome }) => outcome === 'adopted' && !dryRun,
    ),
  );
}

async function adoptWithin(
  tx: Tx,
  session: LockedSession,
  { sessionTemplateId, dryRun, changedBy }: AdoptionRequest,
): Promise<Change<AdoptionResult>> {
  const { sessionId } = session;
  if (session.frozen) return unchanged({ outcome: 'frozen' });
  const found = await lockTemplate(tx, sessionId, sessionTemplateId);
  const template = found && (await findTemplate(tx, found.id));
  if (template === undefined) return unchanged({ outcome: 'template-missing' });
  if (found?.isJoined) return unchanged({ outcome: 'refused', refusals: [joinedByTemplate] });
  if (!dryRun) await lockNodes(tx, sessionId);
  const nodes = await readNodes(tx, sessionId);
  const { changes, refusals } = adoptionTo(nodes, template);
  if (refusals.length > 0) return unchanged({ outcome: 'refused', refusals });
  const { id, name } = template;
  const result = { outcome: 'adopted', template: { id, name }, changes } as const;
  if (dryRun) return unchanged(result);
  await applyChanges(tx, { sessionId, templateId: id, changedBy, nodes, changes });
  await planSession(tx, session);
  return changed(result);
}

function adoptionTo(nodes: readonly StoredNode[], template: TemplateWithNodes): Adoption {
  return adoptionOf(
    nodes,
    template.nodes.map((node) => ({
      name: node.name,
      nodeTemplate: node.nodeTemplateName ?? '',
      parents: node.parentNames,
      configuration: configurationOf(node.defaultConfiguration),
    })),
  );
}

const joinedByTemplate: AdoptionRefusal = {
  node: null,
  message: 'The machines of a shared session join it by its template: close it before it adopts another one.',
};

/**
 * Locks the template, so that no import changes it before the commit. `isJoined`: it is not the session's own, by which
 * others may still join it.
 */
async function lockTemplate(
  tx: Tx,
  sessionId: string,
  templateId: number | null,
): Promise<{ readonly id: number; readonly isJoined: boolean } | undefined> {
  const [found] = await tx.query<{ id: number; isJoined: boolean }>(
    `select t.id, t.id <> s.session_template_id and s.machine_group is not null and s.closed_at is null as is_joined
       from session s join session_template t on t.id = coalesce($2::bigint, s.session_template_id)
      where s.id = $1 for share of t`,
    [sessionId, templateId],
  );
  return found;
}

/** An upload that begins meanwhile waits here, and then finds whether its node is still there. */
async function lockNodes(tx: Tx, sessionId: string): Promise<void> {
  await tx.query('select 1 from node_instance where session_id = $1 order by id for update', [sessionId]);
}

interface StoredNode extends SessionNode {
  readonly id: number;
}

interface StoredTexts extends Omit<StoredNode, 'configuration' | 'isEdited'> {
  readonly configuration: string;
  /** What its template gave it; null where no person has changed that. */
  readonly templateConfiguration: string | null;
}

async function readNodes(tx: Tx, sessionId: string): Promise<StoredNode[]> {
  const rows = await tx.query<StoredTexts>(
    `select n.id, n.name, t.name as node_template, n.configuration, n.template_configuration,
            array(select p.name from unnest(n.parent_ids) with ordinality as u (id, place)
                    join node_instance p on p.id = u.id order by u.place) as parents,
            n.newest_position > 0 or exists (select from node_run r where r.node_instance_id = n.id)
              or ${hasUploads} as has_run
       from node_instance n join node_template t on t.id = n.node_template_id
      where n.session_id = $1 order by n.ordinal`,
    [sessionId],
  );
  return rows.map(({ templateConfiguration, ...row }) => {
    const configuration = configurationOf(row.configuration);
    const isEdited =
      templateConfiguration !== null && !isSameJson(configuration, configurationOf(templateConfiguration));
    return { ...row, configuration, isEdited };
  });
}

interface Applied {
  readonly sessionId: string;
  readonly templateId: number;
  readonly changedBy: string;
  readonly nodes: readonly StoredNode[];
  readonly changes: readonly TemplateChange[];
}

async function applyChanges(tx: Tx, applied: Applied): Promise<void> {
  const { sessionId, templateId, changedBy, nodes, changes } = applied;
  const ids = new Map(nodes.map(({ name, id }) => [name, id]));
  const namesOf = (kind: TemplateChange['kind']) =>
    changes.filter((change) => change.kind === kind).map(({ node }) => node);
  const revised = changes.flatMap(({ kind, node, after }) =>
    kind === 'configuration'
      ? // The check against the schema comes with the node's next run.
        [{ nodeInstanceId: ids.get(node)!, configuration: JSON.stringify(after), checkedRevision: 0 }]
      : [],
  );
  await saveRevisions(tx, revised, changedBy, 'template');
  await tx.query('delete from node_instance where session_id = $1 and name = any ($2::text[])', [
    sessionId,
    namesOf('removed'),
  ]);
  await tx.query(addNodes, [sessionId, templateId, namesOf('added'), changedBy]);
  await tx.query(linkNodes, [sessionId, templateId]);
  // The template is locked, so its nodes and its version are of one import.
  await tx.query(
    `update session s set session_template_id = t.id, session_template_version = ${presentVersion('t.id')}
       from session_template t
      where s.id = $1 and t.id = $2
        and (s.session_template_id, s.session_template_version)
            is distinct from (t.id, ${presentVersion('t.id')})`,
    [sessionId, templateId],
  );
}

const addNodes = `
  with node as (
    insert into node_instance (session_id, ordinal, name, node_template_id, configuration, checked_revision)
    select $1, t.ordinal, t.name, t.node_template_id, t.default_configuration, t.checked_revision
      from session_template_node t where t.session_template_id = $2 and t.name = any ($3::text[])
    returning id, configuration
  )
  insert into node_configuration (node_instance_id, revision, configuration, changed_by, changed_at)
  select id, 1, configuration, $4, clock_timestamp() from node`;

/** Order and edges as the template has them; every configuration is the template's now. */
const linkNodes = `
  with node as (
    select n.id, n.name, t.ordinal, t.parent_names
      from node_instance n join session_template_node t on t.session_template_id = $2 and t.name = n.name
     where n.session_id = $1
  ), edge as (
    select c.id as child_id, c.ordinal as child_ordinal, p.id as parent_id, u.place
      from node c cross join unnest(c.parent_names) with ordinality as u (name, place) join node p on p.name = u.name
  )
  update node_instance n
     set ordinal = node.ordinal, template_configuration = null,
         parent_ids = array(select parent_id from edge where child_id = n.id order by place),
         child_ids = array(select child_id from edge where parent_id = n.id order by child_ordinal)
    from node where n.id = node.id`;
