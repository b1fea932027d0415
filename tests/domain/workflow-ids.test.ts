import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  encodePart,
  toAttemptWorkflowId,
  toPackWorkflowId,
  toRunWorkflowId,
  toTaskWorkflowId,
} from '../../src/domain/workflow-ids.ts';

const task = {
  runId: 'r',
  requestName: 'tickets',
  modelId: 'openai:gpt/5 %',
  caseId: 'Größe',
  generation: 1,
};

test('AC-E7 ids are readable, percent-encoded and carry later generations', () => {
  expect(toRunWorkflowId('nightly 1')).toBe('run/nightly%201');
  const id = toTaskWorkflowId(task);
  expect(id).toBe('run/r/tickets/openai%3Agpt%2F5%20%25/Gr%C3%B6%C3%9Fe');
  expect(toTaskWorkflowId({ ...task, generation: 2 })).toBe(`${id}/g2`);
  expect(toAttemptWorkflowId(id, 3)).toBe(`${id}/a3`);
  expect(toPackWorkflowId({ ...task, from: 1, to: 25 })).toBe('run/r/tickets/tasks/1-25');
});

test('a long or ill-formed name keeps its start and ends in a hash', () => {
  const long = encodePart('a'.repeat(60));
  expect(long).toMatch(/^a{25}~[0-9a-f]{14}$/);
  expect(encodePart('a'.repeat(61))).not.toBe(long);
  expect(encodePart('\ud800')).toMatch(/~[0-9a-f]{14}$/);
  expect(encodePart('ü'.repeat(30))).not.toMatch(/%.?~/);
});

test('AC-E7 different names give different parts, of at most 40 bytes, without a slash', () => {
  const text = fc.string({ unit: 'binary', maxLength: 80 });
  fc.assert(
    fc.property(text, text, (one, other) => {
      const part = encodePart(one);
      expect(Buffer.byteLength(part)).toBeLessThanOrEqual(40);
      expect(part).not.toContain('/');
      expect(part === encodePart(other)).toBe(one === other);
    }),
  );
});
