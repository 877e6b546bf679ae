/** Who held an attempt of a run: see RunHolder in domain/runs/run-log.ts. */
import { builtinHolder, tokenIdOfHolder } from '../runners/holder.ts';

/** The holder of a claim `c`, as a JSON object of SQL. */
export const holderOfClaim = `
  json_build_object(
    'instanceId', c.instance_id,
    'name', case when c.holder = '${builtinHolder}' then 'built-in'
                 else (select nullif(k.label, '') from runner_token k where k.id = ${tokenIdOfHolder('c.holder')}) end,
    'version', coalesce(c.runner_version, (select i.version from runner_instance i
                                            where i.holder = c.holder and i.instance_id = c.instance_id)))`;
