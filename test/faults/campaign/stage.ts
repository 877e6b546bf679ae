/** Sessions on which a campaign works, and who is signed in. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '../../../store/connection/database.ts';
import { type Graph, makeGraph, outsideTemplate } from '../../support/graph.ts';
import { json } from './caller.ts';
import type { CampaignPlatform } from './platform.ts';
import { administrator } from './platform.ts';

export const leaseMs = 2_000;
export const maxAttempts = 20;
const shippedTemplate = 'system-tabular-dashboard-autodetect-next';

export interface Stage {
  /** Part of every name that must differ from those of other stages. */
  readonly name: string;
  readonly templates: {
    readonly incremental: string;
    readonly plain: string;
    /** Registered, and never queued: a claim for it ends the claim that the instance holds and claims nothing. */
    readonly idle: string;
  };
  readonly database: Database;
  readonly token: string;
  /** Sessions with runners below their input. */
  readonly lanes: readonly Graph[];
  /** Sessions without nodes below the input, for many uploads. */
  readonly stores: readonly Graph[];
  readonly templateId: number;
  readonly projectId: number;
}

export async function makeStage(platform: CampaignPlatform, name: string, lanes: number): Promise<Stage> {
  const { database } = platform;
  const token = await signIn(platform);
  const templates = { incremental: `incremental-${name}`, plain: `plain-${name}`, idle: `idle-${name}` };
  const common = { leaseSeconds: leaseMs / 1_000, maxAttempts };
  await outsideTemplate(database, templates.incremental, { ...common, incremental: true });
  await outsideTemplate(database, templates.plain, common);
  await outsideTemplate(database, templates.idle, common);
  const made = { lanes: [] as Graph[], stores: [] as Graph[] };
  for (let lane = 0; lane < lanes; lane++) {
    made.lanes.push(
      await makeGraph(database, [
        { name: 'input', parents: [] },
        { name: 'each', parents: ['input'], template: templates.incremental },
        { name: 'sum', parents: ['each'], template: templates.plain },
      ]),
    );
    made.stores.push(await makeGraph(database, [{ name: 'input', parents: [] }]));
  }
  const sessionIds = [...made.lanes, ...made.stores].map(({ sessionId }) => sessionId);
  await database.query(
    `update node_instance set configuration = '{"dataSourceName":"platform"}' where session_id = any ($1::uuid[])`,
    [sessionIds],
  );
  const [template] = await database.query<{ id: number }>('select id from session_template where name = $1', [
    shippedTemplate,
  ]);
  return {
    name,
    templates,
    database,
    token,
    ...made,
    templateId: template!.id,
    projectId: made.lanes[0]!.projectId,
  };
}

/** The administrator's token, as soon as an API process answers with it. */
async function signIn(platform: CampaignPlatform): Promise<string> {
  for (let tries = 0; ; tries++) {
    const response = await fetch(`${platform.of('API')[0]!.directUrl}/api/authorization/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(administrator),
    }).catch(() => undefined);
    const body = Buffer.from((await response?.arrayBuffer()) ?? new ArrayBuffer(0));
    if (response?.status === 200) return json<{ accessToken: string }>({ body }).accessToken;
    if (tries > 20) throw new Error(`sign-in: ${response?.status} ${body}`);
    await delay(250);
  }
}
