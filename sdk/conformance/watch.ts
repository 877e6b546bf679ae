/** The checks of every scenario: holding tasks, heartbeats, polling, refused calls. */
import { wasNotified } from './job.ts';
import { judgeLog } from './judge-log.ts';
import type { RuleName } from './rules.ts';
import { type Call, endingRoutes, handedOut, sideRoutes, writingRoutes } from './server/journal.ts';
import type { Claim } from './server/model.ts';
import type { Stage } from './stage.ts';

/** The other threads of a runner learn of a loss a moment after the first thread. */
const noticeMs = 800;

/** Judges the journal of a scenario that is over. */
export function watch(stage: Stage): void {
  for (const call of stage.journal.calls) {
    judgeRefusal(stage, call);
    judgeClaim(stage, call);
    const isOutput = call.route === 'outputs' || call.route === 'uploadStart';
    if (isOutput && call.headers['x-platform-output-identifier'] === undefined)
      stage.found('identifier-missing', 'An output was written without X-Platform-Output-Identifier.');
  }
  for (const claim of stage.world.desk.claims.values()) {
    if (!wasNotified(stage, claim.taskId)) continue;
    judgeSilence(stage, claim);
    judgeHeartbeats(stage, claim);
    if (claim.end?.reply === undefined) judgeAfterLoss(stage, claim);
    else judgeAfterEnd(stage, claim);
    judgeLog(stage, claim);
  }
  judgePolling(stage);
  judgeHammering(stage);
}

const byCode: Readonly<Record<string, RuleName>> = {
  instance_header_missing: 'instance-header-missing',
  invalid_request: 'invalid-request',
  invalid_output_identifier: 'invalid-request',
  invalid_output_metadata: 'invalid-request',
  upload_incomplete: 'invalid-request',
  part_too_small: 'invalid-request',
  template_unknown: 'template-not-claimable',
  template_not_allowed: 'template-not-claimable',
  not_found: 'unknown-route',
  method_not_allowed: 'unknown-route',
  input_not_found: 'invalid-request',
  output_missing: 'output-missing',
  task_finished: 'end-changed',
  watermark_regression: 'watermark-moved-back',
  watermark_unknown_input: 'watermark-unknown-input',
  body_too_large: 'body-too-large',
  output_too_large: 'output-too-large',
  unsupported_media_type: 'invalid-request',
  range_not_satisfiable: 'invalid-request',
};

/** A refusal that the runner caused. */
function judgeRefusal(stage: Stage, call: Call): void {
  if (call.fault !== undefined || call.status === undefined || call.status < 400) return;
  const path = call.path.replace(/^\/api\/v2(\.0)?\/runner/, '');
  const bytes = call.status === 413 ? ` (${call.headers['content-length'] ?? 'more'} bytes)` : '';
  const saw = `${call.method} ${path}${bytes} got ${call.status}: ${call.message ?? call.code}`;
  if (call.code === 'unauthorized') {
    if (call.headers.authorization !== `Bearer ${stage.server.token}`) stage.found('token-missing', saw);
    return;
  }
  if (call.code === 'task_not_found') judgeOwner(stage, call, saw);
  const rule = byCode[call.code ?? ''];
  if (rule !== undefined) stage.found(rule, saw);
}

function judgeOwner(stage: Stage, call: Call, saw: string): void {
  const claim = stage.world.desk.claims.get((call.taskId ?? '').toLowerCase());
  if (claim === undefined) stage.found('unknown-task', `${saw} No claim ever made that task.`);
  else if (claim.instanceId !== call.instanceId)
    stage.found(
      'wrong-instance',
      `${saw} The task was claimed by ${claim.instanceId}, the call came from ${call.instanceId}.`,
    );
}

function judgeClaim(stage: Stage, call: Call): void {
  if (call.route !== 'claim' || call.released === undefined) return;
  const held = stage.world.desk.claims.get(call.released);
  const saw = `Instance ${held?.instanceId} claimed again while it held task ${call.released}, and so lost it.`;
  stage.found(held?.run.cancelRequested ? 'cancel-abandoned' : 'claimed-while-holding', saw);
}

/** The longest time without a call for a task while it was held. */
function judgeSilence(stage: Stage, claim: Claim): void {
  const delivery = stage.journal
    .of('claim', ...endingRoutes)
    .find((call) => handedOut(call) === claim.taskId);
  const endMs = Math.min(claim.end?.atMs ?? performance.now(), stage.heartbeatsJudgedUntilMs);
  let lastMs = delivery?.answeredAtMs ?? claim.claimedAtMs;
  const moments = stage.journal
    .forTask(claim.taskId)
    .flatMap((call) => [call.atMs, call.bodyAtMs ?? call.atMs])
    .filter((atMs) => atMs < endMs);
  for (const atMs of [...moments, endMs]) {
    if (atMs - lastMs - stage.stalls.within(lastMs, atMs) > stage.maxSilenceMs) {
      const seconds = ((atMs - lastMs) / 1_000).toFixed(1);
      const lease = stage.under.leaseSeconds;
      stage.found(
        'heartbeat-missing',
        `For ${seconds} s no heartbeat nor any other call came for a held task; its lease was ${lease} s.`,
      );
      return;
    }
    lastMs = Math.max(lastMs, atMs);
  }
}

