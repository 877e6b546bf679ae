import { listTemplates } from '../api.ts';
import { plural } from '../format.ts';
import { useResource } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { navigate } from '../router.ts';
import { Loaded } from '../ui/loaded.tsx';
import { type Comparison, templateAddress } from './address.ts';
import { readTemplateChanges, type SessionTemplateChanges } from './api.ts';
import { FieldChangeItem, NodeChangeItem, type SideTitles } from './change-item.tsx';

/** How many versions are offered to compare with. */
const maxOffered = 100;

/** What a version changed since another, or since another template. */
export function TemplateChanges(props: { templateId: number; newest: number; comparison: Comparison }) {
  const { templateId, comparison } = props;
  const version = comparison.version ?? props.newest;
  const { since, sinceTemplateId } = comparison;
  const changes = useResource(
    [templateId, version, since, sinceTemplateId].join(' '),
    (signal) => readTemplateChanges(templateId, { version, since, sinceTemplateId }, signal),
    { keepWhileLoading: true },
  );
  return (
    <section class="section template-changes" aria-label="Changes">
      <div class="part-head">
        <h2>Changes of version {version}</h2>
        <SinceField {...props} version={version} />
      </div>
      <Loaded of={changes} failure="The changes could not be read." rows={3} label="Loading the changes">
        {/* After a failure they may be those of another comparison. */}
        {(data) => changes.error === null && <Differences changes={data} />}
      </Loaded>
    </section>
  );
}

/** The choice of what to compare with, as `v2` or `t7`. */
function SinceField(props: { templateId: number; newest: number; version: number; comparison: Comparison }) {
  const { templateId, comparison, version } = props;
  const templates = useResource('templates', listTemplates);
  const { since, sinceTemplateId } = comparison;
  const chosen =
    sinceTemplateId !== null && sinceTemplateId !== templateId ? `t${sinceTemplateId}` : `v${since ?? 0}`;
  const offered = Array.from({ length: props.newest }, (_, index) => props.newest - index).filter(
    (one) => one !== version,
  );
  const choose = (value: string) => {
    const number = Number(value.slice(1)) || null;
    const next = value.startsWith('t')
      ? { since: null, sinceTemplateId: number }
      : { since: number, sinceTemplateId: null };
    navigate(templateAddress(templateId, { version: comparison.version, ...next }));
  };
  return (
    <label class="template-since">
      <span class="faint">since</span>
      <select
        class="select"
        aria-label="Compare with"
        value={chosen}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        <option value="v0">the version before</option>
        {offered.slice(0, maxOffered).map((one) => (
          <option key={one} value={`v${one}`}>
            version {one}
          </option>
        ))}
        <optgroup label="Other templates">
          {(templates.data ?? [])
            .filter(({ id }) => id !== templateId)
            .map(({ id, name }) => (
              <option key={id} value={`t${id}`}>
                {titleOf(name)}
              </option>
            ))}
        </optgroup>
      </select>
    </label>
  );
}

const titles: SideTitles = ['Before', 'Afterwards'];
const fieldTitles = {
  templateVersion: 'The label',
  description: 'The description',
  configuration: 'The configuration of the template',
};
const kinds = {
  configuration: 'has another configuration',
  added: 'is added',
  removed: 'is removed',
  're-parented': 'has other parents',
};

function Differences({ changes }: { changes: SessionTemplateChanges }) {
  const { since, fields, nodes } = changes;
  if (since === null)
    return (
      <p class="faint">
        This is the first version, with {plural(nodes.length, 'node', 'nodes')}. No earlier one is known.
      </p>
    );
  if (fields.length + nodes.length === 0) return <p class="faint">Nothing differs.</p>;
  return (
    <ul class="differences" aria-label="Differences">
      {fields.map(({ field, before, after }) => (
        <FieldChangeItem
          key={field}
          title={fieldTitles[field]}
          words="differs"
          before={before}
          after={after}
          titles={titles}
        />
      ))}
      {nodes.map((change) => (
        <NodeChangeItem key={`${change.node} ${change.kind}`} change={change} words={kinds} titles={titles} />
      ))}
    </ul>
  );
}
