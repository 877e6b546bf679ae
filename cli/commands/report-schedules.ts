/** `sdp reports schedule` and `sdp reports files`: reports that the platform writes by itself. */
import { type Command, Option } from 'commander';
import type { NewReportSchedule, ReportSchedule } from '../../client/types.ts';
import { type AddCommand, examples, id, uuid, wholeNumber } from '../cli.ts';
import { download, plainBytes } from '../download.ts';
import { findProject } from '../find-by-name.ts';
import { bytes, table, time } from '../output.ts';
import { Progress } from '../progress.ts';

const exampleId = '0198ee21-7d40-7c1a-9e55-2f6b8c0d3a72';
const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];

interface CreateOptions {
  readonly every: NewReportSchedule['every'];
  readonly at?: string;
  readonly weekday?: NewReportSchedule['weekday'];
  readonly dayOfMonth?: number;
  readonly timeZone?: string;
  readonly project?: string;
  readonly format?: NewReportSchedule['format'];
  readonly days?: number;
  readonly keep?: number;
}

export const addReportSchedules: AddCommand = (reports, cli) => {
  const schedule = reports.command('schedule').description('Reports that the platform writes by itself.');
  schedule
    .command('list')
    .description('Lists the schedules with the time of the next file.')
    .addHelpText('after', examples('reports schedule list'))
    .action(async () => {
      const found = await (await cli.connect()).call('GET /api/v2/dashboard/report-schedules');
      cli.print(found, () =>
        table(found.schedules, {
          ID: (one) => one.id,
          REPORT: ({ reportKey }) => reportKey,
          PROJECT: ({ projectId }) => projectId,
          WHEN: whenOf,
          FORMAT: ({ format }) => format,
          NEXT: ({ nextAt }) => time(nextAt),
        }),
      );
    });
  addNewSchedule(schedule, cli);
  addChanges(schedule, cli);
  addFiles(reports, cli);
};

const addNewSchedule: AddCommand = (schedule, cli) => {
  schedule
    .command('create')
    .description('Schedules a report.')
    .argument('<report>', 'key of the report')
    .addOption(
      new Option('--every <interval>', 'how often')
        .choices(['hour', 'day', 'week', 'month'])
        .makeOptionMandatory(),
    )
    .option('--at <time>', 'time of day, such as 06:30; an hourly schedule uses the minutes (default: 06:00)')
    .addOption(new Option('--weekday <day>', 'day of a weekly schedule (default: monday)').choices(weekdays))
    .option('--day-of-month <number>', 'day of a monthly schedule (default: 1)', wholeNumber(1, 31))
    .option('--time-zone <name>', 'time zone of the schedule, such as Europe/Berlin (default: UTC)')
    .option('--project <name>', 'only sessions of this project, by its name or id')
    .addOption(new Option('--format <format>', 'file format').choices(['xlsx', 'csv']))
    .option('--days <number>', 'only rows of the last days', wholeNumber(1, 3650))
    .option('--keep <number>', 'how many files are kept (default: 10)', wholeNumber(1, 100))
    .addHelpText(
      'after',
      examples(
        'reports schedule create session-list --every week --weekday monday --at 06:30 --time-zone Europe/Berlin',
      ),
    )
    .action(async (reportKey: string, { project, days, keep, ...options }: CreateOptions) => {
      const platform = await cli.connect();
      const projectId = project === undefined ? null : (await findProject(platform, project)).id;
      const body = { reportKey, projectId, periodDays: days, keptFiles: keep, ...options };
      const made = await platform.call('POST /api/v2/dashboard/report-schedules', { body });
      cli.print(made, () => `Schedule ${made.id}: ${whenOf(made)}, next ${time(made.nextAt)}.`);
    });
};

