/** Checks of the alert rules in their file. Run by telemetry.test.ts. */
import { describe, expect, test } from 'vitest';
import { alertRules, readOfCheckout } from './operators-files.ts';

export function alertRuleTests(): void {
  describe('an alert rule', () => {
    test('leads to a place in the documentation that exists', () => {
      for (const { alert, annotations } of alertRules()) {
        const [file, anchor] = annotations.runbook.split('#');
        expect({ alert, found: readOfCheckout(file!).includes(`id="${anchor}"`) }).toEqual({
          alert,
          found: true,
        });
      }
    });

    test('has a name of its own, a severity and a summary, and its brackets match', () => {
      const rules = alertRules();
      expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
      for (const { alert, expr, labels, annotations } of rules) {
        const seen = { alert, severity: labels.severity, summary: annotations.summary.endsWith('.') };
        expect(seen).toEqual({
          alert,
          severity: expect.stringMatching(/^(critical|warning)$/),
          summary: true,
        });
        const bare = expr.replace(/"(?:[^"\\]|\\.)*"/g, '');
        for (const [open, close] of ['()', '{}', '[]']) {
          expect(bare.split(open!).length).toBe(bare.split(close!).length);
        }
      }
    });
  });
}
