import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toMcpToolName } from '../../src/domain/mcp-server.ts';
import { toName } from '../../src/environments/session-folders.ts';
import { toReadableId } from '../../src/providers/lookup.ts';

/** What docker, control groups, file systems, task queues and model APIs all take. */
const PLAIN = /^[A-Za-z0-9_-]+$/;

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom('v1.2', 'a/b', 'a.b', '..', '.', '%', 'Größe 3.5', 'openai:gpt-5.1'),
);

test('AC-E8 names that leave Assay hold no dot and nothing else that somebody forbids, whatever they are made of', () => {
  fc.assert(
    fc.property(anything, anything, (one, other) => {
      // Containers, their directories and control groups are named after a session, which is named after its cell.
      const session = toName(`${one}/1/${other}/t1`);
      expect(session).toMatch(/^[0-9a-f]{24}$/);
      const engine = toReadableId(`${one}-${other}`, [one, other]);
      expect(engine).toMatch(/^[a-z0-9-]{1,60}$/);
      const tool = toMcpToolName('files', one);
      expect(tool).toMatch(PLAIN);
      expect(tool.length).toBeLessThanOrEqual(64);
    }),
  );
});

test('AC-E8 two names that differ in what is left out still differ', () => {
  const pairs = [
    ['v1.2', 'v1-2'],
    ['a/b', 'a.b'],
    ['.', '..'],
  ] as const;
  for (const [one, other] of pairs) {
    expect(toName(one)).not.toBe(toName(other));
    expect(toReadableId(one, [one])).not.toBe(toReadableId(other, [other]));
  }
});
