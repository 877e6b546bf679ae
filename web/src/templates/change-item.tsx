import type { SessionTemplateChanges } from '../../../client/types.ts';
import { titleOf } from '../names.ts';
import { Table } from '../ui/table.tsx';
import { differences, settingText } from './differences.ts';

type NodeChange = SessionTemplateChanges['nodes'][number];
type Side = SessionTemplateChanges['nodes' | 'fields'][number]['before'];

/** What the two sides are called: `Now` and `Afterwards`. */
export type SideTitles = readonly [before: string, after: string];

/** What becomes of one node: the settings that differ, else both sides in whole. */
export function NodeChangeItem(props: {
  change: NodeChange;
  words: Readonly<Record<NodeChange['kind'], string>>;
  titles: SideTitles;
}) {
  const { change, titles } = props;
  const { node, kind, before, after } = change;
  return (
    <li>
      <p>
        <strong title={node}>{titleOf(node)}</strong>{' '}
        <span class={`template-change template-change-${kind}`}>{props.words[kind]}</span>
      </p>
      <Difference of={titleOf(node)} before={before} after={after} titles={titles} />
    </li>
  );
}

/** What becomes of a text or a configuration that belongs to no node. */
export function FieldChangeItem(props: {
  title: string;
  words: string;
  before: Side;
  after: Side;
  titles: SideTitles;
}) {
  const { title, before, after, titles } = props;
  return (
    <li>
      <p>
        <strong>{title}</strong> {props.words}
      </p>
      <Difference of={title} before={before} after={after} titles={titles} />
    </li>
  );
}

type Group = Readonly<Record<string, unknown>>;

const isGroup = (side: Side): side is Group =>
  typeof side === 'object' && side !== null && !Array.isArray(side);

function Difference(props: { of: string; before: Side; after: Side; titles: SideTitles }) {
  const { before, after, titles } = props;
  return isGroup(before) && isGroup(after) ? (
    <Settings of={props.of} before={before} after={after} titles={titles} />
  ) : (
    <Sides before={before} after={after} titles={titles} />
  );
}

/** The settings that differ: the others stay, however many there are. */
function Settings(props: { of: string; before: Group; after: Group; titles: SideTitles }) {
  const [was, becomes] = props.titles;
  return (
    <Table caption={`Settings of ${props.of}`} columns={['Setting', was, becomes]}>
      {differences(props.before, props.after).map(({ path, before, after }) => (
        <tr key={path}>
          <td class="mono">
            <strong>{path}</strong>
          </td>
          <td data-label={was}>
            <Setting of={before} />
          </td>
          <td data-label={becomes}>
            <Setting of={after} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

const Setting = (props: { of: unknown }) =>
  props.of === undefined ? (
    <span class="faint">not set</span>
  ) : (
    <pre class="code-block">{settingText(props.of)}</pre>
  );

function Sides(props: { before: Side; after: Side; titles: SideTitles }) {
  const sides = [props.before, props.after];
  return (
    <div class="difference-sides">
      {props.titles.map(
        (title, index) =>
          sides[index] !== null && (
            <div key={title}>
              <p class="faint">{title}</p>
              <pre class="code-block">{sideText(sides[index])}</pre>
            </div>
          ),
      )}
    </div>
  );
}

const sideText = (side: unknown) => (typeof side === 'string' ? side || '(empty)' : settingText(side));
