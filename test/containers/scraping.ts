/** ops/prometheus/prometheus.yml, and what its targets answer. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readOfCheckout } from '../telemetry/operators-files.ts';

export const configurationFile = 'ops/prometheus/prometheus.yml';

export interface ScrapeJob {
  readonly job_name: string;
  readonly authorization?: { readonly credentials_file: string };
  readonly dns_sd_configs: ReadonlyArray<{ readonly names: readonly string[]; readonly port: number }>;
}

export function scrapeJobs(): ScrapeJob[] {
  return (parse(readOfCheckout(configurationFile)) as { scrape_configs: ScrapeJob[] }).scrape_configs;
}

export interface Scraped {
  readonly status: number;
  readonly text: string;
}

/** One scrape. @param credentials file with the bearer */
export async function scrape(port: number, credentials?: string): Promise<Scraped> {
  // As Prometheus reads such a file: without the end of its line.
  const bearer = credentials && readFileSync(credentials, 'utf8').trim();
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`, {
    headers: bearer ? { authorization: `Bearer ${bearer}` } : {},
    signal: AbortSignal.timeout(10_000),
  });
  return { status: answer.status, text: await answer.text() };
}
