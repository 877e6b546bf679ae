/** The state of the platform's parts, from its metrics. Pure: tested without a browser. */

/** The parts that are down according to the Prometheus text, each once. */
export function partsDown(metrics: string): string[] {
  const lines = metrics.matchAll(/^sdp_part_up\{[^}]*part="([^"]+)"[^}]*\} 0$/gm);
  return [...new Set([...lines].map((match) => match[1]!))].sort();
}
