/** The files of the checkout that operators use: dashboard and alert rules. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export function readOfCheckout(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), 'utf8');
}

interface Panel {
  readonly targets?: readonly { readonly expr: string }[];
  readonly panels?: readonly Panel[];
}

export function dashboardExpressions(): string[] {
  const expressionsOf = (panels: readonly Panel[]): string[] =>
    panels.flatMap(({ targets = [], panels: inner = [] }) => [
      ...targets.map(({ expr }) => expr),
      ...expressionsOf(inner),
    ]);
  const dashboard = JSON.parse(readOfCheckout('ops/grafana/platform.json')) as { panels: Panel[] };
  return expressionsOf(dashboard.panels);
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly runbook: string };
}

export function alertRules(): AlertRule[] {
  const { groups } = parse(readOfCheckout('ops/alerts/platform.yml')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
