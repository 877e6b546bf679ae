import { useEffect, useState } from 'preact/hooks';
import type { Project } from '../api.ts';
import { useSettled } from '../hooks.ts';
import { titleOf } from '../names.ts';
import { DateRange } from '../ui/date-range.tsx';
import { Select } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { type RunListView, type ShownRun, stateFilters, templateMeant } from './list-model.ts';

/** State, node template, project, session and days of a list of runs. */
export function RunFilters(props: {
  view: RunListView;
  projects: readonly Project[];
  rows: readonly ShownRun[];
  /** Names of node templates. */
  templates: readonly string[];
  change: (part: Partial<RunListView>) => void;
}) {
  const { view, change } = props;
  const shown = props.rows.map(({ run }) => run);
  const session = shown.find(({ sessionId }) => sessionId === view.sessionId);
  const node = shown.find(({ nodeInstanceId }) => nodeInstanceId === view.nodeInstanceId);
  return (
    <>
      <StateButtons state={view.state} onState={(state) => change({ state })} />
      <div class="filters">
        <TemplateField
          value={view.template}
          known={[...new Set([...shown.map(({ nodeTemplate }) => nodeTemplate), ...props.templates])]}
          onValue={(template) => change({ template })}
        />
        <ProjectSelect
          projectId={view.projectId}
          projects={props.projects}
          onProject={(projectId) => change({ projectId })}
        />
        <DateRange from={view.from} to={view.to} onChange={(from, to) => change({ from, to })} />
        {view.state === 'failed' && <ReasonSwitch view={view} change={change} />}
        {view.sessionId !== '' && (
          <Chip
            label={`Session ${session?.sessionName ?? view.sessionId}`}
            clear={() => change({ sessionId: '', nodeInstanceId: null })}
          />
        )}
        {view.nodeInstanceId !== null && (
          <Chip
            label={`Node ${titleOf(node?.nodeName ?? String(view.nodeInstanceId))}`}
            clear={() => change({ nodeInstanceId: null })}
          />
        )}
      </div>
    </>
  );
}

function ReasonSwitch(props: { view: RunListView; change: (part: Partial<RunListView>) => void }) {
  const { grouped } = props.view;
  return (
    <button
      type="button"
      class="button button-small"
      aria-pressed={grouped}
      onClick={() => props.change({ grouped: !grouped })}
    >
      Group by reason
    </button>
  );
}

/** A project that is not among those known is offered by its number. */
function ProjectSelect(props: {
  projectId: number | null;
  projects: readonly Project[];
  onProject: (id: number | null) => void;
}) {
  const chosen = props.projectId === null ? '' : String(props.projectId);
  const projects = props.projects.map(({ id, title }) => ({ value: String(id), label: title }));
  const isKnown = chosen === '' || projects.some(({ value }) => value === chosen);
  return (
    <Select
      label="Project"
      class="filter"
      value={chosen}
      options={[
        { value: '', label: 'All projects' },
        ...(isKnown ? [] : [{ value: chosen, label: `Project ${chosen}` }]),
        ...projects,
      ]}
      onValue={(id) => props.onProject(id === '' ? null : Number(id))}
    />
  );
}

function StateButtons(props: {
  state: RunListView['state'];
  onState: (state: RunListView['state']) => void;
}) {
  return (
    <fieldset class="run-states">
      <legend class="visually-hidden">State</legend>
      {stateFilters.map(({ value, label }) => (
        <button
          key={value}
          type="button"
          class="button button-small"
          aria-pressed={props.state === value}
          onClick={() => props.onState(value)}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

/** A part of a name is enough where just one is meant; the names that it may mean are offered. */
function TemplateField(props: { value: string; known: readonly string[]; onValue: (name: string) => void }) {
  const [text, setText] = useState(props.value);
  const settled = useSettled(text, 400);
  const meant = templateMeant(settled.trim(), props.known);
  useEffect(() => setText((before) => (meant === props.value ? before : props.value)), [props.value]);
  useEffect(() => {
    if (settled === text && meant !== null && meant !== props.value) props.onValue(meant);
  }, [settled]);
  return (
    <div class="search">
      <Icon name="search" />
      <input
        type="search"
        list="known-templates"
        aria-label="Node template"
        placeholder="Node template"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={() => meant === props.value && setText(props.value)}
      />
      <datalist id="known-templates">
        {props.known.map((name) => (
          <option key={name} value={name} label={titleOf(name)} />
        ))}
      </datalist>
    </div>
  );
}

function Chip(props: { label: string; clear: () => void }) {
  return (
    <span class="chip">
      {props.label}
      <button
        type="button"
        class="button button-icon"
        aria-label={`Remove the filter ${props.label}`}
        onClick={props.clear}
      >
        <Icon name="cross" />
      </button>
    </span>
  );
}
