import { describe, expect, test } from 'vitest';
import {
  checkTemplateFile,
  isSameTemplateGraph,
  type KnownNodeTemplate,
  nodeTemplateNamesOf,
  templateNameOf,
} from '../../domain/templates/template-file.ts';

const template = (type: KnownNodeTemplate['type'], configurationSchema: unknown = {}, retired = false) => ({
  type,
  configurationSchema,
  retired,
});
const known = new Map<string, KnownNodeTemplate>([
  ['input-node', template('Input')],
  ['convert', template('Transform', { properties: { rows: { type: 'integer' } }, required: ['rows'] })],
  ['merge', template('Aggregation')],
  ['old', template('Transform', {}, true)],
]);

const input = (name: string) => ({
  Name: name,
  NodeTemplateName: 'input-node',
  DefaultConfiguration: { dataSourceName: 'x' },
});
const merge = (name: string, ...parents: unknown[]) => ({
  Name: name,
  NodeTemplateName: 'merge',
  Parents: parents,
});
const file = (nodes: unknown, extra: object = {}) => ({
  $schema: 'https://example.org/template.json',
  TemplateVersion: '1.0',
  Name: ' two machines ',
  Description: 'Two machines, merged',
  Configuration: { defaultIngestionNode: 'a' },
  Nodes: nodes,
  ...extra,
});
const issuesOf = (value: unknown) => {
  const result = checkTemplateFile(value, known);
  return result.ok ? [] : result.issues.map((issue) => `${issue.path} ${issue.message}`);
};

describe('a right file', () => {
  test('is read whole, with names trimmed and defaults filled in', () => {
    expect(checkTemplateFile(file([input('a'), input(' b'), merge('m', 'a', 'b ')]), known)).toEqual({
      ok: true,
      template: {
        name: 'two machines',
        templateVersion: '1.0',
        description: 'Two machines, merged',
        configuration: { defaultIngestionNode: 'a' },
        updateIfExists: false,
        nodes: [
          {
            name: 'a',
            nodeTemplateName: 'input-node',
            defaultConfiguration: { dataSourceName: 'x' },
            parents: [],
          },
          {
            name: 'b',
            nodeTemplateName: 'input-node',
            defaultConfiguration: { dataSourceName: 'x' },
            parents: [],
          },
          { name: 'm', nodeTemplateName: 'merge', defaultConfiguration: {}, parents: ['a', 'b'] },
        ],
      },
    });
  });

  test('may use camelCase and leave out what is optional', () => {
    const result = checkTemplateFile(
      { name: 'x', nodes: [{ name: 'a', nodeTemplateName: 'input-node' }], updateIfExists: true },
      known,
    );
    expect(result).toMatchObject({
      ok: true,
      template: { name: 'x', updateIfExists: true, description: '' },
    });
  });

  test('may hold 500 nodes in a line, children before parents', () => {
    const line = Array.from({ length: 500 }, (_, index) =>
      index === 499 ? input('n499') : merge(`n${index}`, `n${index + 1}`),
    );
    expect(issuesOf(file(line))).toEqual([]);
  });
});

