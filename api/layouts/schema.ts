/** Wire forms of layouts of dashboards (additions, section 4). */
import { z } from 'zod';
import { exampleValues } from '../../domain/examples.ts';
import { limits } from '../../domain/limits.ts';
import { DerivedFault, nodesOf, parseDerived } from '../../domain/recordings/derived-syntax.ts';
import { layoutScopes } from '../../domain/recordings/layout-scope.ts';
import { utf8Bytes } from '../../domain/text.ts';
import { bodyId, jsonObjectOut, nameText, optionalText, pathId, timestampOut } from '../../http/schemas.ts';
import { derivedChannelSchema } from '../dashboards/question-schema.ts';

const channel = () =>
  nameText(300).meta({ description: 'Name or key of a channel, or `=name` of a derived one.' });

const panelKinds = ['lines', 'xy', 'histogram', 'track', 'table', 'media', 'text'] as const;

const panel = z.strictObject({
  kind: z
    .enum(panelKinds)
    .default('lines')
    .meta({
      description:
        '`lines`: channels over the axis. `xy`: the first channel across, the others up. `histogram`: how often each value is. ' +
        '`track`: latitude and longitude as a line. `table`: values at the cursor. `media`: outputs of the session with pictures ' +
        'or video, in step with the cursor. `text`: words of the person who arranged it. The last two have no channels.',
    }),
  title: optionalText(limits.nameCharacters).default(''),
  channels: z.array(channel()).max(limits.layoutPanelChannels).default([]),
  output: optionalText(limits.nameCharacters)
    .optional()
    .meta({
      description:
        'For `media`: only outputs with this in their name. Default: all. An output begins at `capturedAt` (a time) or `offsetSeconds` ' +
        '(from the start of the dashboard) of its metadata, else at the start.',
    }),
  text: optionalText(limits.layoutTextCharacters)
    .optional()
    .meta({ description: 'The words of `text`, shown as they are, with their line breaks; no mark-up.' }),
  width: z.int().min(1).max(12).default(12).meta({ description: 'How many of the twelve columns.' }),
  height: z.int().min(80).max(2000).default(240).meta({ description: 'Pixels.' }),
});

/** Version 1 of the form; others will have other numbers. */
const layoutFormSchema = z
  .strictObject({
    version: z.literal(1),
    x: channel().nullable().default(null).meta({ description: 'The channel of the axis; null: time.' }),
    split: channel()
      .nullable()
      .default(null)
      .meta({ description: 'The step channel whose values are traces.' }),
    derived: z.array(derivedChannelSchema).max(limits.derivedChannels).default([]),
    panels: z.array(panel).min(1).max(limits.layoutPanels),
  })
  .superRefine((layout, context) => {
    const report = (path: (string | number)[], message: string) =>
      context.addIssue({ code: 'custom', path, message, input: layout });
    if (utf8Bytes(JSON.stringify(layout)) > limits.layoutBytes)
      report([], `must hold at most ${limits.layoutBytes} bytes`);
    checkDerived(layout.derived, report);
    checkPanels(layout, report);
  });

type LayoutForm = z.output<typeof layoutFormSchema>;
type Report = (path: (string | number)[], message: string) => void;

function checkDerived(derived: LayoutForm['derived'], report: Report): void {
  const names = new Set<string>();
  let nodes = 0;
  for (const [index, { name, expression }] of derived.entries()) {
    if (names.has(name)) report(['derived', index, 'name'], 'appears more than once');
    names.add(name);
    try {
      nodes += nodesOf(parseDerived(expression));
    } catch (error) {
      if (!(error instanceof DerivedFault)) throw error;
      report(['derived', index, 'expression'], `has a fault at position ${error.position}: ${error.message}`);
    }
  }
  if (nodes > limits.derivedNodesInAll)
    report(['derived'], `must hold at most ${limits.derivedNodesInAll} numbers, channels and operations`);
}

