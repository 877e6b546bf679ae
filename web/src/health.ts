/** What the platform's metrics say of its parts. Pure: tested without a browser. */

/** The parts that Prometheus text says are down, each once. */
export function partsDown(metrics: string): string[] {
  const lines = metrics.matchAll(/^sdp_part_up\{[^}]*part="([^"]+)"[^}]*\} 0$/gm);
  return [...new Set([...lines].map((match) => match[1]!))].sort();
}