function addChanges(schedule: Command, cli: Parameters<AddCommand>[1]): void {
  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const)
    schedule
      .command(verb)
      .description(enabled ? 'Enables a schedule.' : 'Disables a schedule; its files stay.')
      .argument('<id>', 'id of the schedule', uuid)
      .addHelpText('after', examples(`reports schedule ${verb} ${exampleId}`))
      .action(async (one: string) => {
        const changed = await (await cli.connect()).call('PATCH /api/v2/dashboard/report-schedules/{id}', {
          params: { id: one },
          body: { enabled },
        });
        cli.print(changed, () => (enabled ? `Enabled; next ${time(changed.nextAt)}.` : 'Disabled.'));
      });
  schedule
    .command('run')
    .description('Writes the next file now.')
    .argument('<id>', 'id of the schedule', uuid)
    .addHelpText('after', examples(`reports schedule run ${exampleId}`))
    .action(async (one: string) => {
      const params = { id: one };
      const asked = await (await cli.connect()).call('POST /api/v2/dashboard/report-schedules/{id}/run', {
        params,
      });
      cli.print(asked, () => '`sdp reports files` lists the file.');
    });
  schedule
    .command('delete')
    .description('Deletes a schedule and its files.')
    .argument('<id>', 'id of the schedule', uuid)
    .addHelpText('after', examples(`reports schedule delete ${exampleId}`))
    .action(async (one: string) => {
      const params = { id: one };
      await (await cli.connect()).call('DELETE /api/v2/dashboard/report-schedules/{id}', { params });
      cli.print({ id: one, deleted: true }, () => 'Deleted.');
    });
}

const addFiles: AddCommand = (reports, cli) => {
  reports
    .command('files')
    .description('Lists the files of schedules, newest first.')
    .option('--schedule <id>', 'only files of this schedule', uuid)
    .option('--project <name>', 'only files of this project, by its name or id')
    .option('--before <number>', 'continues a list: the number below the previous page', id)
    .addHelpText('after', examples('reports files', `reports files --schedule ${exampleId}`))
    .action(async (options: { schedule?: string; project?: string; before?: number }) => {
      const platform = await cli.connect();
      const { schedule, project, before } = options;
      const projectId = project === undefined ? undefined : (await findProject(platform, project)).id;
      const found = await platform.call('GET /api/v2/dashboard/report-files', {
        query: { scheduleId: schedule, projectId, before },
      });
      const shown = table(found.files, {
        ID: (one) => one.id,
        REPORT: ({ reportKey }) => reportKey,
        DUE: ({ dueAt }) => time(dueAt),
        STATE: ({ state }) => state,
        ROWS: ({ rows }) => rows,
        SIZE: ({ sizeBytes }) => (sizeBytes === null ? '' : bytes(sizeBytes)),
        FILE: ({ fileName, error }) => error ?? fileName,
      });
      cli.print(found, () => shown + (found.next === null ? '' : `\nMore: --before ${found.next}`));
    });
  reports
    .command('fetch')
    .description('Downloads a file of a schedule.')
    .argument('<id>', 'id of the file', uuid)
    .option('-o, --out <file>', 'name of the file; - writes to standard output')
    .addHelpText('after', examples(`reports fetch ${exampleId}`))
    .action(async (one: string, { out }: { out?: string }) => {
      const platform = await cli.connect();
      const file = await platform.open('GET /api/v2/dashboard/report-files/{id}/data', {
        params: { id: one },
        headers: plainBytes,
      });
      const saved = await download(file, out, 'report', new Progress(cli.isJson));
      if (out !== '-') cli.print(saved, () => '');
    });
};

function whenOf({ every, at, weekday, dayOfMonth, timeZone }: ReportSchedule): string {
  const days = { hour: '', day: ` at ${at}`, week: ` ${weekday} ${at}`, month: ` on ${dayOfMonth} at ${at}` };
  const minute = every === 'hour' ? ` at minute ${at.slice(3)}` : '';
  return `every ${every}${days[every]}${minute} ${timeZone}`;
}