function checkPanels({ panels, derived, x, split }: LayoutForm, report: Report): void {
  const isKnown = (name: string) => !name.startsWith('=') || derived.some((one) => `=${one.name}` === name);
  const unknown = 'names a derived channel that the layout does not have';
  for (const [index, { kind, channels, text }] of panels.entries()) {
    const hasChannels = kind !== 'media' && kind !== 'text';
    for (const [place, name] of channels.entries())
      if (!isKnown(name)) report(['panels', index, 'channels', place], unknown);
    if (!hasChannels && channels.length > 0) report(['panels', index, 'channels'], 'must be empty');
    if (kind !== 'text' && text !== undefined)
      report(['panels', index, 'text'], 'goes with panels of kind text alone');
    if (hasChannels && channels.length === 0) report(['panels', index, 'channels'], 'must hold a channel');
    if (kind === 'xy' && channels.length < 2)
      report(['panels', index, 'channels'], 'must hold the channel across and at least one more');
    if (kind === 'track' && channels.length !== 2)
      report(['panels', index, 'channels'], 'must hold latitude and longitude');
  }
  if (x !== null && !isKnown(x)) report(['x'], unknown);
  if (split?.startsWith('=') === true) report(['split'], 'must not be a derived channel');
}

const fields = {
  name: nameText(),
  scope: z.enum(layoutScopes).meta({ description: 'Who sees it.' }),
  projectId: bodyId()
    .nullable()
    .default(null)
    .meta({ description: 'Required for `project`; narrows `mine`; else null.' }),
  sessionTemplateId: bodyId()
    .nullable()
    .default(null)
    .meta({ description: 'Required for `template`; narrows `mine`; else null.' }),
  layout: layoutFormSchema,
};

const formExample = {
  version: 1,
  x: null,
  split: null,
  derived: [{ name: 'speed in km/h', unit: 'km/h', expression: 'speed * 3.6' }],
  panels: [
    { kind: 'lines', title: 'Speed', channels: ['=speed in km/h'], width: 8, height: 240 },
    { kind: 'track', title: 'Track', channels: ['latitude', 'longitude'], width: 4, height: 240 },
  ],
} as const;
const headExample = { name: 'Race engineer', scope: 'project', projectId: exampleValues.projectId } as const;

export const newLayoutSchema = z
  .object(fields)
  .superRefine(({ scope, projectId, sessionTemplateId }, context) => {
    const report = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message, input: path });
    if (scope === 'project' && projectId === null) report('projectId', 'is required for the scope project');
    if (scope === 'template' && sessionTemplateId === null)
      report('sessionTemplateId', 'is required for the scope template');
    if (projectId !== null && scope !== 'project' && scope !== 'mine')
      report('projectId', `does not go with the scope ${scope}`);
    if (sessionTemplateId !== null && scope !== 'template' && scope !== 'mine')
      report('sessionTemplateId', `does not go with the scope ${scope}`);
  })
  .meta({ id: 'NewLayout', example: { ...headExample, layout: formExample } });

const headFields = {
  id: z.int(),
  name: z.string(),
  scope: z.enum(layoutScopes),
  projectId: z.int().nullable(),
  sessionTemplateId: z.int().nullable(),
  revision: z.int().meta({ description: 'Counts its changes from 1; the `ETag` of the layout.' }),
  mayChange: z.boolean().meta({ description: 'Whether the caller may change and delete it.' }),
  updatedAt: timestampOut(),
};
const headOut = {
  id: 12,
  ...headExample,
  sessionTemplateId: null,
  revision: 1,
  mayChange: true,
  updatedAt: exampleValues.startedAt,
};

const layoutHeadSchema = z.object(headFields).meta({ id: 'LayoutHead', example: headOut });

export const layoutSchema = z
  .object({
    ...headFields,
    layout: jsonObjectOut().meta({ description: 'As it was saved, with defaults filled in.' }),
  })
  .meta({ id: 'Layout', example: { ...headOut, layout: formExample } });

export const layoutListSchema = z
  .object({ layouts: z.array(layoutHeadSchema) })
  .meta({ id: 'LayoutList', example: { layouts: [headOut] } });

export const fittingLayoutsSchema = z
  .object({
    layouts: z.array(layoutHeadSchema).meta({ description: 'The first one opens.' }),
    opens: layoutSchema.nullable().meta({ description: 'The first; null where none fits.' }),
  })
  .meta({
    id: 'FittingLayouts',
    example: { layouts: [headOut], opens: { ...headOut, layout: formExample } },
  });

export const layoutParams = z.object({
  id: pathId().meta({ description: 'The layout.', example: headOut.id }),
});

export const layoutQuerySchema = z.object({
  scope: z
    .enum(layoutScopes, { error: 'scope must be mine, template, project or everyone.' })
    .optional()
    .meta({ description: 'Only layouts of this scope.' }),
});
