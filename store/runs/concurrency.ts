/**
 * Limits on how many tasks of a node template or runner type are held at once (additions, section 2).
 *
 * A claim under a limit holds the limit's lock from before it counts until it has committed, so claims of one template
 * come one after the other and each sees what the one before it has claimed. Templates without a limit need no lock:
 * their claim finds in the same statement that there is none. The end of a task needs none either: it can only make
 * room.
 */

import { advisoryLocks } from '../connection/advisory-locks.ts';
import type { Tx } from '../connection/database.ts';
import { claimOrder, projectOfQueued } from './claim-order.ts';
import { isClaimable } from './queue.ts';

/** @param template an SQL expression: a node template's name */
export const isUnderLimit = (template: string) =>
  `exists (select from template_limit l where l.template_name = ${template})`;

/**
 * Acquires the locks of all limits that the template is under, before the statement that counts. Sorted by key, so that
 * two claims never wait for each other.
 */
export function lockLimits(tx: Tx, template: string): void {
  void tx.pipelined(
    `select pg_advisory_xact_lock(${advisoryLocks.concurrency}, k.key)
       from (select hashtext(l.kind || ':' || l.name) as key from template_limit l where l.template_name = $1
              order by 1) k`,
    [template],
  );
}

/** The held runs `h` that count under the limit `l`: those of its node templates, which may have moved to its runner type since. */
export const heldUnderLimit = `
  join node_template counted
    on case l.kind when 'nodeTemplate' then counted.name = l.name else counted.runner_type = l.name end
  join node_run h on h.state = 'held' and h.template_name = counted.name`;

/** Queued runs that a claim looks through for one whose project and session have room: of all, then of each project. */
const runsChecked = 1_000;
const runsOfProjectChecked = 10_000;

/**
 * For `pick`: the first run whose project and session have room, of those that `queue` selects in their order. One
 * queued run after the other: laterals that end in `offset` or `for update` cannot become joins, for which PostgreSQL
 * would read the whole queue of the platform.
 */
const firstWithRoom = (queue: string) => `
  select r.id from (${queue}) next
   cross join lateral (
     select s.id from session s
      where s.id = next.session_id and s.project_id not in (select project_id from full_project)
        and s.id not in (select session_id from full_session) offset 0) open
   cross join lateral (
     select r.id from node_run r where r.id = next.id and r.session_id = open.id and ${isClaimable}
        for update skip locked) r
   order by next.place limit 1`;

const queueOf = (template: string, condition: string, limit: number) => `
  select r.id, r.session_id, ${claimOrder('r')} as place from node_run r
   where ${isClaimable} and r.template_name = ${template}${condition}
   order by ${claimOrder('r')} limit ${limit}`;

/**
 * The next run of a template within its limits, for `pick`. When the first runs of the queue have no room, projects come
 * in the order of their first run, so that a long queue of a project without room keeps no other project waiting.
 * @param template an SQL expression
 */
export const nextWithRoom = (template: string) => {
  const firstOfProject = (condition: string) => `
    select ${projectOfQueued('r')} as project_id, ${claimOrder('r')} as place from node_run r
     where ${isClaimable} and r.template_name = ${template}${condition}
     order by ${projectOfQueued('r')}, ${claimOrder('r')} limit 1`;
  return `
  select next.id from (
    (${firstWithRoom(queueOf(template, '', runsChecked))})
    union all
    (select first.id from (
       with recursive head as (
         (${firstOfProject('')})
         union all
         select later.* from head cross join lateral (
           ${firstOfProject(` and ${projectOfQueued('r')} > head.project_id`)}) later
       )
       select project_id, place from head where project_id not in (select project_id from full_project)
        order by place) project
     cross join lateral (
       ${firstWithRoom(queueOf(template, ` and ${projectOfQueued('r')} = project.project_id`, runsOfProjectChecked))}) first
     order by project.place limit 1)
  ) next limit 1`;
};

/**
 * The `with` steps of a claim under limits. `free` has no row when all places are held; `full_project` and
 * `full_session` have those that hold all of theirs.
 * @param template an SQL expression
 */
export const limitSteps = (template: string) => `
  applied as materialized (
    select * from template_limit where template_name = ${template}
  ), held as materialized (
    select l.kind, h.session_id, s.project_id
      from applied l ${heldUnderLimit}
      join session s on s.id = h.session_id
  ), free as (
    select where not exists (
      select from applied l where l.max <= (select count(*) from held h where h.kind = l.kind))
  ), full_project as (
    select h.project_id from applied l join held h on h.kind = l.kind
     group by l.kind, l.per_project, h.project_id having count(*) >= l.per_project
  ), full_session as (
    select h.session_id from applied l join held h on h.kind = l.kind
     group by l.kind, l.per_session, h.session_id having count(*) >= l.per_session
  )`;

/** The limits that leave no place for the queued run of a node, if it has one. $1 node instance */
export const fullLimitsOfNode = `
  select l.kind, l.name, c.scope, c.max, c.held
    from node_run r join session s on s.id = r.session_id join template_limit l on l.template_name = r.template_name
   cross join lateral (
     select count(*) as all, count(*) filter (where hs.project_id = s.project_id) as project,
            count(*) filter (where hs.id = s.id) as session
       from (select l.kind, l.name) l ${heldUnderLimit} join session hs on hs.id = h.session_id) held
   cross join lateral (values ('all', l.max, held.all), ('project', l.per_project, held.project),
                              ('session', l.per_session, held.session)) as c (scope, max, held)
   where r.node_instance_id = $1 and r.state = 'queued' and c.held >= c.max
   order by l.kind, c.scope`;