/** More than five heartbeats within one interval, or more than three of them unanswered at a time. */
function judgeHeartbeats(stage: Stage, claim: Claim): void {
  const heartbeats = stage.journal.forTask(claim.taskId).filter(({ route }) => route === 'heartbeat');
  const plain = heartbeats.filter(({ fault }) => fault === undefined || fault === 'answered late');
  for (const [at, heartbeat] of plain.entries()) {
    const sixth = plain[at + 5];
    if (sixth !== undefined && sixth.atMs - heartbeat.atMs < stage.heartbeatIntervalMs)
      stage.found(
        'heartbeats-too-frequent',
        `Six heartbeats within ${Math.round(sixth.atMs - heartbeat.atMs)} ms; heartbeatIntervalSeconds was ${stage.heartbeatIntervalMs / 1_000}.`,
      );
    const open = heartbeats.filter(
      (each) => each.atMs <= heartbeat.atMs && endOf(each) > heartbeat.atMs,
    ).length;
    if (open > 3)
      stage.found(
        'heartbeats-pile-up',
        `${open} heartbeats of one task waited for their answers at the same time.`,
      );
  }
}

function endOf(call: Call): number {
  return call.answeredAtMs ?? call.goneAtMs ?? Number.POSITIVE_INFINITY;
}

/** Calls for a task after the runner got 404 for it. */
function judgeAfterLoss(stage: Stage, claim: Claim): void {
  const calls = stage.journal.forTask(claim.taskId);
  const notice = calls.find(
    ({ code, answeredAtMs }) => code === 'task_not_found' && answeredAtMs !== undefined,
  );
  if (notice?.answeredAtMs === undefined || claim.instanceId !== notice.instanceId) return;
  const notifiedAtMs = notice.answeredAtMs;
  const isOpen = (call: Call) =>
    !sideRoutes.has(call.route) && call.atMs < notifiedAtMs && endOf(call) > notifiedAtMs;
  // A runner with one call at a time, besides its heartbeats, learns of it from its own call at once.
  const graceMs =
    sideRoutes.has(notice.route) || calls.some((call) => call !== notice && isOpen(call)) ? noticeMs : 0;
  for (const call of calls) {
    const lateMs = call.atMs - notifiedAtMs;
    if (lateMs <= graceMs) continue;
    const saw = `${call.method} ${call.route} came ${Math.round(lateMs)} ms after ${notice.route} was answered with 404.`;
    if (writingRoutes.includes(call.route)) stage.found('wrote-after-loss', saw);
    else if (lateMs > noticeMs) stage.found('calls-after-loss', saw);
  }
}

/** Writes for a task after its end was accepted. */
function judgeAfterEnd(stage: Stage, claim: Claim): void {
  const calls = stage.journal.forTask(claim.taskId);
  const end = calls.find(({ route, answeredAtMs }) => route === claim.end?.how && answeredAtMs !== undefined);
  const { answeredAtMs } = end ?? {};
  if (end === undefined || answeredAtMs === undefined) return;
  // A heartbeat may be on its way.
  const graceMs = stage.heartbeatIntervalMs + noticeMs;
  for (const { route, method, atMs, status, code } of calls) {
    // The answer may have reached the runner before it is noted here: a refused write shows that the task had ended.
    const isRefused = atMs > end.atMs && code === 'task_not_found';
    const lateMs = Math.max(Math.round(atMs - answeredAtMs), isRefused ? 1 : 0);
    const saw = `${method} ${route} came ${lateMs} ms after ${end.route} was answered with ${end.status}, and got ${status}.`;
    if (lateMs > 0 && writingRoutes.includes(route) && route !== 'complete')
      stage.found('wrote-after-end', saw);
    else if (lateMs > graceMs && !endingRoutes.includes(route)) stage.found('calls-after-loss', saw);
  }
}

/** Claims without work that did not ask to wait. */
export function emptyPolls(stage: Stage) {
  return stage.journal.of('claim').filter((call) => {
    const { waitSeconds } = (call.json ?? {}) as { readonly waitSeconds?: number };
    return call.status === 204 && (waitSeconds ?? 0) < 1 && call.fault === undefined;
  });
}

/** Whether an instance made more than five of them within a second. */
export function pollsBusily(stage: Stage): boolean {
  const empty = emptyPolls(stage);
  return empty.some((call, at) => {
    const sixth = empty[at + 5];
    return sixth !== undefined && sixth.atMs - call.atMs <= 1_000 && sixth.instanceId === call.instanceId;
  });
}

function judgePolling(stage: Stage): void {
  if (!pollsBusily(stage)) return;
  stage.found('busy-polling', 'Six claims with waitSeconds 0 came within a second while there was no work.');
}

const hammeringCalls = 25;

/** Many refused or unanswered calls of one route within a second. */
function judgeHammering(stage: Stage): void {
  const failed = stage.journal.calls.filter(
    ({ status, fault }) => (status ?? 0) >= 400 || fault === 'connection reset',
  );
  for (const [at, call] of failed.entries()) {
    const later = failed[at + hammeringCalls];
    if (later === undefined || later.atMs - call.atMs > 1_000) continue;
    stage.found('hammering', `${hammeringCalls} calls that failed came within a second.`);
    return;
  }
}
