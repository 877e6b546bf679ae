/** The routes of report schedules and their files. */
import type {
  NewReportSchedule,
  ReportFile,
  ReportFileList,
  ReportSchedule,
  ReportScheduleChange,
} from '../../../client/types.ts';
import { platform } from '../http.ts';

export type { NewReportSchedule, ReportFile, ReportSchedule };

export async function listSchedules(signal: AbortSignal): Promise<readonly ReportSchedule[]> {
  return (await platform.call('GET /api/v2/dashboard/report-schedules', { signal })).schedules;
}

export async function createSchedule(body: NewReportSchedule): Promise<void> {
  await platform.call('POST /api/v2/dashboard/report-schedules', { body });
}

export async function changeSchedule(id: string, body: ReportScheduleChange): Promise<void> {
  await platform.call('PATCH /api/v2/dashboard/report-schedules/{id}', { params: { id }, body });
}

export async function runSchedule(id: string): Promise<void> {
  await platform.call('POST /api/v2/dashboard/report-schedules/{id}/run', { params: { id } });
}

export async function deleteSchedule(id: string): Promise<void> {
  await platform.call('DELETE /api/v2/dashboard/report-schedules/{id}', { params: { id } });
}

export function listReportFiles(scheduleId: string, signal: AbortSignal): Promise<ReportFileList> {
  return platform.call('GET /api/v2/dashboard/report-files', { query: { scheduleId }, signal });
}

const projectFiles = 10;

/** The newest files of a project. */
export function listProjectReportFiles(projectId: number, signal: AbortSignal): Promise<ReportFileList> {
  const query = { projectId, limit: projectFiles };
  return platform.call('GET /api/v2/dashboard/report-files', { query, signal });
}

export function openReportFile(id: string): Promise<Response> {
  return platform.open('GET /api/v2/dashboard/report-files/{id}/data', {
    params: { id },
    headers: { accept: '*/*' },
  });
}
