/** `sdp query`: sessions by a query (contract: Session query model). */
import { type AddCommand, examples, parseDocument, readDocument } from '../cli.ts';
import { table, time } from '../output.ts';

export const addQuery: AddCommand = (program, cli) => {
  program
    .command('query')
    .description('Queries sessions by a JSON document with filter, orderBy, limit and offset.')
    .argument('[file]', 'a JSON file; - reads standard input', '-')
    .addHelpText(
      'after',
      examples(
        'query night-flights.json',
        `query <<< '{"filter": {"path": "vehicle.speed", "op": "gte", "value": 80}}'`,
      ),
    )
    .action(async (file: string) => {
      const document = await readDocument(file);
      parseDocument(document, file);
      const reply = await (await cli.connect()).call('POST /api/sessions/query', { document });
      const { sessions, totalCount, totalCountIsExact } = reply.template;
      cli.print(reply, () =>
        [
          table(sessions, {
            ID: (one) => one.id,
            NAME: ({ name }) => name,
            PROJECT: ({ projectId }) => projectId,
            SIMULATION: ({ simulationName }) => simulationName,
            CREATED: ({ createdAt }) => time(createdAt),
          }),
          `${sessions.length} of ${totalCountIsExact ? '' : 'more than '}${totalCount}.`,
        ].join('\n'),
      );
    });
};
