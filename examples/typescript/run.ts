import { defineRun, defineScorer, defineTool, z } from 'assay';
import { findOrder } from './orders.ts';

/** What the agent may look up. Reading twice is reading once, so a lost call may go again. */
const lookupOrder = defineTool({
  name: 'lookup_order',
  description: 'Look up an order by its number. Gives its state and, once it is sent, its parcel.',
  parameters: z.strictObject({ number: z.int().describe('Number of the order, without "#".') }),
  idempotent: true,
  timeout: '5s',
  execute: ({ number }) => findOrder(number) ?? `There is no order ${number}.`,
});

/** Half for the right fact, half for a text that a customer would want to read. */
const helpful = defineScorer({
  name: 'helpful',
  needsTarget: true,
  options: z.strictObject({ maxWords: z.int().min(1).default(40) }),
  score: ({ answer, target, transcript }, { maxWords }) => {
    const right = answer.toLowerCase().includes(String(target).toLowerCase());
    const words = answer.split(/\s+/).filter((word) => word !== '').length;
    const short = words > 0 && words <= maxWords;
    return {
      value: (right ? 0.5 : 0) + (short ? 0.5 : 0),
      explanation: `${right ? 'names' : 'does not name'} "${target}", ${words} words`,
      metrics: { words, lookups: transcript.filter(({ role }) => role === 'tool').length },
    };
  },
});

/** What the scripted models do in a case: the careful one looks first. */
const looksUp = (number: number, say: string) => ({
  good: [{ tools: [{ name: 'lookup_order', arguments: { number } }] }, { say }],
  bad: [{ say: 'It is on its way, I suppose.' }],
});

const script = {
  sent: looksUp(1001, 'Order 1001 was sent; its parcel is ZX-77.'),
  waiting: looksUp(1002, 'Order 1002 is being packed.'),
};

export default defineRun({
  name: 'orders',
  models: [
    { id: 'careful', provider: 'mock', model: 'script', params: { skill: 1, script: { cases: script } } },
    { id: 'hasty', provider: 'mock', model: 'script', params: { skill: 0, script: { cases: script } } },
  ],
  harness: { kind: 'agent', tools: [lookupOrder], maxSteps: 5 },
  suite: {
    name: 'orders',
    scorers: [{ kind: helpful, threshold: 1, maxWords: 30 }],
    cases: [
      { id: 'sent', input: 'Where is order 1001?', target: 'ZX-77' },
      { id: 'waiting', input: 'Has order 1002 left?', target: 'packed' },
    ],
  },
});