describe('every fault is listed with its path', () => {
  test.each<[string, unknown, string[]]>([
    ['no object', [], ['$ The template definition must be a JSON object.']],
    ['nothing', {}, ['$.Name Name is required.', '$.Nodes Nodes must be a list of 1 to 500 nodes.']],
    ['no nodes', file([]), ['$.Nodes Nodes must be']],
    [
      'too many nodes',
      file(Array.from({ length: 501 }, (_, i) => input(`n${i}`))),
      ['$.Nodes Nodes must be'],
    ],
    ['a name of blanks', file([input('a')], { Name: '  ' }), ['$.Name Name must be text']],
    [
      'text with NUL',
      file([input('a')], { Description: 'a\u0000' }),
      ['$.Description Description must be text'],
    ],
    [
      'a configuration that is text',
      file([input('a')], { Configuration: '{}' }),
      ['$.Configuration Configuration must be an object'],
    ],
    [
      'a flag that is text',
      file([input('a')], { updateIfExists: 'yes' }),
      ['$.updateIfExists updateIfExists must be true or false.'],
    ],
    [
      'a version that is an object',
      file([input('a')], { TemplateVersion: {} }),
      ['$.TemplateVersion TemplateVersion must be text'],
    ],
    ['a node that is no object', file([input('a'), 5]), ['$.Nodes[1] A node must be an object.']],
    [
      'a node without names',
      file([input('a'), { Parents: ['a'] }]),
      ['$.Nodes[1].Name Name is required.', '$.Nodes[1].NodeTemplateName NodeTemplateName is required.'],
    ],
    [
      'an unregistered node template',
      file([{ Name: 'a', NodeTemplateName: 'nope' }]),
      ["$.Nodes[0].NodeTemplateName Node template 'nope' is not registered."],
    ],
    [
      'a retired node template',
      file([input('a'), { Name: 'b', NodeTemplateName: 'old', Parents: ['a'] }]),
      ["$.Nodes[1].NodeTemplateName Node template 'old' is retired."],
    ],
    [
      'a name used twice',
      file([input('a'), input('a')]),
      ["$.Nodes[1].Name The node name 'a' is used twice."],
    ],
    [
      'unknown, doubled and wrong parents',
      file([input('a'), merge('m', 'a', 'x', 'a', 7)]),
      [
        '$.Nodes[1].Parents[3] A parent must be the name of a node.',
        "$.Nodes[1].Parents[1] No node is named 'x'.",
        "$.Nodes[1].Parents[2] The parent 'a' is listed twice.",
      ],
    ],
    [
      'parents that are text',
      file([input('a'), { ...merge('m'), Parents: 'a' }]),
      [
        '$.Nodes[1].Parents Parents must be a list',
        '$.Nodes[1].NodeTemplateName A node without parents must be of type Input',
      ],
    ],
    [
      'an Input with parents',
      file([input('a'), { ...input('b'), Parents: ['a'] }]),
      ['$.Nodes[1].Parents A node of type Input cannot have parents.'],
    ],
    [
      'a root that is no Input',
      file([merge('m')]),
      [
        "$.Nodes[0].NodeTemplateName A node without parents must be of type Input; 'merge' is of type Aggregation.",
      ],
    ],
    [
      'a cycle',
      file([input('a'), merge('b', 'a', 'd'), merge('c', 'b'), merge('d', 'c')]),
      ["$.Nodes[2].Parents[0] The nodes form a cycle: 'b' -> 'c' -> 'd' -> 'b'."],
    ],
    [
      'no root',
      file([merge('b', 'c'), merge('c', 'b')]),
      ['$.Nodes At least one node must have no parents.', 'The nodes form a cycle'],
    ],
    [
      'a configuration against its schema',
      file([
        input('a'),
        { Name: 'c', NodeTemplateName: 'convert', DefaultConfiguration: { rows: 'many' }, Parents: ['a'] },
      ]),
      ['$.Nodes[1].DefaultConfiguration.rows Does not match the schema: must be integer.'],
    ],
    [
      'an absent configuration against its schema',
      file([input('a'), { Name: 'c', NodeTemplateName: 'convert', Parents: ['a'] }]),
      ["$.Nodes[1].DefaultConfiguration Does not match the schema: must have required property 'rows'."],
    ],
    [
      'camelCase paths where the file is so',
      { name: 'x', nodes: [{ name: 'a', nodeTemplateName: 'input-node', parents: ['q'] }] },
      [
        "$.nodes[0].parents[0] No node is named 'q'.",
        '$.nodes[0].parents A node of type Input',
        '$.nodes At least',
      ],
    ],
  ])('%s', (_, value, expected) => {
    const found = issuesOf(value);
    for (const [index, part] of expected.entries()) expect(found[index]).toContain(part);
    expect(found).toHaveLength(expected.length);
  });

  test('and the list is bounded', () => {
    const nodes = Array.from({ length: 500 }, () => ({ Parents: Array.from({ length: 500 }, () => 1) }));
    const found = issuesOf(file(nodes));
    expect(found).toHaveLength(201);
    expect(found.at(-1)).toContain('More faults');
  });
});

test('names are collected before the full check', () => {
  expect(templateNameOf({ name: ' x ' })).toBe('x');
  expect(templateNameOf({ Name: 5 })).toBeNull();
  expect(templateNameOf(null)).toBeNull();
  expect(nodeTemplateNamesOf(file([input('a'), input('b'), null, merge('m')]))).toEqual([
    'input-node',
    'merge',
  ]);
  expect(nodeTemplateNamesOf({ Nodes: 'x' })).toEqual([]);
});

test('a graph is the same with its nodes in another order, and another with another node template', () => {
  const node = (name: string, nodeTemplateName: string, ...parents: string[]) => ({
    name,
    nodeTemplateName,
    parents,
  });
  const stored = [node('a', 'input-node'), node('m', 'merge', 'a')];
  expect(isSameTemplateGraph(stored, stored.toReversed())).toBe(true);
  expect(isSameTemplateGraph(stored, [node('a', 'input-node'), node('m', 'convert', 'a')])).toBe(false);
});
